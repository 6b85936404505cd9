"""The ``irkit`` command: a table of verbs, each imported only when it is called."""

import sys
import traceback
from pathlib import Path

import click

import irkit as root
from irkit import __version__
from irkit.imports import import_uncollected

# verb -> (module:command, line of --help, which is printed without importing the module)
VERBS: dict[str, tuple[str, str]] = {
    "compile": (
        "irkit.cli.compile:compile_",
        "Compile an ONNX model to a package of native code.",
    ),
    "run": ("irkit.cli.run:run", "Run a package on given or random inputs."),
    "verify": (
        "irkit.cli.verify:verify",
        "Compare every byte of a package with its checksums, and show what it holds.",
    ),
    "split": (
        "irkit.cli.split:split_",
        "Write a numeric unit test for each kernel of a model.",
    ),
    "trace": ("irkit.cli.trace:trace", "Show what every pass did, from a trace file."),
    "diff": ("irkit.cli.diff:diff_", "Compare two traces, step by step."),
    "inspect": (
        "irkit.cli.inspect:inspect_",
        "Show in the browser what every pass did.",
    ),
    "report": (
        "irkit.cli.report:report_",
        "Write what every pass did to an HTML file, and to files for CI.",
    ),
    "mcp": (
        "irkit.cli.mcp:mcp_",
        "Answer questions about traces by the Model Context Protocol.",
    ),
    "opt": ("irkit.cli.opt:opt", "Run passes: IR text in, IR text out."),
    "check": (
        "irkit.cli.check:check_",
        "Run a program after each pass, and name the pass that changes what it computes.",
    ),
    "bisect": (
        "irkit.cli.bisect:bisect_",
        "Find the pass that breaks a program, and the rewrite inside it.",
    ),
    "machine": (
        "irkit.cli.machine:machine",
        "Show what schedules know of this processor, or measure it.",
    ),
    "targets": (
        "irkit.cli.targets:targets",
        "List the processors that irkit knows by name.",
    ),
    "tune": (
        "irkit.cli.tune:tune_",
        "Search for faster schedules by measuring them.",
    ),
    "records": (
        "irkit.cli.records:records",
        "Show, choose, merge and check what irkit tune found.",
    ),
    "passes": (
        "irkit.cli.passes:passes",
        "List the passes, with options, facts and origin.",
    ),
    "new-pass": (
        "irkit.cli.new_pass:new_pass",
        "Write a pass, its test and its entry point.",
    ),
    "replay": (
        "irkit.cli.replay:replay",
        "Rerun the failure that a crash folder records.",
    ),
    "reduce": (
        "irkit.cli.reduce:reduce_",
        "Reduce a failing case, and write a test that fails until it is fixed.",
    ),
    "fuzz": (
        "irkit.cli.fuzz:fuzz",
        "Draw programs at random, and check that everything that runs them agrees.",
    ),
}

# Modules of processes that a verb will start: they are imported there while the verb is here.
_FORKED = {"tune": ("irkit.phases.candidates", "irkit.tune")}


class _LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        modules = _FORKED.get(args[0], ())
        if modules and not {"-h", "--help"} & set(args):
            from irkit.processes import prepare_forks

            prepare_forks(modules)
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = VERBS.get(cmd_name)
        if entry is None:
            return None
        module, _, name = entry[0].partition(":")
        command = getattr(import_uncollected(module), name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(verb, text) for verb, (_, text) in VERBS.items()])


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="irkit COMMAND --help describes one command. IRKIT_SCHEDULE=auto or none decides, where "
    "no --schedule does, whether functions that nobody has scheduled get a schedule.",
)
@click.version_option(__version__, prog_name="irkit")
def irkit() -> None:
    """Compile models and loop programs to native code in numbered phases, and show every step.

    \b
      irkit compile model.onnx -o model.irkit --trace model.trace
      irkit run model.irkit --random
      irkit opt kernel.irs --stop-after 1
    """


def main() -> None:
    """Run the command; a mistake of the user is one message and exit code 2, not a traceback."""
    try:
        code = irkit.main(prog_name="irkit", standalone_mode=False)
    except click.Abort:
        click.echo("Stopped.", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        own_exit = isinstance(error, SystemExit) and not _raised_elsewhere(error)
        message = "" if own_exit else _message_for_user(error)
        if not message:
            raise
        click.echo(f"error: {message}", err=True)
        sys.exit(2)
    sys.exit(code)


def _raised_elsewhere(error: BaseException) -> str:
    """Return the file and line that raised an exception, if it is no file of irkit or click."""
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    file = frame.f_code.co_filename
    own = {str(Path(each).resolve().parent) for each in (root.__file__, click.__file__) if each}
    return (
        "" if any(str(Path(file).resolve()).startswith(each) for each in own) else f"{file}:{line}"
    )


def _message_for_user(error: BaseException) -> str:
    """Return what the user can correct; an empty text if the mistake is irkit's own."""
    # Imported here, so that --help does not load msgspec.
    from irkit.core import IRKitError

    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if not isinstance(error, Exception) and _raised_elsewhere(error):
        # A pass or converter may raise anything: it must not end the command as if all were done.
        return f"{_raised_elsewhere(error)} raised {type(error).__name__}: {error}"
    if isinstance(error, MemoryError):
        return f"there is not enough memory: {error}"
    return str(error) if isinstance(error, (IRKitError, OSError)) else ""
