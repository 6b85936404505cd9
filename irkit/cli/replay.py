"""The verb replay of the ``irkit`` command."""

import click

from irkit.core import IRKitError
from irkit.debug import IsolationPolicy, KernelHalted, failure_traceback, replay as replay_folder
from irkit.inspector_web.jobs import JOB_KINDS, is_job_folder, replay_job
from irkit.transform import PassFailed

_EXIT = {"same": 0, "gone": 1, "different": 3}


@click.command("replay")
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@click.option("--rest", is_flag=True, help="Continue with the passes that came after it.")
@click.option(
    "--in-process",
    is_flag=True,
    help="Run it in this process, for a debugger; a crash ends the command.",
)
@click.option(
    "--pass-timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Stop it after this time, instead of the limit under which it failed.",
)
@click.option(
    "--pass-memory",
    type=click.IntRange(min=1),
    metavar="MIB",
    help="Stop it at this much memory, instead of the limit under which it failed.",
)
@click.pass_context
def replay(
    ctx: click.Context,
    folder: str,
    rest: bool,
    in_process: bool,
    pass_timeout: float | None,
    pass_memory: int | None,
) -> None:
    """Rerun the failing step that a crash FOLDER records, or the job of the inspector's page.

    The step runs in a separate process, with the limits under which it failed. The folder is
    trusted: the modules of the passes it names are imported, and a job may run the script that
    it names. The rest of it is only read.

    \b
    Exit code: 0 it fails the same way
               1 it no longer fails
               3 it fails in another way
               2 it cannot be run: the folder is damaged, or the pass is not here

    \b
      irkit replay irkit-crash-1f2e3d4c5b6a
    """
    memory = None if pass_memory is None else pass_memory << 20
    if is_job_folder(folder):
        if rest or in_process:
            raise IRKitError(f"{folder} holds a job, for which there is no --rest or --in-process")
        job = replay_job(folder, JOB_KINDS, seconds=pass_timeout, memory=memory)
        _say(folder, job.outcome, job.expected, job.found)
        ctx.exit(_EXIT[job.outcome])
    done = replay_folder(
        folder, rest=rest, isolated=not in_process, seconds=pass_timeout, memory=memory
    )
    _say(folder, done.outcome, "; ".join(done.expected), "; ".join(done.found))
    if isinstance(done.error, PassFailed):
        IsolationPolicy(crash_dir=None).report(done.error)
        click.echo(f"{done.error}")
        click.echo(failure_traceback(done.error), nl=False)
    elif isinstance(done.error, KernelHalted):
        click.echo(f"{done.error}\n{done.error.traceback}", nl=False)
    ctx.exit(_EXIT[done.outcome])


def _say(folder: str, outcome: str, expected: str, found: str) -> None:
    if outcome == "gone":
        click.echo(f"{folder}: it no longer fails")
    elif outcome == "same":
        click.echo(f"{folder}: it fails the same way")
    else:
        click.echo(f"{folder}: it fails in another way")
        click.echo(f"  then: {expected}\n  now:  {found}")
