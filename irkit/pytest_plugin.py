"""The pytest plugin: profiles, a marker, the folder of findings, and a summary of what was tried.

It is not in ``irkit.fuzz`` and imports nothing of irkit, because pytest loads it in every project,
even where no test uses it. A test made by :func:`irkit.fuzz.check_pass` carries its check as
``irkit_check``; the plugin sets its options and reads its counts, which travel as user properties
of reports, so that pytest-xdist merges them.
"""

import json
import os
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from irkit.fuzz import PassCheck

MARKER = "irkit_fuzz"
PROPERTY = "irkit"
PROFILES = ("dev", "ci", "long")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, and the setting of the project file."""
    group = parser.getgroup("irkit", "irkit: passes under test")
    group.addoption(
        "--irkit-profile",
        choices=PROFILES,
        help="how much to try: dev, ci (the same programs in every run) or long (twenty times as "
        "many, in processes of their own). Default: IRKIT_PROFILE, or ci where CI is set",
    )
    group.addoption(
        "--irkit-corpus",
        metavar="DIR",
        help="folder of findings, kept as text and tried first. Default: irkit_corpus in the "
        "project file, or .irkit/corpus",
    )
    group.addoption(
        "--irkit-report", metavar="FILE", help="write what was tried to a file, as JSON"
    )
    parser.addini("irkit_corpus", "folder of findings, which are tried first", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and collect counts."""
    config.addinivalue_line(
        "markers", f"{MARKER}: a pass is tried on random programs (irkit.fuzz.check_pass)"
    )
    config.pluginmanager.register(_Figures(config), "irkit-figures")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark the tests that check passes."""
    if _check_of(item) is not None:
        item.add_marker(MARKER)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    """Set the profile and the corpus of a check, and report its counts."""
    check = _check_of(item)
    if check is not None:
        check.profile = item.config.getoption("--irkit-profile") or ""
        check.folder = corpus_of(item.config)
    yield
    if check is not None:
        item.user_properties.append((PROPERTY, json.dumps(_figures(item, check))))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: "pytest.CallInfo[None]"
) -> Generator[None, Any, None]:
    """Show the report of a check without a traceback into irkit."""
    outcome = yield
    error = None if call.excinfo is None else call.excinfo.value
    if getattr(error, "irkit_report", False):
        outcome.get_result().longrepr = str(error)


@pytest.fixture(scope="session")
def irkit_profile(pytestconfig: pytest.Config) -> str:
    """The name of the profile: dev, ci or long."""
    chosen = pytestconfig.getoption("--irkit-profile") or os.environ.get("IRKIT_PROFILE", "")
    return str(chosen or ("ci" if os.environ.get("CI") else "dev"))


@pytest.fixture(scope="session")
def irkit_corpus(pytestconfig: pytest.Config) -> Path:
    """The folder of findings, which may not exist yet."""
    return corpus_of(pytestconfig)


def corpus_of(config: pytest.Config) -> Path:
    """Return the folder of findings."""
    given = config.getoption("--irkit-corpus")
    if given:
        return Path(config.invocation_params.dir) / str(given)
    return config.rootpath / (str(config.getini("irkit_corpus")) or ".irkit/corpus")


def _check_of(item: pytest.Item) -> "PassCheck | None":
    return getattr(getattr(item, "obj", None), "irkit_check", None)


def _figures(item: pytest.Item, check: "PassCheck") -> dict[str, Any]:
    tally = check.tally
    return {
        "test": item.nodeid,
        "pass": check.name,
        "drawn": tally.drawn,
        "cases": tally.cases,
        "valid": tally.valid,
        "changed": tally.fired,
        "replayed": tally.replayed,
        "seconds": round(tally.seconds, 2),
        "notes": list(tally.notes),
        "kept": "" if check.finding is None else str(check.finding),
    }


class _Figures:
    """Counts of all tests; with pytest-xdist those of the workers come in their reports."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.is_worker = hasattr(config, "workerinput")
        self.rows: list[dict[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Read the counts of a report."""
        if report.when != "call" or self.is_worker:
            return
        for name, value in report.user_properties:
            if name == PROPERTY:
                self.rows.append({**json.loads(str(value)), "outcome": report.outcome})

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print a line for each pass under test."""
        if self.is_worker or not self.rows:
            return
        terminalreporter.section("irkit: passes under test")
        for row in self.rows:
            terminalreporter.write_line(line_of(row))
            for note in row["notes"]:
                terminalreporter.write_line(f"  note: {note}")

    def pytest_sessionfinish(self) -> None:
        """Write the report."""
        path = self.config.getoption("--irkit-report")
        if path and not self.is_worker:
            target = Path(self.config.invocation_params.dir) / str(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(json.dumps(self.rows, indent=2) + "\n", encoding="utf-8")


def line_of(row: Mapping[str, Any]) -> str:
    """Return one line about a test."""
    known = f", {row['replayed']} kept ones" if row["replayed"] else ""
    return (
        f"{row['outcome']:6} {row['pass']}: drew {row['drawn']}{known}, examined {row['cases']}, "
        f"changed {row['changed']}, valid {row['valid']}, {row['seconds']:.1f} s"
    )
