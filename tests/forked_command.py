"""The installed command in a process of its own, forked from one that has imported irkit: a new
interpreter would take a second of the processor to import it."""

import importlib
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from irkit.cli import main
from irkit.processes import isolate

for _name in ("irkit.cli.verbs", "irkit.debug", "irkit.phases"):
    importlib.import_module(_name)  # The server imports what this process has imported.


def run_irkit(
    args: Sequence[str], folder: Path, env: Mapping[str, str]
) -> "subprocess.CompletedProcess[str]":
    """Run ``irkit`` in a folder, with nothing but ``env`` as its environment.

    As of an installed command, the folder is not on the path for imports; ``PYTHONPATH`` is.
    """
    with tempfile.TemporaryDirectory(prefix="irkit-command-") as printed:
        code = isolate(_run, list(args), str(folder), dict(env), printed)
        out, err = ((Path(printed) / name).read_text() for name in ("out", "err"))
    return subprocess.CompletedProcess(["irkit", *args], code, out, err)


def _run(args: list[str], folder: str, env: dict[str, str], printed: str) -> int:
    """Run the command in this process, which ends afterwards; return its exit code."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(env)
    installed = [path for path in sys.path if path.startswith((sys.prefix, sys.base_prefix))]
    sys.path[:] = [*filter(None, env.get("PYTHONPATH", "").split(os.pathsep)), *installed]
    sys.dont_write_bytecode = bool(env.get("PYTHONDONTWRITEBYTECODE"))
    importlib.invalidate_caches()
    os.chdir(folder)
    sys.argv = ["irkit", *args]
    with (
        open(Path(printed) / "out", "w", encoding="utf-8") as out,
        open(Path(printed) / "err", "w", encoding="utf-8") as err,
    ):
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        sys.stdout, sys.stderr = out, err
        return _exit_code(main)


def _exit_code(call: Callable[[], object]) -> int:
    """Call a function, and return the exit code of a process that does nothing else."""
    try:
        call()
    except SystemExit as stop:
        if stop.code is None or isinstance(stop.code, int):
            return stop.code or 0
        print(stop.code, file=sys.stderr)  # noqa: T201 -- as Python does
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0
