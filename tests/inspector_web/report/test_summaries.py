"""Summaries for CI: JSON, JUnit and Markdown."""

import json
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from click.testing import CliRunner

from irkit.cli.verbs import irkit
from tests.inspector_web.pages import FAILING, hostile_trace


def test_ci_gets_json_junit_and_a_summary(tmp_path: Path) -> None:
    trace = hostile_trace(tmp_path)
    names = {"--json": "a.json", "--junit": "a.xml", "--summary": "a.md"}
    args = [part for flag, name in names.items() for part in (flag, str(tmp_path / name))]
    assert CliRunner().invoke(irkit, ["report", trace, *args]).exit_code == 0
    data = json.loads((tmp_path / "a.json").read_text())
    assert len(data["runs"][0]["steps"]) == 25
    root = Xml.parse(tmp_path / "a.xml").getroot()
    assert root[0].attrib["tests"] == "25"
    assert len(root[0]) == 25
    assert "<script" not in (tmp_path / "a.md").read_text()
    assert "| step | phase |" in (tmp_path / "a.md").read_text()


def test_a_failed_pass_is_a_failure_for_ci(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.py").write_text(FAILING)
    done = CliRunner().invoke(irkit, ["report", "s.py", "--junit", "a.xml", "--summary", "a.md"])
    assert done.exit_code == 1
    root = Xml.parse(tmp_path / "a.xml").getroot()
    assert [suite.attrib["failures"] for suite in root] == ["0", "1"]
    assert "ValueError: boom" in (tmp_path / "a.md").read_text()
