"""Buffers of a nest, places in them at a distance from each other, values, and loops."""

from collections.abc import Sequence

from irkit.fuzz.generators.loops.value_idioms import value_idiom
from irkit.fuzz.picks import Picks
from irkit.ir import (
    F32,
    F64,
    I32,
    I64,
    Buffer,
    Const,
    DType,
    Expr,
    For,
    Stmt,
    Var,
    cast,
    const,
    eq,
    ge,
    le,
    logical_not,
    lt,
    minimum,
    ne,
)

_DTYPES: tuple[DType, ...] = (F32, I32, F32, I64, F64)
_EXTENTS = (4, 2, 3, 6, 4, 8, 5)
ZERO = Const(0, I64)
REACH = 2
"""How many elements before and after those of the loops each dimension has."""
BESIDE = ((-1, 1), (1, -1), (-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (1, 1), (-2, 1), (0, 0))

Place = tuple[Expr, ...]


class NestValues:
    """Places, values and loops over matrices A and B, rows R, S and T, a cube Q, columns of any
    length, and scalars."""

    def __init__(self, picks: Picks) -> None:
        self.picks = picks
        self.dtype = picks.pick(_DTYPES)
        self.extent = picks.pick(_EXTENTS)
        self.square = picks.below(2) == 0
        self.columns = self.extent if self.square else picks.pick(_EXTENTS)
        full, wide = (Const(n + 2 * REACH, I64) for n in (self.extent, self.columns))
        self.matrices = [Buffer(name, (full, wide), self.dtype) for name in "AB"]
        self.rows = [Buffer(name, (wide,), self.dtype) for name in "RST"]
        self.cube = Buffer("Q", (full, wide, full), self.dtype)
        self.any_length = Var("n")
        self.lines = [Buffer(name, (self.any_length,), self.dtype) for name in "LM"]
        self.places = Buffer("P", (wide,), I64)
        self.scalar, self.factor = Var("x", I64), Var("y", self.dtype)
        buffers = (*self.matrices, *self.rows, self.cube, *self.lines, self.places)
        self.params: tuple[Buffer | Var, ...] = (*buffers, self.scalar, self.factor)

    def var(self, name: str, begin: int = -1) -> tuple[Var, int]:
        """Return a variable, and where its loop begins: what it can read before that is as much."""
        begins = (0, 1, 0, 2)
        return Var(name), self.picks.pick(begins) if begin < 0 else begin

    def loop(self, var: Var, begin: Expr | int, end: Expr | int, body: Stmt) -> For:
        bounds = [Const(each, I64) if isinstance(each, int) else each for each in (begin, end)]
        return For(var, bounds[0], bounds[1], body, "serial")

    def end(self, begin: int, extent: int) -> Expr:
        """Return where a loop ends; sometimes an argument decides."""
        whole = Const(begin + extent, I64)
        return minimum(self.scalar, whole) if self.picks.one_in(6) else whole

    def nest(self, body: Stmt, *loops: tuple[Var, int, int]) -> For:
        """Put loops around a statement, given from outside with where they begin and how often
        they run; in any order."""
        order = list(loops)
        if self.picks.below(2):
            order.reverse()
        for var, begin, extent in reversed(order):
            body = self.loop(var, begin, self.end(begin, extent), body)
        assert isinstance(body, For)
        return body

    def beside(self, place: Place, begins: Sequence[int], apart: Sequence[int]) -> Place:
        """Return the element at a distance, or nearer where the buffer ends."""
        found = list[Expr]()
        for index, begin, by in zip(place, begins, apart, strict=True):
            by = max(-begin, min(by, 2 * REACH - begin))
            found.append(index + by if by > 0 else index - -by if by < 0 else index)
        return tuple(found)

    def apart(self, place: Place, begins: Sequence[int], by: Sequence[int]) -> tuple[Place, Place]:
        """Return two elements at a distance, of which the first is the given one if the other is
        inside of the buffer then."""
        moved = [max(0, -begin - step) for begin, step in zip(begins, by, strict=True)]
        here = self.beside(place, begins, moved)
        return here, self.beside(place, begins, [a + b for a, b in zip(moved, by, strict=True)])

    def distance(self, rank: int) -> tuple[int, ...]:
        if rank == 2:
            return self.picks.pick(BESIDE)
        return tuple(self.picks.between(-REACH, REACH) for _ in range(rank))

    def value(self, *reads: Expr, depth: int = 1) -> Expr:
        """Combine some values, so that their order and number matter."""
        made = reads[0]
        for read in (*reads[1:], *[self.leaf()] * (depth > 0 and self.picks.one_in(3))):
            made = self.joined(made, read)
        if len(reads) == 1:
            form = self.picks.below(4)
            made = (made + const(1, self.dtype), made * const(2, self.dtype), made, -made)[form]
        return made

    def joined(self, a: Expr, b: Expr) -> Expr:
        form = self.picks.below(6)
        if form > 3:
            return value_idiom(self.picks, a, b, self.factor)
        return (a + b, a - b, a * const(2, self.dtype) + b, b + b - a)[form]

    def leaf(self) -> Expr:
        form = self.picks.below(3)
        return (const(self.picks.between(-3, 5), self.dtype), self.factor, self.rows[2][0])[form]

    def of(self, index: Expr) -> Expr:
        """Return a loop variable as a value."""
        return cast(index, self.dtype)

    def condition(self, index: Expr, data: Expr) -> Expr:
        form = self.picks.below(7)
        limit = const(self.picks.between(-1, 3), self.dtype)
        whole = Const(self.picks.between(0, 3), I64)
        return (
            lambda: lt(data, limit),
            lambda: lt(whole, self.scalar),
            lambda: eq(index % 2, 0),
            lambda: ge(data, self.factor),
            lambda: lt(index, self.scalar),
            lambda: ne(data, limit),
            lambda: logical_not(le(data, limit)),
        )[form]()

    def matrix_nest(self) -> tuple[list[tuple[Var, int, int]], Place, list[int]]:
        (i, low), (j, left) = self.var("i"), self.var("j")
        return [(i, low, self.extent), (j, left, self.columns)], (i, j), [low, left]

    def row_loop(self, name: str = "i") -> tuple[tuple[Var, int, int], Place, list[int]]:
        i, low = self.var(name)
        return (i, low, self.columns), (i,), [low]
