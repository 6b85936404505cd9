"""Samples that are IR text: of drawn programs and graphs, as printed or with mutations by token and
by line. Such a text is an error with a location, or a function that prints and parses the same."""

import re
from collections.abc import Callable

from irkit.fuzz.generators.drawn import Sample
from irkit.fuzz.generators.graphs import graph_function
from irkit.fuzz.generators.programs import draw_program
from irkit.fuzz.picks import Picks
from irkit.fuzz.schedule_programs import BLUR, CHAIN, HALO, MATMUL_RELU
from irkit.fuzz.threads import THREADS
from irkit.graph import script as graph_script
from irkit.ir import PrimFunc, script
from irkit.phases import GRAPH

_MOST_CHANGES = 3
_TOKEN = re.compile(r"[A-Za-z_]\w*|\d+(?:\.\d+)?(?:e[+-]?\d+)?|\"[^\"]*\"|[-+*/%<>=!]+|\S")
_NUMBERS = ("0", "1", "-1", "2", "65", "9223372036854775807", "18446744073709551616", "1e400", "n")
_TYPES = ("f32", "i64", "bool", "f16", "bf16", "u8", "i8", "f64", "f32x4", "i128", "f31")
_SIGNS = ("+", "-", "*", "//", "%", "<", "<=", "==", "and", "=", ":", "if", "(", ")", "[", ",")
_WORDS = (
    *("serial", "parallel", "vectorized", "unrolled", "thread", "block", "axis", "init", "view"),
    *("alloc", "select", "cast", "where", "for", "in", "with", "def", "import", "lambda", "names"),
)
_FIXED = tuple(text.strip() + "\n" for text in (MATMUL_RELU, CHAIN, HALO, BLUR, *THREADS.values()))


def draw_text(picks: Picks) -> Sample:
    """Draw text: as it is printed one time in four, else with up to 3 mutations."""
    text = _text(picks)
    features = dict[str, None]()
    for _ in range(picks.below(_MOST_CHANGES + 1)):
        name, change = picks.pick(_CHANGES)
        text = change(text, picks)
        features[f"mutation:{name}"] = None
    # What is read is not lowered, so no pass of these runs.
    return Sample("text", text, GRAPH, features=tuple(features) or ("mutation:none",))


def _text(picks: Picks) -> str:
    form = picks.below(8)
    if form == 7:
        return graph_script(graph_function(picks, whole=True)[0])
    if form == 6:
        return picks.pick(_FIXED)
    func = draw_program(picks).ir
    assert isinstance(func, PrimFunc)
    return script(func)


def _replaced(text: str, picks: Picks, new: Callable[[re.Match[str]], str]) -> str:
    """Put something else where one token stands."""
    tokens = list(_TOKEN.finditer(text))
    if not tokens:
        return text
    token = picks.pick(tokens)
    return text[: token.start()] + new(token) + text[token.end() :]


def change_token(text: str, picks: Picks) -> str:
    """Replace a token by another of its kind: a number, a type, a name of the text, a sign."""
    names = sorted({found for found in _TOKEN.findall(text) if found[0].isalpha()})

    def other(token: re.Match[str]) -> str:
        old = token.group()
        if old[0].isdigit():
            return picks.pick(_NUMBERS)
        if old in _TYPES:
            return picks.pick(_TYPES)
        if old[0].isalpha():
            return picks.pick((*names, *_WORDS))
        return picks.pick(_SIGNS)

    return _replaced(text, picks, other)


def drop_token(text: str, picks: Picks) -> str:
    """Leave a token out."""
    return _replaced(text, picks, lambda token: "")


def double_token(text: str, picks: Picks) -> str:
    """Write a token twice."""
    return _replaced(text, picks, lambda token: f"{token.group()} {token.group()}")


def insert_word(text: str, picks: Picks) -> str:
    """Put a word of the language, or a sign, before a token."""
    word = picks.pick((*_WORDS, *_SIGNS, *_TYPES))
    return _replaced(text, picks, lambda token: f"{word} {token.group()}")


def nest_deeply(text: str, picks: Picks) -> str:
    """Wrap a token in many parentheses, or signs, or brackets."""
    depth = picks.pick((2, 60, 300))
    left, right = picks.pick((("(", ")"), ("-", ""), ("[", "]"), ("(", "")))
    return _replaced(text, picks, lambda token: left * depth + token.group() + right * depth)


def _lines(text: str, picks: Picks, edit: Callable[[list[str], int], None]) -> str:
    lines = text.splitlines()
    if lines:
        edit(lines, picks.below(len(lines)))
    return "\n".join(lines) + "\n"


def drop_line(text: str, picks: Picks) -> str:
    """Leave a line out."""

    def drop(lines: list[str], at: int) -> None:
        del lines[at]

    return _lines(text, picks, drop)


def double_line(text: str, picks: Picks) -> str:
    """Write a line twice."""
    return _lines(text, picks, lambda lines, at: lines.insert(at, lines[at]))


def swap_lines(text: str, picks: Picks) -> str:
    """Let two neighbours change places."""

    def swap(lines: list[str], at: int) -> None:
        lines[at - 1], lines[at] = lines[at], lines[at - 1]

    return _lines(text, picks, swap)


def indent_line(text: str, picks: Picks) -> str:
    """Move a line in or out."""
    by = picks.pick((4, -4, 1, -1))

    def indent(lines: list[str], at: int) -> None:
        lines[at] = " " * by + lines[at] if by > 0 else lines[at][-by:]

    return _lines(text, picks, indent)


def cut(text: str, picks: Picks) -> str:
    """End the text early."""
    return text[: picks.below(len(text) + 1)]


def change_character(text: str, picks: Picks) -> str:
    """Put another character, perhaps none of ASCII, somewhere."""
    at = picks.below(len(text) + 1)
    return text[:at] + picks.pick(("\t", "\0", "é", "\u2028", "#", '"', "\\", "@", ";")) + text[at:]


_CHANGES: tuple[tuple[str, Callable[[str, Picks], str]], ...] = (
    *(("token", change_token) for _ in range(6)),
    *(("no token", drop_token), ("token twice", double_token), ("word", insert_word)),
    *(("no line", drop_line), ("line twice", double_line), ("lines swapped", swap_lines)),
    *(("indent", indent_line), ("cut", cut), ("character", change_character)),
    ("depth", nest_deeply),
)
