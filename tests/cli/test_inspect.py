"""``irkit inspect``: its address, its end, and its mistakes."""

import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

from click.testing import CliRunner

from irkit.cli.verbs import irkit
from tests.inspector_web.pages import matmul_trace


def test_the_command_prints_an_address_that_works_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    file = matmul_trace(tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-m", "irkit", "inspect", file, "--port", "0", "--no-open"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        # Tests that run in the background ignore the signal, and would hand that down.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    with process:
        try:
            assert process.stdout is not None
            said = process.stdout.readline()
            assert said.startswith("matmul.trace: http://127.0.0.1:")
            with urllib.request.urlopen(said.split()[-1]) as answer:
                assert answer.status == 200
                assert "HttpOnly" in answer.headers["Set-Cookie"]
            process.send_signal(signal.SIGINT)
            assert process.wait(20) in (0, 130)
        finally:
            process.kill()


def test_a_port_that_is_taken_is_a_mistake_with_a_remedy(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        file = matmul_trace(tmp_path)
        done = CliRunner().invoke(irkit, ["inspect", file, "--port", port, "--no-open"])
    assert "--port 0" in str(done.exception)


def test_help_teaches() -> None:
    said = CliRunner().invoke(irkit, ["inspect", "--help"]).output
    for part in ("irkit inspect model.onnx", "--watch", "--no-open", "Ctrl-C", "printed address"):
        assert part in said
