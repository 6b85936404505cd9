"""Make every view of a trace, to test the inspector on malformed files."""

from collections.abc import Callable, Iterator
from functools import partial

import msgspec

from irkit.core import IRKitError
from irkit.inspector_web.api.blame_page import blamed
from irkit.inspector_web.api.diff_page import coloured_lines, diff_page
from irkit.inspector_web.api.native_views import NativeViews
from irkit.inspector_web.api.overview import counts, kernel_infos, overview
from irkit.inspector_web.api.step_detail import line_info, step_info
from irkit.inspector_web.api.view_pages import graph_page, nest_page
from irkit.inspector_web.runs.run import LoadedTrace, RunStage
from irkit.inspector_web.runs.steps import Filter
from irkit.inspector_web.runs.workspace import Workspace
from irkit.inspector_web.views.search import pickaxe, search
from irkit.transform import Trace

MOST_STEPS = 6
"""Number of steps, of the first ones, that are viewed; the last two are viewed as well."""


def every_view(trace: Trace, native: NativeViews | None = None) -> tuple[int, int]:
    """Make every view; return how many succeeded, and how many were refused with an IRKitError.

    With ``native``, the last stage is also compiled. Raises: any other error, which is a bug.
    """
    workspace = Workspace([LoadedTrace(trace, trace.title)])
    answered = refused = 0
    for ask in _requests(workspace, native):
        try:
            msgspec.json.encode(ask())
            answered += 1
        except IRKitError:
            refused += 1
    return answered, refused


def _requests(workspace: Workspace, native: NativeViews | None) -> Iterator[Callable[[], object]]:
    run = workspace.runs[0]
    yield partial(overview, workspace)
    yield partial(kernel_infos, run)
    for name in run.functions[:MOST_STEPS]:
        yield partial(counts, run, name)
    yield lambda: run.steps.rows(Filter(touches="i"))
    yield partial(search, run.texts, "i")
    yield partial(pickaxe, run.texts, "for", case=False)
    number = len(run.trace)
    for at in [*range(min(number, MOST_STEPS)), *range(max(MOST_STEPS, number - 2), number)]:
        yield partial(step_info, run, at)
        yield from _step_requests(workspace, f"0.{at}")
    if native is not None and number:
        yield lambda: native.of(workspace.stage(f"0.{number - 1}.a"))


def _step_requests(workspace: Workspace, step: str) -> Iterator[Callable[[], object]]:
    left, right = workspace.stage(f"{step}.b"), workspace.stage(f"{step}.a")
    yield partial(diff_page, workspace, left, right)
    yield partial(diff_page, workspace, left, right, up_to_names=True)
    yield partial(nest_page, left, right)
    yield partial(graph_page, right)
    yield lambda: blamed(right.run.blame, right)
    yield partial(coloured_lines, workspace, right, 1, 200)
    yield partial(_some_lines, right)


def _some_lines(stage: RunStage) -> object:
    count = len(stage.ids)
    return [line_info(stage, line) for line in range(1, count + 1, max(1, count // 8))]
