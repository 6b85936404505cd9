"""Remarks of passes, each at its line of the IR."""

from collections.abc import Iterable

import msgspec

from irkit.debug.report.line_table import NodeLines
from irkit.transform import Step, functions_of


class LocatedRemark(msgspec.Struct, frozen=True):
    """A remark of a pass about a line of its input; line 0 means unknown."""

    step: int
    name: str
    function: str
    line: int
    code: str
    text: str

    def __str__(self) -> str:
        where = f"{self.function}:{self.line}" if self.line else self.function
        shown = f"\n    {self.code}" if self.code else ""
        return f"{where}: {self.name}: {self.text}{shown}"


def remarks(steps: Iterable[Step]) -> list[LocatedRemark]:
    """Return the remarks of steps in order.

    Lines refer to the IR before the step; a remark about a node that the pass made has none.
    """
    found: list[LocatedRemark] = []
    for step in steps:
        if not step.remarks:
            continue
        functions = functions_of(step.before, step.level.functions)
        tables = [
            (func, NodeLines(step.level, func), func.script().splitlines()) for func in functions
        ]
        for each in step.remarks:
            name, line, code = step.function, 0, ""
            for func, lines, text in tables:
                line = lines.of(each.node)
                if line:
                    name, code = func.name, text[line - 1].strip()
                    break
            found.append(LocatedRemark(step.index, step.name, name, line, code, each.text))
    return found
