"""A second package with a pass for irkit, installed for real."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from irkit.ir import parse, script
from tests.wheels import install

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "examples" / "plugin"
KERNEL = """\
def f(A: f32[8], C: f32[8]):
    for i in parallel(0, 8):
        C[i] = A[i]
    for j in parallel(0, 3):
        C[j] = A[j]
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plugin")
    install(PLUGIN, folder / "site")
    (folder / "site" / "k.irs").write_text(KERNEL)
    return folder / "site"


def irkit(site: Path, *args: str, more: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "irkit", *args],
        cwd=site.parent,
        env={"PYTHONPATH": f"{ROOT}:{site}:{more}"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_its_pass_runs_by_name(site: Path) -> None:
    done = irkit(site, "opt", "site/k.irs", "--pass", "1:serialize-loops{least=4}")
    assert done.returncode == 0, done.stderr
    assert "for i in serial" in done.stdout
    assert "for j in parallel" in done.stdout
    assert done.stderr == ""


def test_its_pass_is_listed_with_its_package(site: Path) -> None:
    done = irkit(site, "passes", "serialize-loops")
    assert done.returncode == 0, done.stderr
    assert "package: irkit-serialize 0.1.0" in done.stdout
    assert "irkit_serialize:serialize_loops" in done.stdout
    assert (
        "least: int = 0\n        Make parallel loops serial, except those known to run fewer"
        in done.stdout
    )
    assert "phase:   -" in done.stdout


def test_without_the_package_the_name_is_unknown(site: Path, tmp_path: Path) -> None:
    done = irkit(tmp_path, "opt", str(site / "k.irs"), "--pass", "1:serialize-loops")
    assert done.returncode == 2
    assert "there is no pass 'serialize-loops'" in done.stderr


@pytest.mark.long
def test_two_packages_with_one_name_are_told_apart(site: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for name in ("pyproject.toml", "irkit_serialize.py"):
        text = (PLUGIN / name).read_text()
        text = text.replace("irkit_serialize", "irkit_second")
        text = text.replace("irkit-serialize", "irkit-second")
        (other / name.replace("irkit_serialize", "irkit_second")).write_text(text)
    install(other, tmp_path / "site2")
    done = irkit(site, "passes", more=tmp_path / "site2")
    assert done.returncode == 2
    assert "two passes are named 'serialize-loops'" in done.stderr
    assert "irkit_serialize:serialize_loops" in done.stderr
    assert "irkit_second:serialize_loops" in done.stderr


def test_the_pass_does_what_its_docstring_shows(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(PLUGIN))
    from irkit_serialize import serialize_loops

    func = parse(KERNEL)
    assert script(serialize_loops(func)) == KERNEL.replace("parallel", "serial")
    assert serialize_loops.using(least=9)(func) is func


def test_the_project_file_is_one() -> None:
    read = tomllib.loads((PLUGIN / "pyproject.toml").read_text())
    for value in read["project"]["entry-points"]["irkit.passes"].values():
        assert (PLUGIN / f"{value.partition(':')[0]}.py").is_file()
