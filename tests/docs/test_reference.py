"""The reference: every public name a pass author uses has a docstring, and pdoc builds."""

import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from docs.reference import FACES, public_names
from tests.docs.pages import ROOT


@pytest.mark.parametrize("name", FACES)
def test_every_public_name_has_a_docstring(name: str) -> None:
    face = import_module(name)
    assert (face.__doc__ or "").strip()
    missing = [
        each
        for each in public_names(face)
        if (inspect.isclass(getattr(face, each)) or inspect.isfunction(getattr(face, each)))
        and not (getattr(face, each).__doc__ or "").strip()
    ]
    assert missing == []


@pytest.mark.long
def test_pdoc_builds_the_reference_without_warnings(tmp_path: Path) -> None:
    pytest.importorskip("pdoc")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "docs.reference", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for name in FACES:
        page = (tmp_path / f"{name.replace('.', '/')}.html").read_text()
        assert all(f'id="{each}"' in page for each in public_names(import_module(name)))
