"""The way on from the loop IR: LLVM IR as emitted, as LLVM's passes leave it, and assembly, each
with the line of loop IR that its lines come from.

Nothing is run, but LLVM works in this process: what a stranger sent belongs in a child.
"""

import re
from collections.abc import Iterator

import msgspec

from irkit.codegen import assembly, emit, host_target, optimise
from irkit.core import Target
from irkit.inspector_web.text.texts import Texts
from irkit.ir import PrimFunc

_LOCATION = re.compile(r"!(\d+) = !DILocation\(line: (\d+)")
_CARRIED = re.compile(r",? !dbg !(\d+)")
_METADATA = re.compile(r"!(?:\d+|llvm\.\S+) = ")
_PLACE = re.compile(r"\s*\.loc\s+\d+\s+(\d+)")
_ABOUT_DEBUG = re.compile(
    r"\s*\.(?:file|loc|cfi_|section\s+\.(?:debug|note)|ident)|\s*\.?Ltmp\d+:|\.L(?:func|debug)"
)
_INSTRUCTION = re.compile(r"\s+[a-z]\w*(?:\s|$)")


class Mapped(msgspec.Struct):
    """A text, and for each of its lines the line of loop IR it comes from, counted from 1; 0 if
    from none."""

    text: list[str]
    lines: list[int]

    def at(self, line: int) -> list[int]:
        """List the lines, counted from 1, that come from a line of the loop IR."""
        return [place + 1 for place, from_line in enumerate(self.lines) if from_line == line]


class NativeCode(msgspec.Struct):
    """What becomes of one function: LLVM IR as emitted and as LLVM leaves it, and assembly."""

    llvm: Mapped
    optimised: Mapped
    assembly: Mapped


def native(texts: Texts, func: PrimFunc, target: Target | None = None) -> NativeCode:
    """Take a function of a trace, at any stage, to LLVM and assembly.

    Raises: IRKitError if there is no code for something in it.
    """
    chosen = host_target() if target is None else target
    emitted = emit([func], chosen, lines=texts.of_function(func).starts)
    optimised = str(optimise(emitted, chosen))
    return NativeCode(
        _of_llvm(emitted), _of_llvm(optimised), _of_assembly(assembly(emitted, chosen))
    )


def _of_llvm(text: str) -> Mapped:
    known = {number: int(line) for number, line in _LOCATION.findall(text)}
    made = Mapped([], [])
    for line in text.splitlines():
        if _METADATA.match(line) and "branch_weights" not in line:
            continue
        carried = _CARRIED.search(line)
        made.text.append(_CARRIED.sub("", line))
        made.lines.append(known.get(carried[1], 0) if carried is not None else 0)
    while made.text and not made.text[-1]:
        made.text.pop()
        made.lines.pop()
    return made


def _of_assembly(text: str) -> Mapped:
    made, at = Mapped([], []), 0
    for line in _code(text):
        place = _PLACE.match(line)
        if place is not None:
            at = int(place[1])
        elif not _ABOUT_DEBUG.match(line):
            made.text.append(line)
            made.lines.append(at if _INSTRUCTION.match(line) else 0)
    return made


def _code(text: str) -> Iterator[str]:
    """Leave out the sections that only debuggers read."""
    shown = True
    for line in text.splitlines():
        if line.lstrip().startswith((".section", ".text")):
            shown = ".debug" not in line and ".note" not in line
        if shown:
            yield line
