"""Compare LLVM's code for drawn programs with the interpreter, until the time is up."""

import os
from pathlib import Path

import click

from irkit.cli.flags.durations import Duration
from irkit.codegen.wrapping_loops import without_cure
from tests.llvm_campaign.batches import TARGETS, Find, executor
from tests.llvm_campaign.campaign import run_campaign
from tests.llvm_campaign.reduction import keep


@click.command()
@click.option("--time", "seconds", type=Duration(), default="1h", show_default=True)
@click.option("--folder", type=Path, default=Path("out/llvm-campaign"), show_default=True)
@click.option("--target", "targets", multiple=True, type=click.Choice(list(TARGETS)))
@click.option("--first", default=0, help="The number of the first batch of a new folder.")
@click.option("--batches", type=int, help="The most batches.")
@click.option("--without-cure", "uncured", is_flag=True, help="Switch irkit's workaround off.")
def main(
    seconds: float,
    folder: Path,
    targets: tuple[str, ...],
    first: int,
    batches: int | None,
    uncured: bool,
) -> None:
    """Run the campaign against LLVM; the exit code is 1 if the folder has finds."""
    os.environ["IRKIT_CACHE"] = "0"
    missing = {name: executor(name).missing for name in targets or TARGETS}
    for name, words in missing.items():
        if words:
            click.echo(f"{name}: {words}", err=True)
    chosen = [name for name, words in missing.items() if not words]

    def note(find: Find) -> None:
        click.echo(f"{find.target} {find.seed}: {find.difference}\n{find.text}")
        click.echo(f"  kept in {keep(find, folder / 'finds')}")

    def run() -> None:
        state = run_campaign(
            folder, seconds=seconds, targets=chosen, first=first, most=batches, keep=note
        )
        programs = ", ".join(f"{count} on {name}" for name, count in state.programs.items())
        click.echo(f"{state.seconds / 3600:.2f} h, programs: {programs}; {state.finds} finds")
        if state.finds:
            raise SystemExit(1)

    if uncured:
        with without_cure():
            run()
    else:
        run()


if __name__ == "__main__":
    main()
