"""The verb passes of the ``irkit`` command: a list of the passes, and a description of each."""

import textwrap
from typing import Any

import click
import msgspec

from irkit.cli.flags.files import add_current_directory
from irkit.core import IRKitError
from irkit.passes import installed_passes
from irkit.phases import Flow
from irkit.transform import AnyPass, Registry

WIDTH = 96


@click.command("passes")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs to read.")
def passes(name: str | None, as_json: bool) -> None:
    """List every pass, or describe the pass NAME (which can be module:function) in full.

    The first column is where it runs: the phases of the default pipeline, or graph; a dash if it
    runs only where --pass places it. Passes of installed packages are those of the entry point
    group irkit.passes.

    \b
      irkit passes
      irkit passes vectorize-loops
      irkit passes --json
    """
    known = installed_passes()
    if name is not None and ":" in name:
        add_current_directory()
    chosen = list(known) if name is None else [known.find(name)]
    if as_json:
        rows = [_as_data(p, known) for p in chosen]
        click.echo(msgspec.json.format(msgspec.json.encode(rows), indent=2).decode())
    elif name is not None:
        click.echo(_description(chosen[0], known), nl=False)
    else:
        click.echo("".join(_list_entry(p, known) for p in sorted(chosen, key=_position)), nl=False)


def _places(p: AnyPass) -> list[tuple[str, int]]:
    return [
        (pipeline.level.name, number)
        for pipeline in Flow().pipelines
        for number, placed in pipeline.placed
        if placed.function is p.function
    ]


def _position(p: AnyPass) -> tuple[int, str]:
    """Return the key that sorts passes as they first run; passes in no pipeline come last."""
    order = [placed.function for pipeline in Flow().pipelines for _, placed in pipeline.placed]
    return (order.index(p.function) if p.function in order else len(order), p.name)


def _phases(p: AnyPass) -> str:
    words = [f"graph.{number}" if level == "graph" else str(number) for level, number in _places(p)]
    return ",".join(dict.fromkeys(words)) or "-"


def _list_entry(p: AnyPass, known: Registry) -> str:
    options = ", ".join(map(str, p.parameters))
    package = known.package_of(p.name)
    lines = [f"{_phases(p):8} {p.name}" + (f"   [{package}]" if package else "")]
    first = p.doc.partition("\n\n")[0]
    if first:
        lines += textwrap.wrap(" ".join(first.split()), WIDTH - 13)
    if options:
        lines.append(f"{{{options}}}")
    facts = [f"{word} {', '.join(names)}" for word, names in _facts(p).items() if names]
    if facts:
        lines.append("; ".join(facts))
    return lines[0] + "\n" + "".join(f"{' ' * 13}{line}\n" for line in lines[1:])


def _facts(p: AnyPass) -> dict[str, list[str]]:
    return {
        "needs": [fact.name for fact in p.needs],
        "gives": [fact.name for fact in p.gives],
        "breaks": [fact.name for fact in p.breaks],
    }


def _description(p: AnyPass, known: Registry) -> str:
    rows = [
        ("takes", p.level.__name__),
        ("phase", _phases(p)),
        *((word, ", ".join(names) or "nothing") for word, names in _facts(p).items()),
        ("from", str(p.origin)),
    ]
    claims = [word for word in ("idempotent", "atomic") if getattr(p, word)]
    if claims:
        rows.insert(2, ("claims", ", ".join(claims)))
    package = known.package_of(p.name)
    if package:
        rows.append(("package", package))
    text = f"{p.name}\n\n{textwrap.indent(p.doc or 'It has no docstring.', '  ')}\n\n"
    text += "".join(f"  {word + ':':9}{value}\n" for word, value in rows)
    text += "\n  options:\n" if p.parameters else "\n  It has no options.\n"
    for option in p.parameters:
        text += f"    {option}\n"
        lines = textwrap.wrap(p.help_of(option.name), WIDTH - 8)
        text += "".join(f"        {line}\n" for line in lines)
    return text


def _as_data(p: AnyPass, known: Registry) -> dict[str, Any]:
    return {
        "name": p.name,
        "level": p.level.__name__,
        "phases": [
            {"pipeline": level, "phase": number} for level, number in dict.fromkeys(_places(p))
        ],
        "doc": p.doc,
        "options": [
            {
                "name": option.name,
                "type": str(option).partition(": ")[2].partition(" = ")[0],
                "default": _default_value(option.default),
                "help": p.help_of(option.name),
            }
            for option in p.parameters
        ],
        **_facts(p),
        "idempotent": p.idempotent,
        "atomic": p.atomic,
        "path": p.path,
        "file": p.origin.file,
        "line": p.origin.line,
        "package": known.package_of(p.name) or "irkit",
    }


def _default_value(value: object) -> object:
    try:
        return msgspec.to_builtins(value)
    except (TypeError, IRKitError):
        return str(value)
