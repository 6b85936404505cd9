"""Schedules, pipelines, graphs and models that are drawn are legal, and mean what NumPy says."""

from collections import Counter
from typing import Any

import numpy as np
import onnx
import pytest

from irkit.core import IRKitError, IRModule, ScheduleError
from irkit.debug.compare import compare
from irkit.debug.primitives import scheduled_steps
from irkit.frontend.onnx import CONVERTERS, import_onnx
from irkit.fuzz.fixed_schedules import SCHEDULES
from irkit.fuzz.generators import (
    Kind,
    Sample,
    keep_as_it_is,
    leads_to_functions,
    leads_to_schedules,
)
from irkit.fuzz.generators.graph_draws import DRAWS
from irkit.fuzz.generators.onnx_draws import ONNX_DRAWS
from irkit.fuzz.generators.pipelines import edited, few
from irkit.fuzz.generators.programs import fixed_functions
from irkit.fuzz.judging import judge, primitive_in
from irkit.fuzz.picks import led, picks_of
from irkit.fuzz.sample import KINDS, Unusable, draw_sample, lead_of
from irkit.fuzz.schedule_draws import Wrong
from irkit.graph import OPS, GraphFunc, arrays_of, interpret, verify
from irkit.ir import PrimFunc
from irkit.ir import interpret as run_loops
from irkit.phases import DEFAULT


def _drawn(kind: Kind, count: int) -> list[Sample]:
    """Draw samples, of which hardly any may be unusable."""
    found: list[Sample] = []
    for number in range(count):
        try:
            found.append(draw_sample(kind, picks_of(number)))
        except Unusable:
            continue
    assert len(found) >= 0.97 * count
    return found


def _loops_differ(sample: Sample, func: PrimFunc) -> str:
    assert isinstance(sample.ir, PrimFunc)
    for inputs, told, allowed in zip(sample.inputs, sample.expected, sample.allowed, strict=True):
        args, own = inputs.copied(), inputs.copied()
        run_loops(func, *args)
        run_loops(sample.ir, *own)
        expected = told or tuple(own[place] for place in sample.outputs)
        for place, wanted, limit in zip(sample.outputs, expected, allowed, strict=True):
            apart = compare(wanted, args[place], limit, zeros_have_signs=False)
            if apart.at is not None:
                return str(apart)
    return ""


@pytest.mark.parametrize("kind", ["schedules", "pipelines"])
def test_what_is_scheduled_and_lowered_means_the_same(kind: Kind) -> None:
    for number, sample in enumerate(_drawn(kind, 40)):
        assert isinstance(sample.ir, PrimFunc)
        steps = list(scheduled_steps(sample.ir, sample.schedule, sample.pipeline))
        last = steps[-1].after if steps else sample.ir
        assert isinstance(last, PrimFunc)
        assert _loops_differ(sample, last) == "", number


def test_schedules_hold_what_was_accepted_between_what_was_refused() -> None:
    features = Counter(name for sample in _drawn("schedules", 60) for name in sample.features)
    names = {name.split(":")[0] for name in features}
    assert {"primitive", "refused"} <= names


def _written(name: str) -> Sample:
    """Draw the whole of a schedule that was written."""
    lead = leads_to_schedules()[list(SCHEDULES).index(name)]
    return draw_sample("schedules", led(lead, picks_of(0)))


def test_schedules_that_were_written_are_drawn_and_judged() -> None:
    for name in SCHEDULES:
        sample = _written(name)
        assert len(sample.schedule.as_python().splitlines()) >= len(SCHEDULES[name][1])
        assert judge(sample, native=False).status == "ok"


def test_each_function_that_was_written_can_be_led_to() -> None:
    for lead, fixed in zip(leads_to_functions(), fixed_functions(), strict=True):
        drawn = draw_sample("programs", led(lead, picks_of(0))).ir
        assert isinstance(drawn, PrimFunc)
        assert [param.name for param in drawn.params] == [p.name for p in fixed.func.params]
        assert drawn.name == fixed.func.name


@pytest.mark.parametrize("kinds", [KINDS, ("programs",), ("graphs", "schedules", "programs")])
def test_a_campaign_is_led_to_all_that_was_written(kinds: tuple[Kind, ...]) -> None:
    turns: list[Kind] = [kinds[number % len(kinds)] for number in range(700 * len(kinds))]
    led_to = {(drawn, lead_of(drawn, 3, number)) for number, drawn in enumerate(turns)}
    for kind, leads in (("programs", leads_to_functions()), ("schedules", leads_to_schedules())):
        if kind in kinds:
            assert {lead for drawn, lead in led_to if drawn == kind and lead} == set(leads)


def test_a_primitive_that_refuses_what_is_legal_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(func: PrimFunc, *rest: object) -> PrimFunc:
        raise ScheduleError(f"{func.name} may not be moved {rest}")

    monkeypatch.setattr("irkit.schedule.on_blocks.compute_at", refuses)
    with pytest.raises(Wrong, match="compute_at: it is legal, and failed") as found:
        _written("MOVE")
    assert primitive_in(found.value) == "sch.compute_at"


def test_pipelines_are_in_other_orders_and_with_other_options() -> None:
    names = {str(edited(DEFAULT, picks_of(number))[0]) for number in range(80)}
    assert len(names) > 60
    assert any("lanes=" in text for text in names)
    assert any(keep_as_it_is.name in text for text in names)


def test_pipelines_are_left_with_few_passes_or_none() -> None:
    counts = {len(few(DEFAULT, picks_of(number))[0].names) for number in range(40)}
    assert min(counts) == 0
    assert len(counts) > 5


def test_every_operator_is_drawn() -> None:
    assert set(DRAWS) == set(OPS)
    assert set(ONNX_DRAWS) == set(CONVERTERS)


def test_a_graph_is_valid_and_means_what_is_expected() -> None:
    for sample in _drawn("graphs", 120):
        assert isinstance(sample.ir, GraphFunc)
        assert verify(sample.ir) == []
        with np.errstate(all="ignore"):
            found = list(arrays_of(interpret(sample.ir, list(sample.inputs[0].args))))
        expected = sample.expected[0]
        assert expected is not None
        assert all(a.dtype == b.dtype for a, b in zip(found, expected, strict=True))


def test_a_graph_that_is_lowered_to_kernels_means_the_same() -> None:
    for number, sample in enumerate(_drawn("graphs", 16)):
        assert isinstance(sample.ir, GraphFunc)
        module = sample.pipeline.run(IRModule({"main": sample.ir}))
        with np.errstate(all="ignore"):
            found = list(arrays_of(interpret(module, list(sample.inputs[0].args))))
        for wanted, array, limit in zip(
            sample.expected[0] or (), found, sample.allowed[0], strict=True
        ):
            assert compare(wanted, array, limit, zeros_have_signs=False).at is None, number


def test_a_model_is_imported_and_means_what_onnx_says() -> None:
    for number, sample in enumerate(_drawn("onnx", 40)):
        assert isinstance(sample.ir, bytes)
        func = import_onnx(onnx.load_from_string(sample.ir))["main"]
        assert isinstance(func, GraphFunc)
        with np.errstate(all="ignore"):
            found = list(arrays_of(interpret(func, list(sample.inputs[0].args))))
        for wanted, array, limit in zip(
            sample.expected[0] or (), found, sample.allowed[0], strict=True
        ):
            assert compare(wanted, array, limit, zeros_have_signs=False).at is None, number


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_number_draws_the_same(kind: Kind) -> None:
    for number in range(3):
        try:
            first, again = (draw_sample(kind, picks_of(number)) for _ in range(2))
        except IRKitError:
            continue
        assert first.features == again.features
        assert str(first.pipeline) == str(again.pipeline)
        assert first.schedule == again.schedule


def test_graphs_have_branches_functions_nested_lets_and_unknown_extents() -> None:
    samples = _drawn("graphs", 150)
    features = {feature for sample in samples for feature in sample.features}
    assert {f"step:{name}" for name in ("If", "Lambda", "Apply", "Body", "Tuple")} <= features
    assert "extent:symbolic" in features
    for sample in samples:
        assert isinstance(sample.ir, GraphFunc)
        results = [np.asarray(each) for each in arrays_of(interpret(sample.ir, _args(sample)))]
        assert sample.expected[0] is not None
        for found, wanted in zip(results, sample.expected[0], strict=True):
            np.testing.assert_array_equal(found, wanted)


def _args(sample: Sample) -> list[np.ndarray[Any, Any]]:
    return [np.asarray(each) for each in sample.inputs[0].args]


def test_models_have_nodes_of_several_results_and_old_operator_sets() -> None:
    samples = _drawn("onnx", 120)
    models = [onnx.load_from_string(s.ir) for s in samples if isinstance(s.ir, bytes)]
    several = {node.op_type for m in models for node in m.graph.node if len(node.output) > 1}
    assert {"MaxPool", "Dropout", "BatchNormalization"} <= several
    assert {m.opset_import[0].version for m in models} >= {6, 8, 9, 11, 12, 13, 14, 15}
    made_by = [{name for node in m.graph.node for name in node.output} for m in models]
    assert any(
        len({each.name for each in m.graph.output} & made) > 2
        for m, made in zip(models, made_by, strict=True)
    )
