"""Runs of another compiler: every question is answered, and what would need meaning is refused."""

import json
from pathlib import Path

import pytest

from irkit.inspector_web.api.every_view import every_view
from irkit.inspector_web.load import Inspection
from tests.inspector_web.dumps.samples import SAMPLES
from tests.inspector_web.jobs.test_queue import ORIGIN, until_over
from tests.inspector_web.pages import Client, client_of, opened


@pytest.fixture(scope="module")
def inspection() -> Inspection:
    """A dump that is open."""
    return opened(str(SAMPLES / "mlir-after-all.txt"))


def test_every_view_is_made_or_refused(inspection: Inspection) -> None:
    assert inspection.workspace is not None
    answered, refused = every_view(inspection.workspace.runs[0].trace)
    assert answered > 50
    assert refused == 16  # The loop nest and the graph of eight steps.


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        ("verdicts", {"run": 0}), ("guilty", {"run": 0}), ("cost", {"run": 0, "step": 4}),
        ("costs", {"run": 0, "function": "scale"}), ("llvm-passes", {"state": "0.4.a"}),
        ("rerun", {"run": 0, "function": "scale", "passes": []}),
    ],
)  # fmt: skip
def test_what_needs_meaning_is_refused_with_the_reason(
    kind: str, arguments: dict[str, object], inspection: Inspection
) -> None:
    client = client_of(inspection)
    body = json.dumps({"kind": kind, "arguments": arguments})
    made = client.post("/api/jobs", data=body, headers=ORIGIN)
    info = client.get(f"/api/jobs/{made.get_json()['id']}").get_json()
    assert info["state"] == "failed"
    assert "another compiler" in info["message"] or "loop function" in info["message"]


def test_a_pass_of_the_same_name_is_not_described_as_irkits(inspection: Inspection) -> None:
    details = client_of(inspection).get("/api/step?run=0&step=4").get_json()
    assert (details["doc"], details["source"], details["options"]) == ("", None, {})


def test_a_damaged_dump_shows_what_could_be_read_and_from_where_on_not(tmp_path: Path) -> None:
    path = tmp_path / "cut.txt"
    path.write_text((SAMPLES / "mlir-after-all.txt").read_text()[:4000])
    inspection = Inspection((str(path),))
    inspection.open()
    status = inspection.status()
    assert status.state == "ready"
    assert "cut.txt: line 110: the IR after 'Canonicalizer (canonicalize)' is" in status.message
    inspection.close()


def test_a_dump_is_uploaded(inspection: Inspection) -> None:
    client: Client = client_of(inspection)
    data = (SAMPLES / "mlir-failed.txt").read_bytes()
    made = client.post("/api/upload?name=x.log", data=data, headers=ORIGIN)
    result = until_over(client, made.get_json()["id"])["result"]
    assert result["failed"]
    (run,) = client.get("/api/overview").get_json()["runs"][result["run"] :]
    assert run["steps"][-1]["message"].startswith("bad.mlir:2:8: error")
