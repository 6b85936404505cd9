"""``irkit fuzz``: findings, reports, replay and mistakes."""

import html
import os
import re
import signal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest
from click.testing import CliRunner, Result

from irkit.cli.fuzz import fuzz
from irkit.core import IRKitError
from irkit.fuzz.campaign import Campaign
from irkit.ir import LOOP_LEVEL
from irkit.transform import Trace

FAULTS = "tests.fuzz.campaign.faults"


def run(tmp_path: Path, *words: str) -> Result:
    own = ["--findings", str(tmp_path / "findings"), "--corpus", str(tmp_path / "corpus")]
    return CliRunner().invoke(fuzz, [*words, *own], catch_exceptions=False)


def test_programs_agree_and_the_summary_says_what_ran(tmp_path: Path) -> None:
    page, xml = tmp_path / "report.html", tmp_path / "junit.xml"
    files = ("--report", str(page), "--junit", str(xml))
    result = run(tmp_path, "--cases", "26", "--kind", "programs", "--seed", "3", *files)
    assert result.exit_code == 0, result.output
    for said in (
        "26 cases of seed 3",
        "valid: 26 (100.00%)",
        "O3",
        "other hash seed 1",
        "rungs of inputs: ",
        "findings: none",
    ):
        assert said in result.output
    assert "Passed: 26 cases agree" in page.read_text()
    assert Xml.parse(xml).getroot().get("failures") == "0"
    assert not (tmp_path / "findings").exists()


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    """A campaign with a wrong pass of the user's, and its findings."""
    folder = tmp_path_factory.mktemp("wrong")
    given = f"0:{FAULTS}:drop_the_last_iteration"
    page = ("--report", str(folder / "report.html"))
    result = run(folder, "--cases", "1", "--kind", "programs", "--pass", given, *page)
    return result, folder / "findings"


def test_a_wrong_pass_of_the_users_is_found_named_and_replayed(wrong: tuple[Result, Path]) -> None:
    result, folder = wrong
    assert result.exit_code == 1
    assert "mismatch at lowered after drop-the-last-iteration" in result.output
    (found,) = folder.glob("*.toml")
    again = CliRunner().invoke(fuzz, ["--replay", str(found)])
    assert again.exit_code == 1
    assert "after drop-the-last-iteration" in again.output


def test_a_finding_is_reduced_and_becomes_a_test_and_a_trace(wrong: tuple[Result, Path]) -> None:
    result, folder = wrong
    assert "smallest: 1 stages, 0 schedule steps, 1 passes" in result.output
    assert "irkit inspect" in result.output
    (trace,) = folder.glob("*.trace")
    assert [step.name for step in Trace.load(trace, (LOOP_LEVEL,))] == ["drop-the-last-iteration"]
    (test,) = folder.glob("test_*.py")
    names: dict[str, Any] = {}
    exec(compile(test.read_text(), str(test), "exec"), names)
    (run_test,) = (names[name] for name in names if name.startswith("test_"))
    with pytest.raises(AssertionError, match="expected"):
        run_test()


def test_the_report_contains_every_finding(wrong: tuple[Result, Path]) -> None:
    page = html.unescape(re.sub("<[^>]*>", "", (wrong[1].parent / "report.html").read_text()))
    (found,), (test,), (trace,) = (wrong[1].glob(each) for each in ("*.toml", "test_*", "*.trace"))
    for said in (
        "Failed: 1 finding",
        "drop-the-last-iteration",
        f"irkit fuzz --replay {found}",
        f"python -m pytest {test}",
        f"irkit inspect {trace}",
        'kind = "programs"',
        "outcome = judge(parse_sample(SAMPLE), thorough=True)",
    ):
        assert said in page, said


def test_the_corpus_runs_first(wrong: tuple[Result, Path], tmp_path: Path) -> None:
    (found,) = wrong[1].glob("*.toml")
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "kept.toml").write_text(found.read_text())
    result = run(tmp_path, "--cases", "1", "--kind", "text")
    assert result.exit_code == 1
    assert "kinds: programs 1, text 1" in result.output
    assert "mismatch at lowered after drop-the-last-iteration (kept)" in result.output


def test_a_pass_that_never_fires_was_not_tested(tmp_path: Path) -> None:
    given = f"1:{FAULTS}:never_fire"
    result = run(tmp_path, "--cases", "4", "--kind", "programs", "--pass", given)
    assert result.exit_code == 2
    assert "pass 'never-fire' changed something in 0 of 4 cases (0.0%)" in result.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--time", "soon"), "is not a duration"),
        (("--time", "0"), "is not a duration"),
        (("--cases", "0"), "0 is not in the range"),
        (("--kind", "poems"), "poems"),
        (("--jobs", "1000"), "1000 is not in the range"),
        (("--pass", "1:no.such.module:fn"), "cannot load pass 'no.such.module:fn'"),
        (("--report", "no/such/folder/x.html"), "no/such/folder/x.html cannot be written"),
        (("--report", "x", "--junit", "x"), "cannot both be x"),
    ],
)
def test_a_mistake_is_an_error_and_nothing_runs(
    tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    own = ["--findings", str(tmp_path / "findings"), "--corpus", str(tmp_path / "corpus")]
    result = CliRunner().invoke(fuzz, [*words, *own])
    assert result.exit_code == 2 or isinstance(result.exception, IRKitError)
    assert said in f"{result.output}{result.exception}"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = [", "Invalid value"),
        ("x = 1\n", "it has no 'kind'"),
        ("irkit_sample = 99\n", "irkit_sample is 99, expected 1"),
        (
            'irkit_sample = 1\nkind = "programs"\nprogram = "def f("\npasses = ""\n',
            "<text>:1:1: expected '):' at the end of the signature",
        ),
        ("\udcff", "can't decode byte"),
    ],
)
def test_a_corpus_that_cannot_be_read_is_an_error_with_its_file(
    tmp_path: Path, text: str, said: str
) -> None:
    corpus = tmp_path / "corpus"
    (corpus / "a-folder.toml").mkdir(parents=True)
    (corpus / "broken.toml").write_text(text, errors="surrogateescape")
    result = CliRunner().invoke(fuzz, ["--cases", "1", "--corpus", str(corpus)])
    assert isinstance(result.exception, IRKitError)
    for each in (str(corpus / "broken.toml"), said, "another folder with --corpus"):
        assert each in str(result.exception)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_reports_of_the_cases_so_far(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = signal.signal(signal.SIGINT, signal.default_int_handler)  # Unheard in the background.
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]

    def interrupt(told: object, campaign: Campaign) -> None:
        if campaign.tally.cases:
            os.kill(os.getpid(), number)

    monkeypatch.setattr("irkit.cli.fuzz._Progress.__call__", interrupt)
    page, xml = tmp_path / "report.html", tmp_path / "junit.xml"
    files = ("--report", str(page), "--junit", str(xml))
    try:
        result = run(tmp_path, "--time", "5m", "--kind", "text", *files)
        after = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    finally:
        signal.signal(signal.SIGINT, heard)
    assert result.exit_code == 130
    assert "interrupted" in result.output
    assert "Interrupted" in page.read_text()
    assert Xml.parse(xml).getroot().get("name") == "irkit fuzz"
    assert after == before


def test_a_report_that_cannot_be_written_in_the_end_is_an_error_after_the_summary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: str) -> object:
        raise OSError(28, "No space left on device", path)

    monkeypatch.setattr("irkit.cli.fuzz.atomic_write", full)
    page = tmp_path / "report.html"
    result = run(tmp_path, "--cases", "2", "--kind", "text", "--report", str(page))
    assert result.exit_code == 2
    assert result.output.endswith(f"error: {page} cannot be written: No space left on device\n")


def test_a_file_that_is_not_a_case_cannot_be_replayed(tmp_path: Path) -> None:
    path = tmp_path / "case.toml"
    path.write_text('kind = "programs"\n')
    result = CliRunner().invoke(fuzz, ["--replay", str(path)])
    assert "is not a case of irkit fuzz" in str(result.exception)
