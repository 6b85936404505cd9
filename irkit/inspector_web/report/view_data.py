"""The other views in a report: loop nests, graphs, and machine code if requested.

Distinct rows of loop nests are stored once, and a nest is a list of their indices, since a pass
leaves most rows as they are.
"""

from collections.abc import Callable

import msgspec

from irkit.core import IRKitError
from irkit.graph import GraphFunc
from irkit.inspector_web.api.view_pages import GraphPage, graph_page
from irkit.inspector_web.runs.run import Run, RunStage
from irkit.inspector_web.views.graph_folds import ALL
from irkit.inspector_web.views.native import NativeCode
from irkit.inspector_web.views.nest import NestRow, nest
from irkit.ir import PrimFunc

NestFacts = tuple[str, str, int, str, int | None, int | None, int | None, int | None, int | None]
"""A row of a nest without its line: kind, name, depth, mark, extent, trips, bytes read, bytes
written and operations."""

NativeOf = Callable[[RunStage], NativeCode]


class ReportNest(msgspec.Struct):
    """A loop nest: the indices of its rows, and how many lines each is below the one before."""

    function: str
    rows: list[int]
    lines: list[int]


class ViewData(msgspec.Struct):
    """The views of each text, by its number; ``native`` has only some of them, and ``open_graphs``
    those graphs that have folds, with all of them open."""

    nest_rows: list[NestFacts]
    nests: list[ReportNest | None]
    graphs: list[GraphPage | None]
    open_graphs: list[GraphPage | None]
    native: dict[int, NativeCode]


class ViewWriter:
    """Collector of the views of texts, in the order of their numbers."""

    def __init__(self, native_of: NativeOf | None = None) -> None:
        self.data = ViewData([], [], [], [], {})
        self._native_of = native_of
        self._rows: dict[NestFacts, int] = {}

    def add(self, stage: RunStage) -> None:
        """Add the views of a new text."""
        functions = [part.func for _, part in stage.text.parts]
        loops = any(isinstance(func, PrimFunc) for func in functions)
        graphs = any(isinstance(func, GraphFunc) for func in functions)
        self.data.nests.append(self._nest(stage) if loops else None)
        page = graph_page(stage) if graphs else None
        self.data.graphs.append(page)
        has_folds = page is not None and page.view.folds
        self.data.open_graphs.append(graph_page(stage, [ALL]) if has_folds else None)

    def _nest(self, stage: RunStage) -> ReportNest:
        part = next(part for _, part in stage.text.parts if isinstance(part.func, PrimFunc))
        made, line = ReportNest(part.func.name, [], []), 0
        for row in nest(part):
            made.rows.append(self._row(row))
            made.lines.append(row.line - line)
            line = row.line
        return made

    def _row(self, row: NestRow) -> int:
        sizes = row.extent, row.trips, row.read, row.written, row.flops
        facts = row.kind, row.name, row.depth, row.mark, *sizes
        number = self._rows.setdefault(facts, len(self._rows))
        if number == len(self.data.nest_rows):
            self.data.nest_rows.append(facts)
        return number

    def add_native(self, run: Run, number_of: Callable[[str], int]) -> None:
        """Compile the final stage of each function, if machine code is requested."""
        if self._native_of is None:
            return
        last = {row.function: row for row in run.steps.rows() if row.status != "failed"}
        for row in last.values():
            ref = f"{run.number}.{row.index}.a"
            stage = RunStage(run, row.index, "after")
            try:
                self.data.native[number_of(ref)] = self._native_of(stage)
            except (
                IRKitError
            ):  # A graph, or IR that code generation refuses: omitted, as on the page.
                continue
