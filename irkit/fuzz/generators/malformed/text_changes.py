"""Changes to IR text: tokens, lines, characters and bytes are removed, added, moved or replaced."""

import re
from collections.abc import Callable, Sequence

from irkit.fuzz.generators.malformed.byte_damage import damaged
from irkit.fuzz.picks import Picks

_TOKEN = re.compile(r"\w+|[ \t]+|\n|.", re.S)

NUMBERS = (
    "0", "-1", "1", "2", "3", "127", "128", "255", "256", "2147483647", "2147483648",
    "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1e400", "1e-400", "0x7f",
    "1_000", "00", "0.5", "nan", "1j", "9" * 5_000, "0b" + "1" * 300, "1.7976931348623157e308",
    "18446744073709551616", "65", "n",
)  # fmt: skip
WORDS = (
    "f32", "f64", "i8", "i64", "u8", "bool", "f16", "bf16", "f32x4", "i1x0", "f33", "for", "if",
    "else", "elif", "with", "def", "in", "return", "assert", "pass", "not", "and", "or", "lambda",
    "serial", "parallel", "vectorized", "unrolled", "thread", "block", "init", "where", "axis",
    "alloc", "view", "buffer", "select", "cast", "exp", "min", "ramp", "broadcast", "constant",
    "relu", "matmul", "conv", "reads", "writes", "offset", "strides", "scope", "attrs", "name",
    "None", "True", "__class__", "é", "x" * 300, "ﬁ", "K", "A", "i", "self", "_", "__import__",
    "i128", "import", "names",
)  # fmt: skip
SIGNS = (
    "(", ")", "[", "]", "{", "}", ":", ",", "=", "==", "+", "-", "*", "/", "//", "%", "<<", ">>",
    "&", "|", "^", "~", "<", "@", ".", "#", ";", "\\", '"', "'", '"""', "\n", "    ", " ", "\t",
    "\r", "\r\n", "\0", "\x0c", "\x1b", "\ufeff", "\u2028", "\u202e", "\u0301", "\U0001f600", "->",
    ":=", "!=", "**", "...", "\x85", "\xa0", "\u3000", "<=",
)  # fmt: skip
_BRACKETS = (("(", ")"), ("-", ""), ("[", "]"), ("(", ""), ("not ", ""), ("exp(", ")"))

Others = Sequence[str]
Change = Callable[[str, Picks, Others], str]


def changed(text: str, picks: Picks, others: Others) -> tuple[bytes, tuple[str, ...]]:
    """Change up to three places of a text, and list what was done; pieces can come from others."""
    if picks.one_in(6):
        data = [each.encode() for each in picks.some(others, 2)]
        return damaged(text.encode(), picks, data), ("bytes",)
    names = dict[str, None]()
    for _ in range(picks.pick((1, 1, 1, 2, 3))):
        name, change = picks.pick(_CHANGES)
        text = change(text, picks, others)
        names[name] = None
    return text.encode("utf-8", "surrogatepass"), tuple(names)


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


def _replaced(text: str, picks: Picks, others: Others) -> str:
    """Replace a token by another of the same sort."""
    found = _tokens(text)
    if not found:
        return text
    at = picks.below(len(found))
    sort = NUMBERS if found[at].isdigit() else WORDS if found[at].isidentifier() else SIGNS
    own = [each for each in found if each.isidentifier() == found[at].isidentifier()]
    found[at] = picks.pick(own) if own and picks.one_in(2) else picks.pick(sort)
    return "".join(found)


def _numbered(text: str, picks: Picks, others: Others) -> str:
    """Change a number: those that decide shapes, loops and offsets."""
    found = _tokens(text)
    places = [at for at, each in enumerate(found) if each.isdigit()]
    if places:
        found[picks.pick(places)] = picks.pick(NUMBERS)
    return "".join(found)


def _swapped(text: str, picks: Picks, others: Others) -> str:
    found = _tokens(text)
    if found:
        a, b = picks.below(len(found)), picks.below(len(found))
        found[a], found[b] = found[b], found[a]
    return "".join(found)


def _deleted(text: str, picks: Picks, others: Others) -> str:
    found = _tokens(text)
    at = picks.below(len(found) + 1)
    del found[at : at + 1 + picks.below(3)]
    return "".join(found)


def _repeated(text: str, picks: Picks, others: Others) -> str:
    found = _tokens(text)
    at, to = picks.below(len(found) + 1), picks.below(len(found) + 1)
    found[to:to] = found[at : at + 1 + picks.below(6)]
    return "".join(found)


def _word(text: str, picks: Picks, others: Others) -> str:
    """Insert a word of the language before a token."""
    found = _tokens(text)
    found.insert(picks.below(len(found) + 1), f"{picks.pick(WORDS)} ")
    return "".join(found)


def _character(text: str, picks: Picks, others: Others) -> str:
    at = picks.below(len(text) + 1)
    return text[:at] + picks.pick(SIGNS) + text[at:]


def _nested(text: str, picks: Picks, others: Others) -> str:
    """Wrap a token in many parentheses, or signs, or brackets."""
    found = _tokens(text)
    if found:
        left, right = picks.pick(_BRACKETS)
        depth, at = picks.pick((2, 60, 300)), picks.below(len(found))
        found[at] = left * depth + found[at] + right * depth
    return "".join(found)


def _cut(text: str, picks: Picks, others: Others) -> str:
    return text[: picks.below(len(text) + 1)]


def _no_line(text: str, picks: Picks, others: Others) -> str:
    lines = text.split("\n")
    del lines[picks.below(len(lines))]
    return "\n".join(lines)


def _line_twice(text: str, picks: Picks, others: Others) -> str:
    lines = text.split("\n")
    at, to = picks.below(len(lines)), picks.below(len(lines))
    lines.insert(to, lines[at])
    return "\n".join(lines)


def _lines_swapped(text: str, picks: Picks, others: Others) -> str:
    lines = text.split("\n")
    at, to = picks.below(len(lines)), picks.below(len(lines))
    lines[at], lines[to] = lines[to], lines[at]
    return "\n".join(lines)


def _indented(text: str, picks: Picks, others: Others) -> str:
    lines = text.split("\n")
    at = picks.below(len(lines))
    lines[at] = " " * picks.below(20) + lines[at].lstrip()
    return "\n".join(lines)


def _joined(text: str, picks: Picks, others: Others) -> str:
    lines = text.split("\n")
    at = picks.below(len(lines))
    lines[at : at + 2] = ["".join(lines[at : at + 2])]
    return "\n".join(lines)


def _borrowed(text: str, picks: Picks, others: Others) -> str:
    """Insert a line of another text between two."""
    lines = text.split("\n")
    lines.insert(picks.below(len(lines)), picks.pick(picks.pick(others).split("\n")))
    return "\n".join(lines)


_CHANGES: tuple[tuple[str, Change], ...] = (
    *(("token", _replaced) for _ in range(5)),
    *(("number", _numbered) for _ in range(4)),
    *(("tokens swapped", _swapped), ("no token", _deleted), ("no token", _deleted)),
    *(("token twice", _repeated), ("token twice", _repeated), ("word", _word)),
    *(("character", _character), ("character", _character), ("depth", _nested), ("cut", _cut)),
    *(("no line", _no_line), ("line twice", _line_twice), ("lines swapped", _lines_swapped)),
    *(("indent", _indented), ("lines joined", _joined), ("line of another", _borrowed)),
)
