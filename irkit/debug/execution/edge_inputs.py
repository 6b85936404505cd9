"""Inputs at the edges: the limits of types, powers of two, and the constants of a program.

What goes wrong only at a width, at a tie or near a constant is not met by small numbers drawn at
random. Sizes, values and pairs of values are covered one after the other, the likeliest first; the
seed decides only what stands between them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from irkit.debug.execution.covering_array import ANY, covering_rows
from irkit.debug.execution.edge_sizes import (
    LARGEST_OF_STEP,
    USUAL,
    assignments,
    deciding,
    wanted_sizes,
)
from irkit.debug.execution.edge_values import (
    PER_CONSTANT,
    Array,
    Edges,
    float_edges,
    integer_edges,
)
from irkit.debug.execution.inputs import (
    InputSet,
    TooLarge,
    arguments_of,
    dim_size,
    size_vars,
    sizes_of,
)
from irkit.debug.execution.parameter_roles import (
    Symbol,
    accumulates,
    inputs_of,
    overwrites,
    steering,
)
from irkit.debug.execution.row_patterns import filled_rows, odd_rows, rows_of
from irkit.ir import Buffer, DType, Expr, PrimFunc, Var, numpy_dtype

MAX_BYTES = 1 << 22
"""Memory of the arguments of one set."""
_RANGES = ((2.0**-20, 2.0**20), (2.0**-20, 2.0**20), (0.0, 2.0**60), (0.0, np.inf))
"""Sizes of floats in the sets of a function that accumulates: one infinity hides all the rest."""
_BASIC = 7
"""Values at the front of each pool that do not come from constants."""
_ODD_FIRST, _ODD_LATER, _ODD_ALONE = 28, 12, 6
"""Sets of rows with an odd one: of a function that accumulates, at the first step and at each later
one that brings constants; and of any other function."""
_ODD_CONSTANTS = 8
_LONGEST_ROW = 300
_INDICES = (0, 1, 2, 3, 4, 7, 8, 16, 17, 33, 64, 65, 129, 257, -1, -2)

Sizes = dict[Var, int]
Fill = Callable[[Symbol, tuple[int, ...], np.random.Generator], Array]


class EdgeInputs:
    """The sets of arguments at the edges of one function, made one after the other.

    Parameters whose values become indices, sizes or bounds of loops get small numbers; sets of
    their own have larger and negative ones. With ``fresh_only``, the sets are those that only the
    fresh constants, the ``narrow`` types and the ``conditions`` on sizes of a step add.
    """

    def __init__(
        self,
        func: PrimFunc,
        edges: Edges,
        *,
        dims: Mapping[str, int],
        seed: int,
        narrow: Sequence[DType] = (),
        conditions: Sequence[Expr] = (),
        start: int = 0,
        fresh_only: bool = False,
    ) -> None:
        self.func, self.edges, self.dims, self.seed = func, edges, dims, seed
        self.number, self.fresh_only = start, fresh_only
        self.sizes = [var for var in size_vars(func) if var.name not in dims]
        self.beyond = [dtype.high + 2 for dtype in narrow]
        self.conditions = conditions
        self.wanted = wanted_sizes(edges, fresh_only=fresh_only)
        self.steers = steering(func) - set(self.sizes)
        self.read = [p for p in func.params if p in inputs_of(func) - self.steers - {*self.sizes}]
        self.pools = {p: _pool(p.dtype, edges) for p in func.params if p not in self.steers}
        if fresh_only:
            count = _BASIC + PER_CONSTANT * edges.fresh
            self.pools = {param: pool[:count] for param, pool in self.pools.items()}
        self.rows = covering_rows([self.pools[param] for param in self.read], brief=fresh_only)
        self.at = self.turn = 0  # The next row, and the number of sets that have used rows.
        self.accumulates = accumulates(func)
        self._too_long: list[Sizes] = []
        self._latest: Sizes = {}
        self._counts: dict[Symbol, int] = {}

    def __iter__(self) -> Iterator[InputSet]:
        """Yield the sets: sizes, whole rows of one kind of value, larger indices, and what is left
        of the values, in turn."""
        sizes = self._of_sizes()
        turns = [sizes, self._of_rows(), sizes, self._of_indices(), sizes, self._of_values()]
        while turns:
            for turn in list(turns):
                found = next(turn, None)
                if found is not None:
                    yield found
                elif turn in turns:
                    turns = [each for each in turns if each is not turn]

    def odd_rows(self) -> Iterator[InputSet]:
        """Yield sets whose rows hold one value, and an odd one somewhere: conditions over many
        elements, such as "all are the same", hold or fail by that one alone.

        Where each element of a result is decided by few others, few sets do.
        """
        params = [param for param in self.read if isinstance(param, Buffer) and param.rank]
        if not params:
            return
        most = _ODD_LATER if self.fresh_only else _ODD_FIRST
        if not self.accumulates and not overwrites(self.func):
            most = _ODD_ALONE
        places = self._odd_places()
        length = max([at for at in places if at >= 0], default=0) + 2
        for turn in range(most):
            usual = {var: max(n, min(length, _LONGEST_ROW)) for var, n in self._usual(turn).items()}
            only = params[turn // 2 % len(params)] if turn % 2 and len(params) > 1 else None
            yield from self._made(usual, self._with_odd_one(turn, places, only))

    def _odd_places(self) -> list[int]:
        """Return where the odd one stands: at the ends, and near the constants of the step; from
        the end where negative."""
        near = [int(c) for c in self.edges.constants if np.isfinite(c) and 0 < c < _LONGEST_ROW]
        fresh, old = near[: self.edges.fresh], near[self.edges.fresh :]
        close = [at for c in fresh for at in (c, c - 1, c + 1, -c, -c - 1)]
        far = [] if self.fresh_only else [at for c in old[:4] for at in (c - 1, c)]
        return list(dict.fromkeys([-1, *close[:1], 0, *close[1:], *far]))

    def _with_odd_one(self, turn: int, places: Sequence[int], only: Buffer | None) -> Fill:
        def fill(param: Symbol, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
            if param in self.steers or param not in self.pools or not shape:
                return self._ordinary(param, shape, rng)
            given, odd = self.edges.constants[:_ODD_CONSTANTS], only in (None, param)
            return odd_rows(param.dtype, shape, given, places, turn, odd=odd)

        return fill

    @property
    def is_long(self) -> bool:
        """Return True if the latest set is as long as the limits of a narrow type ask for."""
        return bool(set(self.beyond).intersection(self._latest.values()))

    def took_too_long(self) -> None:
        """Skip sets whose sizes are at least as large as those of the latest set."""
        if self._latest:
            self._too_long.append(self._latest)

    def _of_sizes(self) -> Iterator[InputSet]:
        """Yield sets of each size; what counts in a narrow type goes beyond its limits."""
        for size in self.beyond:
            for dim in self.sizes:
                yield from self._made({**dict.fromkeys(self.sizes, 1), dim: size}, self._moderate)
        for sizes in deciding(self.sizes, self.conditions):
            yield from self._made(sizes, self._moderate)
        for sizes in assignments(self.sizes, self.wanted) if self.sizes else ():
            yield from self._made(sizes, self._moderate)

    def _of_values(self) -> Iterator[InputSet]:
        single = [len(self.pools[param]) for param in self.read if isinstance(param, Var)]
        while self.read and (self.at < len(self.rows) or self.turn < max(single, default=0)):
            before = self.turn
            yield from self._made(self._usual(self.turn), self._packed)
            if self.turn == before:  # It is too large.
                return

    def _of_rows(self) -> Iterator[InputSet]:
        params = [param for param in self.read if isinstance(param, Buffer) and param.rank]
        if not self.accumulates or not params or self.fresh_only:
            return
        most = max(len(rows_of(param.dtype)) for param in params)
        ranks = max(param.rank for param in params)
        left = dict.fromkeys((None, 0, -1) if ranks > 1 else (None,), most)
        turn = 0
        while left:
            for axis in list(left):
                only = params[turn // 2 % len(params)] if turn % 2 else None
                start, turn = most - left[axis], turn + 1
                sizes = self._usual(turn)
                yield from self._made(sizes, self._in_rows(axis, start, only))
                left[axis] -= 1 if axis is None else self._length(params, axis)
                if left[axis] <= 0:
                    del left[axis]

    def _in_rows(self, axis: int | None, start: int, only: Buffer | None) -> Fill:
        def fill(param: Symbol, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
            if param in self.steers or not shape or only not in (None, param):
                return self._ordinary(param, shape, rng)
            return filled_rows(param.dtype, shape, axis if len(shape) > 1 else None, start, rng)

        return fill

    def _length(self, params: Sequence[Buffer], axis: int) -> int:
        """Return how many rows the latest set had."""
        lengths = [dim_size(p.shape[axis], self._known) for p in params if p.rank > 1]
        return max(1, min(lengths))

    def _of_indices(self) -> Iterator[InputSet]:
        constants = [int(c) if np.isfinite(c) else 0 for c in self.edges.constants]
        near = [c + d for c in constants for d in (0, 1, -1)]
        fresh, old = near[: 3 * self.edges.fresh], near[3 * self.edges.fresh :]
        narrow = [end for p in self.steers if p.dtype.bits <= 16 for end in _limits(p.dtype)]
        wanted = dict.fromkeys(fresh if self.fresh_only else (*fresh, *_INDICES, *narrow, *old))
        for turn, value in enumerate(wanted if self.steers else ()):
            usual = self._usual(turn)
            large = {var: max(n, min(value + 1, LARGEST_OF_STEP)) for var, n in usual.items()}
            none = dict.fromkeys(usual, 0)
            for sizes in (usual, *(each for each in (large, none) if each != usual)):
                yield from self._made(sizes, self._indexing(value))

    def _indexing(self, value: int) -> Fill:
        def fill(param: Symbol, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
            if param not in self.steers:
                return self._packed(param, shape, rng)
            found = np.full(shape, value, object)
            found.flat[1::2] = rng.integers(0, 3, size=shape).flat[1::2]
            return _converted(found, param.dtype)

        return fill

    def _usual(self, turn: int) -> Sizes:
        return {var: USUAL[(turn + n) % len(USUAL)] for n, var in enumerate(self.sizes)}

    def _made(self, sizes: Sizes, fill: Fill) -> Iterator[InputSet]:
        """Yield a set of these sizes, unless it would be too large or take too long."""
        if any(all(sizes[var] >= n for var, n in each.items()) for each in self._too_long):
            return
        names = {var.name: size for var, size in sizes.items()}
        gap = self.number // 4 % 2
        rng = np.random.default_rng((abs(self.seed), 77, self.number))
        known = sizes_of(self.func, {**names, **self.dims}, {}, USUAL, gap=gap)
        shapes = {
            param: tuple(dim_size(dim, known) for dim in param.shape)
            for param in self.func.params
            if isinstance(param, Buffer)
        }
        self._known, self._latest = known, sizes
        self._counts = {param: int(np.prod(shape, dtype=object)) for param, shape in shapes.items()}
        self._smallest = min((n for shape in shapes.values() for n in shape if n > 0), default=1)
        try:
            args = arguments_of(
                self.func,
                known,
                lambda param, shape: fill(param, shape, rng),
                {},
                max_bytes=MAX_BYTES,
            )
        except TooLarge:
            return
        self.at += max((self._counts.get(param, 1) for param in self.read), default=1)
        self.turn += 1
        shown = ", ".join(f"{var.name}={size}" for var, size in known.items())
        name = f"edges {self.number}" + (f" ({shown})" if shown else "")
        self.number += 1
        yield InputSet(name, "edges", args)

    def _moderate(self, param: Symbol, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Return the next values of a parameter, none of which hides others in a sum."""
        values = self._packed(param, shape, rng)
        return self._within(_RANGES[0], values, self._ordinary(param, shape, rng))

    def _within(self, ends: tuple[float, float], values: Array, other: Array) -> Array:
        """Replace floats outside of a range of sizes, if the function accumulates."""
        if not self.accumulates or values.dtype.kind in "iub" or ends[1] == np.inf:
            return values
        with np.errstate(all="ignore"):
            sizes = np.abs(values.astype(np.float64))
        return np.where((sizes == 0) | ((sizes >= ends[0]) & (sizes <= ends[1])), values, other)

    def _packed(self, param: Symbol, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Return the next values of a parameter."""
        if param in self.steers:
            return self._ordinary(param, shape, rng)
        count, pool = int(np.prod(shape, dtype=np.int64)), self.pools[param]
        if param not in self.read:
            return self._ordinary(param, shape, rng)
        alone = count == 1 and any(self._counts.get(each, 1) > 1 for each in self.read)
        if alone:
            return pool[[self.turn % len(pool)]].reshape(shape)
        rows = self.rows[(self.at + np.arange(count)) % len(self.rows), self.read.index(param)]
        ordinary = self._ordinary(param, shape, rng).reshape(-1)
        values = np.where(rows == ANY, ordinary, pool[rows])
        values = self._within(_RANGES[self.number // 4 % len(_RANGES)], values, ordinary)
        return values.astype(pool.dtype).reshape(shape)

    def _ordinary(self, param: Symbol, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        dtype = param.dtype
        if param in self.steers and dtype.is_integer:
            most = self._smallest if self.number // 4 % 2 else min(3, self._smallest)
            return rng.integers(0, max(1, most), size=shape).astype(numpy_dtype(dtype))
        if dtype.is_bool:
            return rng.integers(0, 2, size=shape).astype(numpy_dtype(dtype))
        if dtype.is_float:
            drawn = rng.uniform(-4, 4, size=shape)
            small = drawn * 10.0 ** rng.integers(-8, 2, size=shape)
            return np.where(rng.random(size=shape) < 0.25, small, drawn).astype(numpy_dtype(dtype))
        bits = rng.integers(0, 1 << 63, size=shape, dtype=np.int64)
        wide = bits >> rng.integers(0, 63, size=shape)
        narrow = rng.integers(-4 if dtype.low else 0, 9, size=shape)
        return np.where(rng.random(size=shape) < 0.5, narrow, wide).astype(numpy_dtype(dtype))


def _pool(dtype: DType, edges: Edges) -> Array:
    if dtype.is_bool:
        return np.array([True, False])
    return (float_edges if dtype.is_float else integer_edges)(dtype, edges)


def _limits(dtype: DType) -> tuple[int, int]:
    return (dtype.low, dtype.high) if dtype.is_integer else (0, 1)


def _converted(values: Array, dtype: DType) -> Array:
    """Return whole numbers in a type; they wrap around."""
    if not dtype.is_integer:
        return values.astype(numpy_dtype(dtype))
    low = np.asarray(values & ((1 << dtype.bits) - 1))
    return low.astype(f"u{dtype.bytes}").view(numpy_dtype(dtype))
