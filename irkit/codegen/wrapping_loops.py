"""Workaround for loops of LLVM 20 to 22.1 whose index wraps around.

LLVM takes ``zext(trunc(j + 3))``, which it makes of ``(j + 3) & 31``, for consecutive where the
addition in 5 bits does not wrap around, and checks that at run time. But it drops the check if the
loop has another one, of a wider addition that begins no lower (``SCEVWrapPredicate::implies``):
no wrap in 32 bits is taken for no wrap in 5. Then loop-vectorize reads and writes consecutive
elements, also behind the buffer.

Which additions LLVM checks depends on all that its passes did before. So the cure does not look for
the wider one. An innermost loop is cut where its indices wrap around, if that makes few parts. Each
other loop around an index that may wrap in fewer bits than its address has gets
``llvm.loop.vectorize.enable`` false: LLVM's vector code for it would never run, unless the loop
ends before the index wraps around.

before:
    for j in serial(0, 32):
        C[j] = A[(j + 3) % 32]
after:
    for j in serial(0, 29):
        C[j] = A[(j + 3) % 32]
    for j in serial(29, 32):
        C[j] = A[(j + 3) % 32]
Source: llvm/llvm-project, pull requests 118184 (LLVM 20) and 191498 (after 22.1).
"""

import os
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from types import MappingProxyType

import msgspec

from irkit.core import Node, any_node, children, postorder, walk
from irkit.ir import (
    Add,
    Allocate,
    Assert,
    BitAnd,
    Block,
    Broadcast,
    Buffer,
    Call,
    Cast,
    Const,
    DType,
    Evaluate,
    Expr,
    FloorDiv,
    FloorMod,
    For,
    InstructionCall,
    Let,
    Load,
    Mul,
    Neg,
    PrimFunc,
    Reinterpret,
    Shl,
    Shr,
    Stmt,
    Store,
    Sub,
    Var,
    View,
    as_int,
)
from irkit.ir.arith import Interval, bounds, loop_ranges

_SWITCH = "IRKIT_TEST_WITHOUT_CURE"
_FEWEST_BITS = 32
"""A sum of so many bits that wraps around moves by 2**32 elements, so one side is outside."""
_PROMOTED = 1024
"""The most elements of a local array that LLVM may keep in registers, by unrolling."""
_MAY_NARROW = {FloorMod, BitAnd, Shl, Call, Cast, Reinterpret, Add, Sub, Mul, Neg}
_MOST_PARTS, _MOST_CUT = 4, 8
"""The most parts of a loop, and the most loops of a function that are cut."""
_NOWHERE: Mapping[Var, tuple[int, ...]] = MappingProxyType({})
_NONE = frozenset[Var]()
_NO_ARRAYS = frozenset[Buffer]()


@contextmanager
def without_cure() -> Generator[None]:
    """Emit code as if LLVM had no such bug, here and in child processes: for tests that must see
    it. Results must not come from a cache of kernels: the cure is no part of its keys."""
    before = os.environ.get(_SWITCH)
    os.environ[_SWITCH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SWITCH]
        else:
            os.environ[_SWITCH] = before


def wrapping_loops(func: PrimFunc) -> Mapping[Var, tuple[int, ...]]:
    """Return the variables of the loops in which an index may wrap around in few bits.

    With each come the ends of the parts of its loop in which none does, from the begin to the end
    of the loop: empty if there are too many, or they are not known.
    """
    candidates = (node for node in walk(func.body) if node.__class__ in _MAY_NARROW)
    if not any(map(_narrows, candidates)) or os.environ.get(_SWITCH):
        return _NOWHERE
    analysis = _Wraps(func)
    wrapping = analysis.loops()
    inner = [loop for loop in walk(func.body, For) if loop.var in wrapping and _can_be_cut(loop)]
    cut = {loop.var: _parts(analysis, loop) for loop in inner[:_MOST_CUT]}
    return {var: cut.get(var, ()) for var in wrapping}


def _can_be_cut(loop: For) -> bool:
    """Return True for an innermost loop of constant ends that allocates and checks nothing."""
    ends_known = as_int(loop.begin) is not None and as_int(loop.end) is not None
    return ends_known and not any_node(loop.body, (For, Allocate, Assert, Evaluate, View))


def _parts(analysis: "_Wraps", loop: For) -> tuple[int, ...]:
    """Return the ends of the longest parts of a loop in which no index wraps around."""
    first, last = as_int(loop.begin), as_int(loop.end)
    assert first is not None
    assert last is not None

    ends = [first]
    while ends[-1] < last and len(ends) <= _MOST_PARTS:
        low, high = ends[-1], last + 1  # A part may end at ``low``, and not at ``high``.
        while high - low > 1:
            middle = (low + high) // 2
            part = Interval(ends[-1], middle - 1)
            low, high = (low, middle) if analysis.wraps(loop, part) else (middle, high)
        if low == ends[-1]:
            return ()
        ends.append(low)
    return tuple(ends) if ends[-1] == last else ()


def _narrows(node: Node) -> bool:
    """Return True for what can make an integer of few bits; most functions have none of it."""
    match node:
        case FloorMod() | BitAnd():
            return node.dtype.is_integer and _block(node) is not None
        case Shl() | Call("truncmod"):
            return True
        case Cast() | Reinterpret():
            return _shrinks(node)
        case Add() | Sub() | Mul() | Neg():
            return node.dtype.is_integer and node.dtype.bits < _FEWEST_BITS
        case _:
            return False


class _Facts(msgspec.Struct, frozen=True):
    """What is known of a value: the loops with which it ``moves`` by steps, those in which it
    ``wraps`` around, and the local ``arrays`` whose elements it read before it wrapped."""

    moves: frozenset[Var] = _NONE
    wraps: frozenset[Var] = _NONE
    reads: frozenset[Buffer] = _NO_ARRAYS
    arrays: frozenset[Buffer] = _NO_ARRAYS


def _joined(facts: Iterable[_Facts]) -> _Facts:
    items = [item for item in facts if item is not _NOTHING]
    if len(items) < 2:
        return items[0] if items else _NOTHING
    return _Facts(
        _NONE.union(*(item.moves for item in items)),
        _NONE.union(*(item.wraps for item in items)),
        _NO_ARRAYS.union(*(item.reads for item in items)),
        _NO_ARRAYS.union(*(item.arrays for item in items)),
    )


_NOTHING = _Facts()


class _Wraps:
    """Facts of the variables and local arrays of a function."""

    def __init__(self, func: PrimFunc) -> None:
        self.func = func
        self.ranges = loop_ranges(func)
        self.variables: dict[Var, _Facts] = {}
        self.sources: dict[Buffer, Buffer] = {}
        self.arrays: dict[Buffer, _Facts] = {
            node.buffer: _NOTHING for node in walk(func.body, Allocate) if _is_small(node.buffer)
        }
        self.around = _loops_around(func)

    def loops(self) -> frozenset[Var]:
        found = frozenset[Var]()
        while True:  # Until what is stored in local arrays is known, through each other.
            before = dict(self.arrays)
            found |= self._once(self.func.body)
            if self.arrays == before:
                return found

    def wraps(self, loop: For, part: Interval) -> bool:
        """Return True if an index may wrap around in a part of a loop."""
        ranges = self.ranges
        self.ranges = loop_ranges(loop.body, {**ranges, loop.var: part})
        try:
            return loop.var in self._once(loop.body)
        finally:
            self.ranges = ranges

    def _once(self, root: Stmt) -> frozenset[Var]:
        found = set[Var]()
        for node in walk(root):
            match node:
                case For():
                    self.variables[node.var] = _Facts(frozenset({node.var}))
                case Let():
                    self.variables[node.var] = self.of(node.value)
                case Block():
                    for axis in node.axes:
                        self.variables[axis.var] = self.of(axis.binding)
                case View():
                    self.sources[node.buffer] = self.sources.get(node.source, node.source)
                    found |= self.of(node.offset).wraps
                case Load():
                    found |= _joined(map(self.of, node.indices)).wraps
                case Store():
                    found |= _joined(map(self.of, node.indices)).wraps
                    found |= self._stored(node)
                case _:
                    pass
        return frozenset(found)

    def _stored(self, node: Store) -> frozenset[Var]:
        """Note what a local array holds, which is a variable for LLVM; return the loops in which it
        counts and wraps around."""
        array = self.sources.get(node.buffer, node.buffer)
        known = self.arrays.get(array)
        if known is None or not node.value.dtype.is_integer:
            return _NONE
        facts, around = self.of(node.value), self.around[id(node)]
        self.arrays[array] = _Facts(known.moves | facts.moves | around, known.wraps | facts.wraps)
        return around if array in facts.arrays else _NONE

    def of(self, root: Expr) -> _Facts:
        """Return the facts of an expression."""
        known: dict[int, _Facts] = {}
        for node in postorder(root):
            assert isinstance(node, Expr)
            known[id(node)] = self._of(node, known)
        return known[id(root)]

    def _of(self, node: Expr, known: dict[int, _Facts]) -> _Facts:
        if not node.dtype.is_integer or isinstance(node, (Const, InstructionCall)):
            return _NOTHING
        if isinstance(node, Var):
            return self.variables.get(node, _NOTHING)
        if isinstance(node, Load):
            array = self.sources.get(node.buffer, node.buffer)
            facts = self.arrays.get(array)
            return (
                _NOTHING
                if facts is None
                else msgspec.structs.replace(facts, reads=frozenset({array}))
            )
        joined = _joined(known[id(below)] for below in children(node))
        if joined is _NOTHING or not (joined.moves or joined.reads) or not self._may_wrap(node):
            return joined
        return msgspec.structs.replace(
            joined, wraps=joined.wraps | joined.moves, arrays=joined.arrays | joined.reads
        )

    def _may_wrap(self, node: Expr) -> bool:
        """Return True if a result may be that of an operation in fewer bits, wrapped around."""
        match node:
            case FloorMod(a, b) | BitAnd(a, b) | Call("truncmod", (a, b)):
                block = _block(node)
                masked = a if as_int(_scalar(a)) is None else b
                return block is not None and not self._stays(masked, block)
            case Cast(value) | Reinterpret(value):
                dtype = node.dtype
                return _shrinks(node) and not self._stays(value, 1 << dtype.bits, dtype.low)
            case Shl(a, b):
                return not self._fits(a, as_int(_scalar(b)), node.dtype)
            case Shr(Mul() as a, b) | FloorDiv(Mul() as a, b) if node.dtype.bits <= _FEWEST_BITS:
                return as_int(_scalar(b)) is not None and self._may_leave(a)
            case Add() | Sub() | Mul() | Neg() if node.dtype.bits < _FEWEST_BITS:
                return self._may_leave(node)
            case _:
                return False

    def _stays(self, value: Expr, block: int, first: int = 0) -> bool:
        """Return True if a value stays in one of the blocks of numbers that begin at ``first``."""
        low, high = _ends(bounds(value, self.ranges))
        if low is None or high is None:
            return False
        return (low - first) // block == (high - first) // block

    def _fits(self, value: Expr, shift: int | None, dtype: DType) -> bool:
        """Return True if a value shifted left cannot leave its type."""
        return shift is None or (
            0 <= shift < dtype.bits
            and _contains(dtype, bounds(value, self.ranges) * Interval(1 << shift, 1 << shift))
        )

    def _may_leave(self, node: Expr) -> bool:
        """Return True if arithmetic may leave its type: then it may have every value of it."""
        return _ends(bounds(node, self.ranges)) == (node.dtype.low, node.dtype.high)


def _block(node: FloorMod | BitAnd | Call) -> int | None:
    """Return the power of 2 that a mask, or a remainder by such a power, wraps around at."""
    if not isinstance(node, BitAnd):
        b = node.args[1] if isinstance(node, Call) else node.b
        by = as_int(_scalar(b))
        return by if by is not None and by > 0 and by & (by - 1) == 0 else None
    mask = as_int(_scalar(node.b))
    if mask is None:
        mask = as_int(_scalar(node.a))
    return None if mask is None or mask < 0 else 1 << mask.bit_length()


def _shrinks(node: Cast | Reinterpret) -> bool:
    """Return True if a type does not have every number of an integer type that becomes it; i64 and
    u64 address the same."""
    before, after = node.value.dtype, node.dtype
    if not before.is_integer or not after.is_integer or after.bits == 64:
        return False
    return before.low < after.low or before.high > after.high


def _contains(dtype: DType, interval: Interval) -> bool:
    low, high = _ends(interval)
    return low is not None and high is not None and dtype.low <= low and high <= dtype.high


def _ends(interval: Interval) -> tuple[int | None, int | None]:
    return interval.low, interval.high


def _scalar(node: Expr) -> Expr:
    return node.value if isinstance(node, Broadcast) else node


def _is_small(buffer: Buffer) -> bool:
    """Return True if LLVM may keep the elements of a local array in registers."""
    size = 1
    for dim in buffer.shape:
        extent = as_int(dim)
        if extent is None:
            return False
        size *= extent
    return size <= _PROMOTED


def _loops_around(func: PrimFunc) -> dict[int, frozenset[Var]]:
    """Return the variables of the loops around each store, by its ``id``."""
    around: dict[int, frozenset[Var]] = {}
    stack: list[tuple[Node, frozenset[Var]]] = [(func.body, _NONE)]
    while stack:
        node, loops = stack.pop()
        if isinstance(node, Store):
            around[id(node)] = loops | around.get(id(node), _NONE)
            continue
        inside = loops | {node.var} if isinstance(node, For) else loops
        stack += [(below, inside) for below in children(node) if isinstance(below, Stmt)]
    return around
