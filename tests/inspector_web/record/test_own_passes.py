"""Passes that a script defines: their documentation, source and place."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from irkit.inspector_web.load import Inspection
from irkit.inspector_web.report.data import ReportWriter
from tests.inspector_web.pages import FAILING, client_of, opened

ORIGIN = {"Origin": "http://127.0.0.1:4321"}
SCRIPT = FAILING.replace(
    'raise ValueError("boom <b>")', '"""Keep everything as it is."""\n    return func'
)


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("secret-folder") / "own.py"
    path.write_text(SCRIPT)
    return path


@pytest.fixture(scope="module")
def inspection(script: Path) -> Iterator[Inspection]:
    made = opened(str(script))
    yield made
    made.close()


def test_the_page_has_its_documentation_and_source_but_no_path(inspection: Inspection) -> None:
    client = client_of(inspection)
    steps = client.get("/api/overview").get_json()["runs"][1]["steps"]
    own = next(row["index"] for row in steps if row["name"] == "explode")
    answer = client.get(f"/api/step?run=1&step={own}")
    info = answer.get_json()
    assert info["doc"] == "Keep everything as it is."
    assert info["source"]["file"] == "own.py"
    assert "def explode(func: PrimFunc)" in info["source"]["text"]
    assert SCRIPT.splitlines()[info["source"]["line"] - 1] == "@define_pass"
    assert "secret-folder" not in answer.text


def test_its_path_is_told_only_to_open_it_and_only_to_the_page(
    inspection: Inspection, script: Path
) -> None:
    client = client_of(inspection)
    steps = client.get("/api/overview").get_json()["runs"][1]["steps"]
    own = next(row["index"] for row in steps if row["name"] == "explode")
    address = f"/api/editor?run=1&step={own}"
    told = client.post(address, headers=ORIGIN).get_json()
    assert os.path.samefile(told["file"], script)
    assert SCRIPT.splitlines()[told["line"] - 1] == "@define_pass"
    assert client.get(address).status_code == 405
    assert client.post(address).status_code == 403
    assert client_of(inspection, let_in=False).post(address, headers=ORIGIN).status_code == 403
    built_in = client.post("/api/editor?run=0&step=0", headers=ORIGIN).get_json()
    assert built_in["file"].endswith(".py")
    assert client.post("/api/editor?run=0&step=9999", headers=ORIGIN).status_code == 404


def test_a_report_does_not_hold_it(inspection: Inspection) -> None:
    assert inspection.workspace is not None
    data = ReportWriter(inspection.workspace, None).data("own")
    assert "explode" not in data.sources
    assert "narrow-indices" in data.sources
