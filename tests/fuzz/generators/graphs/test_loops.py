"""Random graphs with loops and prefixes are valid, and faults in both are found."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from irkit.codegen.llvm.module import executor
from irkit.fuzz import judge
from irkit.fuzz.generators import Sample
from irkit.fuzz.generators.graphs.graph_samples import draw_graph
from irkit.fuzz.generators.sample import Unusable
from irkit.fuzz.judge.models import module_of
from irkit.fuzz.picks import picks_of
from irkit.graph import arrays_of, interpret, verify
from irkit.phases.executor.planner import _ExecutorPlanner


def samples(*features: str, count: int, native: bool = False) -> list[Sample]:
    """Draw graphs that have one of these features."""
    found: list[Sample] = []
    seed = 0
    while len(found) < count:
        seed += 1
        try:
            made = draw_graph(picks_of(seed))
        except Unusable:
            continue
        fixed = "extent:symbolic" not in made.features
        if not {*features}.isdisjoint(made.features) and (fixed or not native):
            found.append(made)
    return found


def test_loops_and_prefixes_compute_what_is_expected() -> None:
    drawn = samples("step:GraphLoop", "step:Prefix", count=40)
    features = {feature for sample in drawn for feature in sample.features}
    assert {"step:GraphLoop", "step:Prefix", "state"} <= features
    for sample in drawn:
        module = module_of(sample)
        assert verify(module) == []
        with np.errstate(all="ignore"):
            found = list(arrays_of(interpret(module, list(sample.inputs[0].args))))
        expected = sample.expected[0]
        assert expected is not None
        for one, other in zip(found, expected, strict=True):
            assert (one.dtype, one.shape) == (other.dtype, other.shape)


def no_state_is_carried(planner: Any, to: Any, source: Any) -> Any:
    made = ORIGINAL_COPY(planner, to, source)
    return made if source.computed and source.item < 0 else made.__class__(made.to, made.to, 0)


ORIGINAL_COPY = _ExecutorPlanner._copy
ORIGINAL_MEASURED = executor._measured


def rows_are_miscounted(*args: Any) -> list[str]:
    lines = ORIGINAL_MEASURED(*args)
    name = lines[0].split()[0]
    first = f"{lines[0].replace(name, name + '.read', 1)}\n  {name} = ashr i64 {name}.read, 1"
    return [first, *lines[1:]]


def rows_are_appended_too_early(*args: Any) -> Any:
    *others, extent = args
    return ORIGINAL_APPENDED(*others, extent - 1)


LOWERING = import_module("irkit.passes.graph.lower_to_loops")
ORIGINAL_APPENDED = LOWERING.appended


@pytest.mark.parametrize(
    ("feature", "owner", "name", "fault"),
    [
        ("cache", LOWERING, "appended", rows_are_appended_too_early),
        ("step:GraphLoop", _ExecutorPlanner, "_copy", no_state_is_carried),
        ("step:Prefix", executor, "_measured", rows_are_miscounted),
    ],
)
def test_a_fault_in_them_is_found(
    monkeypatch: pytest.MonkeyPatch, feature: str, owner: Any, name: str, fault: Callable[..., Any]
) -> None:
    drawn = samples(feature, count=6, native=True)
    assert {judge(sample).status for sample in drawn[:2]} == {"ok"}
    monkeypatch.setattr(owner, name, fault)
    assert any(judge(sample).status != "ok" for sample in drawn)
