"""A program of stages under construction: its tensors, and where random choices come from."""

from collections.abc import Sequence
from typing import TypeAlias

import msgspec

from irkit import te
from irkit.fuzz.generators.stages.theme import SMALL, Theme
from irkit.fuzz.picks import Picks
from irkit.ir import Const, DType, Expr, as_dtype, as_int

Dim: TypeAlias = "int | Expr"
_LIMIT = 1 << 22  # 32-bit floats hold whole numbers up to 1 << 24.
_NARROW = {"f16": 1 << 11, "bf16": 1 << 8}


class StageTensor(msgspec.Struct, frozen=True, eq=False):
    """A tensor of the program. ``bound`` is an upper bound of its magnitudes, where known."""

    tensor: te.Tensor
    bound: int

    @property
    def shape(self) -> tuple[Expr, ...]:
        return self.tensor.shape

    @property
    def dtype(self) -> str:
        return str(self.tensor.dtype)


class Stages:
    """The stages of a program so far, and where its choices come from."""

    def __init__(self, picks: Picks, theme: Theme = SMALL) -> None:
        self.picks = picks
        self.theme = theme
        self.made: list[StageTensor] = []
        self.inputs: list[te.Tensor] = []
        self.read: set[te.Tensor] = set()
        self.symbols = [te.var("n"), te.var("m")] if picks.one_in(8) else []

    def input(
        self, rank: int, *, shape: tuple[Dim, ...] | None = None, dtype: str = ""
    ) -> StageTensor:
        dims = self.dims(rank) if shape is None else shape
        dtype = dtype or self.picks.pick(self.theme.dtypes)
        made = te.placeholder(dims, dtype, name="AXYZPQRS"[len(self.inputs) % 8])
        self.inputs.append(made)
        self.made.append(StageTensor(made, 8))
        return self.made[-1]

    def dims(self, rank: int) -> tuple[Dim, ...]:
        """Pick extents of this many axes; those of several axes are small."""
        if self.theme is SMALL:
            return tuple(self._dim(SMALL.extents[: 8 if rank < 3 else 4]) for _ in range(rank))
        found: list[Dim] = []
        for left in range(rank, 0, -1):
            room = self.theme.most_elements // max(1, count_of(found)) // 2 ** (left - 1)
            found.append(self._dim([size for size in self.theme.extents if size <= room]))
        return tuple(found)

    def _dim(self, extents: Sequence[int]) -> Dim:
        if self.symbols and self.picks.below(2):
            return self.picks.pick(self.symbols)
        return self.picks.pick(extents)

    def add(
        self, made: te.Tensor | tuple[te.Tensor, ...], bound: int, *sources: StageTensor
    ) -> bool:
        self.read.update(source.tensor for source in sources)
        several = made if isinstance(made, tuple) else (made,)
        self.made += [StageTensor(tensor, self.held(tensor.dtype, bound)) for tensor in several]
        return True

    def held(self, dtype: DType, bound: int) -> int:
        """Limit a bound to what the type holds: integers wrap, and unsigned ones become large that
        way."""
        if self.theme.numbers in ("integers", "special"):
            return 0
        if dtype.is_float or self.theme is SMALL:
            return bound
        if dtype.is_bool:
            return 1
        return dtype.high if dtype.kind == "u" else min(bound, dtype.high + 1)

    def most(self, dtype: DType | str) -> int:
        """Return how large the numbers of a type can become."""
        return _LIMIT if self.theme is SMALL else _NARROW.get(str(dtype), _LIMIT)

    def over(self, dtype: DType | str, bound: int) -> bool:
        """Return True if numbers of a size are too large to go on with."""
        return bound >= self.most(dtype) // 4

    def fits(self, source: StageTensor, dims: tuple[Dim, ...]) -> bool:
        """Return True if a tensor can have some extents, and numbers like those of another."""
        return count_of(dims) <= self.theme.most_elements and not self.over(
            source.dtype, source.bound
        )

    def sure(self, *of: StageTensor) -> bool:
        """Return True if numbers are known exactly, so that comparing them has one right result."""
        if self.theme.numbers != "fractions":
            return True
        return all(not is_float(each.dtype) or each.tensor in self.inputs for each in of)

    def name(self) -> str:
        return f"S{len(self.made) - len(self.inputs)}"

    def partner(self, source: StageTensor, shape: tuple[Dim, ...]) -> StageTensor:
        """Find a tensor of a shape, or make a parameter of it."""
        fits = [each for each in self.made if each.shape == te.as_shape(shape, "shape")]
        if fits and self.picks.below(4):
            return fits[-1 - self.picks.below(len(fits))]
        dtype = source.dtype if self.picks.below(3) else ""
        return self.input(len(shape), shape=shape, dtype=dtype)


def count_of(dims: Sequence[Dim]) -> int:
    """Count elements, symbolic extents as 6."""
    count = 1
    for dim in dims:
        known = as_int(dim) if isinstance(dim, Expr) else dim
        count *= 6 if known is None else known
    return count


def is_float(dtype: str) -> bool:
    """Return True if a type is a float type."""
    return dtype[0] == "f" or dtype == "bf16"


def number(value: Expr, dtype: str) -> Expr:
    """Convert a value to a type that adds: bools do not."""
    return te.cast(value, "i32" if dtype == "bool" else dtype)


def constant(value: int, dtype: str) -> Expr:
    """Make a constant of a type, wrapped around if the type does not hold the number."""
    kind = as_dtype(dtype)
    if kind.is_float or kind.is_bool or kind.low <= value <= kind.high:
        return te.const(value, kind)
    return Const((value - kind.low) % (1 << kind.bits) + kind.low, kind)


def adding(*of: StageTensor) -> str:
    """Return the type to add in."""
    found = next((each.dtype for each in of if each.dtype != "bool"), "i32")
    return next((each.dtype for each in of if is_float(each.dtype)), found)
