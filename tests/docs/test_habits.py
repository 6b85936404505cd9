"""The workflow, the hooks and the form for reports say what is there."""

import re
from importlib import import_module
from typing import Any

from irkit.debug.reduce.regression import FILES
from tests.docs.pages import ROOT


def read_yaml(name: str) -> Any:
    yaml: Any = import_module("yaml")  # It comes without types.
    return yaml.safe_load((ROOT / name).read_text())


def test_the_workflow_runs_the_two_commands_of_the_readme() -> None:
    readme = (ROOT / "README.md").read_text()
    wanted = re.findall(r"^    (make \w+)  ", readme, flags=re.M)
    job = read_yaml(".github/workflows/ci.yml")["jobs"]["demo-and-test"]
    assert [step["run"] for step in job["steps"] if "run" in step] == wanted
    assert len(wanted) == 2


def test_the_hooks_are_commands_of_make_check() -> None:
    makefile = (ROOT / "Makefile").read_text().replace("$(BIN)", ".venv/bin")
    (repo,) = read_yaml(".pre-commit-config.yaml")["repos"]
    assert [hook["entry"] in makefile for hook in repo["hooks"]] == [True] * 3


def test_the_form_asks_for_what_reduce_writes() -> None:
    form = read_yaml(".github/ISSUE_TEMPLATE/miscompile.yml")
    text = (ROOT / ".github/ISSUE_TEMPLATE/miscompile.yml").read_text()
    assert all(each["type"] == "markdown" or each["attributes"]["label"] for each in form["body"])
    assert [name for name in FILES if name not in text] == []


def test_every_target_of_make_that_a_page_names_exists() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.M))
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    named = {
        name
        for page in pages
        for name in re.findall(r"(?:`|^    )make ([a-z-]+)", page.read_text(), flags=re.M)
    }
    assert len(named) > 5
    assert named <= targets, named - targets
