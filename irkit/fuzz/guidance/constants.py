"""Constants that may matter to irkit: those in its own source, edges of types, and the case's."""

from collections.abc import Iterable, Iterator
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType

from irkit.fuzz.picks import Picks
from irkit.ir import DType

_PARTS = ("codegen", "core", "ir", "passes", "phases", "runtime", "schedule", "topi", "transform")
_MOST = 1 << 64
_WIDTHS = (7, 8, 15, 16, 31, 32, 63, 64)
_FLOATS = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, 1e-3, 0.1, 1e-30, 1e30, 255.5, 65504.0, 65520.0),
    *(2.0**24, 2.0**24 + 1, 2.0**31, 2.0**53, 2.0**63, 1e-45, 1.17549435e-38, 3.4e38),
    *(float("inf"), float("-inf"), float("nan")),
)


@cache
def source_constants() -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return the integers and the floats in the code of what compiles, each once, in order."""
    root = Path(__file__).parents[2]
    whole, floats = set[int](), set[float]()
    for part in _PARTS:
        for path in sorted((root / part).rglob("*.py")):
            name = ".".join(("irkit", *path.relative_to(root).with_suffix("").parts))
            for each in _constants_in(name.removesuffix(".__init__"), path):
                if isinstance(each, float):
                    floats |= {each} if each == each else set()
                elif abs(each) <= _MOST:
                    whole.add(each)
    return tuple(sorted(whole)), tuple(sorted(floats))


def _constants_in(module: str, path: Path) -> Iterator[int | float]:
    left: list[object] = [SourceFileLoader(module, str(path)).get_code(module)]
    while left:  # Python has computed `1 << 31` by now.
        each = left.pop()
        if isinstance(each, CodeType):
            left += each.co_consts
        elif isinstance(each, (tuple, frozenset)):
            left += iter(each)  # pyright: ignore[reportUnknownArgumentType] -- of code
        elif isinstance(each, (int, float)) and not isinstance(each, bool):
            yield each


def draw_constant(dtype: DType, near: Iterable[int | float], picks: Picks) -> int | float | bool:
    """Draw a value of a type: a constant of the source, an edge of a type, or one of those
    ``near``, or a neighbour of it."""
    if dtype.is_bool:
        return bool(picks.below(2))
    if dtype.is_float:
        return _draw_float(near, picks)
    low, high = dtype.low, dtype.high
    whole = [each for each in near if isinstance(each, int) and low <= each <= high]
    form = picks.below(4)
    if form == 0 and whole:
        value = picks.pick(whole) + picks.pick((0, 1, -1))
    elif form == 1:
        value = picks.pick(source_constants()[0])
    elif form == 2:
        value = (1 << picks.pick(_WIDTHS)) + picks.pick((0, -1, 1))
    else:
        value = picks.pick((2, 3, 4, 5, 7, 8, 10, 16, 32, 64, 100, 0, 1))
    value = -value if low < 0 and picks.one_in(3) else value
    return min(max(value, low), high)


def _draw_float(near: Iterable[int | float], picks: Picks) -> float:
    floats = [each for each in near if isinstance(each, float)]
    form = picks.below(4)
    if form == 0 and floats:
        return picks.pick(floats) * picks.pick((1.0, 2.0, 0.5, -1.0))
    if form == 1:
        return picks.pick(source_constants()[1])
    if form == 2:
        value = (1 << picks.pick(_WIDTHS)) + picks.pick((0, -1, 1))
        return float(-value if picks.below(2) else value)
    return picks.pick(_FLOATS)
