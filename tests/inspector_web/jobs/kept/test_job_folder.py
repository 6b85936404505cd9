"""A job that fails is kept in a folder, and ``irkit replay`` runs it again."""

import os
import shlex
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner

from irkit.cli import replay as verb
from irkit.core import FormatError
from irkit.inspector_web.jobs.job import JobKind, RunSink
from irkit.inspector_web.jobs.kept import job_folder, replay_job
from irkit.inspector_web.load import Inspection
from irkit.inspector_web.record.progress import report_progress
from irkit.inspector_web.runs.pass_plan import PassPlacement
from irkit.inspector_web.runs.run import LoadedTrace, Source
from irkit.inspector_web.runs.workspace import Workspace
from irkit.ir import PrimFunc, parse, script
from irkit.phases import trace
from irkit.processes import Limits
from irkit.transform import Attempt, PassFailed, Step, Trace
from tests.inspector_web.jobs.test_queue import ask, until_over
from tests.inspector_web.pages import MATMUL, Client, client_of, matmul_trace, opened


class AboutStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the kind of job of these tests is asked with."""

    run: int
    step: int
    how: str


def find(workspace: Workspace, wanted: AboutStep) -> tuple[Step | None, str]:
    return workspace.step(wanted.run, wanted.step), wanted.how


def send(found: tuple[Step, str], folder: Path) -> tuple[Any, ...]:
    return found[0].name, found[1]


def run(name: str, how: str) -> str:
    report_progress(f"looking at {name}", 3, 7)
    if how == "die":
        os._exit(3)
    if how == "break":
        raise KeyError(name)
    while how == "wait":
        time.sleep(0.01)
    return name


def take(sink: RunSink, found: object, made: str) -> str:
    return made


def mended(found: tuple[Step, str], folder: Path) -> tuple[Any, ...]:
    return found[0].name, ""


KIND = JobKind(AboutStep, find, send, run, take)
SHORT = msgspec.structs.replace(KIND, limits=Limits(seconds=2.0))
KINDS = {"about": KIND, "short": SHORT}
MENDED = {name: msgspec.structs.replace(kind, send=mended) for name, kind in KINDS.items()}


@pytest.fixture(scope="module")
def inspection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inspection]:
    folder = tmp_path_factory.mktemp("traces")
    made = opened(matmul_trace(folder), matmul_trace(folder, "other.trace"))
    yield made
    made.close()


@pytest.fixture
def client(inspection: Inspection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.chdir(tmp_path)
    return client_of(inspection, kinds=KINDS)


def folder_of(info: dict[str, Any]) -> str:
    assert info["replay"].startswith("irkit replay ")
    return shlex.split(info["replay"])[-1]


@pytest.mark.parametrize(
    ("kind", "how", "said"),
    [
        (
            "about",
            "die",
            "The job ended its process with exit code 3{}.",
        ),
        ("short", "wait", "The job did not end within 2 s{}."),
        ("about", "break", "This is a bug in irkit: KeyError: 'lower-blocks'"),
    ],
)
def test_a_failed_job_says_what_it_was_doing_and_fails_again_from_its_folder(
    client: Client, inspection: Inspection, kind: str, how: str, said: str
) -> None:
    info = until_over(client, ask(client, kind, run=1, step=4, how=how))
    assert inspection.workspace is not None
    step = inspection.workspace.step(1, 4)
    assert step is not None
    assert info["message"] == said.format(f" while looking at {step.name} (3 of 7 done)")
    again = replay_job(folder_of(info), KINDS)
    assert again.outcome == "same", again
    assert replay_job(folder_of(info), MENDED).outcome == "gone"


def test_the_verb_runs_it_again(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    info = until_over(client, ask(client, "about", run=0, step=2, how="die"))
    runner = CliRunner()
    monkeypatch.setattr(verb, "JOB_KINDS", KINDS)
    done = runner.invoke(verb.replay, [folder_of(info)])
    assert done.output.endswith("it fails the same way\n")
    assert done.exit_code == 0
    monkeypatch.setattr(verb, "JOB_KINDS", MENDED)
    done = runner.invoke(verb.replay, [folder_of(info)])
    assert done.output.endswith("it no longer fails\n")
    assert done.exit_code == 1


def test_a_job_that_is_done_or_refused_leaves_nothing(client: Client, tmp_path: Path) -> None:
    assert until_over(client, ask(client, "about", run=0, step=1, how="fine"))["replay"] == ""
    refused = until_over(client, ask(client, "about", run=0, step=99_999, how="die"))
    assert (refused["state"], refused["replay"]) == ("failed", "")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def failing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """Return a client of a run whose last pass failed, and of a model with fixed values."""
    monkeypatch.chdir(tmp_path)
    func = parse(MATMUL)
    (step, *_) = trace(func)
    failed = PassFailed(
        "it broke", name="explode", pass_text="explode{a=1}", phase=2, function="matmul",
        before=step.after, attempt=Attempt(step.level, (), 0, 1, "matmul", step.after, ()),
    )  # fmt: skip
    values = {"n": [1, 2], "x": np.float32([0.1, np.nan]), "yes": True}
    source = Source("model", str(tmp_path / "m.onnx"), values=values, shapes={"y": ["n", 3]})
    left = (PassPlacement("loop", 2, "explode", {"a": "1"}),)
    inspection = opened(matmul_trace(tmp_path))
    inspection.add(
        LoadedTrace(Trace([step]), "broken", failed, "Traceback", "irkit", source, left=left)
    )
    yield client_of(inspection, kinds={"about": ABOUT_FAILURE})
    inspection.close()


class AboutRun(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is asked about a run as a whole."""

    run: int


def describe_run(workspace: Workspace, wanted: AboutRun) -> str:
    loaded = workspace.run(wanted.run).loaded
    assert loaded.failure is not None
    assert loaded.source is not None
    failure, source = loaded.failure, loaded.source
    values = {name: (type(each).__name__, repr(each)) for name, each in source.values.items()}
    said = failure.what, failure.kind, failure.pass_text, failure.phase, failure.function
    assert isinstance(failure.before, PrimFunc)
    return repr((said, values, dict(source.shapes), loaded.left, script(failure.before),
                 len(loaded.trace), loaded.traceback))  # fmt: skip


def break_with(what: str) -> None:
    raise KeyError(what)


ABOUT_FAILURE = JobKind(
    AboutRun, describe_run, lambda found, folder: (found,), break_with, lambda *made: None
)


def test_a_run_with_a_failed_pass_and_fixed_values_is_the_same_in_the_folder(
    failing: Client, tmp_path: Path
) -> None:
    info = until_over(failing, ask(failing, "about", run=1))
    assert "explode" in info["message"]
    assert "float32" in info["message"]
    # What the job says tells all that it was given, so the same message is the same run.
    again = replay_job(folder_of(info), {"about": ABOUT_FAILURE})
    assert again.outcome == "same", (again.expected, again.found)
    (Path(folder_of(info)) / "value-1.npy").write_bytes(b"\x93NUMPY")
    with pytest.raises(FormatError, match="value-1"):
        replay_job(folder_of(info), {"about": ABOUT_FAILURE})


@pytest.mark.parametrize(
    "text", [b"", b"{", b"null", b'{"kind": 1}', b"[" * 5_000, b" " * (job_folder.MOST_JSON + 1)]
)
def test_a_damaged_folder_is_refused(tmp_path: Path, text: bytes) -> None:
    (tmp_path / job_folder.JSON_NAME).write_bytes(text)
    with pytest.raises(FormatError):
        replay_job(tmp_path, KINDS)
