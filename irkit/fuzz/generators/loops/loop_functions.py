"""Random loop functions for testing passes, the interpreter and code generation.

Every function is valid and free of undefined behaviour: indices lie in bounds, what is allocated is
written before it is read, and iterations of parallel or vectorized loops do not conflict.
:func:`arguments` makes arrays to call it with.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from irkit.core import Attrs
from irkit.fuzz.generators.expressions import ExprMaker, ReadableBuffer
from irkit.fuzz.generators.loops.barrier_programs import barrier_loop, divergent_loop
from irkit.fuzz.generators.loops.nests import Nest
from irkit.fuzz.generators.stages.stages import count_of
from irkit.fuzz.picks import Picks, picks
from irkit.ir import (
    BF16,
    BOOL,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Allocate,
    Assert,
    Buffer,
    Const,
    DType,
    Evaluate,
    Expr,
    For,
    If,
    Let,
    Load,
    LoopKind,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    Var,
    View,
    as_int,
    broadcast,
    cast,
    const,
    ge,
    lt,
    minimum,
    numpy_dtype,
    product,
    ramp,
    seq,
    shape_vars,
)

_DTYPES = (F32, F32, F64, I32, I64, U8)
_ANY_DTYPES = (*_DTYPES, F16, BF16, I8, I16, U16, U32, U64, BOOL, F32, I32)
_EXTENTS = (1, 3, 4, 8)
_ANY_EXTENTS = (4, 2, 3, 5, 2, 1, 7, 8, 16, 17, 31, 33)
_MOST_ELEMENTS = 100
_SCOPES = ("global", "local")
_AXES = ("threadIdx.y", "vthread", "threadIdx.z")
_AGAIN = 3
_ZERO = Const(0, I64)


def prim_funcs(*, blocks: bool = True, max_statements: int = 4) -> st.SearchStrategy[PrimFunc]:
    """Draw small functions; ``blocks`` allows blocks in them."""
    return picks().map(
        lambda chosen: loop_function(chosen, blocks=blocks, max_statements=max_statements)
    )


def loop_function(
    picks: Picks, *, blocks: bool = True, max_statements: int = 4, wide: bool = False
) -> PrimFunc:
    """Make a small function; ``wide`` allows any types and extents."""
    maker = _ProgramMaker(picks, blocks, wide)
    params = maker.params()
    maker.left = 1 + picks.below(max_statements)
    return PrimFunc("f", params, maker.statements())


def thread_function(picks: Picks) -> PrimFunc:
    """Make a small function of threads, once or twice over."""
    maker = _ProgramMaker(picks, blocks=True, wide=True)
    params = maker.params(threads=2 + picks.below(7))
    made = maker.repeated(maker.launch) if picks.one_in(3) else maker.launch()
    return PrimFunc("f", params, made)


def arguments(func: PrimFunc, *, seed: int = 0) -> list[Any]:
    """Make NumPy arguments: symbolic dimensions are 1 to 5, floats are whole numbers."""
    random = np.random.default_rng(seed)
    sizes = {var: int(random.integers(1, 6)) for var in shape_vars(func)}
    made = list[Any]()
    for param in func.params:
        shape: tuple[int, ...] = ()
        if isinstance(param, Buffer):
            shape = tuple(sizes[d] if isinstance(d, Var) else as_int(d) or 0 for d in param.shape)
        values = random.integers(0 if param.dtype.kind == "u" else -4, 9, size=shape)
        array = np.asarray(values).astype(numpy_dtype(param.dtype))
        made.append(array if isinstance(param, Buffer) else array.item())
    return made


class _ProgramMaker:
    """Maker of statements, which knows what can be read and written where."""

    def __init__(self, picks: Picks, blocks: bool, wide: bool) -> None:
        self.picks = picks
        self.blocks = blocks
        self.dtypes = _ANY_DTYPES if wide else _DTYPES
        self.extents = _ANY_EXTENTS if wide else _EXTENTS
        self.wide = wide
        self.axes: dict[str, int] = {}
        """The thread axes of the current launch, with extents, 0 if not known yet."""
        self.again = 1
        """How often the current statement runs."""
        self.left: int = 0
        self.dims: list[Expr] = []
        self.integers: list[Expr] = []
        self.buffers: list[Buffer] = []
        self.root: dict[Buffer, Buffer] = {}
        """The buffer whose memory a view shows."""

    def params(self, *, threads: int = 0) -> tuple[Buffer | Var, ...]:
        """Make a signature over at most two symbolic dimensions, perhaps with a buffer of one
        element for each of some ``threads``."""
        symbols = [Var("m"), Var("n")]
        pool: list[Expr] = [*symbols, *(Const(size, I64) for size in self.extents)]
        dims = [self.picks.pick(pool) for _ in range(1 + self.picks.below(3))]
        self.dims = _few(dict.fromkeys(dims))
        for number in range(2 + self.picks.below(2)):
            # The first buffer has every symbolic dimension by itself, so that the symbols are
            # bound.
            shape = tuple(self.dims) if number == 0 else self.shape()
            strides = self.strides(shape) if self.wide and self.picks.one_in(8) else None
            self.buffers.append(Buffer("ABC"[number], shape, self.dtype(), strides=strides))
        if threads:
            self.buffers.append(Buffer("D", (Const(threads, I64),), self.dtype()))
        self.root = {buffer: buffer for buffer in self.buffers}
        scalar = Var("x", I64)
        self.integers = [scalar, *(dim for dim in self.dims if isinstance(dim, Var))]
        return (*self.buffers, scalar)

    def dtype(self) -> DType:
        return self.picks.pick(self.dtypes)

    def shape(self) -> tuple[Expr, ...]:
        return tuple(_few(self.picks.pick(self.dims) for _ in range(self.picks.below(3))))

    def strides(self, shape: Sequence[Expr]) -> tuple[Expr, ...] | None:
        """Leave gaps between elements or rows, where the extents are known."""
        found: list[Expr] = []
        step = 1 + self.picks.below(2)
        for dim in reversed(shape):
            found.append(Const(step, I64))
            step = step * (as_int(dim) or 0) + self.picks.below(3)
        known = all(as_int(dim) is not None for dim in shape)
        return tuple(reversed(found)) if shape and known else None

    def exprs(self) -> ExprMaker:
        return ExprMaker(
            self.picks, self.integers, [ReadableBuffer(buffer) for buffer in self.buffers]
        )

    def statements(self) -> Stmt:
        """Make statements until the budget is spent."""
        made = list[Stmt]()
        while self.left > 0:
            self.left -= 1
            form = self.picks.below(15 if self.wide else 10)
            if self.axes and self.again == 1 and self.picks.one_in(3):
                form = 10
            if form < 5:
                made.append(self.nest(self.picks.pick(self.buffers)))
            elif form == 5:
                made.append(self.conditional())
            elif form == 6:
                made.append(self.small())
            elif form in (10, 11):
                made.append(self.repeated())
            elif form in (12, 13):
                made.append(self.launch())
            else:
                scope = {7: self.let, 9: self.view, 14: self.view}.get(form, self.allocation)
                # Sometimes the scope ends before the function does.
                after, self.left = (self.left, 1) if self.picks.below(3) == 0 else (0, self.left)
                known = (list(self.integers), list(self.buffers))
                made.append(scope())
                self.integers, self.buffers = known
                self.left = after
        return seq(*made)

    def repeated(self, inside: Callable[[], Stmt] | None = None) -> Stmt:
        """Repeat statements in a loop: each iteration finds what the previous one left."""
        if self.again > 1:
            return self.nest(self.picks.pick(self.buffers))
        count = 2 + self.picks.below(_AGAIN - 1)
        var, self.again = Var("s"), count
        kind: LoopKind = "unrolled" if self.picks.one_in(6) else "serial"
        if inside is None:
            inside = self.allocation if self.wide and self.picks.one_in(3) else self.statements
        body = self._inside((*self.integers, var), self.buffers, inside)
        self.again = 1
        return For(var, _ZERO, Const(count, I64), body, kind)

    def launch(self) -> Stmt:
        """Run some nests on threads, one after the other: there are no barriers yet."""
        if self.axes:
            return self.nest(self.picks.pick(self.buffers))
        form = self.picks.below(11)
        if form in (4, 7, 8, 9, 10):
            root = {buffer: self.root[buffer] for buffer in self.buffers}
            make = divergent_loop if form == 4 else barrier_loop
            made = make(self.picks, self.integers, root)
            if made is not None:
                return made
        self.axes = dict.fromkeys(("threadIdx.x", *self.picks.some(_AXES, 3)), 0)
        inside = self.joined if form in (5, 6) else self.statements
        body = self._inside(self.integers, self.buffers, inside)
        self.axes = {}
        return For(Var("b"), _ZERO, Const(1, I64), body, "thread", "blockIdx.x")

    def joined(self) -> Stmt:
        """Make sums to which all threads contribute."""
        return self.nest(self.picks.pick(self.buffers), joins=True)

    def _inside(
        self, integers: Sequence[Expr], buffers: Sequence[Buffer], make: Callable[[], Stmt]
    ) -> Stmt:
        """Make up to three statements over the given integers and buffers, and join them."""
        known, left = (self.integers, self.buffers), self.left
        self.integers, self.buffers = list(integers), list(buffers)
        self.left = 1 + self.picks.below(max(2, min(3, left)))
        left -= self.left - 1
        made = make()
        self.integers, self.buffers = known
        self.left = left
        return made

    def conditional(self) -> Stmt:
        cond = self.exprs().condition(1)
        target = self.picks.pick(self.buffers)
        return If(cond, self.nest(target), self.nest(target) if self.picks.below(2) else None)

    def small(self) -> Stmt:
        form = self.picks.below(3)
        if form == 0:
            return Assert(ge(self.dims[0], 1), "dimensions are at least 1")
        if form == 1:
            return Evaluate(self.exprs().value(F32, 1))
        return self.vectors() or Seq(())

    def vectors(self) -> Stmt | None:
        """Copy several elements at once, some of them masked."""
        flat = [b for b in self.buffers if b.rank == 1 and not b.dtype.is_bool]
        targets = [b for b in flat if (as_int(b.shape[0]) or 0) > 1]
        if not targets:
            return None
        target = self.picks.pick(targets)
        lanes = as_int(target.shape[0]) or 1
        lanes = 2 + self.picks.below(lanes - 1)
        place = ramp(0, 1, lanes)
        factor = broadcast(const(2, target.dtype), lanes)
        limit = cast(self.exprs().integer(I64, 0), I64)
        some = lt(place, broadcast(limit, lanes))
        read = target[self.gathered(target, place)]
        if self.picks.one_in(3):
            read = Load(target, read.indices, some, read.dtype)
        value = _bounded_lanes(read + factor)
        mask = some if self.picks.below(2) else None
        return Store(target, (place,), value, mask)

    def gathered(self, target: Buffer, place: Expr) -> Expr:
        """Choose the elements that lanes read: their own, or those at gathered indices."""
        names = [each for each in self.buffers if each.rank == 1 and each.shape == target.shape]
        names = [each for each in names if each.dtype.is_integer]
        if not (self.wide and names and self.picks.one_in(3)):
            return place
        named = cast(self.picks.pick(names)[place], I64)
        return named % broadcast(target.shape[0], place.dtype.lanes)

    def let(self) -> Stmt:
        var = Var("t", I64)
        value = self.exprs().integer(I64, 2)
        self.integers.append(var)
        return Let(var, value, self.statements())

    def allocation(self) -> Stmt:
        scope = "shared" if self.axes else self.picks.pick(_SCOPES)
        buffer = Buffer("T", self.shape(), self.dtype(), scope)
        first = self.nest(buffer, whole=True)
        self.buffers.append(buffer)
        self.root[buffer] = buffer
        attrs: Attrs = ()
        if self.again > 1 and self.picks.below(2):
            attrs = (("double_buffer", True),)
        return Allocate(buffer, seq(first, self.statements()), attrs)

    def view(self) -> Stmt:
        source = self.picks.pick([each for each in self.buffers if each.strides is None] or [None])
        if source is None:
            return self.statements()
        size, offset = product(source.shape), _ZERO
        whole = as_int(size)
        if whole is not None and whole > 1 and self.picks.below(2):
            size, offset = Const(whole - 1, I64), Const(1, I64)
        shape, strides = (size,), None
        if self.wide and self.picks.below(2):
            shape, strides = self.spread(source.shape, as_int(size))
        buffer = Buffer("V", shape, source.dtype, source.scope, strides=strides)
        self.buffers.append(buffer)
        self.root[buffer] = self.root[source]
        return View(buffer, source, offset, self.statements())

    def spread(
        self, whole: tuple[Expr, ...], size: int | None
    ) -> tuple[tuple[Expr, ...], tuple[Expr, ...] | None]:
        """Lay out rows and columns with gaps in this many elements; symbolic dimensions take
        turns."""
        if size is None or size < 1:
            return tuple(reversed(whole)), None
        step, rows = 1 + self.picks.below(2), 1 + self.picks.below(2)
        row = size // rows
        columns = (row + step - 1) // step
        shape, strides = (rows, columns), (row, step)
        if not self.picks.below(3):
            shape, strides = shape[::-1], strides[::-1]
        if columns == 0:
            return (Const(size, I64),), None
        found = [tuple(Const(each, I64) for each in many) for many in (shape, strides)]
        return found[0], found[1]

    def nest(self, target: Buffer, *, whole: bool = False, joins: bool = False) -> Stmt:
        """Make loops that write each element of ``target`` at most once per iteration; ``whole``
        means that it is uninitialised, and must be written everywhere."""
        block = self.blocks and self.picks.below(2) == 0
        root = self.root.get(target, target)
        others = [buffer for buffer in self.buffers if self.root[buffer] is not root]
        reducible = [*self.dims, Const(2, I64)]
        nest = Nest(
            *(self.picks, target),
            whole=whole,
            block=block,
            wide=self.wide,
            axes=self.axes,
            joins=joins and self.blocks,
        )
        return nest.make(self.integers, others, reducible)


def _few(dims: Iterable[Expr]) -> list[Expr]:
    """Leave out dimensions until a buffer with all of them is small."""
    kept, count = list[Expr](), 1
    for dim in dims:
        if count * count_of([dim]) <= _MOST_ELEMENTS:
            count *= count_of([dim])
            kept.append(dim)
    return kept


def _bounded_lanes(value: Expr) -> Expr:
    """Keep vector values small, as ``bounded`` does for scalars."""
    if not value.dtype.is_float:
        return value
    return minimum(value, broadcast(const(8.0, value.dtype.element), value.dtype.lanes))
