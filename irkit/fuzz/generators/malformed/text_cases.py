"""IR text with tokens and lines changed, and texts that cost time or memory."""

from collections.abc import Callable
from functools import cache

from irkit.fuzz.generators.malformed.text_changes import NUMBERS, changed
from irkit.fuzz.generators.seed_corpus.schedules import SCHEDULES
from irkit.fuzz.generators.seed_corpus.texts import EDGE_CASES, GRAPHS, KERNELS
from irkit.fuzz.picks import Picks

Names = tuple[str, ...]
_ONE_IN = 400
"""One text in this many is a large one, which takes long to make."""


@cache
def text_seeds() -> tuple[str, ...]:
    """List the texts to change."""
    return (
        *KERNELS.values(),
        *EDGE_CASES.values(),
        *GRAPHS.values(),
        *(text for text, _ in SCHEDULES.values()),
    )


def malformed_text(picks: Picks, draw: Callable[[], str] | None = None) -> tuple[bytes, Names]:
    """Make a malformed text, a seed with some places changed or a monster, and list what was done
    to it; ``draw`` returns texts to change besides the seeds."""
    if picks.one_in(_ONE_IN):
        made = picks.pick(MONSTERS)
        return made(picks).encode("utf-8", "surrogatepass"), (made.__name__.strip("_"),)
    seeds = text_seeds()
    text = picks.pick(seeds) if draw is None or picks.one_in(3) else draw()
    return changed(text, picks, seeds)


_HEAD = "def f(A: f32[8], x: i64):\n"
_SIZES = (100_000, 1_000, 200, 64, 5_000)


def _nested_expression(picks: Picks) -> str:
    opened, closed = picks.pick((("(", ")"), ("exp(", ")"), ("A[", "]"), ("-", ""), ("not ", "")))
    count = picks.pick(_SIZES)
    return f"{_HEAD}    A[0] = {opened * count}x{closed * count}\n"


def _nested_loops(picks: Picks) -> str:
    """Nest loops; spaces for 100,000 of them would be 5 GB, so one space each, and fewer where they
    are many."""
    count = picks.pick((3_000, 1_000, 100))
    lines = [f"{' ' * (at + 1)}for i{at} in serial(0, 2):" for at in range(count)]
    return "".join([_HEAD, "\n".join(lines), "\n", " " * (count + 1), "A[0] = f32(1.0)\n"])


def _many_lines(picks: Picks) -> str:
    line = picks.pick(("    A[0] = f32(1.0)\n", "    t = x\n", "    if x < 1:\n", "@attrs(a=1)\n"))
    return _HEAD + line * picks.pick((20_000, 100_000))


def _long_let_chain(picks: Picks) -> str:
    count = picks.pick((2_000, 20_000))
    lines = [f"    t{at}: i64 = t{at - 1} + t{at - 1}\n" for at in range(1, count)]
    return f"{_HEAD}    t0: i64 = x\n{''.join(lines)}    A[t{count - 1}] = f32(1.0)\n"


def _long_integer(picks: Picks) -> str:
    digits = picks.pick(("9", "0x" + "f", "1_", "0.")) + "9" * picks.pick((1_000_000, 60_000))
    where = picks.pick(("A[{}] = x", "A[0] = f32({})", "t: i64 = {}", "for i in serial(0, {}):"))
    return f"{_HEAD}    {where.format(digits)}\n"


def _long_line(picks: Picks) -> str:
    piece = picks.pick((" + x", "a", "[", '"', "#", " ", "é", ",", "x,", "\\", "'\"", "x[", "\t"))
    return f"{_HEAD}    A[0] = x{piece * (10_000_000 // len(piece))}\n"


def _wide_signature(picks: Picks) -> str:
    count = picks.pick((10_000, 3_000))
    return f"def f({', '.join(f'A{at}: f32[n{at}]' for at in range(count))}):\n    pass\n"


def _huge_shape(picks: Picks) -> str:
    dims = ", ".join(picks.pick(NUMBERS[:16]) for _ in range(1 + picks.below(40)))
    return f"def f(A: f32[{dims}]):\n    B = alloc(f32[{dims}])\n    A[0] = f32(1.0)\n"


def _deep_branches(picks: Picks) -> str:
    line = picks.pick(("    elif x < 1:\n        A[0] = f32(1.0)\n", "    else:\n        pass\n"))
    return f"{_HEAD}    if x < 0:\n        pass\n{line * picks.pick((3_000, 30_000))}"


def _huge_constant(picks: Picks) -> str:
    shape = picks.pick(("1000000000000", "65536, 65536, 65536", "0", "3, 0, 99999999999"))
    values = ", ".join(["1.0"] * picks.pick((1, 10_000)))
    return f"def f(x: f32[2]):\n    w: f32[{shape}] = constant([{values}])\n    return w\n"


MONSTERS: tuple[Callable[[Picks], str], ...] = (
    _nested_expression, _nested_loops, _many_lines, _long_let_chain, _long_integer, _long_line,
    _wide_signature, _huge_shape, _deep_branches, _huge_constant,
)  # fmt: skip
"""Texts that cost time or memory; each makes its own choices."""
