"""A report in a notebook: a frame of its own, which can read and change nothing around it."""

import html
from collections.abc import Sequence

import msgspec

from irkit.inspector_web.report.single_file import report
from irkit.inspector_web.runs.run import LoadedTrace
from irkit.inspector_web.runs.workspace import Workspace
from irkit.transform import Trace

HEIGHT = 720
"""Units: pixels."""


class NotebookReport(msgspec.Struct, frozen=True):
    """A report that a notebook shows as the result of a cell. Units: ``height`` in pixels."""

    page: str
    title: str
    height: int

    def _repr_html_(self) -> str:
        # Scripts run, but as those of a stranger: without allow-same-origin the frame has an
        # origin of its own.
        return (
            f'<iframe sandbox="allow-scripts" title="{html.escape(self.title)}" loading="lazy" '
            f'style="width: 100%; height: {self.height}px; border: 1px solid #8888" '
            f'srcdoc="{html.escape(self.page)}"></iframe>'
        )


def notebook_report(traces: Trace | Sequence[Trace], *, height: int = HEIGHT) -> NotebookReport:
    """Return what passes did as a page in a cell; two traces stand beside each other."""
    several = [traces] if isinstance(traces, Trace) else list(traces)
    title = ", ".join(each.title or "trace" for each in several)
    workspace = Workspace([LoadedTrace(each, each.title or "trace") for each in several])
    return NotebookReport(report(workspace, title), title, height)
