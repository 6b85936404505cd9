"""How files become runs: in a child, with limits, again when they change, with their errors."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import irkit as irkit_package
from irkit.inspector_web.load import Inspection
from irkit.processes import Limits
from tests.inspector_web.pages import FAILING, MATMUL, client_of, matmul_trace, opened, relu_model

irkit_folder = irkit_package.__path__[0]
CRASH = "import ctypes; ctypes.string_at(0)"
BOOM = "ValueError: boom <b>"


def until(holds: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_ir_text_is_lowered_in_a_child(tmp_path: Path) -> None:
    (tmp_path / "k.irs").write_text(MATMUL)
    inspection = opened(str(tmp_path / "k.irs"))
    assert inspection.workspace is not None
    (run,) = inspection.workspace.runs
    assert (run.title, run.functions) == ("k.irs", ("matmul",))
    inspection.close()


def test_a_model_shows_its_graph_and_each_kernel(tmp_path: Path) -> None:
    inspection = opened(relu_model(tmp_path))
    assert inspection.workspace is not None
    levels = {row.level for row in inspection.workspace.runs[0].steps.rows()}
    assert len(levels) == 2
    inspection.close()


def test_a_script_shows_each_program_that_it_lowers_and_the_pass_that_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.py").write_text(FAILING)
    inspection = opened("s.py")
    assert inspection.workspace is not None
    first, second = inspection.workspace.runs
    assert first.loaded.failure is None
    failed = second.steps.rows()[-1]
    assert (failed.name, failed.status, failed.message) == ("explode", "failed", BOOM)
    client = client_of(inspection)
    info = client.get(f"/api/step?run=1&step={failed.index}").get_json()
    assert "ValueError: boom" in info["failure"]
    assert info["replay"] == "irkit inspect s.py"  # A pass of the script itself is not found alone.
    assert str(tmp_path) not in info["traceback"]
    stage = f"1.{failed.index}.b"
    assert client.get(f"/api/diff?left={stage}&right={stage}").get_json()["left"] > 1
    inspection.close()


@pytest.mark.parametrize("own", [True, False], ids=["in the script", "in a module"])
def test_a_pass_that_crashes_is_the_end_of_its_run_and_not_of_the_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    text = FAILING.replace('raise ValueError("boom <b>")', CRASH)
    if not own:
        head, _, tail = text.partition("func = ")
        (tmp_path / "crashing_passes.py").write_text(head)
        text = f"{head.partition('@')[0]}from crashing_passes import *\nfunc = {tail}"
    (tmp_path / "s.py").write_text(text)
    inspection = opened("s.py")
    assert inspection.workspace is not None
    failed = inspection.workspace.runs[1].steps.rows()[-1]
    assert (failed.name, failed.status) == ("explode", "failed")
    assert failed.message == "crashed its process with SIGSEGV"
    inspection.close()


def test_the_command_that_a_failed_pass_shows_fails_the_same_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    head, _, tail = FAILING.partition("func = ")
    (tmp_path / "own_passes.py").write_text(head)
    (tmp_path / "s.py").write_text(
        f"{head.partition('@')[0]}from own_passes import *\nfunc = {tail}"
    )
    inspection = opened("s.py")
    info = client_of(inspection).get("/api/step?run=1&step=21").get_json()
    inspection.close()
    assert info["replay"].startswith("irkit replay irkit-crash-")
    command = [sys.executable, "-m", *info["replay"].split()]
    environment = {**os.environ, "PYTHONPATH": str(Path(irkit_folder).parent)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "it fails the same way" in done.stdout


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.irs", "def f(:\n", "a.irs"),
        ("a.irs", b"\xff\xfe", "UTF-8"),
        ("a.onnx", "no model", "a.onnx"),
        ("a.trace", "no trace", "trace"),
        ("a.py", "1 / 0\n", "a.py:1: ZeroDivisionError"),
        ("a.py", "def (\n", "a.py"),
        ("a.py", "x = 1\n", "no pass ran"),
        ("a.py", "import sys; sys.exit(3)\n", "ended with 3"),
        ("a.py", "import os; os._exit(3)\n", "a.py"),
    ],
)
def test_an_error_in_a_file_is_shown_on_the_page(
    tmp_path: Path, name: str, text: str | bytes, said: str
) -> None:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    inspection = Inspection([str(path)])
    inspection.open()
    status = inspection.status()
    assert status.state == "failed"
    assert said in status.message
    assert "bug in irkit" not in status.message
    answer = client_of(inspection).get("/api/overview")
    assert answer.status_code == 409
    inspection.close()


@pytest.mark.parametrize("name", ["a.irs", "a.trace"])
def test_an_empty_file_does_not_hang_or_crash(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("")
    inspection = Inspection([str(tmp_path / name)])
    inspection.open()
    assert inspection.status().state == "failed"
    inspection.close()


def test_a_script_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("while True: pass\n")
    inspection = Inspection([str(tmp_path / "a.py")], limits=Limits(seconds=2.0))
    begun = time.monotonic()
    inspection.open()
    assert inspection.status().state == "failed"
    assert time.monotonic() - begun < 15
    inspection.close()


def test_progress_is_reported_and_changed_files_are_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "k.irs"
    path.write_text(MATMUL)
    inspection = Inspection([str(path)], watch=True)
    assert inspection.status().state == "failed"
    inspection.start()
    assert inspection.status().state == "working"
    until(lambda: inspection.status().state == "ready")
    path.write_text("def broken(:\n")
    until(lambda: inspection.status().revision == 2)
    status = inspection.status()
    assert (status.state, bool(status.message)) == ("ready", True)
    path.write_text(MATMUL.replace("matmul", "product"))
    until(lambda: inspection.status().revision == 3)
    assert inspection.workspace is not None
    assert inspection.workspace.runs[0].functions == ("product",)
    inspection.close()


def test_the_page_can_open_the_files_again(tmp_path: Path) -> None:
    inspection = opened(matmul_trace(tmp_path))
    answer = client_of(inspection).post("/api/reload", headers={"Origin": "http://127.0.0.1:4321"})
    assert answer.get_json() == {"begun": True}
    until(lambda: inspection.revision == 2)
    inspection.close()


def test_two_files_can_be_compared(tmp_path: Path) -> None:
    inspection = opened(matmul_trace(tmp_path, "a.trace"), matmul_trace(tmp_path, "b.trace"))
    client = client_of(inspection)
    assert [run["title"] for run in client.get("/api/overview").get_json()["runs"]] == [
        "a.trace",
        "b.trace",
    ]
    made = client.get("/api/diff?left=0.24.a&right=1.24.a").get_json()
    assert (made["added"], made["removed"]) == (0, 0)
    inspection.close()


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    (tmp_path / "k.irs").write_text(MATMUL)
    inspection = opened(str(tmp_path / "k.irs"))
    folder = inspection._folder  # pyright: ignore[reportPrivateUsage]
    assert os.path.isdir(folder)
    inspection.close()
    assert not os.path.exists(folder)


def test_many_clients_get_their_responses(tmp_path: Path) -> None:
    inspection = opened(matmul_trace(tmp_path))
    wrong: list[int] = []

    def ask() -> None:
        client = client_of(inspection)
        for at in range(25):
            answer = client.get(f"/api/diff?left=0.{at}.b&right=0.{at}.a")
            if answer.status_code != 200:
                wrong.append(answer.status_code)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    inspection.close()
