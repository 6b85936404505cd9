"""The source distribution and the wheel, built as they are published."""

import re
import tarfile
import tomllib
import zipfile
from pathlib import Path

from tests.wheels import build_sdist

ROOT = Path(__file__).parents[1]
OLDEST = ROOT / ".ci" / "oldest.txt"


def test_the_sdist_holds_what_the_two_commands_and_the_pages_need(
    tmp_path: Path,
) -> None:
    with tarfile.open(build_sdist(ROOT, tmp_path)) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for top in ("docs", "examples", "benchmarks", "tests", ".ci", ".github", "irkit"):
        wanted = {
            str(path.relative_to(ROOT))
            for path in (ROOT / top).rglob("*")
            if path.is_file() and not {"__pycache__", "reference"} & set(path.parts)
            if not any(part.endswith(".egg-info") for part in path.parts)
        }
        assert wanted
        assert wanted <= names, sorted(wanted - names)[:9]
    files = ("CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md")
    assert {*files, "pyproject.toml", ".pre-commit-config.yaml"} <= names
    assert any(name.startswith("tests/corpus/") for name in names)
    assert not any("__pycache__" in name for name in names)


def test_the_wheel_holds_irkit_and_nothing_else_at_top_level(irkit_wheel: Path) -> None:
    with zipfile.ZipFile(irkit_wheel) as archive:
        names = set(archive.namelist())
    assert {name.partition("/")[0] for name in names} == {"irkit", "irkit-0.1.0.dist-info"}
    package = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "irkit").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert package <= names, sorted(package - names)[:9]


def test_the_oldest_versions_are_the_lower_bounds() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    needed = "\n".join([*project["dependencies"], *extras["distributed"], *extras["prove"]])
    bounds = dict(re.findall(r"^([\w-]+)>=([\d.]+)", needed, flags=re.M))
    oldest = dict(re.findall(r"^([\w-]+)==([\d.]+)$", OLDEST.read_text(), flags=re.M))
    assert set(oldest) == set(bounds)
    for name, version in oldest.items():
        assert (version + ".").startswith(bounds[name] + "."), name
