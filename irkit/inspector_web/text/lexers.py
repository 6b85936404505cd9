"""Lexers of the languages that are shown: how a line is cut into tokens, and their classes.

The classes are those of ``irkit.core.token_class``. A token's class follows from the token alone,
and the tokens of a line, joined, are the line.
"""

import html
import re
from collections.abc import Callable

from irkit.core import TokenHtml, token_class, tokens

_STRING = r'"(?:[^"\\]|\\.)*"?'
_NUMBER = r"-?(?:0x[0-9A-Fa-f]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)\b"
_NAME = rf"(?:{_STRING}|[\w.$-]+)"
_SHAPE = r"(?:[\d?]+x)+\w*"
_LLVM = re.compile(
    rf"\s+|;.*|[%@]{_NAME}|![\w.]*|#\d+|{_STRING}|{_NUMBER}|[A-Za-z_$.][\w.$-]*:?|.", re.S
)
_MLIR = re.compile(
    rf"\s+|//.*|[%@^]{_NAME}(?:\#\d+)?|[!\#][A-Za-z_][\w.$]*|{_STRING}|{_SHAPE}|{_NUMBER}"
    r"|[A-Za-z_][\w.$]*|->|::|.",
    re.S,
)
_MIR = re.compile(rf"\s+|\#.*|[%@$]{_NAME}|{_STRING}|{_NUMBER}|[A-Za-z_][\w.$-]*:?|.", re.S)
_LLVM_TYPE = re.compile(
    r"(?:i\d{1,8}|half|bfloat|float|double|fp128|x86_fp80|ptr|void|label|metadata|token|opaque)\Z"
)
_MLIR_TYPE = re.compile(
    r"(?:[su]?i\d{1,8}|b?f\d{1,3}\w*|tf32|index|none|memref|tensor|vector|complex|tuple|ptr"
    r"|(?:[\d?]+x)+\w*)\Z"
)
_LLVM_WORDS = (
    "define declare ret br switch phi call invoke tail musttail notail load store alloca "
    "fence cmpxchg atomicrmw getelementptr inbounds icmp fcmp select add sub mul shl lshr "
    "ashr and or xor udiv sdiv urem srem fadd fsub fmul fdiv frem fneg extractelement "
    "insertelement shufflevector extractvalue insertvalue trunc zext sext fptrunc fpext "
    "fptoui fptosi uitofp sitofp bitcast ptrtoint inttoptr addrspacecast freeze unreachable "
    "resume landingpad to align nsw nuw exact fast contract nnan ninf nsz arcp reassoc afn "
    "true false null undef poison zeroinitializer splat private internal external constant "
    "global local_unnamed_addr unnamed_addr noalias nocapture readonly writeonly volatile "
    "attributes source_filename target datalayout triple type asm sideeffect x eq ne ugt uge "
    "ult ule sgt sge slt sle oeq one ogt oge olt ole ord ueq une uno"
)
_MLIR_WORDS = (
    "module func return attributes to step iter_args loc affine_map affine_set dense true false "
    "unit private public nested if else for while do yield from in ins outs"
)
_LLVM_KEYWORDS = frozenset(_LLVM_WORDS.split())
_MLIR_KEYWORDS = frozenset(_MLIR_WORDS.split())


class Lexer:
    """Lexer of one language: ``cut`` splits a line, ``kind`` returns the class of a token."""

    def __init__(self, cut: Callable[[str], list[str]], kind: Callable[[str], str]) -> None:
        self.cut, self.kind = cut, kind
        self._html: dict[str, str] = {}

    def html(self, token: str) -> str:
        """Return a token as HTML; names, the bulk of a text, get no colour."""
        made = self._html.get(token)
        if made is None:
            kind, text = self.kind(token).replace("v", ""), html.escape(token)
            made = self._html[token] = f'<span class="{kind}">{text}</span>' if kind else text
        return made

    def line(self, line: str) -> str:
        """Return a line as HTML."""
        return "".join([self.html(token) for token in self.cut(line)])


class _OwnLexer(Lexer):
    """The lexer of irkit's own IR, which does not cut up what lies between words for display."""

    def __init__(self) -> None:
        super().__init__(tokens, token_class)
        self._coloured = TokenHtml()

    def html(self, token: str) -> str:
        return self._coloured[token]

    def line(self, line: str) -> str:
        return self._coloured.line(line)


def _llvm_kind(token: str) -> str:
    return _kind(token, ";", _LLVM_KEYWORDS, _LLVM_TYPE)


def _mlir_kind(token: str) -> str:
    if token[0] in "!#" and len(token) > 1:
        return "t" if token[0] == "!" else "l"
    return _kind(token, "//", _MLIR_KEYWORDS, _MLIR_TYPE)


def _mir_kind(token: str) -> str:
    return _kind(token, "#", frozenset(), _LLVM_TYPE)


def _kind(token: str, comment: str, keywords: frozenset[str], types: re.Pattern[str]) -> str:
    first = token[0]
    if token.startswith(comment):
        return "c"
    if first == '"':
        return "s"
    if first in "%$^" and len(token) > 1:
        return "v"
    if first == "@" and len(token) > 1:
        return "d"
    if first.isdigit() or (first in "-?" and token[1:2] not in ("", ">")):
        return "t" if types.match(token) else "n"
    if not (first.isalpha() or first in "_."):
        return ""
    if token in keywords:
        return "k"
    if types.match(token):
        return "t"
    return "f" if "." in token or token[-1] == ":" else ""


OWN = _OwnLexer()
LEXERS: dict[str, Lexer] = {
    "llvm": Lexer(_LLVM.findall, _llvm_kind),
    "mlir": Lexer(_MLIR.findall, _mlir_kind),
    "mir": Lexer(_MIR.findall, _mir_kind),
}


def lexer_of(language: str) -> Lexer:
    """Return the lexer of a language; Python and what is not known have that of irkit's IR."""
    return LEXERS.get(language, OWN)
