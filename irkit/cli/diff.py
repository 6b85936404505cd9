"""The verb diff of the ``irkit`` command."""

from collections.abc import Iterator

import click
import msgspec
from rich.console import Console
from rich.text import Text

from irkit.cli.flags.files import FILE
from irkit.cli.flags.flag_values import as_value
from irkit.cli.flags.programs import load_trace
from irkit.cli.output.json_results import PairJson, diff_json, echo_json, step_json
from irkit.core import IRKitError, console
from irkit.graph import GRAPH_LEVEL
from irkit.inspector_web import (
    Diff,
    LineTable,
    Pair,
    Side,
    Texts,
    align,
    diff_lines,
    diff_up_to_names,
    printed_diff,
)
from irkit.transform import Step


class _Options(msgspec.Struct, frozen=True):
    """Values of the options: what to compare, and how to show it."""

    pass_name: str
    function: str | None
    ignore_names: bool
    context: int
    brief: bool
    as_json: bool
    color: bool | None


_with_options = as_value(
    "options",
    _Options,
    (
        click.option("--pass", "pass_name", default="", help="Compare after this pass only."),
        click.option("--function", metavar="NAME", help="Compare the steps on one function only."),
        click.option(
            "--ignore-names",
            is_flag=True,
            help="Ignore names that differ in the same way throughout.",
        ),
        click.option(
            "--context",
            type=click.IntRange(0, 1_000),
            default=3,
            show_default=True,
            help="Equal lines to show around a change.",
        ),
        click.option(
            "--brief", is_flag=True, help="Print only which steps differ, and by how many lines."
        ),
        click.option("--json", "as_json", is_flag=True, help="Print the differences as JSON."),
        click.option(
            "--color/--no-color", default=None, help="Print in color.  [default: on a terminal]"
        ),
    ),
)


@click.command("diff")
@click.argument("left", metavar="TRACE-A", type=FILE)
@click.argument("right", metavar="TRACE-B", type=FILE)
@click.option(
    "--step",
    "steps",
    type=int,
    multiple=True,
    metavar="NUMBER",
    help="Compare after these steps: one of each trace (give it twice), or one number for both.",
)
@click.option("--before", is_flag=True, help="With --step: before the passes.")
@_with_options
@click.pass_context
def diff_(
    ctx: click.Context,
    left: str,
    right: str,
    steps: tuple[int, ...],
    before: bool,
    options: _Options,
) -> None:
    """Compare the IR of two traces, step by step.

    Steps are paired by phase, pass and function; then the IR after them is compared. Steps that
    only one trace has are listed. One file can be given twice, to compare two of its steps.

    \b
    Exit code: 0 the traces are alike
               1 they differ
               2 they cannot be compared

    \b
      irkit diff old.trace new.trace                      every step that differs
      irkit diff old.trace new.trace --brief              which ones, and by how much
      irkit diff old.trace new.trace --pass simplify      after one pass
      irkit diff old.trace new.trace --json               for programs
      irkit diff a.trace a.trace --step 3 --step 7        two steps of one trace
    """
    table = LineTable()
    runs = Texts(load_trace(left), table), Texts(load_trace(right), table)
    if before and not steps:
        raise click.UsageError("--before needs --step")
    if steps:
        found = _two(runs, steps, "before" if before else "after", options)
    else:
        found = _all(runs, options)
    if options.as_json:
        pairs = [_as_json(each, table, options) for each in found]
        echo_json(diff_json([run.trace.damage for run in runs], pairs))
        ctx.exit(int(bool(pairs)))
    screen = _screen(options.color)
    differs = False
    for each in found:
        differs = True
        for line in _printed(each, table, options):
            screen.print(line, soft_wrap=True)
    ctx.exit(int(differs))


class _Difference(msgspec.Struct, frozen=True):
    """Two steps that differ; or one that only one trace has, and no ``lines``."""

    left: Step | None
    right: Step | None
    side: Side = "after"
    title: str = ""
    lines: Diff | None = None


def _printed(found: _Difference, table: LineTable, options: _Options) -> Iterator[Text]:
    if found.lines is not None:
        yield Text(f"{found.title}: {_size(found.lines)}", style="bold")
        if not options.brief:
            yield from printed_diff(found.lines, table, options.context)
    elif found.left is not None:
        yield Text(f"only in the first: {_title(found.left)}", style="red")
    elif found.right is not None:
        yield Text(f"only in the second: {_title(found.right)}", style="green")


def _as_json(found: _Difference, table: LineTable, options: _Options) -> PairJson:
    left, right = (None if step is None else step_json(step) for step in (found.left, found.right))
    if found.lines is None:
        return PairJson(left, right, found.side)
    shown = () if options.brief else printed_diff(found.lines, table, options.context)
    lines = tuple(line.plain for line in shown)
    return PairJson(left, right, found.side, found.lines.removed, found.lines.added, lines)


def _screen(color: bool | None) -> Console:
    if color is None:
        return console()
    return Console(
        highlight=False, force_terminal=color, no_color=not color, width=None if color else 1000
    )


def _two(
    runs: tuple[Texts, Texts], steps: tuple[int, ...], side: Side, options: _Options
) -> Iterator[_Difference]:
    """Compare one step of each trace."""
    first, *others = steps
    if len(others) > 1:
        raise click.UsageError("--step is given once or twice")
    chosen = first, *(others or [first])
    for run, at in zip(runs, chosen, strict=True):
        if not 0 <= at < len(run.trace):
            raise IRKitError(f"the trace has {len(run.trace)} steps, numbered from 0; not {at}")
    title = " and ".join(_title(run.trace[at]) for run, at in zip(runs, chosen, strict=True))
    return _compared(runs, (chosen[0], chosen[-1]), side, options, f"{side} {title}")


def _all(runs: tuple[Texts, Texts], options: _Options) -> Iterator[_Difference]:
    """Compare all steps that have a counterpart, and name the others."""
    left, right = runs
    pairs = [pair for pair in align(left.trace, right.trace) if _wanted(runs, pair, options)]
    if not pairs and (options.pass_name or options.function is not None):
        raise IRKitError("no step is of that pass and function; 'irkit trace FILE' lists them")
    for pair in pairs:
        if pair.left is None:
            assert pair.right is not None
            yield _Difference(None, right.trace[pair.right])
        elif pair.right is None:
            yield _Difference(left.trace[pair.left], None)
        else:
            title = f"after {_title(left.trace[pair.left])}"
            yield from _compared(runs, (pair.left, pair.right), "after", options, title)


def _wanted(runs: tuple[Texts, Texts], pair: Pair, options: _Options) -> bool:
    run, at = (runs[0], pair.left) if pair.left is not None else (runs[1], pair.right)
    assert at is not None
    step = run.trace[at]
    return (not options.pass_name or step.name == options.pass_name) and (
        options.function is None or step.function == options.function
    )


def _compared(
    runs: tuple[Texts, Texts], at: tuple[int, int], side: Side, options: _Options, title: str
) -> Iterator[_Difference]:
    left, right = (run.ids(step, side) for run, step in zip(runs, at, strict=True))
    table = runs[0].table
    found = (
        diff_up_to_names(left, right, table) if options.ignore_names else diff_lines(left, right)
    )
    if found.hunks:
        first, second = runs[0].trace[at[0]], runs[1].trace[at[1]]
        yield _Difference(first, second, side, title, found)


def _size(found: Diff) -> str:
    return f"-{found.removed} +{found.added} lines"


def _title(step: Step) -> str:
    phase = "graph" if step.level is GRAPH_LEVEL else f"phase {step.phase}"
    return f"step {step.index}, {phase}, {step.pass_text} on {step.function or 'the module'}"
