"""Make a wheel of a project as its pyproject.toml says, and install it with pip, without a network.

Building one with setuptools takes packages that an environment for tests need not have.
"""

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path


def install(project: Path, site: Path) -> None:
    """Install a project of single modules or one package into a folder."""
    wheel = make_wheel(project, site.parent)
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-index"]
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
    for package in tool.get("packages", []):
        home = project / package.replace(".", "/")
        files |= {str(path.relative_to(project)): path for path in home.glob("*.py")}
    texts = {name: path.read_text() for name, path in files.items()}
    texts[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {about['version']}\n"
    )
    texts[f"{info}/WHEEL"] = (
        "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    lines: list[str] = []
    for group, entries in about.get("entry-points", {}).items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())]
    texts[f"{info}/entry_points.txt"] = "\n".join(lines) + "\n"
    record = f"{info}/RECORD"
    texts[record] = "".join(f"{name},,\n" for name in (*texts, record))
    made = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(made, "w") as archive:
        for name, text in texts.items():
            archive.writestr(name, text)
    return made
