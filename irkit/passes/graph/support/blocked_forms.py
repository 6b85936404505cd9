"""How an operator works on tensors whose channels are cut into blocks of lanes.

Where the channels are no multiple of the lanes, what is beyond them must stay 0; so an operator
that makes anything else of zeros has no such form there.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

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
    blocked,
    dtype_of_value,
    extents_of,
    op_spec,
    packed_filters,
)
from irkit.ir import F32

Emit = Callable[[Replacement, Mapping[Value, Value]], Value]


class BlockedForm(NamedTuple):
    """The operands that a form takes in blocks, and what emits its result in blocks."""

    operands: tuple[Value, ...]
    emit: Emit


class BlockedForms:
    """The forms of the operators of one function for blocks of so many lanes."""

    def __init__(self, facts: GraphFacts, lanes: int) -> None:
        self.facts = facts
        self.lanes = lanes

    def of(self, step: Op, var: Value) -> BlockedForm | None:
        """Return the form of an operator, if it has one; not of a convolution of all channels."""
        rule = _RULES.get(step.name)
        if dtype_of_value(var) != F32 or rule is None or len(extents_of(var)) < 2:
            return None
        return rule(self, step, var)

    def conv(self, step: Op, var: Value, is_blocked: bool) -> BlockedForm | None:
        """Return the form of a convolution of all channels by constant filters. It reads what is
        not ``is_blocked`` as it is, if its channels are no more than a block holds."""
        x, _, *bias = step.args
        arrays = self._arrays(step.args[1:])
        if dtype_of_value(x) != F32 or arrays is None or attributes(step).int("groups") != 1:
            return None
        plain = arrays[0].shape[1] <= self.lanes and not is_blocked
        inner = arrays[0].shape[1] if plain else self.lanes

        def emit(b: Replacement, at: Mapping[Value, Value]) -> Value:
            packed = b.constant(packed_filters(arrays[0], inner, self.lanes), name="packed")
            args = [x if plain else at[x], packed]
            if bias:
                args.append(b.constant(self._vector(arrays[1]), name="bias"))
            return b.emit(Op("conv_blocked", tuple(args), as_attrs(_given(step))), "conv_blocked")

        return BlockedForm(() if plain else (x,), emit)

    def depthwise(self, step: Op, var: Value) -> BlockedForm | None:
        """Return the form of a convolution of each channel by a constant filter of its own."""
        x, _, *bias = step.args
        arrays, channels = self._arrays(step.args[1:]), extents_of(x)[1]
        groups = attributes(step).int("groups")
        if dtype_of_value(x) != F32 or arrays is None or groups in (1, arrays[0].shape[1]):
            return None
        if not groups == channels == arrays[0].shape[0]:
            return None

        def emit(b: Replacement, at: Mapping[Value, Value]) -> Value:
            filters = blocked(np.moveaxis(arrays[0], 0, 1), self.lanes)[0]
            args = [at[x], b.constant(filters, name="packed")]
            if bias:
                args.append(b.constant(self._vector(arrays[1]), name="bias"))
            made = Op("depthwise_blocked", tuple(args), as_attrs(_given(step)))
            return b.emit(made, made.name)

        return BlockedForm((x,), emit)

    def _vector(self, array: Array) -> Array:
        """Return a number for each channel in blocks. Shapes: [C] -> [blocks, lanes]."""
        return blocked(array.reshape(1, -1), self.lanes)[0]

    def _arrays(self, values: tuple[Value, ...]) -> list[Array] | None:
        """Return the arrays of constants; None if one is not known."""
        found = [self.facts.array(value) for value in values]
        known = [array for array in found if array is not None]
        return known if len(known) == len(found) else None

    def _is_whole(self, value: Value) -> bool:
        channels = extents_of(value)[1]
        return channels is not None and channels % self.lanes == 0

    def unary(self, step: Op, var: Value) -> BlockedForm | None:
        (x,) = step.args
        if dtype_of_value(x) != F32 or len(extents_of(x)) < 2:
            return None
        if not self._is_whole(x) and not _keeps_zeros(step, [np.zeros(1, np.float32)]):
            return None
        return BlockedForm((x,), _same(step))

    def binary(self, step: Op, var: Value) -> BlockedForm | None:
        """Return the form of an operator on two tensors, scalars or constants."""
        shape = extents_of(var)
        zeros: list[Array] = []
        operands: list[Value] = []
        made: list[Emit] = []
        for arg in step.args:
            own, array = extents_of(arg), self.facts.array(arg)
            if dtype_of_value(arg) != F32:
                return None
            if all(extent == 1 for extent in own):
                zeros.append(np.zeros(1, np.float32) if array is None else array.reshape(1))
                if array is None and not self._is_whole(var):
                    return None
                made.append(_as_it_is(arg))
            elif array is not None:
                whole = array.reshape((1,) * (len(shape) - array.ndim) + array.shape)
                if whole.shape[1] not in (1, shape[1]):
                    return None
                cut = blocked(whole, self.lanes) if whole.shape[1] > 1 else whole[..., None]
                zeros.append(np.zeros(1, np.float32) if whole.shape[1] > 1 else whole.reshape(-1))
                made.append(_as_constant(cut))
            elif len(own) == len(shape) and own[1] == shape[1] and own[1] is not None:
                zeros.append(np.zeros(1, np.float32))
                operands.append(arg)
                made.append(_in_blocks(arg))
            else:
                return None
        if not operands or (not self._is_whole(var) and not _keeps_zeros(step, zeros)):
            return None

        def emit(b: Replacement, at: Mapping[Value, Value]) -> Value:
            return b.emit(Op(step.name, tuple(each(b, at) for each in made), step.attrs), step.name)

        return BlockedForm(tuple(operands), emit)

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
        ones = (1,) * (len(extents_of(x)) - 2)

        def emit(b: Replacement, at: Mapping[Value, Value]) -> Value:
            cut = [self._vector(each) for each in narrow]
            by, more = (
                b.constant(each.reshape(len(each), *ones, self.lanes), name="blocked")
                for each in cut
            )
            return b.op("add", b.op("multiply", at[x], by), more)

        return BlockedForm((x,), emit)

    def pool(self, step: Op, var: Value) -> BlockedForm | None:
        """Return the form of a pool: its window is one element wide along the lanes."""
        (x,) = step.args

        def emit(b: Replacement, at: Mapping[Value, Value]) -> Value:
            window = {name: _with_lanes(name, sizes) for name, sizes in _given(step).items()}
            attrs = as_attrs({**dict(step.attrs), **window})
            return b.emit(Op(step.name, (at[x],), attrs), step.name)

        return BlockedForm((x,), emit) if dtype_of_value(x) == F32 else None

    def reduction(self, step: Op, var: Value) -> BlockedForm | None:
        """Return the form of a reduction along spatial axes."""
        (x,) = step.args
        options, rank = attributes(step), len(extents_of(x))
        if not set(options.ints("axes")) <= set(range(2, rank)):
            return None
        if not self._is_whole(x) and not _keeps_zeros(step, [np.zeros((1,) * rank, np.float32)]):
            return None
        return BlockedForm((x,), _same(step))

    def concat(self, step: Op, var: Value) -> BlockedForm | None:
        """Return the form of a concatenation of channels, all but the last of whole blocks."""
        if attributes(step).int("axis") != 1 or not all(map(self._is_whole, step.args[:-1])):
            return None
        if any(dtype_of_value(arg) != F32 for arg in step.args):
            return None

        def emit(b: Replacement, at: Mapping[Value, Value]) -> Value:
            return b.op("concat", *(at[arg] for arg in step.args), axis=1)

        return BlockedForm(step.args, emit)

    def slice(self, step: Op, var: Value) -> BlockedForm | None:
        """Return the form of a slice of whole blocks of channels, or along spatial axes."""
        (x,) = step.args
        options, extents, lanes = attributes(step), extents_of(x), self.lanes
        axes, strides = options.ints("axes"), options.ints("strides")
        begins, ends = list(options.ints("begins")), list(options.ints("ends"))
        for number, axis in enumerate(axes):
            begin, end, stride = begins[number], ends[number], strides[number]
            extent = extents[axis]
            if axis != 1:
                continue
            if extent is None or stride != 1:
                return None
            first, last, _ = slice(begin, end, 1).indices(extent)
            if first % lanes or (last % lanes and last != extent) or last <= first:
                return None
            begins[number], ends[number] = first // lanes, -(-last // lanes)

        def emit(b: Replacement, at: Mapping[Value, Value]) -> Value:
            return b.op(
                "slice", at[x], begins=tuple(begins), ends=tuple(ends), axes=axes, strides=strides
            )

        return BlockedForm((x,), emit)

    def pad(self, step: Op, var: Value) -> BlockedForm | None:
        """Return the form of padding along other axes than the channels."""
        (x,) = step.args
        options, rank = attributes(step), len(extents_of(x))
        pads, value = options.ints("pads"), options.scalar("value")
        if pads[1] or pads[rank + 1] or (value and not self._is_whole(x)):
            return None
        wide = (*pads[:rank], 0, *pads[rank:], 0)

        def emit(b: Replacement, at: Mapping[Value, Value]) -> Value:
            return b.op("pad", at[x], pads=wide, value=value)

        return BlockedForm((x,), emit)


def _same(step: Op) -> Emit:
    """Return what applies an operator of one operand as it is."""
    return lambda b, at: b.emit(Op(step.name, (at[step.args[0]],), step.attrs), step.name)


def _as_it_is(value: Value) -> Emit:
    return lambda b, at: value


def _as_constant(array: Array) -> Emit:
    return lambda b, at: b.constant(np.ascontiguousarray(array), name="blocked")


def _in_blocks(value: Value) -> Emit:
    return lambda b, at: at[value]


_SIZES = ("kernel", "strides", "pads", "dilations")


def _with_lanes(name: str, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Add sizes along the lanes, a further axis of one element, to those of a window."""
    if name != "pads":
        return (*sizes, 1)
    half = len(sizes) // 2
    return (*sizes[:half], 0, *sizes[half:], 0)


def _given(step: Op) -> dict[str, tuple[int, ...]]:
    """Return the sizes of a window that an operator was given, in full."""
    options = attributes(step)
    return {name: options.ints(name) for name, _ in step.attrs if name in _SIZES}


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
    "pad": BlockedForms.pad,
}
