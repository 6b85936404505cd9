"""Wheels made as a pyproject.toml asks, and installed with pip, without a network.

Building them with setuptools needs packages that a test environment may lack.
"""

import fnmatch
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path


def install(project: Path, site: Path) -> None:
    """Install a project into a folder."""
    wheel = make_wheel(project, site.parent)
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", "--no-compile"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, "--target", str(site), str(wheel)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def make_wheel(project: Path, folder: Path) -> Path:
    """Write the wheel of a project into a folder."""
    read = tomllib.loads((project / "pyproject.toml").read_text())
    about, tool = read["project"], read["tool"]["setuptools"]
    stem = f"{about['name'].replace('-', '_')}-{about['version']}"
    info = f"{stem}.dist-info"
    files = {f"{name}.py": (project / f"{name}.py") for name in tool.get("py-modules", [])}
    packages = tool.get("packages", [])
    for package in packages if isinstance(packages, list) else ():
        home = project / package.replace(".", "/")
        files |= {str(path.relative_to(project)): path for path in home.glob("*.py")}
    if isinstance(packages, dict):
        files |= _found(project, packages["find"]["include"][0], tool.get("package-data", {}))
    texts: dict[str, str | bytes] = {name: path.read_bytes() for name, path in files.items()}
    extras = "".join(
        f"Provides-Extra: {extra}\n"
        + "".join(f'Requires-Dist: {needed}; extra == "{extra}"\n' for needed in several)
        for extra, several in about.get("optional-dependencies", {}).items()
    )
    texts[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {about['version']}\n{extras}"
    )
    texts[f"{info}/WHEEL"] = (
        "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    lines: list[str] = []
    for group, entries in about.get("entry-points", {}).items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())]
    texts[f"{info}/entry_points.txt"] = "\n".join(lines) + "\n"
    scripts = about.get("scripts", {})
    if scripts:
        lines += ["[console_scripts]", *(f"{name} = {value}" for name, value in scripts.items())]
        texts[f"{info}/entry_points.txt"] = "\n".join(lines) + "\n"
    record = f"{info}/RECORD"
    texts[record] = "".join(f"{name},,\n" for name in (*texts, record))
    made = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(made, "w") as archive:
        for name, text in texts.items():
            archive.writestr(name, text)
    return made


def _found(project: Path, top: str, data: dict[str, list[str]]) -> dict[str, Path]:
    """Return the files of a package and of the packages inside it, which can be links."""
    kept = [pattern for patterns in data.values() for pattern in patterns]
    found: dict[str, Path] = {}
    for folder, _, names in os.walk(project / top, followlinks=True):
        for name in names:
            path = Path(folder) / name
            inside = f"{path.parent.name}/{name}"
            wanted = name.endswith(".py") or any(
                fnmatch.fnmatch(name, each) or fnmatch.fnmatch(inside, each) for each in kept
            )
            if wanted and "__pycache__" not in path.parts:
                found[str(path.relative_to(project))] = path
    return found
