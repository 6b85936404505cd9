"""LLVM IR as emitted, LLVM IR after LLVM's passes, and assembly, each mapped to lines of loop IR.

Nothing is executed, but LLVM runs in this process: call it in a child for untrusted files.
"""

import re
from collections.abc import Iterator

import msgspec

from irkit.codegen import assembly, emit, host_target, optimise
from irkit.core import Target
from irkit.inspector_web.text.texts import Texts
from irkit.ir import PrimFunc

_LOCATION = re.compile(r"!(\d+) = !DILocation\(line: (\d+)")
_DEBUG_REFERENCE = re.compile(r",? !dbg !(\d+)")
_METADATA = re.compile(r"!(?:\d+|llvm\.\S+) = ")
_LINE_DIRECTIVE = re.compile(r"\s*\.loc\s+\d+\s+(\d+)")
_DEBUG_DIRECTIVE = re.compile(
    r"\s*\.(?:file|loc|cfi_|section\s+\.(?:debug|note)|ident)|\s*\.?Ltmp\d+:|\.L(?:func|debug)"
)
_INSTRUCTION = re.compile(r"\s+[a-z]\w*(?:\s|$)")


class MappedText(msgspec.Struct):
    """A text, and for each line the line of loop IR that it comes from, from 1; 0 if none."""

    text: list[str]
    lines: list[int]

    def at(self, line: int) -> list[int]:
        """List the lines, counted from 1, that come from a line of the loop IR."""
        return [place + 1 for place, from_line in enumerate(self.lines) if from_line == line]


class NativeCode(msgspec.Struct):
    """LLVM IR of a function as emitted and as optimised by LLVM, and its assembly."""

    llvm: MappedText
    optimised: MappedText
    assembly: MappedText


def native(texts: Texts, func: PrimFunc, target: Target | None = None) -> NativeCode:
    """Compile a function of a trace, at any stage, to LLVM IR and assembly.

    Raises: IRKitError if code generation refuses it.
    """
    chosen = host_target() if target is None else target
    emitted = emit([func], chosen, lines=texts.of_function(func).starts)
    optimised = str(optimise(emitted, chosen))
    return NativeCode(
        _of_llvm(emitted), _of_llvm(optimised), _of_assembly(assembly(emitted, chosen))
    )


def _of_llvm(text: str) -> MappedText:
    known = {number: int(line) for number, line in _LOCATION.findall(text)}
    made = MappedText([], [])
    for line in text.splitlines():
        if _METADATA.match(line) and "branch_weights" not in line:
            continue
        reference = _DEBUG_REFERENCE.search(line)
        made.text.append(_DEBUG_REFERENCE.sub("", line))
        made.lines.append(known.get(reference[1], 0) if reference is not None else 0)
    while made.text and not made.text[-1]:
        made.text.pop()
        made.lines.pop()
    return made


def _of_assembly(text: str) -> MappedText:
    made, at = MappedText([], []), 0
    for line in _code_lines(text):
        place = _LINE_DIRECTIVE.match(line)
        if place is not None:
            at = int(place[1])
        elif not _DEBUG_DIRECTIVE.match(line):
            made.text.append(line)
            made.lines.append(at if _INSTRUCTION.match(line) else 0)
    return made


def _code_lines(text: str) -> Iterator[str]:
    """Yield the lines outside the sections that only debuggers read."""
    shown = True
    for line in text.splitlines():
        if line.lstrip().startswith((".section", ".text")):
            shown = ".debug" not in line and ".note" not in line
        if shown:
            yield line
