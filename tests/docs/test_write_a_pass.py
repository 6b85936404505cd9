"""docs/write-a-pass.md, run from top to bottom: each file, each command, each output."""

import io
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from tests.cli.shell import Shell
from tests.wheels import install

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "write-a-pass.md").read_text()
BLOCKS: list[tuple[str, str]] = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, flags=re.M | re.S)


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Shell]:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield Shell(tmp_path / "work", monkeypatch, capsys)
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def test_the_page_does_what_it_says(shell: Shell) -> None:
    ran = 0
    for kind, text in BLOCKS:
        if kind == "python":
            run_python(shell, text)
        elif kind == "toml":
            assert text in (shell.folder / "pyproject.toml").read_text()
        else:
            assert kind == "console"
            for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, flags=re.M):
                run_command(shell, command, expected)
                ran += 1
    assert ran == PAGE.count("\n$ ")
    # The last step stands on what was installed, and shows the pass at work.
    done = shell("opt", "kernel.irs", "--pass", "1:unroll-short-loops", "--remarks")
    assert "unrolled" not in done.out
    assert done.code == 0


def run_python(shell: Shell, text: str) -> None:
    mark, _, rest = text.partition("\n")
    if mark.startswith("# file: "):
        shell.write(mark.removeprefix("# file: "), rest)
    elif mark.startswith("# shown: "):
        assert rest in (shell.folder / mark.removeprefix("# shown: ")).read_text()
    else:
        sys.path.insert(0, "")
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(text, "write-a-pass.md", "exec"), {})
        assert "1 unroll-short-loops{most=3}" in printed.getvalue()
        assert printed.getvalue().endswith("eliminate-common-subexpressions\n")


def run_command(shell: Shell, command: str, expected: str) -> None:
    program, *args = shlex.split(command)
    if program == "pip":
        install(shell.folder, shell.folder.parent / "site")
        sys.path.insert(0, str(shell.folder.parent / "site"))
    elif program == "python":
        done = subprocess.run(
            [sys.executable, *args],
            cwd=shell.folder,
            env={"PYTHONPATH": str(ROOT), "IRKIT_PROFILE": "ci"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert expected in done.stdout
    else:
        assert program == "irkit"
        done = shell(*args)
        assert expected in done.out or done.err.startswith(expected), done.out + done.err
        assert done.code == (2 if expected.startswith("error:") else 0), done.err


def test_every_switch_of_the_page_exists(shell: Shell) -> None:
    text = shell("opt", "--help").out + shell("compile", "--help").out
    for switch in set(re.findall(r"--[a-z][a-z-]+", PAGE)) - {"--no-deps"}:
        assert switch in text, switch
