"""``irkit diff``: its output and exit codes."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from irkit.cli.verbs import irkit
from irkit.phases import DEFAULT, trace
from tests.passes.loop.kernels import kernel


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    folder = tmp_path_factory.mktemp("traces")
    func = kernel("CONV_PADDED")
    trace(func).save(folder / "whole.trace")
    trace(func, pipeline=DEFAULT.without("simplify")).save(folder / "less.trace")
    return str(folder / "whole.trace"), str(folder / "less.trace")


def run(*args: str) -> Result:
    return CliRunner().invoke(irkit, ["diff", *args])


def test_a_trace_is_like_itself(files: tuple[str, str]) -> None:
    done = run(files[0], files[0])
    assert (done.exit_code, done.output) == (0, "")


def test_traces_that_differ_are_shown_step_by_step(files: tuple[str, str]) -> None:
    done = run(*files)
    assert done.exit_code == 1
    assert "only in the first: step" in done.output
    assert "simplify" in done.output
    assert "+ " in done.output
    assert "- " in done.output


def test_brief_prints_only_the_number_of_lines(files: tuple[str, str]) -> None:
    done = run(*files, "--brief")
    assert done.exit_code == 1
    assert "lines" in done.output
    assert not any(line.startswith(("+", "- ")) for line in done.output.splitlines())


def test_two_steps_of_one_trace_are_compared(files: tuple[str, str]) -> None:
    done = run(files[0], files[0], "--step", "0", "--step", "5", "--no-color")
    assert done.exit_code == 1
    assert done.output.startswith("after step 0")
    assert "\x1b" not in done.output


def test_colour_can_be_asked_for(files: tuple[str, str]) -> None:
    assert "\x1b[" in run(*files, "--color").output


def test_one_pass_can_be_chosen(files: tuple[str, str]) -> None:
    done = run(*files, "--pass", "remove-no-ops", "--brief")
    titles = [line for line in done.output.splitlines() if line.startswith("after")]
    assert titles
    assert all("remove-no-ops" in line for line in titles)


def test_a_step_that_is_not_there_is_an_error(files: tuple[str, str]) -> None:
    done = run(*files, "--step", "9999")
    assert done.exit_code != 0
    assert "numbered from 0" in str(done.exception)


def test_a_file_that_is_not_a_trace_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.trace"
    path.write_bytes(b"no trace at all")
    done = run(str(path), str(path))
    assert done.exit_code != 0


def test_json_lists_what_differs_and_what_only_one_has(files: tuple[str, str]) -> None:
    done = run(*files, "--json")
    made = json.loads(done.stdout)
    assert (done.exit_code, made["schema"]) == (1, "irkit.diff/1")
    assert any(each["right"] is None for each in made["pairs"])
    whole = next(each for each in made["pairs"] if each["left"] and each["right"])
    signs = [line[0] for line in whole["lines"]]
    assert (signs.count("-"), signs.count("+")) == (whole["removed"], whole["added"])
    alike = run(files[0], files[0], "--json")
    assert (alike.exit_code, json.loads(alike.stdout)["pairs"]) == (0, [])


def test_the_damage_of_a_trace_is_said(files: tuple[str, str], tmp_path: Path) -> None:
    data = Path(files[0]).read_bytes()
    (tmp_path / "cut.trace").write_bytes(data[: len(data) * 2 // 3])
    done = run(files[0], str(tmp_path / "cut.trace"), "--json")
    assert done.exit_code == 1
    assert "cut.trace is damaged at byte" in done.stderr
    first, second = json.loads(done.stdout)["damage"]
    assert (first, second in done.stderr) == ("", True)
