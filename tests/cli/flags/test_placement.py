"""``--pass`` and ``--pipeline`` find modules in the current directory, in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import ROOT
from tests.draws import sampled

OPTIONS = [
    ("--pass", "1:my_passes:stamp"),
    ("--pass", "1/before=simplify:my_passes:stamp"),
    ("--pipeline", "1:my_passes:stamp"),
    ("--pipeline", "1:simplify,my_passes:stamp"),
    ("--pipeline", "1:;2:my_passes:stamp{number=0}"),
]


# `python -m irkit` and, with -P, the installed command.
@pytest.mark.parametrize(
    ("python", "option"),
    sampled([(python, option) for python in ((), ("-P",)) for option in OPTIONS], every=3),
    ids=lambda words: " ".join(words),
)
def test_a_module_in_the_current_directory_is_found(
    folder: Path, python: tuple[str, ...], option: tuple[str, str]
) -> None:
    # With -P, Python leaves the current directory out, as it does for an installed command.
    done = subprocess.run(
        [sys.executable, *python, "-m", "irkit", "opt", "add.irs", *option],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    assert "@attrs(stamp_0=0)" in done.stdout
