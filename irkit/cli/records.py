"""The verb records of the ``irkit`` command: files of what irkit tune found."""

import sys
from collections import Counter
from pathlib import Path

import click
import msgspec

from irkit.cli.flags.files import FILE, NEW_FILE
from irkit.core import IRKitError, atomic_write
from irkit.phases import lowering_trace
from irkit.tune import (
    Local,
    Record,
    Records,
    as_autotvm,
    best_of,
    loops_of_task,
    merge_records,
    read_auto_scheduler,
    read_autotvm,
    read_records,
    verify_records,
)

_FILES = click.argument("files", nargs=-1, required=True, type=FILE)
_FILE = click.argument("file", type=FILE)


@click.group("records")
def records() -> None:
    """Show, choose, merge and check the records that irkit tune wrote.

    Lines that are damaged are named by their numbers, and all others are used.

    \b
      irkit records show records.jsonl
      irkit records best records.jsonl
      irkit records merge one.jsonl other.jsonl -o all.jsonl
      irkit records verify records.jsonl
      irkit records trace records.jsonl ID -o schedule.trace
    """


@records.command("show")
@_FILES
def show(files: tuple[str, ...]) -> None:
    """Count what files hold: tasks, candidates by verdict, machines, and lines of other tuners.

    Lines of AutoTVM and auto_scheduler are hints: irkit tune --hints measures those of a template
    that fit its arguments.
    """
    for path in files:
        found = read_records(path)
        foreign = len(read_autotvm(path)), len(read_auto_scheduler(path))
        damaged = len(found.damaged) - sum(foreign)
        click.echo(f"{path}: {len(found.candidates)} candidates of {len(found.tasks)} tasks")
        for kind, count in zip(("AutoTVM", "auto_scheduler"), foreign, strict=True):
            if count:
                click.echo(f"  {count} lines of {kind}, hints for templates with their knobs")
        if damaged > 0:
            click.echo(f"  {found.report(path)}")
        for task, line in found.tasks.items():
            own = found.of(task)
            verdicts = Counter(each.verdict for each in own)
            counted = ", ".join(f"{count} {kind}" for kind, count in verdicts.most_common())
            click.echo(f"  {task[:12]} {line.name}: {counted or 'no candidates'}")
            click.echo(f"    {_winner(found, task)}")


@records.command("best")
@_FILE
@click.option("--json", "as_json", is_flag=True, help="Print the records, for programs to read.")
@click.option("--autotvm", is_flag=True, help="Print lines of an AutoTVM log; templates only.")
def best(file: str, as_json: bool, autotvm: bool) -> None:
    """Print the winner of each task and machine: what compile --records uses."""
    found = _read(file)
    winners = best_of(found.candidates)
    for (task, machine), record in sorted(winners.items()):
        if autotvm:
            line = found.tasks.get(task)
            if line is not None and line.template:
                click.echo(as_autotvm(line, record))
        elif as_json:
            click.echo(msgspec.json.encode(record).decode())
        else:
            click.echo(f"{record.id} {record.name} on {machine}: {_times(record)}")
    if not winners and not as_json and not autotvm:
        click.echo("nothing won: every task keeps its default")


@records.command("merge")
@_FILES
@click.option("-o", "--output", required=True, type=NEW_FILE, help="The file to write.")
def merge(files: tuple[str, ...], output: str) -> None:
    """Write the records of several files into one, each once."""
    if Path(output).resolve() in {Path(each).resolve() for each in files}:
        raise click.UsageError("the output must be another file than those that are merged")
    found = merge_records(output, files)
    if found.damaged:
        click.echo(f"note: {len(found.damaged)} lines are not used", err=True)
    click.echo(f"{output}: {len(found.tasks)} tasks")


@records.command("verify")
@_FILE
def verify(file: str) -> None:
    """Replay the schedules of finalists, and check what they compute; exit code 1 if one is wrong.

    Candidates that were no finalists have decisions and no schedule, and are counted only.
    """
    found = _read(file)
    wrong = checked = 0
    for each in verify_records(found, Local()):
        checked += 1
        wrong += not each.ok
        what = "ok" if each.ok else f"{each.outcome.verdict}: {each.outcome.message}"
        click.echo(f"{each.record.id} {each.record.name}: {what}")
    rest = len(found.candidates) - checked
    click.echo(f"{checked} schedules replayed, {wrong} wrong; {rest} candidates without one")
    sys.exit(1 if wrong else 0)


@records.command("trace")
@_FILE
@click.argument("record", metavar="ID")
@click.option("-o", "--output", required=True, type=NEW_FILE, help="The trace to write.")
def trace(file: str, record: str, output: str) -> None:
    """Write what the schedule of a record and the passes after it do, for irkit inspect."""
    found = _read(file)
    chosen = next((each for each in found.candidates if each.id == record), None)
    if chosen is None or chosen.trace is None:
        raise IRKitError(
            f"{file} has no record {record!r} with a schedule",
            hint="irkit records best prints the numbers of winners.",
        )
    line = found.tasks.get(chosen.task)
    if line is None:
        raise IRKitError(f"{file} lacks the line of the task of {record!r}")
    steps = msgspec.json.encode(chosen.trace).decode()
    with atomic_write(output) as made:
        lowering_trace(loops_of_task(line.loops), steps).save(made)
    click.echo(f"{output}: see it with: irkit inspect {output}")


def _read(file: str) -> Records:
    found = read_records(file)
    if found.damaged:
        click.echo(f"note: {found.report(file)}", err=True)
    return found


def _winner(found: Records, task: str) -> str:
    own = [each for (name, _), each in best_of(found.candidates).items() if name == task]
    if not own:
        return "the default stays"
    return "; ".join(f"{_times(each)} on {each.machine.fingerprint}" for each in own)


def _times(record: Record) -> str:
    found = record.measure
    if found is None:
        return "not measured"
    return (
        f"{found.ratio:.2f} times as fast as the default ({found.low:.2f} to {found.high:.2f}), "
        f"{found.seconds * 1e3:.4f} ms, noise {100 * found.noise:.1f} %"
    )
