"""Random loop functions for testing passes, the interpreter and code generation.

Every function is valid and free of undefined behaviour: indices lie in bounds, what is allocated
is written before it is read, and the iterations of a parallel or vectorized loop do not meet.
:func:`arguments` makes arrays to call it with.
"""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from irkit.fuzz.expressions import ExprMaker, Readable
from irkit.fuzz.nests import Nest
from irkit.ir import (
    F32,
    F64,
    I32,
    I64,
    U8,
    Allocate,
    Assert,
    Buffer,
    Const,
    DType,
    Evaluate,
    Expr,
    If,
    Let,
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
    product,
    ramp,
    seq,
    shape_vars,
)
from irkit.ir.arrays import numpy_dtype

_DTYPES = (F32, F32, F64, I32, I64, U8)
_SCOPES = ("global", "local")
_ZERO = Const(0, I64)


@st.composite
def prim_funcs(draw: st.DrawFn, *, blocks: bool = True, max_statements: int = 4) -> PrimFunc:
    """Make a small function; ``blocks`` says whether it may hold blocks."""
    maker = _ProgramMaker(draw, blocks)
    params = maker.params()
    maker.left = draw(st.integers(1, max_statements))
    return PrimFunc("f", params, maker.statements())


def arguments(func: PrimFunc, *, seed: int = 0, largest: int = 5) -> list[Any]:
    """Make NumPy arguments: symbolic dimensions are 1 to ``largest``, floats are whole numbers."""
    random = np.random.default_rng(seed)
    sizes = {var: int(random.integers(1, largest + 1)) for var in shape_vars(func)}
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
    """Make statements, and know what may be read and written where."""

    def __init__(self, draw: st.DrawFn, blocks: bool) -> None:
        self.draw = draw
        self.blocks = blocks
        self.left = 0
        self.dims: list[Expr] = []
        self.integers: list[Expr] = []
        self.buffers: list[Buffer] = []
        self.root: dict[Buffer, Buffer] = {}
        """Whose memory a view shows."""

    def choice(self, count: int) -> int:
        return self.draw(st.integers(0, count - 1))

    def params(self) -> tuple[Buffer | Var, ...]:
        """Make a signature over at most two symbolic dimensions."""
        symbols = [Var("m"), Var("n")]
        pool: list[Expr] = [*symbols, *(Const(size, I64) for size in (1, 3, 4, 8))]
        dims = self.draw(st.lists(st.sampled_from(pool), min_size=1, max_size=3))
        self.dims = list(dict.fromkeys(dims))
        for number in range(2 + self.choice(2)):
            # The first one has every dimension in it, alone, so that the symbols are bound.
            shape = tuple(self.dims) if number == 0 else self.shape()
            self.buffers.append(Buffer("ABC"[number], shape, self.dtype()))
        self.root = {buffer: buffer for buffer in self.buffers}
        scalar = Var("x", I64)
        self.integers = [scalar, *(dim for dim in self.dims if isinstance(dim, Var))]
        return (*self.buffers, scalar)

    def dtype(self) -> DType:
        return self.draw(st.sampled_from(_DTYPES))

    def shape(self) -> tuple[Expr, ...]:
        return tuple(self.draw(st.lists(st.sampled_from(self.dims), max_size=2)))

    def exprs(self) -> ExprMaker:
        return ExprMaker(self.draw, self.integers, [Readable(buffer) for buffer in self.buffers])

    def statements(self) -> Stmt:
        """Make statements until the budget is spent."""
        made = list[Stmt]()
        while self.left > 0:
            self.left -= 1
            form = self.choice(10)
            if form < 5:
                made.append(self.nest(self.draw(st.sampled_from(self.buffers))))
            elif form == 5:
                made.append(self.conditional())
            elif form == 6:
                made.append(self.small())
            else:
                scope = (self.let, self.allocation, self.view)[form - 7]
                # Sometimes the scope ends before the function does.
                after, self.left = (self.left, 1) if self.choice(3) == 0 else (0, self.left)
                known = (list(self.integers), list(self.buffers))
                made.append(scope())
                self.integers, self.buffers = known
                self.left = after
        return seq(*made)

    def conditional(self) -> Stmt:
        cond = self.exprs().condition(1)
        target = self.draw(st.sampled_from(self.buffers))
        return If(cond, self.nest(target), self.nest(target) if self.choice(2) else None)

    def small(self) -> Stmt:
        form = self.choice(3)
        if form == 0:
            return Assert(ge(self.dims[0], 1), "dimensions are at least 1")
        if form == 1:
            return Evaluate(self.exprs().value(F32, 1))
        return self.vectors() or Seq(())

    def vectors(self) -> Stmt | None:
        """Copy several elements at once, some of them masked."""
        targets = [b for b in self.buffers if b.rank == 1 and (as_int(b.shape[0]) or 0) > 1]
        if not targets:
            return None
        target = self.draw(st.sampled_from(targets))
        lanes = as_int(target.shape[0]) or 1
        lanes = self.draw(st.integers(2, lanes))
        place = ramp(0, 1, lanes)
        factor = broadcast(const(2, target.dtype), lanes)
        value = _bounded_lanes(target[place] + factor)
        limit = cast(self.exprs().integer(I64, 0), I64)
        mask = lt(place, broadcast(limit, lanes)) if self.choice(2) else None
        return Store(target, (place,), value, mask)

    def let(self) -> Stmt:
        var = Var("t", I64)
        value = self.exprs().integer(I64, 2)
        self.integers.append(var)
        return Let(var, value, self.statements())

    def allocation(self) -> Stmt:
        buffer = Buffer("T", self.shape(), self.dtype(), self.draw(st.sampled_from(_SCOPES)))
        first = self.nest(buffer, whole=True)
        self.buffers.append(buffer)
        self.root[buffer] = buffer
        return Allocate(buffer, seq(first, self.statements()))

    def view(self) -> Stmt:
        source = self.draw(st.sampled_from(self.buffers))
        size, offset = product(source.shape), _ZERO
        whole = as_int(size)
        if whole is not None and whole > 1 and self.choice(2):
            size, offset = Const(whole - 1, I64), Const(1, I64)
        buffer = Buffer("V", (size,), source.dtype, source.scope)
        self.buffers.append(buffer)
        self.root[buffer] = self.root[source]
        return View(buffer, source, offset, self.statements())

    def nest(self, target: Buffer, *, whole: bool = False) -> Stmt:
        """Make loops that write each element of ``target`` at most once an iteration; ``whole``
        says that it holds nothing yet, and must be written everywhere."""
        block = self.blocks and self.choice(2) == 0
        root = self.root.get(target, target)
        others = [buffer for buffer in self.buffers if self.root[buffer] is not root]
        reducible = [*self.dims, Const(2, I64)]
        nest = Nest(self.draw, target, whole=whole, block=block)
        return nest.make(self.integers, others, reducible)


def _bounded_lanes(value: Expr) -> Expr:
    """Keep vector values small, as ``bounded`` does for scalars."""
    if not value.dtype.is_float:
        return value
    return minimum(value, broadcast(const(8.0, value.dtype.element), value.dtype.lanes))
