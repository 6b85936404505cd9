"""The queue of jobs by requests: what is refused, how jobs end, which results are kept."""

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from irkit.core import InputError
from irkit.inspector_web.jobs.job import LIMITS, JobKind, RunSink
from irkit.inspector_web.jobs.queue import MOST_WAITING
from irkit.inspector_web.limits import MOST_ASKED
from irkit.inspector_web.load import Inspection
from irkit.inspector_web.record.progress import report_progress
from irkit.inspector_web.runs.workspace import Workspace
from irkit.processes import Limits
from tests.inspector_web.pages import Client, client_of, matmul_trace, opened

ORIGIN = {"Origin": "http://127.0.0.1:4321"}


class Wanted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the kind of work of these tests is asked with."""

    how: str = "double"
    number: int = 1


def find(workspace: Workspace, wanted: Wanted) -> Wanted:
    if wanted.how == "nothing":
        raise InputError("there is nothing of that name")
    return wanted


def send(wanted: Wanted, folder: Path) -> tuple[Any, ...]:
    return wanted.how, wanted.number


def run(how: str, number: int) -> int:
    report_progress("running", 1, 2)
    if how == "die":
        os._exit(3)
    if how == "raise":
        raise InputError("this cannot be <doubled>")
    if how == "break":
        return [1][number]
    while how == "wait":
        time.sleep(0.01)
    return 2 * number


def take(sink: RunSink, wanted: Wanted, made: int) -> dict[str, int]:
    return {"doubled": made}


SHORT = Limits(seconds=1.0)
WORK = {
    "double": JobKind(Wanted, find, send, run, take),
    "short": JobKind(Wanted, find, send, run, take, SHORT),
}


@pytest.fixture(scope="module")
def inspection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inspection]:
    made = opened(matmul_trace(tmp_path_factory.mktemp("trace")))
    yield made
    made.close()


@pytest.fixture
def client(inspection: Inspection) -> Iterator[Client]:
    made = client_of(inspection, kinds=WORK)
    yield made
    for info in inspection.jobs.infos():
        made.post(f"/api/jobs/{info.id}/cancel", headers=ORIGIN)


def ask(client: Client, kind: str = "double", **arguments: object) -> int:
    answer = client.post("/api/jobs", json={"kind": kind, "arguments": arguments}, headers=ORIGIN)
    assert answer.status_code == 202, answer.text
    return answer.get_json()["id"]


def until_over(client: Client, id: int) -> dict[str, Any]:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        info = client.get(f"/api/jobs/{id}").get_json()
        if info["state"] not in ("queued", "working"):
            return info
        time.sleep(0.02)
    raise AssertionError("it does not end")


def test_a_job_runs_in_a_child_and_its_result_is_kept(client: Client) -> None:
    id = ask(client, number=21)
    info = until_over(client, id)
    assert (info["state"], info["result"]) == ("done", {"doubled": 42})
    assert info["arguments"] == {"how": "double", "number": 21}
    listed = client.get("/api/jobs").get_json()
    assert (id, "done", None) in [(each["id"], each["state"], each["result"]) for each in listed]


def test_equal_jobs_run_once_and_other_jobs_run_too(client: Client) -> None:
    first = ask(client)
    assert ask(client, how="double", number=1) == first
    assert ask(client, number=2) != first
    assert until_over(client, first)["state"] == "done"
    assert ask(client) == first


def test_a_failed_job_runs_again_on_request(client: Client) -> None:
    first = ask(client, how="raise")
    until_over(client, first)
    assert ask(client, how="raise") != first


@pytest.mark.parametrize(
    ("kind", "how", "said"),
    [
        ("double", "nothing", "there is nothing of that name"),
        ("double", "raise", "this cannot be <doubled>"),
        (
            "double",
            "die",
            "ended its process with exit code 3 while running (1 of 2 done).",
        ),
        ("double", "break", "This is a bug in irkit: IndexError"),
        ("short", "wait", "The job did not end within 1 s"),
    ],
)
def test_errors_in_the_child_are_reported(client: Client, kind: str, how: str, said: str) -> None:
    info = until_over(client, ask(client, kind, how=how))
    assert info["state"] == "failed"
    assert said in info["message"]
    assert info["result"] is None


def test_a_job_has_progress_and_can_be_cancelled(client: Client) -> None:
    id = ask(client, how="wait")
    end = time.monotonic() + 60
    while client.get(f"/api/jobs/{id}").get_json()["what"] != "running":
        assert time.monotonic() < end
        time.sleep(0.02)
    info = client.get(f"/api/jobs/{id}").get_json()
    assert (info["state"], info["done"], info["total"]) == ("working", 1, 2)
    assert info["limit"] == LIMITS.seconds
    info = client.post(f"/api/jobs/{id}/cancel", headers=ORIGIN).get_json()
    assert info["state"] == "cancelled"
    assert until_over(client, ask(client, number=3))["result"] == {"doubled": 6}
    assert client.get(f"/api/jobs/{id}").get_json()["state"] == "cancelled"


def test_waiting_jobs_can_be_cancelled_and_are_limited(client: Client) -> None:
    ids = [ask(client, how="wait", number=at) for at in range(MOST_WAITING)]
    answer = client.post("/api/jobs", json={"kind": "short"}, headers=ORIGIN)
    assert answer.status_code == 429
    assert "cancel some" in answer.get_json()["error"]
    for id in reversed(ids):
        client.post(f"/api/jobs/{id}/cancel", headers=ORIGIN)
    assert until_over(client, ask(client, number=5))["state"] == "done"


def test_new_runs_stop_jobs_on_the_old_ones(inspection: Inspection, client: Client) -> None:
    id = ask(client, how="wait")
    inspection.open()
    assert client.get(f"/api/jobs/{id}").status_code == 404
    assert client.get("/api/jobs").get_json() == []
    assert until_over(client, ask(client, number=8))["state"] == "done"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[" * 60_000,
        b"null",
        b'{"kind": 3}',
        b'{"kind": "nothing"}',
        b'{"kind": "../../etc/passwd"}',
        b'{"kind": "double", "more": 1}',
        b'{"kind": "double", "arguments": {"how": 1}}',
        b'{"kind": "double", "arguments": {"file": "/etc/passwd"}}',
        b'{"kind": "double", "arguments": []}',
        b'{"kind": "double", "arguments": ' + b"[" * 50_000 + b"}",
        b'{"kind": "double", "arguments": {"number": 1e999}}',
    ],
)
def test_a_request_that_fits_no_kind_of_job_is_refused(client: Client, body: bytes) -> None:
    before = client.get("/api/jobs").get_json()
    answer = client.post("/api/jobs", data=body, headers=ORIGIN)
    assert answer.status_code == 400
    assert answer.get_json()["error"]
    assert client.get("/api/jobs").get_json() == before


@pytest.mark.parametrize("path", ["/api/jobs", "/api/jobs/1/cancel"])
def test_a_job_needs_token_and_origin(inspection: Inspection, path: str) -> None:
    body: dict[str, Any] = {"kind": "double", "arguments": {"number": 9}}
    stranger = client_of(inspection, let_in=False, kinds=WORK)
    assert stranger.post(path, json=body, headers=ORIGIN).status_code == 403
    client = client_of(inspection, kinds=WORK)
    for origin in ({}, {"Origin": "null"}, {"Origin": "http://evil.example"}):
        assert client.post(path, json=body, headers=origin).status_code == 403
    known = client.get("/api/jobs").get_json()
    assert body["arguments"]["number"] not in [each["arguments"]["number"] for each in known]


def test_get_starts_and_cancels_nothing(client: Client) -> None:
    id = ask(client, how="wait", number=7)
    known = len(client.get("/api/jobs").get_json())
    assert client.get(f"/api/jobs/{id}/cancel").status_code == 405
    assert client.get("/api/jobs?kind=double").status_code == 200
    assert client.get(f"/api/jobs/{id}").get_json()["state"] in ("queued", "working")
    assert len(client.get("/api/jobs").get_json()) == known


def test_a_large_request_for_a_job_is_refused(client: Client) -> None:
    answer = client.post("/api/jobs", data=b" " * (MOST_ASKED + 1), headers=ORIGIN)
    assert answer.status_code == 413


@pytest.mark.parametrize("id", ["7", "-1", "x", "9" * 5_000, "..%2f..%2fetc", "1/../../status"])
def test_an_unknown_job_is_not_found(client: Client, id: str) -> None:
    assert client.get(f"/api/jobs/{id}").status_code == 404


def test_closing_stops_running_jobs(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    inspection = opened(matmul_trace(tmp_path))
    client = client_of(inspection, kinds=WORK)
    for at in range(3):
        ask(client, how="wait", number=at)
    begun = time.monotonic()
    inspection.close()
    assert time.monotonic() - begun < 20
    assert set(threading.enumerate()) <= before
