"""The rewrites of one pass: from the text before it to the text after it, one by one."""

import html
import re
from itertools import accumulate
from pathlib import Path

import pytest

from irkit.core import IRKitError
from irkit.inspector_web.jobs.rewrites import REWRITES, RewritesRequest, RewriteSteps, run_rewrites
from irkit.inspector_web.runs.run import LoadedTrace
from irkit.inspector_web.runs.workspace import Workspace
from irkit.ir import parse
from irkit.phases import trace
from irkit.transform import Trace
from tests.inspector_web.jobs.verdicts_programs import wrong_trace

ROWS = """\
def f(A: f32[6, 6], C: f32[6, 6]):
    for i in serial(0, 6):
        for j in serial(0, 6):
            with block("C"):
                vi = axis.spatial(6, i)
                vj = axis.spatial(6, j)
                C[vi, vj] = A[vi + 0, vj * 1] + f32(0.0)
    for i in serial(0, 6):
        for j in serial(0, 1):
            C[i, j * 2 + 1 - 1] = C[i * 3 - i * 2, 0] * f32(2.0)
"""


def plain(found: RewriteSteps, text: int) -> list[str]:
    lines = [html.unescape(re.sub(r"<[^>]*>", "", line)) for line in found.html]
    return [lines[at] for at in accumulate(found.texts[text])]


def asked(workspace: Workspace, folder: Path, step: int, **range_: int) -> RewriteSteps:
    found = REWRITES.find(workspace, RewritesRequest(0, step, **range_))
    return run_rewrites(*REWRITES.send(found, folder))


def test_the_states_lead_from_what_the_page_shows_before_to_what_it_shows_after(
    tmp_path: Path,
) -> None:
    workspace = Workspace([LoadedTrace(Trace(trace(parse(ROWS))), "rows")])
    texts = workspace.runs[0].texts
    seen = 0
    for step in texts.trace:
        if not step.changed:
            continue
        found = asked(workspace, tmp_path, step.index)
        if not found.states:
            assert "reports no rewrites" in found.note
            continue
        seen += len(found.states)
        assert plain(found, 0) == texts.lines(step.index, "before")
        assert plain(found, -1) == texts.lines(step.index, "after")
        assert found.states[0].first == 1
        assert found.states[-1].last == found.of == step.applications
        for one, other in zip(found.states, found.states[1:], strict=False):
            assert other.first == one.last + 1
        for each in (each for state in found.states for each in state.rewrites):
            assert re.fullmatch(r"\w+\.py:\d+", each.place), each
            assert each.code
    assert seen >= 6


def test_a_range_of_rewrites_begins_after_those_before_it(tmp_path: Path) -> None:
    workspace = Workspace([LoadedTrace(Trace(trace(parse(ROWS))), "rows")])
    simplify = next(
        step.index for step in workspace.runs[0].trace if step.changed and step.applications > 2
    )
    whole = asked(workspace, tmp_path, simplify)
    part = asked(workspace, tmp_path, simplify, first=2, last=3)
    assert [(state.first, state.last) for state in part.states] == [(2, 2), (3, 3)]
    assert plain(part, 0) == plain(whole, 1)
    assert plain(part, 2) == plain(whole, 3)
    with pytest.raises(IRKitError, match="expected first to last"):
        asked(workspace, tmp_path, simplify, first=3, last=2)


def test_a_pass_that_is_not_known_here_says_so(tmp_path: Path) -> None:
    made = wrong_trace()
    workspace = Workspace([LoadedTrace(made, "wrong")])
    spoil = next(step.index for step in made if step.name == "spoil")
    assert "not known here" in asked(workspace, tmp_path, spoil).note
