"""Edited IR and schedules: read in a child, verified, run on, and compared with the old run."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from irkit.core import as_target
from irkit.inspector_web.limits import MOST_ASKED
from irkit.inspector_web.load import Inspection
from irkit.ir import parse
from irkit.phases import DEFAULT, machine_of, with_auto_schedule
from irkit.transform import Trace
from tests.inspector_web.jobs.test_queue import ORIGIN, until_over
from tests.inspector_web.jobs.test_rerun import passes, run_again, run_info
from tests.inspector_web.pages import MATMUL, Client, client_of, matmul_trace, opened

AT = 3
"""The step after which the IR is edited: lower-init-blocks."""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("edit")
    scheduled = str(folder / "scheduled.trace")
    machine = machine_of("host", as_target("llvm"))
    pipeline = with_auto_schedule(DEFAULT, machine)
    Trace.of(pipeline.steps(parse(f"@attrs(unscheduled=True)\n{MATMUL}")), title="scheduled").save(
        scheduled
    )
    inspection = opened(matmul_trace(folder), scheduled)
    yield client_of(inspection)
    inspection.close()


def edit(client: Client, text: str, **about: Any) -> dict[str, Any]:
    arguments = {"run": 0, "step": AT, "text": text, **about}
    answer = client.post("/api/jobs", json={"kind": "edit", "arguments": arguments}, headers=ORIGIN)
    assert answer.status_code == 202, answer.text
    return until_over(client, answer.get_json()["id"])


def text_of(client: Client, step: int = AT, run: int = 0) -> dict[str, str]:
    return client.get(f"/api/editable?run={run}&step={step}").get_json()


def test_the_text_of_every_step_can_be_edited_and_is_valid(client: Client) -> None:
    for row in run_info(client, 0)["steps"][::8]:
        info = edit(client, text_of(client, row["index"])["text"], step=row["index"])
        assert (info["state"], info["result"]["run"]) == ("done", None), (row, info["message"])


def test_the_rest_runs_on_the_edited_ir_and_verdicts_are_against_the_old_run(
    client: Client,
) -> None:
    text = text_of(client)["text"]
    wrong = text.replace("A[vi, vk] * B[vk, vj]", "B[vi, vk] * B[vk, vj]")
    right = text.replace("A[vi, vk] * B[vk, vj]", "B[vk, vj] * A[vi, vk]")
    assert len({text, wrong, right}) == 3
    for edited, status in ((wrong, "differs"), (right, "exact")):
        info = edit(client, edited, go=True)
        number = info["result"]["run"]
        run, old = run_info(client, number), run_info(client, 0)
        assert [row["name"] for row in run["steps"]] == [
            "(edit)", *(row["name"] for row in old["steps"][AT + 1 :])
        ]  # fmt: skip
        pairs = client.get(f"/api/beside?run={number}&other=0&function=matmul").get_json()
        assert sum(None not in (pair["left"], pair["right"]) for pair in pairs) > 15
        asked = {"kind": "verdicts", "arguments": {"run": number, "step": 0}}
        made = client.post("/api/jobs", json=asked, headers=ORIGIN).get_json()["id"]
        (verdict,) = until_over(client, made)["result"]["verdicts"]
        assert verdict["status"] == status, verdict
    # Run again, the run starts from what was edited.
    again = run_again(client, passes(client, number), number)
    steps = run_info(client, again["result"]["run"])["steps"]
    assert "(edit)" not in [row["name"] for row in steps]
    last = client.get(f"/api/diff?left={number}.{len(run['steps']) - 1}.a"
                      f"&right={again['result']['run']}.{len(steps) - 1}.a").get_json()  # fmt: skip
    assert last["changes"] == 0


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("for k in", "for 3k in", r"^edited:4:"),
        ("C[vi, vj] = 0.0", "C[vi, vj] = f64(0.0)", r"invalid|f64"),
        ("def matmul", "def other", "named 'other'; expected 'matmul'"),
        ("A: f32[64, 64]", "A: f32[64, 32]", "other parameters"),
        ("C[vi, vj] = 0.0", "C[vi, vj] = q", "q"),
        ("C[vi, vj] = 0.0", "import os", "edited:"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(old: str, new: str, said: str, client: Client) -> None:
    text = text_of(client)["text"]
    info = edit(client, text.replace(old, new, 1), go=True)
    assert info["state"] == "failed"
    assert re.search(said, info["message"], re.M), info["message"]
    assert "bug in irkit" not in info["message"]


def test_a_schedule_is_changed_and_a_primitive_added_or_refused_with_the_reason(
    client: Client,
) -> None:
    rows = run_info(client, 1)["steps"]
    at = next(row["index"] for row in rows if row["name"] == "auto-schedule")
    schedule = text_of(client, at, 1)["schedule"]
    about = {"run": 1, "step": at, "kind": "schedule"}
    assert edit(client, schedule, **about)["state"] == "done"
    simple = (
        'b = sch.get_block("C")\ni, j, k = sch.get_loops(b)\n'
        "o, n = sch.split(j, [None, 16])\nsch.vectorize(n)\n"
    )
    assert edit(client, simple, **about)["state"] == "done"
    smaller = edit(client, simple.replace("16", "8"), **about, go=True)
    assert smaller["state"] == "done", smaller["message"]
    new = run_info(client, smaller["result"]["run"])["steps"]
    assert (new[0]["pass_text"], new[0]["status"]) == ("edited schedule", "changed")
    refused = edit(client, f"{simple}sch.vectorize(k)\n", **about)
    assert "at step 5 of the schedule: sch.vectorize(k)" in refused["message"]
    assert "reduc" in refused["message"]
    assert "edited:1: expected a call" in edit(client, "import os", **about)["message"]


def test_what_cannot_be_edited_says_why(client: Client) -> None:
    answer = client.get("/api/editable?run=0&step=999")
    assert answer.status_code == 404
    text = "x" * (MOST_ASKED // 2 + 9)
    huge: dict[str, Any] = {"kind": "edit", "arguments": {"run": 0, "step": AT, "text": text}}
    made = client.post("/api/jobs", json=huge, headers=ORIGIN).get_json()["id"]
    assert "characters; at most" in until_over(client, made)["message"]
    huge["arguments"] = {"text": "x" * MOST_ASKED}
    assert client.post("/api/jobs", json=huge, headers=ORIGIN).status_code == 413


@pytest.mark.parametrize("read_only", [True, False])
def test_nothing_runs_if_read_only_and_nothing_is_edited_on_another_host(
    read_only: bool, tmp_path: Path
) -> None:
    inspection = Inspection((matmul_trace(tmp_path),), runs=not read_only, edits=False)
    inspection.open()
    client = client_of(inspection, read_only=read_only)
    status = client.get("/api/status").get_json()
    assert (status["runs"], status["edits"]) == (not read_only, False)
    arguments = {"run": 0, "step": AT, "text": "x"}
    answer = client.post("/api/jobs", json={"kind": "edit", "arguments": arguments}, headers=ORIGIN)
    assert answer.status_code == (403 if read_only else 400)
    assert "--read-only" in answer.get_json()["error"]
    for path in ("/api/upload?name=x.irs", "/api/reload", "/api/jobs/1/cancel"):
        status_code = client.post(path, data=b"x", headers=ORIGIN).status_code
        assert (status_code == 403) is read_only
    inspection.close()
