"""Jobs about a run by requests: their results, and what is refused."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from irkit.inspector_web.jobs.verdicts import check_steps
from irkit.inspector_web.load import Inspection
from irkit.transform import Trace
from tests.inspector_web.jobs.verdicts_programs import wrong_trace
from tests.inspector_web.pages import Client, client_of, opened

ORIGIN = {"Origin": "http://127.0.0.1:4321"}


@pytest.fixture(scope="module")
def wrong() -> Trace:
    return wrong_trace()


@pytest.fixture(scope="module")
def inspection(wrong: Trace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inspection]:
    path = tmp_path_factory.mktemp("wrong") / "wrong.trace"
    wrong.save(path)
    made = opened(str(path))
    yield made
    made.close()


@pytest.fixture
def client(inspection: Inspection) -> Client:
    return client_of(inspection)


def asked(client: Client, kind: str, **arguments: object) -> Any:
    """Ask for work and wait for what comes of it."""
    body = {"kind": kind, "arguments": arguments}
    begun = client.post("/api/jobs", json=body, headers=ORIGIN).get_json()
    assert "error" not in begun, begun["error"]
    for _ in range(4_000):
        info = client.get(f"/api/jobs/{begun['id']}").get_json()
        if info["state"] not in ("queued", "working"):
            assert info["state"] == "done", info["message"]
            return info["result"]
        time.sleep(0.01)
    raise AssertionError("the work did not end")


def at(trace: Trace, name: str) -> int:
    return next(step.index for step in trace if step.name == name)


def test_verdicts_have_the_numbers_of_the_run(client: Client, wrong: Trace) -> None:
    spoil = at(wrong, "spoil")
    (alone,) = asked(client, "verdicts", run=0, step=spoil)["verdicts"]
    assert (alone["step"], alone["status"]) == (spoil, "differs")
    all_steps = asked(client, "verdicts", run=0, function="f")["verdicts"]
    assert [each["step"] for each in all_steps] == list(range(len(wrong)))


def test_the_guilty_step_has_its_number_in_the_run_and_no_path_is_shown(
    client: Client, wrong: Trace
) -> None:
    found = asked(client, "guilty", run=0)
    assert found["step"] == at(wrong, "spoil")
    assert found["verdict"]["step"] == found["step"]
    assert {each["step"] for each in found["checked"]} >= {found["step"]}
    assert "/" not in found["note"]


def test_costs_have_the_numbers_of_the_run(client: Client, wrong: Trace) -> None:
    spoil = at(wrong, "spoil")
    pair = asked(client, "cost", run=0, step=spoil)
    assert (pair["before"]["step"], pair["after"]["step"]) == (spoil - 1, spoil)
    changed = [step.index for step in wrong if step.changed]
    stages = asked(client, "costs", run=0, function="f")["stages"]
    assert [each["step"] for each in stages] == [-1, *changed]


def test_llvms_passes_are_those_of_the_stage(client: Client, wrong: Trace) -> None:
    found = asked(client, "llvm-passes", state=f"0.{len(wrong) - 1}.a")
    assert found["function"] == "f"
    assert len(found["texts"]) == len(found["passes"]) + 1


def test_absent_constants_are_read_from_the_model_again(tmp_path: Path) -> None:
    weights = numpy_helper.from_array(np.ones((512, 256), np.float32), "w")
    nodes = [
        helper.make_node("Add", ["w", "w"], ["twice"]),
        helper.make_node("MatMul", ["x", "twice"], ["y"]),
    ]
    sizes = (("x", 512), ("y", 256))
    ends = [helper.make_tensor_value_info(name, 1, [4, size]) for name, size in sizes]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], [weights])
    onnx.save(helper.make_model(graph), str(tmp_path / "m.onnx"))
    inspection = opened(str(tmp_path / "m.onnx"))
    try:
        run = inspection.workspace.runs[0] if inspection.workspace is not None else None
        assert run is not None
        fold = at(run.trace, "fold-constants")
        (found,) = asked(client_of(inspection), "verdicts", run=0, step=fold)["verdicts"]
        assert (found["status"], found["how"]) == ("exact", "NumPy")
        (alone,) = check_steps(run.trace, [fold]).verdicts
        assert alone.status == "unknown"
        assert "large constants are not in the trace" in alone.text
    finally:
        inspection.close()


@pytest.mark.parametrize(
    ("kind", "arguments", "said"),
    [
        ("verdicts", {"run": 7}, "no run 7"),
        ("verdicts", {"run": 0, "step": 10**9}, "no step"),
        ("verdicts", {"run": 0, "step": -1}, "no step"),
        ("verdicts", {"run": 0, "function": "<b>"}, "no function '<b>'"),
        ("verdicts", {"run": 0, "path": "/etc/passwd"}, "unknown field"),
        ("verdicts", {"run": "0"}, "Expected `int`"),
        ("guilty", {}, "missing required field"),
        ("cost", {"run": 0}, "missing required field"),
        ("costs", {"run": 0, "function": "g"}, "no function 'g'"),
        ("llvm-passes", {"state": "../../etc/passwd"}, "is not the name of a stage"),
    ],
)
def test_unknown_runs_and_steps_are_refused_before_anything_runs(
    client: Client, kind: str, arguments: dict[str, Any], said: str
) -> None:
    body = {"kind": kind, "arguments": arguments}
    answer = client.post("/api/jobs", json=body, headers=ORIGIN)
    told = answer.get_json()
    if answer.status_code == 202:  # What is not there is a job that failed before it began.
        told = client.get(f"/api/jobs/{told['id']}").get_json()
        assert told["state"] == "failed"
    assert said in str(told)
