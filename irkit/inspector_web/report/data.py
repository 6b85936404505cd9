"""All that the page can ask for, as one struct: texts, differences and details, each line once."""

import os
import shlex
from collections.abc import Sequence
from functools import partial

import msgspec
import numpy as np

from irkit.debug import chrome_trace
from irkit.inspector_web.api.blame_page import blamed, run_lengths
from irkit.inspector_web.api.diff_page import PageRow, page_row, page_rows
from irkit.inspector_web.api.overview import kernel_infos, run_info
from irkit.inspector_web.api.step_detail import SourceInfo, StepInfo, shown_link, step_info
from irkit.inspector_web.jobs.verdicts import StepVerdicts
from irkit.inspector_web.report.view_data import NativeOf, ViewData, ViewWriter
from irkit.inspector_web.runs.run import Run, RunStage
from irkit.inspector_web.runs.workspace import Workspace
from irkit.inspector_web.text.highlight import SentLines
from irkit.inspector_web.views.kernels import KernelInfo

LineRuns = list[tuple[int, int]]
"""A number for each line, run-length encoded as number and count."""


class DiffRows(msgspec.Struct):
    """The difference that a step made."""

    added: int
    removed: int
    changes: int
    exact: bool
    rows: list[PageRow]


class ReportData(msgspec.Struct):
    """The data of a report.

    ``stages`` are the numbers of the texts before and after each step of each run. ``blame`` and
    ``origins`` are run-length encoded for each text.
    """

    title: str
    command: str
    overview: object
    html: list[str]
    texts: list[list[int]]
    stages: list[list[tuple[int, int]]]
    diffs: list[list[DiffRows | None]]
    renamed: list[dict[int, DiffRows]]
    details: list[list[StepInfo]]
    sources: dict[str, SourceInfo]
    blame: list[LineRuns]
    origins: list[LineRuns]
    chains: list[list[tuple[str, str, str]]]
    chrome: list[str]
    views: ViewData
    verdicts: Sequence[StepVerdicts]
    kernels: list[list[KernelInfo]]


class ReportWriter:
    """Collector of the data of a report, which numbers lines, texts and chains of origins."""

    def __init__(self, workspace: Workspace, native_of: NativeOf | None) -> None:
        self.workspace = workspace
        self.views = ViewWriter(native_of)
        self.lines = SentLines(workspace.colours)
        self.texts: list[list[int]] = []
        self.blame: list[LineRuns] = []
        self.origins: list[LineRuns] = []
        self.chains: list[list[tuple[str, str, str]]] = []
        self.sources: dict[str, SourceInfo] = {}
        self._text_numbers: dict[tuple[int, int], int] = {}
        self._chains: dict[object, int] = {}

    def data(self, title: str, checked: Sequence[StepVerdicts] = ()) -> ReportData:
        runs = self.workspace.runs
        stages = [self._stages(run) for run in runs]
        diffs = [[self._diff(run, at) for at in range(len(run.trace))] for run in runs]
        for run in runs:
            self.views.add_native(run, lambda ref: self._text(self.workspace.stage(ref)))
        details = [self._details(run) for run in runs]
        for run in runs:
            for row in run.steps.rows():
                run.steps.counted(row.index)
        infos = [run_info(run) for run in runs]
        for info in infos:
            info.title = os.path.basename(info.title)
        return ReportData(
            title=title,
            command=f"irkit inspect {shlex.join(title.split(', '))}",
            overview={"runs": infos, "opened": len(infos)},
            html=self.lines.html,
            texts=self.texts,
            stages=stages,
            diffs=diffs,
            renamed=[self._renamed(run, found) for run, found in zip(runs, diffs, strict=True)],
            details=details,
            sources=self.sources,
            blame=self.blame,
            origins=self.origins,
            chains=self.chains,
            verdicts=checked,
            kernels=[kernel_infos(run) for run in runs],
            chrome=[chrome_trace(run.trace).decode() for run in runs],
            views=self.views.data,
        )

    def _stages(self, run: Run) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        for row in run.steps.rows():
            before = self.workspace.stage(f"{run.number}.{row.index}.b")
            after = self.workspace.stage(f"{run.number}.{row.index}.a")
            found.append((self._text(before), self._text(after)))
        return found

    def _text(self, stage: RunStage) -> int:
        key = stage.run.number, id(stage.ir)
        if key not in self._text_numbers:
            self._text_numbers[key] = len(self.texts)
            self.texts.append(self.lines.text(stage.ids))
            self.blame.append(blamed(stage.run.blame, stage))
            self.origins.append(self._origins(stage))
            self.views.add(stage)
        return self._text_numbers[key]

    def _origins(self, stage: RunStage) -> LineRuns:
        found = stage.run.origins(stage.ir)
        lines: list[int] = found.lines.tolist()
        numbers = [self._chain([shown_link(link) for link in chain]) for chain in found.chains]
        return run_lengths(np.array([numbers[at] if at >= 0 else -1 for at in lines], np.int32))

    def _chain(self, chain: list[tuple[str, str, str]]) -> int:
        key = tuple(chain)
        if key not in self._chains:
            self._chains[key] = len(self.chains)
            self.chains.append(chain)
        return self._chains[key]

    def _diff(self, run: Run, at: int, *, up_to_names: bool = False) -> DiffRows | None:
        if not run.trace[at].changed:
            return None
        before = self.workspace.stage(f"{run.number}.{at}.b")
        after = self.workspace.stage(f"{run.number}.{at}.a")
        found = run.steps.diff(at, up_to_names=up_to_names)

        sides = before.text.ids, after.text.ids
        left, right = (partial(self.lines.marked, ids) for ids in sides)
        rows = [
            page_row(row, left, right)
            for row in page_rows(self.workspace, before, after, up_to_names=up_to_names)
        ]
        return DiffRows(found.added, found.removed, len(found.hunks), found.exact, rows)

    def _renamed(self, run: Run, plain: list[DiffRows | None]) -> dict[int, DiffRows]:
        """Compare steps up to names, for those where that makes a difference."""
        found: dict[int, DiffRows] = {}
        for at, kept in enumerate(plain):
            names = run.steps.diff(at, up_to_names=True)
            if kept is None or (names.added, names.removed) == (kept.added, kept.removed):
                continue
            made = self._diff(run, at, up_to_names=True)
            assert made is not None
            found[at] = made
        return found

    def _details(self, run: Run) -> list[StepInfo]:
        found: list[StepInfo] = []
        for row in run.steps.rows():
            info = step_info(run, row.index)
            if info.source is not None:
                # A report is given to others, who may not have the sources of its author.
                if not info.source.own:
                    self.sources[info.name] = info.source
                info.source = None
            found.append(info)
        return found
