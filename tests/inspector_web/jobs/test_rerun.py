"""Passes switched off, moved or given other options, and run again in a child as a new run."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from irkit.inspector_web.load import Inspection
from tests.inspector_web.jobs.test_queue import ORIGIN, until_over
from tests.inspector_web.pages import (
    FAILING,
    Client,
    client_of,
    matmul_trace,
    opened,
    opened_model,
    relu_model,
)

Passes = list[dict[str, Any]]


@pytest.fixture(scope="module")
def inspection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inspection]:
    made = opened(matmul_trace(tmp_path_factory.mktemp("trace")))
    yield made
    made.close()


@pytest.fixture
def client(inspection: Inspection) -> Client:
    return client_of(inspection)


def passes(client: Client, run: int = 0, function: str = "matmul") -> Passes:
    answer = client.get("/api/plan", query_string={"run": run, "function": function})
    assert answer.status_code == 200, answer.text
    return answer.get_json()["passes"]


def run_again(
    client: Client, wanted: Passes, run: int = 0, function: str = "matmul"
) -> dict[str, Any]:
    arguments = {"run": run, "function": function, "passes": wanted}
    body = {"kind": "rerun", "arguments": arguments}
    answer = client.post("/api/jobs", json=body, headers=ORIGIN)
    assert answer.status_code == 202, answer.text
    return until_over(client, answer.get_json()["id"])


def run_info(client: Client, number: int) -> dict[str, Any]:
    return client.get("/api/overview").get_json()["runs"][number]


def named(wanted: Passes, name: str) -> dict[str, Any]:
    return next(each for each in wanted if each["name"] == name)


def test_the_plan_lists_passes_phases_and_options(client: Client) -> None:
    plan = client.get("/api/plan?run=0&function=matmul").get_json()
    assert not plan["whole"]
    assert [each["name"] for each in plan["passes"]][:2] == [
        "canonicalize-loops",
        "lower-cross-thread-reduction",
    ]
    assert [each["number"] for each in plan["phases"]] == [0, 1, 2, 3, 4]
    vectorize = next(each for each in plan["known"] if each["name"] == "vectorize-loops")
    assert vectorize["options"][0] == {
        "name": "lanes",
        "type": "int",
        "default": "16",
        "help": "Run up to ``lanes`` iterations of each vectorized loop at once",
    }
    assert "fuse-ops" not in [each["name"] for each in plan["known"]]


def test_a_pass_that_is_switched_off_does_not_run(client: Client) -> None:
    wanted = passes(client)
    named(wanted, "narrow-indices")["on"] = False
    info = run_again(client, wanted)
    assert (info["state"], info["result"]["failed"]) == ("done", False)
    number = info["result"]["run"]
    run = run_info(client, number)
    assert run["title"] == "matmul.trace: without narrow-indices"
    assert "narrow-indices" not in [row["name"] for row in run["steps"]]
    assert len(run["steps"]) == len(wanted) - 1
    assert [each["on"] for each in passes(client, number)].count(False) == 1
    last = len(run["steps"]) - 1
    made = client.get(f"/api/diff?left=0.24.a&right={number}.{last}.a").get_json()
    assert made["changes"] > 0


def test_the_same_request_gives_the_same_run(client: Client) -> None:
    wanted = passes(client)
    named(wanted, "unroll-loops")["on"] = False
    first, again = run_again(client, wanted), run_again(client, wanted)
    assert first["result"] == again["result"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"max_copies": "2"}, "loop-partition{max_copies=2}"),
        ({"constant_loops": "false"}, "loop-partition{constant_loops=false}"),
    ],
)
def test_options_reach_the_pass(client: Client, options: dict[str, str], said: str) -> None:
    wanted = passes(client)
    named(wanted, "loop-partition")["options"] = options
    number = run_again(client, wanted)["result"]["run"]
    run = run_info(client, number)
    assert run["title"].endswith(said)
    assert said in [row["pass_text"] for row in run["steps"]]


def test_a_pass_can_move_to_another_phase_and_be_there_twice(client: Client) -> None:
    wanted = passes(client)
    at = wanted.index(named(wanted, "unroll-loops"))
    wanted[at] = {**wanted[at], "phase": 3}
    wanted.append({"level": "loop", "phase": 3, "name": "simplify"})
    number = run_again(client, wanted)["result"]["run"]
    run = run_info(client, number)
    assert run["title"].endswith("unroll-loops in phase 3, with simplify")
    assert run["steps"][-1]["name"] == "simplify"
    assert [row["phase"] for row in run["steps"] if row["name"] == "unroll-loops"] == [3]


def test_an_illegal_order_has_the_error_of_the_pipeline(client: Client) -> None:
    wanted = passes(client)
    at = wanted.index(named(wanted, "flatten-buffers"))
    wanted.append({**wanted.pop(at), "phase": 3})
    info = run_again(client, wanted)
    assert info["state"] == "failed"
    assert "'narrow-indices' must come after 'flatten-buffers'" in info["message"]


def change(key: str, value: object) -> Callable[[dict[str, Any]], object]:
    return lambda given: given["passes"][0].update({key: value})


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (
            change("name", "os:system"),
            "there is no pass 'os:system' here, and modules are not imported",
        ),
        (change("name", "/etc/passwd"), "expected the name of a pass"),
        (change("name", "no-such-pass"), "there is no pass"),
        (change("name", "<script>"), "expected the name of a pass"),
        (change("options", {"x": "1"}), "no option 'x'"),
        (change("options", {"}": "1"}), "expected"),
        (change("phase", 99), "cannot be in phase 99: level loop has no such phase"),
        (change("phase", "1"), "Expected `int`"),
        (change("level", "graph"), "cannot be in phase 1: level graph has no such phase"),
        (change("file", "x"), "unknown field"),
        (lambda given: given.update(run=7), "there is no run 7"),
        (lambda given: given.update(function="nothing"), "has no function"),
        (lambda given: given.update(passes=given["passes"][:1] * 600), "too many"),
    ],
)
def test_what_cannot_be_run_is_refused_before_it_begins(
    client: Client, spoil: Callable[[dict[str, Any]], object], said: str
) -> None:
    given: dict[str, Any] = {"run": 0, "function": "matmul", "passes": passes(client)[:4]}
    spoil(given)
    body = {"kind": "rerun", "arguments": given}
    answer = client.post("/api/jobs", json=body, headers=ORIGIN)
    if answer.status_code == 400:  # The page never asks like this.
        assert said in answer.get_json()["error"]
        return
    info = client.get(f"/api/jobs/{answer.get_json()['id']}").get_json()
    assert (info["state"], info["seconds"]) == ("failed", 0)
    assert said in info["message"]


def test_no_pass_at_all_is_an_error_with_a_remedy(client: Client) -> None:
    wanted = [{**each, "on": False} for each in passes(client)]
    assert "Switch on at least one" in run_again(client, wanted)["message"]


def test_a_model_goes_through_the_graph_and_all_kernels_again(tmp_path: Path) -> None:
    inspection = opened_model(relu_model)
    client = client_of(inspection)
    plan = client.get("/api/plan?run=0&function=main").get_json()
    assert plan["whole"]
    assert {each["level"] for each in plan["phases"]} == {"graph", "loop"}
    wanted = plan["passes"]
    assert len(wanted) > 25
    named(wanted, "eliminate-dead-nodes")["on"] = False
    named(wanted, "vectorize-loops")["options"] = {"lanes": "2"}
    info = run_again(client, wanted, function="main")
    assert info["state"] == "done", info["message"]
    steps = run_info(client, info["result"]["run"])["steps"]
    assert {row["level"] for row in steps} == {"graph", "loop"}
    assert "vectorize-loops{lanes=2}" in [row["pass_text"] for row in steps]
    inspection.close()


def test_passes_of_a_script_run_again_and_what_came_after_a_failed_one_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.py").write_text(FAILING)
    inspection = opened("s.py")
    client = client_of(inspection)
    wanted = passes(client, 1, "f")
    assert [each["name"] for each in wanted][-5:-3] == ["explode", "simplify"]
    info = run_again(client, wanted, 1, "f")
    assert info["result"]["failed"], info
    named(wanted, "explode")["on"] = False
    info = run_again(client, wanted, 1, "f")
    assert info["result"] == {"run": 3, "failed": False}
    assert run_info(client, 3)["title"].endswith("without explode")
    inspection.close()
