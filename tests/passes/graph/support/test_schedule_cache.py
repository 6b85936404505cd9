"""A schedule that is kept is the one that would be made, for the function it is asked for."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from irkit.autoschedule import Machine
from irkit.core import IRModule, Node, Recorder, Span, recording, remark, walk
from irkit.fuzz import Sample, graphs
from irkit.graph import Bind, Builder, GraphFunc
from irkit.ir import PrimFunc, script
from irkit.passes.graph import lower_to_loops
from irkit.passes.graph.support import scheduled_kernels
from irkit.passes.graph.support.schedule_cache import FILES, SCHEDULES, schedule_key
from irkit.passes.graph.support.scheduled_kernels import scheduled
from irkit.phases import GRAPH
from tests.draws import few_or_all
from tests.phases.caches import empty_cache
from tests.runtime.models import module

MACHINE = Machine.with_vectors(32)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    return empty_cache(tmp_path, monkeypatch)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the functions that are scheduled."""
    names: list[str] = []
    inner = scheduled_kernels.auto_schedule

    def auto_schedule(func: PrimFunc, machine: Machine) -> PrimFunc:
        names.append(func.name)
        return inner(func, machine)

    monkeypatch.setattr(scheduled_kernels, "auto_schedule", auto_schedule)
    return names


def layers(model: str, size: int = 24) -> GraphFunc:
    """Return a product with something behind it and a softmax, of layers named after a model."""
    b = Builder()
    x, y = b.param("x", (size, size)), b.param("y", (size, size))
    z = b.op("relu", b.op("add", b.op("matmul", x, y), x))
    func = b.finish(b.op("softmax", z, axis=1), outputs=("z",))
    named: list[Bind] = []
    for at, bind in enumerate(func.body.bindings):
        named.append(bind.replace(span=Span("onnx", f"{model}.{at}")))
    return func.replace(body=func.body.replace(bindings=tuple(named)))


def unscheduled(model: str, size: int = 24) -> list[PrimFunc]:
    found = lower_to_loops.using(schedule="none")(module(layers(model, size))).functions
    return [func for func in found.values() if isinstance(func, PrimFunc)]


def places(root: Node) -> list[object]:
    return [getattr(node, "span", None) for node in walk(root)]


def check_same(found: Sequence[PrimFunc], fresh: Sequence[PrimFunc]) -> None:
    assert [script(func) for func in found] == [script(func) for func in fresh]
    assert [places(func) for func in found] == [places(func) for func in fresh]


def made_now(funcs: Sequence[PrimFunc], monkeypatch: pytest.MonkeyPatch) -> list[PrimFunc]:
    with monkeypatch.context() as patched:
        patched.setenv("IRKIT_CACHE", "0")
        return scheduled(funcs, MACHINE)


@pytest.mark.parametrize("forget", [False, True])
def test_layers_of_another_model_are_found_and_named_after_it(
    forget: bool, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduled(unscheduled("first"), MACHINE)
    assert made
    if forget:
        SCHEDULES.clear()  # Then they come from files.
    other = unscheduled("second")
    made.clear()
    found = scheduled(other, MACHINE)
    assert not made
    check_same(found, made_now(other, monkeypatch))
    text = repr([places(func) for func in found])
    assert "second.2" in text
    assert "first" not in text
    for func, start in zip(found, other, strict=True):
        assert all(one is own for one, own in zip(func.params, start.params, strict=True))


def test_what_was_said_is_said_again(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = scheduled_kernels.auto_schedule

    def auto_schedule(func: PrimFunc, machine: Machine) -> PrimFunc:
        made = inner(func, machine)
        remark(made, f"vectors of {machine.vector_bytes} bytes")
        remark(func.body, "as written")
        return made

    def said(model: str) -> list[tuple[object, str]]:
        recorder, funcs = Recorder(), unscheduled(model)
        with recording(recorder):
            made = scheduled(funcs, MACHINE)
        assert [each.node for each in recorder.remarks[::2]] == made
        assert [each.node for each in recorder.remarks[1::2]] == [func.body for func in funcs]
        return [(getattr(each.node, "span", None), each.text) for each in recorder.remarks]

    monkeypatch.setattr(scheduled_kernels, "auto_schedule", auto_schedule)
    first = said("first")
    monkeypatch.setattr(scheduled_kernels, "auto_schedule", inner)
    again = said("second")
    assert [text for _, text in again] == [text for _, text in first]
    assert repr(again) == repr(first).replace("first", "second")


def test_another_machine_size_or_function_is_scheduled(made: list[str]) -> None:
    scheduled(unscheduled("m"), MACHINE)
    count = len(made)
    scheduled(unscheduled("m"), Machine.with_vectors(64))
    assert len(made) == 2 * count
    scheduled(unscheduled("m", 25), MACHINE)
    assert len(made) == 3 * count


def test_times_and_single_applications_are_made_now(made: list[str]) -> None:
    scheduled(unscheduled("m"), MACHINE)
    count = len(made)
    for at, recorder in enumerate((Recorder(timed=True), Recorder(keep=True))):
        with recording(recorder):
            scheduled(unscheduled("m"), MACHINE)
        assert len(made) == (at + 2) * count


def test_places_that_differ_otherwise_have_another_key() -> None:
    func = unscheduled("m")[0]
    assert schedule_key(func, MACHINE) == schedule_key(unscheduled("other")[0], MACHINE)
    alike = func.replace(span=next(place for place in places(func) if isinstance(place, Span)))
    apart = func.replace(span=Span("onnx", "elsewhere"))
    assert schedule_key(alike, MACHINE) != schedule_key(apart, MACHINE)


@pytest.mark.parametrize("value", ["0", "memory"])
def test_the_switch(
    value: str, folder: Path, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IRKIT_CACHE", value)
    for _ in range(2):
        scheduled(unscheduled("m"), MACHINE)
    assert len(made) == len(unscheduled("m")) * (2 if value == "0" else 1)
    assert not folder.exists()


def test_a_damaged_file_counts_as_missing(folder: Path, made: list[str]) -> None:
    scheduled(unscheduled("m"), MACHINE)
    count = len(made)
    for path in (folder / FILES.folder).glob("*.schedule"):
        path.write_bytes(path.read_bytes()[:-1])
    SCHEDULES.clear()
    scheduled(unscheduled("m"), MACHINE)
    assert len(made) == 2 * count


@settings(
    max_examples=few_or_all(15, 300), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(graphs())
def test_drawn_graphs(sample: Sample) -> None:
    """What is kept equals what was made, whatever the functions."""
    sources: IRModule = sample.ir if isinstance(sample.ir, IRModule) else module(sample.ir)
    before = GRAPH.replace("lower-to-loops", lower_to_loops.using(schedule="none"))
    lowered = before.run(sources).functions.values()
    funcs = [func for func in lowered if isinstance(func, PrimFunc)]
    first = scheduled(funcs, MACHINE)
    check_same(scheduled(funcs, MACHINE), first)
    SCHEDULES.clear()
    check_same(scheduled(funcs, MACHINE), first)
