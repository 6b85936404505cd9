"""How an operator works on tensors whose channels are cut into blocks of lanes.

Channels stand in an order, which may have holes: where the channels of a group, or of a tensor that
was joined to others, are no multiple of the lanes. An operator that makes anything else of zeros
leaves holes in which anything may be.
"""

from collections.abc import Callable
from math import prod

import numpy as np

from irkit.graph import (
    OPS,
    Array,
    GraphFacts,
    Op,
    Replacement,
    Value,
    as_attrs,
    attributes,
    dtype_of_value,
    extents_of,
    op_spec,
)
from irkit.ir import F32
from irkit.passes.graph.support.blocked.convolutions import convolution_form, given_sizes
from irkit.passes.graph.support.blocked.operands import (
    BlockedForm,
    BlockedValues,
    Emit,
    order_of,
)
from irkit.passes.graph.support.blocked.orders import (
    ChannelOrder,
    in_order,
    joined,
    shared,
)

_MOST_PADDED = 2
"""How many times the blocks of its channels a concatenation may have."""


class BlockedForms:
    """The forms of the operators of one function for blocks of so many lanes, by those ``found``
    before, in the order of the function."""

    def __init__(self, facts: GraphFacts, lanes: int) -> None:
        self.facts = facts
        self.lanes = lanes
        self.found: dict[Value, BlockedForm] = {}
        self._number = {value: number for number, value in enumerate(facts.bound)}

    def of(self, step: Op, var: Value) -> BlockedForm | None:
        """Return the form of an operator, if it has one; not of a convolution."""
        rule = _RULES.get(step.name)
        if dtype_of_value(var) != F32 or rule is None or len(extents_of(var)) < 2:
            return None
        return rule(self, step, var)

    def convolution(self, step: Op) -> BlockedForm | None:
        """Return the form of a convolution by constant filters. It reads what is not in blocks as
        it is, if its channels are no more than a block holds."""
        found = self.found.get(step.args[0])
        order = None if found is None else found.order
        return convolution_form(step, self.facts, self.lanes, order)

    def order(self, value: Value) -> ChannelOrder:
        """Return the order of channels that a value has in blocks."""
        return order_of(value, self.found, self.lanes)

    def _arrays(self, values: tuple[Value, ...]) -> list[Array] | None:
        """Return the arrays of constants; None if one is not known."""
        found = [self.facts.array(value) for value in values]
        known = [array for array in found if array is not None]
        return known if len(known) == len(found) else None

    def unary(self, step: Op, var: Value) -> BlockedForm | None:
        (x,) = step.args
        if dtype_of_value(x) != F32 or len(extents_of(x)) < 2:
            return None
        order = self._after(step, [np.zeros(1, np.float32)], self.order(x))
        return BlockedForm(((x, None),), order, _same(step))

    def _after(self, step: Op, given: list[Array] | None, order: ChannelOrder) -> ChannelOrder:
        """Return the order of the result of an operator on elements, of which ``given`` stand where
        no channel does; None if they are not known."""
        kept = given is not None and _keeps_zeros(step, given)
        return order if order.is_full or kept else order.without_zeros()

    def binary(self, step: Op, var: Value) -> BlockedForm | None:
        """Return the form of an operator on two tensors, scalars or constants. Tensors in different
        orders are brought to that of the largest one; of several, the one computed last."""
        shape = extents_of(var)
        tensors = [arg for arg in step.args if self._is_alike(arg, shape)]
        if not tensors or any(dtype_of_value(arg) != F32 for arg in step.args):
            return None
        main = self.order(max(tensors, key=self._weight))
        owns = [self.order(each) for each in tensors]
        orders = [own if own.is_alike(main) else main for own in owns]
        order, waiting = shared(orders), dict(zip(tensors, orders, strict=True))
        zeros: list[Array] | None = []
        made: list[Emit] = []
        for arg in step.args:
            array, beyond = self.facts.array(arg), np.zeros(1, np.float32)
            if arg in waiting:
                made.append(_in_blocks(arg, waiting[arg]))
            elif all(extent == 1 for extent in extents_of(arg)):
                beyond = None if array is None else array.reshape(1)
                made.append(_as_it_is(arg))
            elif array is not None:
                whole = array.reshape((1,) * (len(shape) - array.ndim) + array.shape)
                if whole.shape[1] not in (1, shape[1]):
                    return None
                cut, beyond = self._cut(whole, order)
                made.append(_as_constant(cut))
            else:
                return None
            zeros = None if zeros is None or beyond is None else [*zeros, beyond]

        def emit(b: Replacement, at: BlockedValues) -> Value:
            return b.emit(Op(step.name, tuple(each(b, at) for each in made), step.attrs), step.name)

        return BlockedForm(tuple(waiting.items()), self._after(step, zeros, order), emit)

    def _cut(self, whole: Array, order: ChannelOrder) -> tuple[Array, Array]:
        """Return a constant in blocks, and what it has where no channel stands."""
        if whole.shape[1] == 1:
            return whole[..., None], whole.reshape(-1)
        apart = order.arranged(whole, axis=1)
        split = apart.reshape(len(whole), order.blocks, order.lanes, *whole.shape[2:])
        return np.moveaxis(split, 2, -1), np.zeros(1, np.float32)

    def _weight(self, value: Value) -> tuple[int, int]:
        """Return the size of a tensor, and when it is computed."""
        elements = prod(extent or 1 for extent in extents_of(value))
        return elements, self._number.get(value, -1)

    def _is_alike(self, value: Value, shape: tuple[int | None, ...]) -> bool:
        """Return True for a tensor with the channels of a result."""
        own = extents_of(value)
        alike = len(own) == len(shape) and own[1] == shape[1] and own[1] is not None
        return alike and self.facts.array(value) is None and not all(each == 1 for each in own)

    def batch_norm(self, step: Op, var: Value) -> BlockedForm | None:
        """Return the form of a normalisation by constants: a multiplication and an addition."""
        x, *given = step.args
        arrays = self._arrays(tuple(given))
        if dtype_of_value(x) != F32 or arrays is None:
            return None
        scale, shift, mean, variance = (array.astype(np.float64) for array in arrays)
        with np.errstate(all="ignore"):  # A variance below zero gives NaN, as batch_norm does.
            factor = scale / np.sqrt(variance + attributes(step).float("epsilon"))
            vectors = [factor, shift - mean * factor]
            narrow = [each.astype(np.float32) for each in vectors]
        if not all(bool(np.all(np.isfinite(each))) for each in narrow):
            return None
        ones, order = (1,) * (len(extents_of(x)) - 2), self.order(x)

        def emit(b: Replacement, at: BlockedValues) -> Value:
            by, more = (
                b.constant(
                    order.arranged(each).reshape(order.blocks, *ones, self.lanes), name="blocked"
                )
                for each in narrow
            )
            return b.op("add", b.op("multiply", at.get(b, x), by), more)

        return BlockedForm(((x, None),), order, emit)

    def pool(self, step: Op, var: Value) -> BlockedForm | None:
        """Return the form of a pool: its window is one element wide along the lanes."""
        (x,) = step.args

        def emit(b: Replacement, at: BlockedValues) -> Value:
            window = {name: _with_lanes(name, sizes) for name, sizes in given_sizes(step).items()}
            attrs = as_attrs({**dict(step.attrs), **window})
            return b.emit(Op(step.name, (at.get(b, x),), attrs), step.name)

        if dtype_of_value(x) != F32:
            return None
        return BlockedForm(((x, None),), self.order(x), emit)

    def reduction(self, step: Op, var: Value) -> BlockedForm | None:
        """Return the form of a reduction along spatial axes."""
        (x,) = step.args
        options, rank = attributes(step), len(extents_of(x))
        if not set(options.ints("axes")) <= set(range(2, rank)):
            return None
        order = self._after(step, [np.zeros((1,) * rank, np.float32)], self.order(x))
        return BlockedForm(((x, None),), order, _same(step))

    def lrn(self, step: Op, var: Value) -> BlockedForm | None:
        """Return the form of a normalisation over neighbouring channels, in their order."""
        (x,) = step.args
        order = in_order(extents_of(x)[1] or 1, self.lanes)
        kept = order.is_full or attributes(step).float("bias") > 0

        def emit(b: Replacement, at: BlockedValues) -> Value:
            return b.emit(Op("lrn_blocked", (at.get(b, x, order),), step.attrs), "lrn_blocked")

        return BlockedForm(((x, order),), order if kept else order.without_zeros(), emit)

    def concat(self, step: Op, var: Value) -> BlockedForm | None:
        """Return the form of a concatenation of channels that leaves few holes. Operands with
        anything in their holes are put in order."""
        counts = [extents_of(arg)[1] for arg in step.args]
        known = [count for count in counts if count is not None]
        if attributes(step).int("axis") != 1 or len(known) < len(counts):
            return None
        if any(dtype_of_value(arg) != F32 for arg in step.args):
            return None
        orders = [self.order(arg) for arg in step.args]
        kept = [
            own if own.has_zeros else in_order(count, self.lanes)
            for own, count in zip(orders, known, strict=True)
        ]
        made = joined(kept, known)
        if made.blocks > _MOST_PADDED * -(-sum(known) // self.lanes):
            return None
        operands = tuple(zip(step.args, kept, strict=True))

        def emit(b: Replacement, at: BlockedValues) -> Value:
            return b.op("concat", *(at.get(b, arg, order) for arg, order in operands), axis=1)

        return BlockedForm(operands, made, emit)

    def slice(self, step: Op, var: Value) -> BlockedForm | None:
        """Return the form of a slice: of the blocks that have its channels, or along spatial
        axes."""
        (x,) = step.args
        options, extents = attributes(step), extents_of(x)
        axes, strides = options.ints("axes"), options.ints("strides")
        begins, ends = list(options.ints("begins")), list(options.ints("ends"))
        order = self.order(x)
        for number, axis in enumerate(axes):
            extent = extents[axis]
            if axis != 1 or extent is None:
                continue
            taken = range(*slice(begins[number], ends[number], strides[number]).indices(extent))
            if not taken:
                return None
            order = order.picked(taken)
            first, end = order.used()
            begins[number], ends[number] = first, end
            strides = (*strides[:number], 1, *strides[number + 1 :])
            order = order.part(first, end)
        blocks = self.order(x).blocks
        whole = axes == (1,) and (begins[0], ends[0]) == (0, blocks)

        def emit(b: Replacement, at: BlockedValues) -> Value:
            taken = at.get(b, x)
            if whole:
                return taken
            return b.op(
                "slice", taken, begins=tuple(begins), ends=tuple(ends), axes=axes, strides=strides
            )

        return BlockedForm(((x, None),), order, emit)

    def take(self, step: Op, var: Value) -> BlockedForm | None:
        """Return the form of channels in an order that is constant: nothing is computed, but blocks
        without any of them are left out."""
        x, indices = step.args
        numbers, count = self.facts.array(indices), extents_of(x)[1]
        if attributes(step).int("axis") != 1 or numbers is None or numbers.ndim != 1 or not count:
            return None
        which = [int(each) + count * (each < 0) for each in numbers]
        if not which or len({*which, *range(count)}) > count or len(set(which)) < len(which):
            return None

        order = self.order(x).picked(which)
        first, end = order.used()
        whole = (first, end) == (0, order.blocks)

        def emit(b: Replacement, at: BlockedValues) -> Value:
            taken = at.get(b, x)
            if whole:
                return taken
            return b.op("slice", taken, begins=(first,), ends=(end,), axes=(1,), strides=(1,))

        return BlockedForm(((x, None),), order.part(first, end), emit)

    def pad(self, step: Op, var: Value) -> BlockedForm | None:
        """Return the form of padding along other axes than the channels."""
        (x,) = step.args
        options, rank = attributes(step), len(extents_of(x))
        pads, value = options.ints("pads"), options.scalar("value")
        if pads[1] or pads[rank + 1]:
            return None
        wide, order = (*pads[:rank], 0, *pads[rank:], 0), self.order(x)

        def emit(b: Replacement, at: BlockedValues) -> Value:
            return b.op("pad", at.get(b, x), pads=wide, value=value)

        kept = order.is_full or not value
        return BlockedForm(((x, None),), order if kept else order.without_zeros(), emit)


def _same(step: Op) -> Emit:
    """Return what applies an operator of one operand as it is."""
    return lambda b, at: b.emit(Op(step.name, (at.get(b, step.args[0]),), step.attrs), step.name)


def _as_it_is(value: Value) -> Emit:
    return lambda b, at: value


def _as_constant(array: Array) -> Emit:
    return lambda b, at: b.constant(np.ascontiguousarray(array), name="blocked")


def _in_blocks(value: Value, order: ChannelOrder) -> Emit:
    return lambda b, at: at.get(b, value, order)


def _with_lanes(name: str, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Add sizes along the lanes, a further axis of one element, to those of a window."""
    if name != "pads":
        return (*sizes, 1)
    half = len(sizes) // 2
    return (*sizes[:half], 0, *sizes[half:], 0)


def _keeps_zeros(step: Op, given: list[Array]) -> bool:
    """Return True if an operator makes zeros of what is beyond the channels."""
    found = op_spec(step.name).evaluate(given, step.attrs)
    return not isinstance(found, tuple) and bool(np.all(found == 0))


Rule = Callable[[BlockedForms, Op, Value], "BlockedForm | None"]


def _names(kind: str, count: int) -> list[str]:
    specs = OPS.values()
    return [each.name for each in specs if each.kind == kind and len(each.args) == count]


_RULES: dict[str, Rule] = {
    **dict.fromkeys(_names("elementwise", 1), BlockedForms.unary),
    **dict.fromkeys(_names("broadcast", 2), BlockedForms.binary),
    **dict.fromkeys(("max_pool", "avg_pool"), BlockedForms.pool),
    **dict.fromkeys(("sum", "mean", "max", "min"), BlockedForms.reduction),
    "batch_norm": BlockedForms.batch_norm,
    "concat": BlockedForms.concat,
    "slice": BlockedForms.slice,
    "take": BlockedForms.take,
    "lrn": BlockedForms.lrn,
    "pad": BlockedForms.pad,
}
