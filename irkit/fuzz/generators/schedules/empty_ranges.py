"""Random programs whose loops may be empty, or end before they begin, at some sizes.

Stages of tensor expressions have no such loops: their extents are dimensions. A primitive that
multiplies, subtracts or cuts extents must also be right where one of them is negative.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from irkit.fuzz.picks import Picks
from irkit.ir import PrimFunc, parse

SIZES = ((3, 2), (12, 5), (0, -3), (9, 1), (1, 8), (8, 0))
"""The pairs of ``n`` and ``m`` to call these programs with: their loops are empty, short, long."""
_ENDS = (
    *("n - 8", "n - 8", "n - 4", "n // 2 - 2", "min(n, 6) - 4", "5 - n", "n", "4", "6"),
    *(
        "n - 9",
        "(n + 3) // 4",
        "(n - 5) // 2",
        "max(n - 6, 0)",
        "0",
        "-2",
        "n % 5 - 1",
        "m",
        "m - 2",
    ),
)
_BEGINS = ("1", "3", "n - 2", "-1")
_MOST = 12
ROOM = 16
"""What each dimension has beyond ``n``."""


def empty_range_function(picks: Picks) -> tuple[PrimFunc, list[tuple[int, int]]]:
    """Draw one to three nests over ranges such as ``serial(0, n - 8)``, and the sizes to call them
    with; every access is inside its buffer for every ``n``."""
    lines = [
        f"def f(N: f32[n], m: i64, A: f32[n + {ROOM}, n + {ROOM}], B: f32[n + {ROOM}, n + {ROOM}], "
        f"C: f32[n + {ROOM}], D: f32[n + {ROOM}]):"
    ]
    guard = picks.pick(("", "", "", "", "", "", "if n >= 8:", 'assert n >= 8, "too small"'))
    if guard:
        lines.append(f"    {guard}")
    inside = "        " if guard.startswith("if") else "    "
    forms = (_pointwise, _reduction, _staged, _vector, _staged)
    for number in range(1 + picks.below(3)):
        lines += [inside + line for line in picks.pick(forms)(picks, number)]
    sizes = [each for each in SIZES if not guard.startswith("assert") or each[0] >= 8]
    return parse("\n".join(lines) + "\n"), sizes


def arguments_of(n: int, m: int, seed: int = 1) -> tuple[Any, ...]:
    """Return arguments of such a program: small whole numbers, for these sizes."""
    rng = np.random.default_rng(seed)
    room = n + ROOM
    shapes = ((n,), None, (room, room), (room, room), (room,), (room,))
    return tuple(
        m if shape is None else rng.integers(-4, 5, shape).astype(np.float32) for shape in shapes
    )


def _loops(picks: Picks, number: int, count: int) -> tuple[list[str], list[str], list[str]]:
    """Return the lines of loops, and the extent and binding of each axis."""
    lines: list[str] = []
    extents: list[str] = []
    bindings: list[str] = []
    same = picks.pick(_ENDS) if picks.below(2) else ""
    for at in range(count):
        var, end = f"{'ijk'[at]}{'abc'[number]}", same or picks.pick(_ENDS)
        begin = picks.pick(_BEGINS) if picks.one_in(8) else "0"
        lines.append("    " * at + f"for {var} in serial({begin}, {end}):")
        extents.append(f"n + {_MOST}" if begin != "0" else end)
        bindings.append(f"{var} + 2" if begin in ("n - 2", "-1") else var)
    return lines, extents, bindings


def _block(
    lines: list[str], name: str, axes: Sequence[tuple[str, str, str, str]], body: list[str]
) -> list[str]:
    pad = "    " * len(lines)
    head = [f"{pad}with block({name!r}):".replace("'", '"')]
    head += [f"{pad}    {var} = axis.{kind}({extent}, {at})" for var, kind, extent, at in axes]
    return [*lines, *head, *(f"{pad}    {line}" for line in body)]


def _pointwise(picks: Picks, number: int) -> list[str]:
    lines, extents, bindings = _loops(picks, number, 2)
    places = zip("vw", extents, bindings, strict=True)
    axes = [(var, "spatial", extent, binding) for var, extent, binding in places]
    body = picks.pick(
        (
            "B[v, w] = A[v, w] + f32(1.0)",
            "B[v, w] = A[w, v] * f32(2.0) + B[v, w]",
            "A[v, w] = B[v, w] + f32(3.0)",
        )
    )
    return _block(lines, f"P{number}", axes, [body])


def _reduction(picks: Picks, number: int) -> list[str]:
    lines, extents, bindings = _loops(picks, number, 2 + picks.below(2))
    kinds = ("spatial", "reduce", "reduce")
    axes = list(zip("vkl", kinds, extents, bindings, strict=False))
    read = "A[v, k]" if len(lines) == 2 else "A[v, k] * B[k, l]"
    body = ["with init():", "    C[v] = f32(0.0)", f"C[v] = C[v] + {read}"]
    return _block(lines, f"R{number}", axes, body)


def _staged(picks: Picks, number: int) -> list[str]:
    """Return a nest that writes a temporary, and one that reads the same points of it."""
    ends = picks.pick(_ENDS), picks.pick(_ENDS)
    exact = picks.below(2)
    shape = [f"max({end}, 0)" if exact else f"n + {ROOM}" for end in ends]
    written = picks.pick(("A[v, w] * f32(2.0)", "A[w, v] + f32(1.0)"))
    reads = picks.pick(
        (
            ("spatial", [f"B[v, w] = T{number}[v, w] + f32(1.0)"]),
            ("spatial", [f"B[v, w] = T{number}[v, w] * A[v, w]"]),
            ("reduce", ["with init():", "    C[v] = f32(0.0)", f"C[v] = C[v] + T{number}[v, w]"]),
        )
    )
    lines = [f"T{number} = alloc(f32[{', '.join(shape)}])"]
    for name, kind, body in (("S", "spatial", [f"T{number}[v, w] = {written}"]), ("U", *reads)):
        loops = [
            f"{'    ' * at}for {'ij'[at]}{name}{number} in serial(0, {end}):"
            for at, end in enumerate(ends)
        ]
        axes = [
            (var, use, end, f"{loop}{name}{number}")
            for var, use, end, loop in zip("vw", ("spatial", kind), ends, "ij", strict=True)
        ]
        lines += _block(loops, f"{name}{number}", axes, body)
    return lines


def _vector(picks: Picks, number: int) -> list[str]:
    lines, extents, bindings = _loops(picks, number, 1)
    body = picks.pick(("D[v] = C[v] + f32(2.0)", "D[v] = A[v, 1] * f32(3.0)"))
    return _block(lines, f"V{number}", [("v", "spatial", extents[0], bindings[0])], [body])
