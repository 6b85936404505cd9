"""Cut lines of IR text into tokens and colour them as HTML, with every character escaped.

The class of a token follows from the token alone (a called name keeps its bracket), so each
distinct token is coloured once and looked up afterwards.
"""

import html
import keyword
import re

_WORD = (
    r"""\"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|\#.*"""
    r"""|@?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\(?|\d[\w.]*(?:e[+-]\d+)?"""
)
TOKEN = re.compile(rf"""\s+|{_WORD}|//|<<|>>|[=<>!]=|->|.""", re.S)
# Whatever lies between words has no colour, so it is not cut up for display.
_COARSE = re.compile(rf"""{_WORD}|[^\w"'#@]+|.""", re.S)
_DTYPE = re.compile(r"(?:bool|(?:bf|f|i|u)\d{1,2})(?:x\d{1,5})?\Z")
KEYWORDS = frozenset(keyword.kwlist)
LOOPS = frozenset(("serial", "parallel", "vectorized", "unrolled", "thread"))

MAX_PAGE_BYTES = 200_000

# Colours for HTML without a style sheet, chosen for white and black pages.
COLOURS = {
    "k": "#a626a4",
    "l": "#c7254e",
    "t": "#0a7e8c",
    "f": "#3b6fd4",
    "n": "#986801",
    "s": "#50a14f",
    "c": "#808080",
    "d": "#c7254e",
}


def tokens(line: str) -> list[str]:
    """Cut a line into tokens; joined, they are the line."""
    return TOKEN.findall(line)


def token_class(token: str) -> str:
    """Return the class of a token: k keyword, l loop kind, t type, f called name, n number, s
    string, c comment, d decorator, v name; empty for anything else."""
    first = token[0]
    if first in "\"'":
        return "s"
    if first.isdigit():
        return "n"
    if first == "#":
        return "c"
    if first == "@":
        return "d"
    if not (first.isalpha() or first == "_"):
        return ""
    name = token.removesuffix("(")
    if name in KEYWORDS:
        return "k"
    if _DTYPE.match(name):
        return "t"
    if name != token:
        return "l" if name in LOOPS else "f"
    return "v"


class TokenHtml(dict[str, str]):
    """HTML of tokens, computed on first use: with classes for a style sheet, or with inline
    colours."""

    def __init__(self, *, styles: bool = False) -> None:
        super().__init__()
        self.styles = styles

    def __missing__(self, token: str) -> str:
        # Names, the bulk of a text, get no colour.
        kind, bracket = token_class(token).replace("v", ""), ""
        if token.endswith("("):
            token_text, bracket = token[:-1], "("
        else:
            token_text = token
        text = html.escape(token_text)
        if self.styles:
            colour = COLOURS.get(kind)
            made = f'<span style="color:{colour}">{text}</span>' if colour else text
        else:
            made = f'<span class="{kind}">{text}</span>' if kind else text
        made = self[token] = made + bracket
        return made

    def line(self, text: str) -> str:
        """Return a line as HTML."""
        return "".join([self[token] for token in _COARSE.findall(text)])


def text_to_html(text: str) -> str:
    """Return a text as HTML that needs no style sheet, within ``MAX_PAGE_BYTES``."""
    colours, pieces, room = TokenHtml(styles=True), list[str](), MAX_PAGE_BYTES - 200
    lines = text.splitlines()
    for at, line in enumerate(lines):
        made = colours.line(line)
        room -= len(made.encode(errors="replace")) + 1
        if room < 0:
            pieces.append(f"# and {len(lines) - at} more lines")
            break
        pieces.append(made)
    return f'<pre style="line-height:1.35">{chr(10).join(pieces)}\n</pre>'
