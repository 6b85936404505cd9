"""FIXME A verb with ``--pass``; it knows what an unquoted one looks like."""

import re
import sys
from itertools import pairwise

import click

from irkit.cli.flags.print_flags import expand_bare_flags
from irkit.core import ParseError
from irkit.passes import installed_passes
from irkit.phases import Flow
from irkit.transform import MissingFact, parse_placed

QUOTE = "put quotes around it, a shell takes braces for its own."
_EXAMPLE = "Such as: --pass '1:my_package.my_module:my_pass{lanes=8,tail=true}'"
PASS = click.option(
    "--pass",
    "passes",
    multiple=True,
    metavar="'PLACE:NAME{OPTIONS}'",
    help="Run a pass at PLACE: at the end of a phase (0-3), of graph or legalize, or before=OTHER "
    "or after=OTHER. NAME is one that `irkit passes` lists, or module:function. Quote it. "
    "Repeatable.",
)
DISABLE = click.option(
    "--disable-pass",
    "disabled",
    multiple=True,
    metavar="NAME",
    help="Leave a pass out, wherever it stands. Repeatable.",
)
VERIFY = click.option(
    "--verify-each/--no-verify-each",
    default=True,
    help="Check the IR and every fact after each pass.  [default: verify]",
)


class WithPasses(click.Command):
    """A verb with ``--pass``; it knows what an unquoted one looks like."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = args = expand_bare_flags(args)
        try:
            return super().parse_args(ctx, list(args))
        except click.UsageError as error:
            split = any(_looks_split(text) for text in _values(given, "--pass"))
            if split or ("--pass" in given and "unexpected extra argument" in error.message):
                message = f"{error.message}\n  If it belongs to --pass: {QUOTE}\n  {_EXAMPLE}"
                raise click.UsageError(message, ctx) from None
            raise

    def invoke(self, ctx: click.Context) -> object:
        """Run the verb; where an order cannot hold, say which known passes would mend it."""
        try:
            return super().invoke(ctx)
        except MissingFact as error:
            if error.hint.startswith("No pass"):
                error.name_givers(installed_passes(), "; insert it before")
            raise


def add_current_directory() -> None:
    """Let ``module:function`` name a module in the current directory, as ``python -m`` does."""
    if "" not in sys.path:
        sys.path.insert(0, "")


def flow_of(
    passes: tuple[str, ...], disabled: tuple[str, ...] = (), flow: Flow | None = None
) -> Flow:
    """Make the pipelines that ``--pass`` and ``--disable-pass`` ask for.

    Raises: ParseError that points at the column; IRKitError for a name or place that does not
    exist, or an order that cannot hold.
    """
    for text in passes:
        _check_placed(text)
    if any(re.search(r":.*:", text) for text in passes):
        add_current_directory()
    made = (flow or Flow()).without(disabled)
    return made.with_placed(passes, installed_passes()) if passes else made


def _check_placed(text: str) -> None:
    try:
        parse_placed(text)
    except ParseError as error:
        hint = error.hint
        if _looks_split(text):
            hint += f"\n  It looks as if a shell has split it: {QUOTE}"
            hint += f"\n  {_EXAMPLE}"
        message = f"in --pass {text!r}: {error.message}"
        raise ParseError(message, hint=hint, span=error.span) from None


def _values(args: list[str], option: str) -> list[str]:
    following = [after for word, after in pairwise(args) if word == option]
    start = f"{option}="
    return following + [word.removeprefix(start) for word in args if word.startswith(start)]


def _looks_split(text: str) -> bool:
    """See what is left of ``1:p{a=1,b=2}`` when a shell expands the braces to ``1:pa=1 1:pb=2``, or
    splits the text at a space."""
    return text.count("{") != text.count("}") or ("=" in text and "{" not in text)
