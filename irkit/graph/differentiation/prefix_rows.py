"""The gradient of the first rows of a tensor, as a loop function: no operator has a result that is
larger than its arguments by a number that only the run finds."""

from irkit.graph.types import TensorType
from irkit.ir import PrimFunc, as_int, parse


def rows_behind(whole: TensorType) -> PrimFunc:
    """Return a function of rows, and of the whole that they are the first of, which returns the
    rows with zeros behind. Of the whole it only takes the number of rows."""
    dtype = whole.dtype
    tail: list[str] = []
    for at, extent in enumerate(whole.shape[1:]):
        number = as_int(extent)
        tail.append(f"d{at}" if number is None else str(number))
    first = as_int(whole.shape[0])
    most = "m" if first is None else str(first)
    inside = "    " * (1 + len(whole.shape))
    place = ", ".join(["i", *(f"i{at}" for at in range(len(tail)))])
    lines = [
        f"def rows_behind(rows: {dtype}[{', '.join(['n', *tail])}], "
        f"whole: {dtype}[{', '.join([most, *tail])}], y: {dtype}[{', '.join([most, *tail])}]):",
        f"    for i in serial(0, {most}):",
        *(
            f"{'    ' * (2 + at)}for i{at} in serial(0, {extent}):"
            for at, extent in enumerate(tail)
        ),
        f"{inside}if i < n:",
        f"{inside}    y[{place}] = rows[{place}]",
        f"{inside}else:",
        f"{inside}    y[{place}] = {dtype}(0.0)",
    ]
    return parse("\n".join(lines) + "\n")
