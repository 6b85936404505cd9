"""The verbs tune and records: a search from a file, what it leaves, and what can be wrong."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from irkit.cli.verbs import irkit
from irkit.core import IRKitError
from irkit.tune import read_records
from tests.phases.test_recorded_schedules import write
from tests.tune.programs import product
from tests.tune.records.test_foreign_logs import AUTOTVM

KERNEL = """
from irkit import te, tune

@tune.template("mine.scaled")
def scaled(cfg, n):
    a = te.placeholder((n, n), name="A")
    c = te.compute((n, n), lambda i, j: a[i, j] * 2.0, name="C")
    s = te.create_schedule(c.op)
    cfg.define_split("x", s[c].axis[1], candidate=[[-1, 2], [-1, 4]])
    outer, inner = cfg["x"].apply(s, c, s[c].axis[1])
    s[c].unroll(inner)
    return s, [a, c]
"""


BROKEN = """def scaled(cfg, n):
    made = _scaled(cfg, n)
    if cfg._given:
        made[0][made[1][1]].bind(made[0][made[1][1]].axis[0], "nowhere.x")
    return made

def _scaled(cfg, n):"""


def said(*args: str, code: int = 0) -> str:
    done = CliRunner().invoke(irkit, list(args), catch_exceptions=code == 0)
    assert done.exit_code == code, done.output
    return done.output


def refused(*args: str) -> str:
    done = CliRunner().invoke(irkit, list(args))
    assert isinstance(done.exception, IRKitError)
    return done.exception.message


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Search the template once."""
    folder = tmp_path_factory.mktemp("tuned")
    (folder / "kernel.py").write_text(KERNEL)
    output, page = folder / "records.jsonl", folder / "page.html"
    subject = f"{folder}/kernel.py:scaled"
    text = said(
        "tune", subject, "--args", "24", "--trials", "3", "-o", str(output), "--report", str(page),
        "--cost-model", str(folder / "model.json"),
    )  # fmt: skip
    assert len(json.loads((folder / "model.json").read_bytes())["rows"]) == 2
    assert "mine.scaled" in text
    return folder


def test_a_search_leaves_records_and_a_page(tuned: Path) -> None:
    found = read_records(tuned / "records.jsonl")
    (line,) = found.tasks.values()
    assert (line.name, line.template, line.args) == ("mine.scaled", "mine.scaled", (24,))
    values = {each.search.trial: each.values for each in found.candidates if each.stage == "search"}
    assert sorted(map(str, values.values())) == ["{'x': [-1, 2]}", "{'x': [-1, 4]}"]
    assert "mine.scaled" in (tuned / "page.html").read_text()


def test_records_are_counted_with_their_damage_and_hints(tuned: Path, tmp_path: Path) -> None:
    text = (tuned / "records.jsonl").read_text()
    (tmp_path / "r").write_text(f"{text}{AUTOTVM}\nnot json\n")
    shown = said("records", "show", str(tmp_path / "r"))
    assert "1 lines of AutoTVM" in shown
    assert f"line {len(text.splitlines()) + 2}" in shown
    assert "mine.scaled" in shown


def test_lines_of_auto_scheduler_are_measured_first(tuned: Path, tmp_path: Path) -> None:
    steps = [["SP", 0, 1, 24, [4], 1]]
    line = {"i": [['["scaled", 24]', "llvm"], [[], steps]], "r": [[0.01], 0, 1, 1], "v": "v0.6"}
    (tmp_path / "log").write_text(json.dumps(line))
    subject, output = f"{tuned}/kernel.py:scaled", str(tmp_path / "r")
    text = said(
        "tune", subject, "--args", "24", "--trials", "1", "--hints", str(tmp_path / "log"),
        "-o", output,
    )  # fmt: skip
    assert "1 of 1 lines" in text
    first = read_records(output).candidates[0]
    assert (first.values, first.search.origin) == ({"x": [-1, 4]}, "hint")


def test_a_winner_is_named_and_its_trace_is_written(tmp_path: Path) -> None:
    write(tmp_path / "r", product(24, 32, 16))
    named = said("records", "best", str(tmp_path / "r")).split()[0]
    said("records", "trace", str(tmp_path / "r"), named, "-o", str(tmp_path / "t.trace"))
    assert "auto-schedule" in said("trace", str(tmp_path / "t.trace"))
    data = json.loads(said("records", "best", "--json", str(tmp_path / "r")))
    assert data["id"] == named


def test_records_are_merged_once(tmp_path: Path) -> None:
    write(tmp_path / "a", product(24, 32, 16))
    both = (str(tmp_path / "a"), str(tmp_path / "a"))
    said("records", "merge", *both, "-o", str(tmp_path / "all"))
    assert len(read_records(tmp_path / "all").candidates) == 2
    assert "another file" in said("records", "merge", *both, "-o", both[0], code=2)


def test_a_search_goes_on_from_records_alone(tmp_path: Path) -> None:
    write(tmp_path / "r", product(24, 32, 16))
    text = said("tune", "--resume", str(tmp_path / "r"), "--trials", "1")
    assert "1 candidates" in text
    assert len(read_records(tmp_path / "r").candidates) >= 3


def test_a_template_that_makes_nothing_legal_names_the_knob_and_the_refusal(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(KERNEL.replace("def scaled(cfg, n):", BROKEN))
    text = said("tune", f"{tmp_path}/kernel.py:scaled", "--args", "24", "--trials", "2")
    assert "no candidate was usable: refused" in text
    assert "with x = [-1, " in text


def test_a_template_goes_on_as_a_template(tuned: Path, tmp_path: Path) -> None:
    lines = (tuned / "records.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "r").write_text("".join(lines[:2]))
    (line,) = read_records(tmp_path / "r").tasks.values()
    args = str(line.args[0])
    said("tune", line.where, "--args", args, "--resume", str(tmp_path / "r"), "--trials", "2")
    found = read_records(tmp_path / "r")
    assert {each.space for each in found.candidates} == {"template"}
    searched = [str(each.values) for each in found.candidates if each.stage == "search"]
    assert sorted(searched) == ["{'x': [-1, 2]}", "{'x': [-1, 4]}"]


def test_records_run_no_code(tuned: Path, tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    text = (tuned / "records.jsonl").read_text()
    (tmp_path / "r").write_text(text.replace(str(tuned), str(tmp_path)))
    found = refused("tune", "--resume", str(tmp_path / "r"))
    assert "is a template" in found
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "takes the arguments (n), found []"),
        ("3,4", "takes the arguments (n), found [3, 4]"),
        ("24", "raised at line 6: IndexError"),
    ],
)
def test_arguments_that_a_template_does_not_take_are_explained(
    tmp_path: Path, arguments: str, message: str
) -> None:
    (tmp_path / "kernel.py").write_text(KERNEL.replace("a = te", "a = [][n] or te"))
    assert message in refused("tune", f"{tmp_path}/kernel.py:scaled", "--args", arguments)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["tune"], "name what to tune"),
        (["tune", "x.py:f", "--time", "soon"], "not a duration"),
        (["tune", "x.py:f", "--trials", "0"], "0 is not in the range"),
        (["tune", "x.py:f", "--args", "8,x"], "--args '8,x' is not JSON"),
    ],
)
def test_a_mistake_is_explained(args: list[str], message: str) -> None:
    assert message in said(*args, code=2)


def test_processes_start_before_the_verb_is_imported_but_not_for_help(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[object] = []
    monkeypatch.setattr("irkit.processes.prepare_forks", asked.append)
    said("tune", "--help")
    assert not asked
    CliRunner().invoke(irkit, ["tune", "there_is_none.py:f"])
    assert asked == [("irkit.phases.candidates", "irkit.tune")]
