"""Tensor expressions, against whole index grids in NumPy.

An expression is drawn as a tree of tuples, which is built twice: by ``te``, and in NumPy with one
array of numbers for each index. One stage in two reduces; stages read inputs and earlier stages, at
affine, clamped, wrapped, gathered or guarded places.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import irkit
from irkit import te
from irkit.core import IRKitError
from tests.differential.outcome import Array, Outcome, difference

Tree = tuple[Any, ...]
DTYPES = ("float32", "float32", "float32", "float64", "int32", "int64", "uint8", "int8")
MOST = 20_000
"""Elements of an index grid."""


class Source:
    """An input or a stage: its extents as numbers, its type, its values, its tensor."""

    def __init__(self, name: str, shape: Sequence[int], dtype: str, array: Array | None) -> None:
        self.name, self.shape, self.dtype, self.array = name, tuple(shape), dtype, array
        self.tensor: Any = None


class Draw:
    """A program of some stages."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng((77, seed))
        self.whole = bool(self.rng.integers(2))
        self.sizes: dict[int, Any] = {}
        self.inputs: list[Source] = []
        self.stages: list[Source] = []
        self.symbolic = self.rng.random() < 0.25
        self.covers: list[str] = []

    def choose(self, *options: Any) -> Any:
        return options[int(self.rng.integers(len(options)))]

    def integer(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))

    def extents(self, rank: int) -> list[int]:
        return [self.choose(1, 2, 3, 4, 5, 7, 8, 16, 17) for _ in range(rank)]

    def dim(self, extent: int) -> Any:
        """Return an extent as ``te`` gets it: a number, or a variable of that size."""
        if not self.symbolic or extent < 3:
            return extent
        return self.sizes.setdefault(extent, te.var(f"n{extent}"))

    def input(self, shape: Sequence[int], dtype: str) -> Source:
        if dtype.startswith("float"):
            array = (
                self.rng.integers(-4, 5, size=shape)
                if self.whole
                else self.rng.uniform(-3, 3, size=shape)
            ).astype(dtype)
        else:
            info = np.iinfo(dtype)
            low, high = (max(info.min, -9), 9) if self.rng.random() < 0.7 else (info.min, info.max)
            array = self.rng.integers(low, high, size=shape, dtype=dtype, endpoint=True)
        source = Source(f"A{len(self.inputs)}", shape, dtype, array)
        source.tensor = te.placeholder([self.dim(n) for n in shape], name=source.name, dtype=dtype)
        self.inputs.append(source)
        return source

    # Trees. ``ranges`` are the extents of the indices in scope.

    def index(self, ranges: Sequence[int], extent: int) -> Tree:
        """Return an index that lies in 0 ... extent - 1."""
        fitting = [k for k, n in enumerate(ranges) if n <= extent]
        style = self.rng.random()
        k = self.integer(0, len(ranges) - 1) if ranges else -1
        if fitting and style < 0.55:
            k = self.choose(*fitting)
            room = extent - ranges[k]
            if room and style < 0.15:
                return ("+", ("i", k), ("n", self.integer(0, room)))
            if style < 0.25:
                return ("-", ("n", ranges[k] - 1), ("i", k))
            return ("i", k)
        if k < 0 or style < 0.6:
            return ("n", self.integer(0, extent - 1))
        self.covers.append("wrapped index")
        base: Tree = ("+", ("*", ("i", k), ("n", self.integer(1, 3))), ("n", self.integer(0, 5)))
        if len(ranges) > 1 and style < 0.75:
            base = ("+", base, ("i", self.integer(0, len(ranges) - 1)))
        if style < 0.9:
            return ("%", base, ("n", extent))
        return ("min", ("//", base, ("n", self.integer(1, 4))), ("n", extent - 1))

    def read(self, ranges: Sequence[int], dtype: str) -> Tree:
        """Return a read of a value of a type; one in five is guarded, as padding is."""
        old = [s for s in (*self.inputs, *self.stages) if s.dtype == dtype]
        if old and self.rng.random() < 0.7:
            source = self.choose(*old)
        elif ranges and self.rng.random() < 0.8:
            source = self.input([self.choose(*ranges) for _ in range(self.integer(1, 3))], dtype)
        else:
            source = self.input(self.extents(self.integer(1, 3)), dtype)
        if ranges and self.rng.random() < 0.2:
            return self.padded(ranges, source)
        return ("read", source, tuple(self.index(ranges, n) for n in source.shape))

    def padded(self, ranges: Sequence[int], source: Source) -> Tree:
        self.covers.append("guard")
        places, guards = [], []
        for extent in source.shape:
            k = self.integer(0, len(ranges) - 1)
            place = ("+", ("i", k), ("n", self.integer(-2, 2)))
            places.append(place)
            guards += [(">=", place, ("n", 0)), ("<", place, ("n", extent))]
        condition = guards[0]
        for guard in guards[1:]:
            condition = ("and", condition, guard)
        return ("if", condition, ("read", source, tuple(places)), ("c", 1, source.dtype))

    def value(self, ranges: Sequence[int], dtype: str, depth: int) -> Tree:
        if depth == 0 or self.rng.random() < 0.2:
            if self.rng.random() < 0.15:
                return ("c", self.integer(0, 3), dtype)
            return self.read(ranges, dtype)
        sub = lambda: self.value(ranges, dtype, depth - 1)  # noqa: E731 -- four uses, one line
        style = self.rng.random()
        if style < 0.45:
            return (self.choose("+", "-", "*", "min", "max"), sub(), sub())
        if style < 0.6:
            condition = (self.choose("<", "<=", ">", ">=", "==", "!="), sub(), sub())
            if self.rng.random() < 0.4 and ranges:
                k = self.integer(0, len(ranges) - 1)
                place = ("%", ("i", k), ("n", self.integer(2, 3)))
                condition = (self.choose("==", "!=", "<"), place, ("n", self.integer(0, 1)))
            return (self.choose("select", "if"), condition, sub(), sub())
        if style < 0.7 and dtype.startswith("float"):
            return (self.choose("abs", "neg", "floor", "ceil", "trunc"), self.read(ranges, dtype))
        if style < 0.8 and dtype.startswith("int"):
            return (self.choose("&", "|", "^"), sub(), sub())
        if style < 0.88 and dtype in ("int32", "int64"):
            return (self.choose("//", "%"), sub(), ("c", self.choose(2, 3, 4, 7), dtype))
        if style < 0.94:
            other = self.choose(
                *[t for t in ("int32", "int64", "float32", "float64") if t != dtype]
            )
            if not (other.startswith("float") and not dtype.startswith("float")):
                return ("cast", self.value(ranges, other, depth - 1), dtype)
        return sub()

    def stage(self) -> None:
        """Add a stage: an elementwise one or a reduction over one or two axes."""
        shape = self.extents(self.integer(1, 3))
        dtype = self.choose(*DTYPES)
        axes: list[int] = []
        if self.rng.random() < 0.5:
            axes = self.extents(self.integer(1, 2))
        while int(np.prod([*shape, *axes])) > MOST:
            shape[int(np.argmax(shape))] = 2
            axes = [min(n, 8) for n in axes]
        reducer = self.choose("sum", "sum", "max", "min") if axes else ""
        tree = self.value([*shape, *axes], dtype, self.integer(1, 3))
        self.covers += [reducer or "elementwise", dtype]
        source = Source(f"S{len(self.stages)}", shape, dtype, None)
        source.array = _array(tree, shape, axes, reducer, dtype)
        source.tensor = self._tensor(tree, source, axes, reducer)
        self.stages.append(source)

    def _tensor(self, tree: Tree, source: Source, axes: Sequence[int], reducer: str) -> Any:
        extents = [self.dim(n) for n in source.shape]
        bound = {n for other in (*self.inputs, source) for n in other.shape}
        ends = [self.dim(n) if n in bound else n for n in axes]
        reduced = [te.reduce_axis((0, end), f"r{k}") for k, end in enumerate(ends)]
        reduce: Callable[..., Any] | None = getattr(te, reducer) if reducer else None

        def body(*indices: Any) -> Any:
            names = [*indices, *reduced]
            value = _expression(tree, names, source.dtype)
            return reduce(value, axis=reduced) if reduce else value

        return te.compute(extents, body, name=source.name)


TE: dict[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "min": te.minimum,
    "max": te.maximum,
    "<": te.lt,
    "<=": te.le,
    ">": te.gt,
    ">=": te.ge,
    "==": te.eq,
    "!=": te.ne,
    "and": te.all,
    "select": te.select,
    "if": te.if_then_else,
    "abs": te.abs,
    "neg": lambda a: -a,
    "floor": te.floor,
    "ceil": te.ceil,
    "trunc": te.trunc,
}
NUMPY: dict[str, Callable[..., Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "//": np.floor_divide,
    "%": np.mod,
    "&": np.bitwise_and,
    "|": np.bitwise_or,
    "^": np.bitwise_xor,
    "min": np.minimum,
    "max": np.maximum,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
    "and": np.logical_and,
    "select": np.where,
    "if": np.where,
    "abs": np.abs,
    "neg": np.negative,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
}


def _expression(tree: Tree, indices: Sequence[Any], dtype: str) -> Any:
    match tree:
        case ("i", k):
            return indices[k]
        case ("n", number):
            return te.const(number, "int64")
        case ("c", number, kind):
            return te.const(number, kind)
        case ("read", source, places):
            return source.tensor[tuple(_expression(place, indices, dtype) for place in places)]
        case ("cast", value, kind):
            return te.cast(_expression(value, indices, dtype), kind)
        case (name, *parts):
            return TE[name](*(_expression(part, indices, dtype) for part in parts))
        case _:
            raise AssertionError(tree)


def _array(
    tree: Tree, shape: Sequence[int], axes: Sequence[int], reducer: str, dtype: str
) -> Array:
    grid = np.meshgrid(*(np.arange(n) for n in (*shape, *axes)), indexing="ij", sparse=True)
    with np.errstate(all="ignore"):
        whole = np.broadcast_to(_values(tree, grid), (*shape, *axes))
        last = tuple(range(len(shape), len(shape) + len(axes)))
        if reducer == "sum":
            kind = np.float64 if dtype == "float32" else dtype
            whole = whole.sum(axis=last, dtype=kind)
        elif reducer:
            whole = (whole.max if reducer == "max" else whole.min)(axis=last)
        return np.ascontiguousarray(whole.astype(dtype))


def _values(tree: Tree, grid: Sequence[Array]) -> Any:
    match tree:
        case ("i", k):
            return grid[k]
        case ("n", number):
            return np.int64(number)
        case ("c", number, kind):
            return np.dtype(kind).type(number)
        case ("read", source, places):
            found = [np.asarray(_values(place, grid)) for place in places]
            # What is outside is guarded, so any value will do.
            inside = [np.clip(p, 0, n - 1) for p, n in zip(found, source.shape, strict=True)]
            return source.array[tuple(np.broadcast_arrays(*inside))]
        case ("cast", value, kind):
            return np.asarray(_values(value, grid)).astype(kind)
        case (name, *parts):
            return NUMPY[name](*(_values(part, grid) for part in parts))
        case _:
            raise AssertionError(tree)


def judge(number: int) -> Outcome:
    """Build a drawn program, with and without the automatic schedule, and compare all stages."""
    draw = Draw(number)
    try:
        for _ in range(draw.integer(1, 3)):
            draw.stage()
        tensors = [source.tensor for source in (*draw.inputs, *draw.stages)]
        func = te.create_prim_func(tensors)
    except IRKitError as error:
        return Outcome("refused", " ".join(str(error).split())[:300], draw.covers)
    for schedule in ("auto", "none"):
        outputs = [np.full_like(stage.array, 77) for stage in draw.stages]
        try:
            built = irkit.build(func, schedule=schedule)
            built(
                *(source.array.copy() for source in draw.inputs if source.array is not None),
                *outputs,
            )
        except IRKitError as error:
            return Outcome("refused", " ".join(str(error).split())[:300], draw.covers)
        except Exception as error:  # A raw error is a finding.
            return Outcome("wrong", f"{type(error).__name__}: {error}", draw.covers)
        expected = {s.name: s.array for s in draw.stages if s.array is not None}
        computed = dict(zip(expected, outputs, strict=True))
        wrong = difference(expected, computed, 1e-5)
        if wrong:
            return Outcome("wrong", f"schedule={schedule!r}: {wrong}", draw.covers)
    return Outcome("right", "", draw.covers)
