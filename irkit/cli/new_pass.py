"""The verb new-pass of the ``irkit`` command: a pass to start from, its test and entry point."""

import keyword
import re
import tomllib
from pathlib import Path
from string import Template

import click

from irkit.cli.pass_templates import GRAPH_PASS, GRAPH_TEST, LOOP_PASS, LOOP_TEST, PYPROJECT
from irkit.core import IRKitError

GROUP = "irkit.passes"
# By level: the pass, its test, and where the example runs it.
_LEVELS = {"loop": (LOOP_PASS, LOOP_TEST, "1"), "graph": (GRAPH_PASS, GRAPH_TEST, "graph")}
_HEADER = f'[project.entry-points."{GROUP}"]'


@click.command("new-pass")
@click.argument("name")
@click.option(
    "--folder",
    type=click.Path(file_okay=False),
    default=".",
    help="The folder to write to; a package if it has an __init__.py.  [default: .]",
)
@click.option(
    "--level",
    type=click.Choice(list(_LEVELS)),
    default="loop",
    show_default=True,
    help="What the pass works on: loops, or the graph of a model.",
)
def new_pass(name: str, folder: str, level: str) -> None:
    """Write a pass called NAME, its test, and the entry point by which irkit finds it.

    NAME is a verb, such as unroll-small-loops. The new pass works: it marks short loops as
    unrolled, or makes a relu of a relu read what the first one reads, and its test passes. Change
    it to what you need. Nothing is overwritten.

    \b
      irkit new-pass unroll-small-loops
      pip install 'irkit[fuzz]'
      python -m pytest test_unroll_small_loops.py
      irkit opt kernel.irs --pass 1:unroll_small_loops:unroll_small_loops
      irkit new-pass skip-second-relus --level graph
    """
    function = checked_name(name)
    target = Path(folder)
    home, module = _module(target.resolve(), function)
    project = _project(home)
    fill = {"function": function, "module": module, "name": function.replace("_", "-")}
    source, test, place = _LEVELS[level]
    files = {
        target / f"{function}.py": Template(source).substitute(fill),
        target / f"test_{function}.py": Template(test).substitute(fill),
    }
    for path in files:
        if path.exists():
            raise IRKitError(f"{path} exists already", hint="Take another name, or move the file.")
    edited = _with_entry(project, fill)
    target.mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
        click.echo(f"wrote {path}")
    existed = project.exists()
    project.write_text(edited, encoding="utf-8")
    shown = project.name if project.parent == Path.cwd() else str(project)
    click.echo(f"{'added the entry point to' if existed else 'wrote'} {shown}")
    _print_next_steps(target, home, fill, place)


def _print_next_steps(target: Path, home: Path, fill: dict[str, str], at: str) -> None:
    place = "" if home == Path.cwd() else f"cd {home} && "
    test = target.resolve().relative_to(home) / f"test_{fill['function']}.py"
    click.echo("next:")
    click.echo("  pip install 'irkit[fuzz]'  # pytest and what the test draws programs with")
    click.echo(f"  {place}python -m pytest {test}")
    click.echo(
        f"  {place}irkit opt FILE --pass '{at}:{fill['module']}:{fill['function']}' --remarks"
    )
    click.echo(f"  {place}pip install -e . && irkit passes {fill['name']}")


def checked_name(name: str) -> str:
    """Return the name of the function of a pass called ``name``.

    Raises: IRKitError if no function can have that name.
    """
    function = name.replace("-", "_")
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", function) or keyword.iskeyword(function):
        raise IRKitError(
            f"{name[:80]!r} is not a name for a pass; expected a verb in lower case",
            hint="For example unroll-small-loops or fold_zeros.",
        )
    return function


def _module(folder: Path, function: str) -> tuple[Path, str]:
    """Return the folder that imports start from, and the name of the module."""
    parts = [function]
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    return folder, ".".join(parts)


def _project(home: Path) -> Path:
    """Return the path of the project file: in ``home``, or one folder up if that is ``src``."""
    above = home.parent / "pyproject.toml"
    if home.name == "src" and above.exists():
        return above
    return home / "pyproject.toml"


def _with_entry(project: Path, fill: dict[str, str]) -> str:
    """Return the text of a project file with an entry point for the pass."""
    if not project.exists():
        package = fill["module"].rpartition(".")[0]
        contents = f'packages = ["{package}"]' if package else f'py-modules = ["{fill["module"]}"]'
        return Template(PYPROJECT).substitute(fill | {"contents": contents})
    text = project.read_text(encoding="utf-8")
    before = _entries(project, text)
    if fill["name"] in before:
        raise IRKitError(
            f"{project} has an entry point {fill['name']!r} already: {before[fill['name']]}",
            hint="Take another name.",
        )
    path = f"{fill['module']}:{fill['function']}"
    entry = f'{fill["name"]} = "{path}"'
    edited = _edited(text, entry, fill["module"])
    # TOML has many forms: read the result back to see that it means what was intended.
    try:
        right = _entries(project, edited) == before | {fill["name"]: path}
    except IRKitError:
        right = False
    if not right:
        raise IRKitError(
            f"cannot add the entry point to {project}: its layout is not one that irkit can edit",
            hint=f"Add this by hand:\n  {_HEADER}\n  {entry}",
        )
    return edited


def _edited(text: str, entry: str, module: str) -> str:
    if _HEADER in text:
        text = text.replace(_HEADER, f"{_HEADER}\n{entry}", 1)
    else:
        text = f"{text.rstrip()}\n\n{_HEADER}\n{entry}\n"
    if "." in module:
        return text
    return re.sub(r"^py-modules = \[(?=.*\]$)", f'py-modules = ["{module}", ', text, flags=re.M)


def _entries(project: Path, text: str) -> dict[str, str]:
    try:
        read = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise IRKitError(f"{project} is not TOML: {error}") from None
    found = read.get("project", {}).get("entry-points", {}).get(GROUP, {})
    return {str(name): str(value) for name, value in found.items()}
