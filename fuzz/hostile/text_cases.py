"""IR text with tokens and lines changed, and texts that are made to take time or memory."""

import re
from collections.abc import Callable
from functools import cache

from irkit.fuzz.edges import EDGES
from irkit.fuzz.fixed_graphs import GRAPHS
from irkit.fuzz.fixed_schedules import SCHEDULES
from irkit.fuzz.hostile.damage import damaged
from irkit.fuzz.kernels import KERNELS
from irkit.fuzz.picks import Picks

_TOKEN = re.compile(r"\w+|[ \t]+|\n|.", re.S)
_ONE_IN = 400
"""How often a text is one of the large ones, which take long to make."""

NUMBERS = (
    "0", "-1", "1", "2", "3", "127", "128", "255", "256", "2147483647", "2147483648",
    "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1e400", "1e-400", "0x7f",
    "1_000", "00", "0.5", "nan", "1j", "9" * 5_000, "0b" + "1" * 300, "1.7976931348623157e308",
)  # fmt: skip
WORDS = (
    "f32", "f64", "i8", "i64", "u8", "bool", "f16", "bf16", "f32x4", "i1x0", "f33", "for", "if",
    "else", "elif", "with", "def", "in", "return", "assert", "pass", "not", "and", "or", "lambda",
    "serial", "parallel", "vectorized", "unrolled", "thread", "block", "init", "where", "axis",
    "alloc", "view", "buffer", "select", "cast", "exp", "min", "ramp", "broadcast", "constant",
    "relu", "matmul", "conv", "reads", "writes", "offset", "strides", "scope", "attrs", "name",
    "None", "True", "__class__", "é", "x" * 300, "ﬁ", "K", "A", "i", "self", "_", "__import__",
)  # fmt: skip
SIGNS = (
    "(", ")", "[", "]", "{", "}", ":", ",", "=", "==", "+", "-", "*", "/", "//", "%", "<<", ">>",
    "&", "|", "^", "~", "<", "@", ".", "#", ";", "\\", '"', "'", '"""', "\n", "    ", " ", "\t",
    "\r", "\r\n", "\0", "\x0c", "\x1b", "\ufeff", "\u2028", "\u202e", "\u0301", "\U0001f600", "->",
    ":=", "!=", "**", "...", "\x85", "\xa0", "\u3000",
)  # fmt: skip


@cache
def text_seeds() -> tuple[str, ...]:
    """List the texts that are changed."""
    return (
        *KERNELS.values(),
        *EDGES.values(),
        *GRAPHS.values(),
        *(text for text, _ in SCHEDULES.values()),
    )


def text_case(picks: Picks) -> bytes:
    """Make a hostile text: a seed with some places changed, or a monster."""
    if picks.one_in(_ONE_IN):
        return picks.pick(MONSTERS)(picks).encode("utf-8", "surrogatepass")
    seeds = text_seeds()
    text = picks.pick(seeds)
    if picks.one_in(6):
        return damaged(text.encode(), picks, [each.encode() for each in picks.some(seeds, 2)])
    for _ in range(picks.pick((1, 1, 1, 2, 3))):
        text = picks.pick(_CHANGES)(text, picks)
    return text.encode("utf-8", "surrogatepass")


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


def _swapped(text: str, picks: Picks) -> str:
    found = _tokens(text)
    if found:
        a, b = picks.below(len(found)), picks.below(len(found))
        found[a], found[b] = found[b], found[a]
    return "".join(found)


def _deleted(text: str, picks: Picks) -> str:
    found = _tokens(text)
    at = picks.below(len(found) + 1)
    del found[at : at + 1 + picks.below(3)]
    return "".join(found)


def _repeated(text: str, picks: Picks) -> str:
    found = _tokens(text)
    at, to = picks.below(len(found) + 1), picks.below(len(found) + 1)
    found[to:to] = found[at : at + 1 + picks.below(6)]
    return "".join(found)


def _replaced(text: str, picks: Picks) -> str:
    """Put another token of the same sort in place of one."""
    found = _tokens(text)
    if not found:
        return text
    at = picks.below(len(found))
    sort = NUMBERS if found[at].isdigit() else WORDS if found[at].isidentifier() else SIGNS
    own = [each for each in found if each.isidentifier() == found[at].isidentifier()]
    found[at] = picks.pick(own) if own and picks.one_in(2) else picks.pick(sort)
    return "".join(found)


def _numbered(text: str, picks: Picks) -> str:
    """Change a number: the ones that decide shapes, loops and offsets."""
    found = _tokens(text)
    places = [at for at, each in enumerate(found) if each.isdigit()]
    if places:
        found[picks.pick(places)] = picks.pick(NUMBERS)
    return "".join(found)


def _inserted(text: str, picks: Picks) -> str:
    at = picks.below(len(text) + 1)
    return text[:at] + picks.pick(SIGNS) + text[at:]


def _line_changed(text: str, picks: Picks) -> str:
    lines = text.split("\n")
    at, to = picks.below(len(lines)), picks.below(len(lines))
    match picks.below(6):
        case 0:
            del lines[at]
        case 1:
            lines.insert(to, lines[at])
        case 2:
            lines[at], lines[to] = lines[to], lines[at]
        case 3:
            lines[at] = " " * picks.below(20) + lines[at].lstrip()
        case 4:
            lines[at : at + 2] = ["".join(lines[at : at + 2])]
        case _:
            lines.insert(to, picks.pick(picks.pick(text_seeds()).split("\n")))
    return "\n".join(lines)


_CHANGES: tuple[Callable[[str, Picks], str], ...] = (
    _swapped, _deleted, _repeated, _replaced, _replaced, _numbered, _numbered, _inserted,
    _line_changed, _line_changed,
)  # fmt: skip

_HEAD = "def f(A: f32[8], x: i64):\n"
_SIZES = (100_000, 1_000, 200, 64, 5_000)


def _nested_expression(picks: Picks) -> str:
    opened, closed = picks.pick((("(", ")"), ("exp(", ")"), ("A[", "]"), ("-", ""), ("not ", "")))
    count = picks.pick(_SIZES)
    return f"{_HEAD}    A[0] = {opened * count}x{closed * count}\n"


def _nested_loops(picks: Picks) -> str:
    """Open loops inside loops; spaces for 100,000 of them would be 5 GB, so one space each and
    fewer where they are many."""
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
"""Texts that are made to take time or memory; each is drawn by its own choices."""
