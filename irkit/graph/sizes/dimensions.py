"""Named dimensions of a model: a variable in the shapes of inputs, with the range of its sizes.

The ranges are an attribute of the graph function, ``dims``: name, least and most of each. A
dimension without a range has any size up to ``MOST``.
"""

import re
from collections.abc import Iterable, Mapping

import msgspec

from irkit.core import IRKitError
from irkit.graph.function import GraphFunc
from irkit.graph.types import tensors_in
from irkit.ir import Var

MOST = (1 << 31) - 1
"""The largest size of a dimension without a range."""

_ATTRIBUTE = "dims"
_NAME = re.compile(r"[A-Za-z_]\w*")
_RANGE = re.compile(r"(?P<name>\S+)(\s+in\s+(?P<least>\d{1,10})\s*\.\.\s*(?P<most>\d{1,10}))?")


class Dimension(msgspec.Struct, frozen=True):
    """A named dimension and its sizes: from ``least`` to ``most``, both included."""

    name: str
    least: int = 0
    most: int = MOST

    def __str__(self) -> str:
        """Return the name, and the range unless it is the widest."""
        is_any = (self.least, self.most) == (0, MOST)
        return self.name if is_any else f"{self.name} in {self.least}..{self.most}"

    @property
    def has_range(self) -> bool:
        return str(self) != self.name


def as_dimension(text: str) -> Dimension:
    """Read a dimension as a caller writes it: ``batch``, or ``batch in 1..64``.

    Raises: IRKitError.
    """
    found = _RANGE.fullmatch(text.strip())
    if found is None or _NAME.fullmatch(found["name"]) is None:
        raise IRKitError(
            f"{text!r} is not a dimension: expected a number, a name, or a name with its range",
            hint="Write 'batch', or 'batch in 1..64'.",
        )
    if found["least"] is None:
        return Dimension(found["name"])
    least, most = int(found["least"]), int(found["most"])
    if not least <= most <= MOST:
        raise IRKitError(
            f"dimension {text!r} has no sizes: expected a range LEAST..MOST, up to {MOST}"
        )
    return Dimension(found["name"], least, most)


def merged(dims: Iterable[Dimension]) -> dict[str, Dimension]:
    """Return dimensions by name; one can be named again without its range.

    Raises: IRKitError for two ranges of one dimension.
    """
    found: dict[str, Dimension] = {}
    for dim in dims:
        known = found.get(dim.name)
        if known is not None and known.has_range and dim.has_range and known != dim:
            raise IRKitError(f"dimension {dim.name!r} has two ranges: '{known}' and '{dim}'")
        if known is None or dim.has_range:
            found[dim.name] = dim
    return found


def with_dimensions(func: GraphFunc, dims: Mapping[str, Dimension]) -> GraphFunc:
    """Record the ranges of dimensions as an attribute of a function."""
    rest = tuple(pair for pair in func.attrs if pair[0] != _ATTRIBUTE)
    flat = tuple(
        item for dim in dims.values() if dim.has_range for item in (dim.name, dim.least, dim.most)
    )
    return func.replace(attrs=(*rest, (_ATTRIBUTE, flat)) if flat else rest)


def dimensions_of(func: GraphFunc) -> dict[Var, Dimension]:
    """Return the dimensions that the parameters of a function bind, with their ranges.

    Raises: IRKitError if the attribute is damaged, or two dimensions have one name.
    """
    flat = dict(func.attrs).get(_ATTRIBUTE, ())
    items = flat if isinstance(flat, tuple) else ()
    rows = [items[at : at + 3] for at in range(0, len(items), 3)]
    try:
        known = merged(Dimension(*row) for row in msgspec.convert(rows, list[tuple[str, int, int]]))
    except msgspec.ValidationError as error:
        raise IRKitError(f"attribute 'dims' of {func.name!r} is damaged: {error}") from None
    shapes = [each.shape for param in func.params for each in tensors_in(param.type)]
    found = dict.fromkeys(dim for shape in shapes for dim in shape if isinstance(dim, Var))
    names = [var.name for var in found]
    if len(set(names)) != len(names):
        raise IRKitError(f"two dimensions of {func.name!r} have one name: {', '.join(names)}")
    return {var: known.get(var.name, Dimension(var.name)) for var in found}
