"""Line tables: the line of printed loop IR that each instruction comes from.

They survive LLVM's passes and become ``.loc`` directives in assembly.
"""

from collections.abc import Mapping

FIRST = 4  # Lower numbers are weights of branches and loop metadata.
FILE = "loops.irs"


class DebugInfo:
    """Debug metadata of one module. ``lines`` maps the ``id`` of a statement to its line."""

    def __init__(self, lines: Mapping[int, int]) -> None:
        self.lines = lines
        self._entries = [
            "distinct !DICompileUnit(language: DW_LANG_C99, file: !6, producer: "
            '"irkit", isOptimized: true, emissionKind: LineTablesOnly)',
            '!{i32 2, !"Debug Info Version", i32 3}',
            f'!DIFile(filename: "{FILE}", directory: "")',
            "!DISubroutineType(types: !8)",
            "!{}",
        ]
        self._locations: dict[tuple[int, int], int] = {}

    def subprogram(self) -> int:
        """Add a function and return its number."""
        return self._add(
            'distinct !DISubprogram(name: "kernel", scope: !6, file: !6, line: 1, type: !7, '
            "unit: !4, spFlags: DISPFlagDefinition | DISPFlagOptimized)"
        )

    def location(self, subprogram: int, line: int) -> str:
        """Return the annotation of an instruction of a function that comes from a line."""
        key = subprogram, line
        if key not in self._locations:
            text = f"!DILocation(line: {line}, scope: !{subprogram})"
            self._locations[key] = self._add(text)
        return f", !dbg !{self._locations[key]}"

    def _add(self, text: str) -> int:
        self._entries.append(text)
        return FIRST + len(self._entries) - 1

    def render(self) -> str:
        """Return all metadata as text."""
        entries = [f"!{FIRST + at} = {text}" for at, text in enumerate(self._entries)]
        return "\n".join(["!llvm.dbg.cu = !{!4}", "!llvm.module.flags = !{!5}", *entries, ""])
