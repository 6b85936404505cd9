"""What a random program of stages is made of so far, and how large its numbers may be."""

from typing import TypeAlias

import msgspec

from irkit import te
from irkit.fuzz.picks import Picks
from irkit.ir import Expr, as_int

LIMIT = 1 << 22  # Floats of 32 bits hold whole numbers up to 1 << 24.
_MOST_ELEMENTS = 100
DTYPES = ("f32", "f32", "f32", "i32", "f32", "i32", "i8", "f64", "bool", "u8", "i64")
EXTENTS = (4, 3, 5, 2, 6, 7, 1, 8)

Dim: TypeAlias = "int | Expr"


class Made(msgspec.Struct, frozen=True, eq=False):
    """A tensor of the program. ``bound`` is what its numbers stay below."""

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

    def __init__(self, picks: Picks) -> None:
        self.picks = picks
        self.made: list[Made] = []
        self.inputs: list[te.Tensor] = []
        self.read: set[te.Tensor] = set()
        self.symbols = [te.var("n"), te.var("m")] if picks.one_in(8) else []

    def input(self, rank: int, *, shape: tuple[Dim, ...] | None = None, dtype: str = "") -> Made:
        dims = shape or tuple(self.dim(rank) for _ in range(rank))
        dtype = dtype or self.picks.pick(DTYPES)
        made = te.placeholder(dims, dtype, name="AXYZPQRS"[len(self.inputs) % 8])
        self.inputs.append(made)
        self.made.append(Made(made, 8))
        return self.made[-1]

    def dim(self, rank: int) -> Dim:
        if self.symbols and self.picks.below(2):
            return self.picks.pick(self.symbols)
        return self.picks.pick(EXTENTS[: 8 if rank < 3 else 4])

    def add(self, made: te.Tensor | tuple[te.Tensor, ...], bound: int, *sources: Made) -> bool:
        self.read.update(source.tensor for source in sources)
        several = made if isinstance(made, tuple) else (made,)
        self.made += [Made(tensor, bound) for tensor in several]
        return True

    def name(self) -> str:
        return f"S{len(self.made) - len(self.inputs)}"

    def partner(self, source: Made, shape: tuple[Dim, ...]) -> Made:
        """Find a tensor of a shape, or make a parameter of it."""
        fits = [each for each in self.made if each.shape == te.as_shape(shape, "shape")]
        if fits and self.picks.below(4):
            return fits[-1 - self.picks.below(len(fits))]
        dtype = source.dtype if self.picks.below(3) else ""
        return self.input(len(shape), shape=shape, dtype=dtype)


def number(value: Expr, dtype: str) -> Expr:
    """Make a value one of a type that adds: bools do not."""
    return te.cast(value, "i32" if dtype == "bool" else dtype)


def adding(*of: Made) -> str:
    found = next((each.dtype for each in of if each.dtype != "bool"), "i32")
    return next((each.dtype for each in of if each.dtype[0] == "f"), found)


def fits(source: Made, dims: tuple[Dim, ...]) -> bool:
    count = 1
    for dim in dims:
        count *= dim if isinstance(dim, int) else (as_int(dim) or 6)
    return count <= _MOST_ELEMENTS and source.bound < LIMIT // 4
