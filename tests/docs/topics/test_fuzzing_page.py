"""docs/fuzzing.md: its tests run, its switches exist, its YAML is YAML."""

import importlib
import re
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from irkit.cli.fuzz import fuzz
from irkit.fuzz.check_pass.examination import FAULTS
from irkit.fuzz.check_pass.pass_case import PassCase
from irkit.fuzz.check_pass.profile import PROFILES

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "fuzzing.md").read_text()
BLOCKS: list[tuple[str, str, str]] = re.findall(
    r"^```(\w+)\n# file: ([^\n]*)\n(.*?)^```$", PAGE, flags=re.M | re.S
)


def test_the_tests_of_the_page_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    ran = 0
    for kind, name, text in BLOCKS:
        if kind == "python":
            Path(name).write_text(text)
            namespace: dict[str, Any] = {"__name__": Path(name).stem}
            exec(compile(text, name, "exec"), namespace)
            for each in namespace.values():
                check = getattr(each, "irkit_check", None)
                if check is not None:
                    few = {"examples": 5, "hash_seeds": (), "fires": 0}
                    check.settings = msgspec.structs.replace(check.settings, **few)
                    check.profile = "ci"
                    each()
                    ran += 1
    sys.modules.pop("blur_passes")
    assert ran == 3


def test_what_the_page_names_is_there() -> None:
    plugin = (ROOT / "irkit" / "pytest_plugin.py").read_text()
    for option in set(re.findall(r"--irkit-[a-z]+", PAGE)):
        assert f'"{option}"' in plugin
    for name in PROFILES:
        assert f"| `{name}` |" in PAGE
    contracts = re.findall(r"^\| ([a-z ]+) \| ", PAGE, flags=re.M)
    assert set(contracts) - {"contract", "profile"} <= set(FAULTS)
    listed = PAGE.partition("A case has ")[2].partition("\n\n")[0]
    for name in re.findall(r"`(\w+)`", listed):
        assert name in PassCase.__init__.__code__.co_names or hasattr(PassCase, name), name


def test_the_snippets_for_ci_are_yaml_and_keep_corpus_and_report() -> None:
    yaml: Any = importlib.import_module("yaml")  # It comes without types.
    read = {name: yaml.safe_load(text) for kind, name, text in BLOCKS if kind == "yaml"}
    steps = read[".github/workflows/passes.yml"]["jobs"]["passes"]["steps"]
    assert steps[3]["with"]["path"] == ".irkit/corpus"
    assert "report" in steps[6]["with"]["path"].split()
    job = read[".gitlab-ci.yml"]["passes"]
    known = {word for option in fuzz.params for word in option.opts}
    for command in (steps[5]["run"], job["script"][2]):
        assert "irkit fuzz" in command
        assert set(re.findall(r"--[a-z]+", command)) <= known
    assert job["cache"]["paths"] == [".irkit/corpus"]
    assert "report" in job["artifacts"]["paths"]


def test_the_snippets_use_only_what_yaml_has_in_every_reader() -> None:
    # Where no reader is at hand: even indentation, no tabs, and every line a key, an item or text.
    found = [text for kind, _, text in BLOCKS if kind == "yaml"]
    assert len(found) == 2
    for text in found:
        assert "\t" not in text
        for line in text.splitlines():
            assert (len(line) - len(line.lstrip())) % 2 == 0, line
