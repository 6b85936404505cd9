"""Tell LLVM from which line of printed loop IR each instruction comes: line tables, which
survive its passes and end as ``.loc`` in assembly."""

from collections.abc import Mapping

FIRST = 2  # !0 and !1 are weights of branches.
FILE = "loops.irs"


class DebugInfo:
    """Number the metadata of one module. ``lines`` gives the line of a statement by ``id``."""

    def __init__(self, lines: Mapping[int, int]) -> None:
        self.lines = lines
        self._entries = [
            "distinct !DICompileUnit(language: DW_LANG_C99, file: !4, producer: "
            '"irkit", isOptimized: true, emissionKind: LineTablesOnly)',
            '!{i32 2, !"Debug Info Version", i32 3}',
            f'!DIFile(filename: "{FILE}", directory: "")',
            "!DISubroutineType(types: !6)",
            "!{}",
        ]
        self._locations: dict[tuple[int, int], int] = {}

    def subprogram(self) -> int:
        """Announce a function; returns its number."""
        return self._add(
            'distinct !DISubprogram(name: "kernel", scope: !4, file: !4, line: 1, type: !5, '
            "unit: !2, spFlags: DISPFlagDefinition | DISPFlagOptimized)"
        )

    def location(self, subprogram: int, line: int) -> str:
        """Give what an instruction of a function carries that comes from a line."""
        key = subprogram, line
        if key not in self._locations:
            text = f"!DILocation(line: {line}, scope: !{subprogram})"
            self._locations[key] = self._add(text)
        return f", !dbg !{self._locations[key]}"

    def _add(self, text: str) -> int:
        self._entries.append(text)
        return FIRST + len(self._entries) - 1

    def render(self) -> str:
        """Write all of it."""
        entries = [f"!{FIRST + at} = {text}" for at, text in enumerate(self._entries)]
        return "\n".join(["!llvm.dbg.cu = !{!2}", "!llvm.module.flags = !{!3}", *entries, ""])
