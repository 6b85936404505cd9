"""Values that share memory: slices and reshapes that lie inside another value, and concatenations
whose parts are computed where they belong. Neither needs a kernel, and nothing is copied.

What ``shared_memory`` finds stays an operator when the others are lowered to loops.
"""

from math import prod

import msgspec

from irkit.core import ALIGNMENT
from irkit.graph.flow import operands
from irkit.graph.function import GraphFunc
from irkit.graph.nodes import Apply, Bind, Invoke, Op, Prefix, Tuple, TupleGet, Value
from irkit.graph.ops import OpOptions, attributes
from irkit.graph.state import caches_of, overwritten
from irkit.graph.types import TensorType
from irkit.ir import as_int

_SAME_ORDER = ("reshape", "expand_dims", "squeeze")


class MemoryPart(msgspec.Struct, frozen=True):
    """A place inside the memory of another value; ``offset`` in bytes."""

    whole: Value
    offset: int


class SharedMemory(msgspec.Struct, frozen=True, eq=False):
    """``views`` are values that lie in one that is computed before them. ``joined`` are the results
    of concatenations without a kernel, and ``parts`` says where in them their operands lie."""

    views: dict[Value, MemoryPart]
    joined: frozenset[Value]
    parts: dict[Value, MemoryPart]

    def needs_kernel(self, value: Value) -> bool:
        """Return True unless a value is already there once its operands are."""
        return value not in self.views and value not in self.joined


def shared_memory(func: GraphFunc) -> SharedMemory:
    """Find the operators of the outermost body that only name memory in another way.

    Slices and concatenations must be of constant size, contiguous, and begin at a multiple of
    ``ALIGNMENT`` bytes. Memory of the caller takes no part: parameters and results stay as they
    are, and so do constants.
    """
    return _Search(func).run()


class _Search:
    def __init__(self, func: GraphFunc) -> None:
        self.func = func
        self.views: dict[Value, MemoryPart] = {}
        self.joined: set[Value] = set()
        self.parts: dict[Value, MemoryPart] = {}
        # Tensors in memory that a kernel writes, and that this function owns.
        self.computed: set[Value] = set()
        self.kept = _kept(func)

    def run(self) -> SharedMemory:
        for bind in self.func.body.bindings:
            step = bind.step
            if isinstance(step, (Op, Apply, Invoke)) and isinstance(bind.var.type, TensorType):
                if bind.var in self.kept:
                    continue
                if not isinstance(step, Op) or not (
                    self._view(bind, step) or self._join(bind, step)
                ):
                    self.computed.add(bind.var)
        return SharedMemory(self.views, frozenset(self.joined), self.parts)

    def _view(self, bind: Bind, step: Op) -> bool:
        """Note a value that lies inside its operand; return False for others."""
        if step.name not in (*_SAME_ORDER, "slice"):
            return False
        base = step.args[0]
        owned = base in self.computed or base in self.views or base in self.joined
        offset = 0 if step.name in _SAME_ORDER else _slice_offset(base, attributes(step))
        if not owned or offset is None or offset % ALIGNMENT:
            return False
        self.views[bind.var] = MemoryPart(base, offset)
        return True

    def _join(self, bind: Bind, step: Op) -> bool:
        """Note a concatenation whose operands can be computed in its memory; return False for
        others."""
        if step.name != "concat" or len(set(step.args)) < len(step.args):
            return False
        axis, offset = attributes(step).int("axis"), 0
        found: dict[Value, MemoryPart] = {}
        for arg in step.args:
            size = _bytes_behind(arg, axis)
            movable = arg in self.computed or arg in self.joined
            if size is None or not movable or arg in self.parts or offset % ALIGNMENT:
                return False
            found[arg] = MemoryPart(bind.var, offset)
            offset += size
        self.joined.add(bind.var)
        self.parts |= found
        return True


def _kept(func: GraphFunc) -> set[Value]:
    """Return the values whose memory is that of the caller, or that hold or stand for such."""
    found = {func.body.result, *caches_of(func), *overwritten(func)}
    for bind in reversed(func.body.bindings):
        if bind.var in found and isinstance(bind.step, (Tuple, TupleGet, Prefix)):
            found |= set(operands(bind.step))
    return found


def _slice_offset(x: Value, options: OpOptions) -> int | None:
    """Return how many bytes after the beginning of a tensor a slice begins; None if its elements do
    not lie one behind the other."""
    assert isinstance(x.type, TensorType)
    extents = [as_int(extent) for extent in x.type.shape]
    names = ("begins", "ends", "strides")
    begins, ends, strides = (options.ints(name) for name in names)
    columns = zip(options.ints("axes"), begins, ends, strides, strict=True)
    whole, offset = True, 0
    for at, begin, end, stride in sorted(columns, reverse=True):
        extent = extents[at]
        if extent is None:
            return None
        taken = range(*slice(begin, end, stride).indices(extent))
        if taken == range(extent):
            continue
        inner = _product(extents[at + 1 :])
        # Outside of the outermost axis that is cut, nothing may lie between two pieces.
        if not taken or taken.step != 1 or not whole or inner is None:
            return None
        if any(each != 1 for each in extents[:at]):
            return None
        whole, offset = False, taken.start * inner
    return offset * x.type.dtype.bytes


def _bytes_behind(value: Value, axis: int) -> int | None:
    """Return the bytes of a tensor of constant size whose axes before one have one element."""
    assert isinstance(value.type, TensorType)
    before = [as_int(extent) for extent in value.type.shape[:axis]]
    return None if any(extent != 1 for extent in before) else bytes_of(value.type)


def bytes_of(kind: TensorType) -> int | None:
    """Return the bytes of a tensor; None if an extent is not constant."""
    count = _product([as_int(extent) for extent in kind.shape])
    return None if count is None else count * kind.dtype.bytes


def _product(extents: "list[int | None]") -> int | None:
    known = [extent for extent in extents if extent is not None]
    return prod(known) if len(known) == len(extents) else None
