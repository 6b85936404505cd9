"""Build a source distribution or a wheel with setuptools, and install wheels with pip: no network,
no isolated environment, and nothing written into the project."""

import shutil
import subprocess
import sys
from pathlib import Path

NOT_SOURCES = shutil.ignore_patterns(
    ".git", ".venv*", ".hypothesis", ".irkit", ".*_cache", "__pycache__", "*.egg-info", "build",
    "dist", "out", "irkit-crash-*",
)  # fmt: skip


def install(project: Path, site: Path) -> None:
    """Install a project into a folder."""
    install_wheel(build_wheel(project, site.parent), site)


def install_wheel(wheel: Path, site: Path) -> None:
    """Install a wheel into a folder."""
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", "--no-compile"]
    _run("-m", "pip", "install", *options, "--target", str(site), str(wheel), cwd=site.parent)


def build_wheel(project: Path, folder: Path) -> Path:
    """Write the wheel of a project into a folder."""
    return _build("wheel", project, folder)


def build_sdist(project: Path, folder: Path) -> Path:
    """Write the source distribution of a project into a folder."""
    return _build("sdist", project, folder)


def _build(what: str, project: Path, folder: Path) -> Path:
    """Build in a copy, because setuptools writes beside the sources."""
    copy = folder / f"sources-for-{what}"
    shutil.copytree(project, copy, symlinks=True, ignore=NOT_SOURCES)
    code = f"from setuptools import build_meta as b; print(b.build_{what}({str(folder)!r}))"
    printed = _run("-c", code, cwd=copy)
    shutil.rmtree(copy)
    return folder / printed.splitlines()[-1]


def _run(*args: str, cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, *args], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
