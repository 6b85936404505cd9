"""Which LLVM IR is worth optimising: what has a kind of line that no text before it had.

Compiling at O3 takes half of the time of a case. What it can get wrong lies in instructions,
types, flags, attributes and intrinsics, and not in names and numbers.
"""

import re
from functools import cache

_NAMES = re.compile(
    r"""[%@#!](?!llvm\.)[\w.$-]+|"[^"]*"|(?<![\w.])-?(?:0x[0-9A-Fa-f]+|\d[\w.+-]*)"""
)
_LANES = re.compile(r"(?<=\.)(v|nxv)\d+(?=\w)")
_REPEATED = re.compile(r"(?P<one>(?:ptr noalias |ptr |[\w<>]+ )?%)(?:, (?P=one))+")


class LlvmNovelty:
    """The kinds of lines seen so far."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def is_new(self, text: str) -> bool:
        """Return True if a text has anything new, which it has no longer afterwards."""
        kinds = llvm_kinds(text)
        new = not kinds <= self.seen
        self.seen |= kinds
        return new


def llvm_kinds(text: str) -> set[str]:
    """Return the instructions and attributes of LLVM IR without names, numbers and lengths."""
    found: set[str] = set()
    for line in text.splitlines():
        if line.startswith((" ", "attributes", "!")):
            kind = _LANES.sub(r"\1", _NAMES.sub("%", line.strip()))
            found.add(_REPEATED.sub(r"\g<one>", kind))
    return found


@cache
def novelty_here() -> LlvmNovelty:
    """Return what was new in this process."""
    return LlvmNovelty()
