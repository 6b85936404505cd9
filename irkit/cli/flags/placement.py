"""Options that place passes: ``--pass`` and ``--disable-pass``."""

import re
from collections.abc import Iterable
from itertools import pairwise

import click
import msgspec

from irkit.cli.flags.files import add_current_directory
from irkit.cli.flags.print_flags import expand_bare_flags
from irkit.core import ParseError
from irkit.passes import installed_passes
from irkit.phases import Flow
from irkit.transform import MissingFact, parse_placed

QUOTE = "put quotes around it: a shell interprets braces and spaces."
_EXAMPLE = "For example: --pass '1:my_package.my_module:my_pass{lanes=8,tail=true}'"
PASS = click.option(
    "--pass",
    "passes",
    multiple=True,
    metavar="'PLACE:NAME{OPTIONS}'",
    help="Run a pass at PLACE: at the end of a phase (0-3), of graph or legalize, or before=OTHER "
    "or after=OTHER; where OTHER runs in several phases, PHASE/before=OTHER. NAME is one that "
    "`irkit passes` lists, or module:function. Quote it. Repeatable.",
)
DISABLE = click.option(
    "--disable-pass",
    "disabled",
    multiple=True,
    metavar="NAME",
    help="Leave a pass out wherever it runs. Repeatable.",
)
VERIFY = click.option(
    "--verify-each/--no-verify-each",
    default=True,
    help="Check the IR and every fact after each pass.  [default: verify]",
)


class PassFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Values of ``--pass``, ``--disable-pass`` and ``--verify-each``."""

    passes: tuple[str, ...] = ()
    disabled: tuple[str, ...] = ()
    verify_each: bool = True

    def flow(self, flow: Flow | None = None) -> Flow:
        """Return the default pipelines, or those of ``flow``, as the options change them.

        Raises: ParseError that points at the column; IRKitError for a name or place that does not
        exist, or an order that cannot hold.
        """
        return flow_of(self.passes, self.disabled, flow)


class WithPasses(click.Command):
    """A verb with ``--pass``, which explains a value that the shell has split."""

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
        """Run the verb; if a fact is missing, name the known passes that give it."""
        try:
            return super().invoke(ctx)
        except MissingFact as error:
            if error.hint.startswith("No pass"):
                error.name_givers(installed_passes(), "; insert it before")
            raise


def add_current_directory_for(texts: Iterable[str]) -> None:
    """Add the current directory if a text with phases or places names a pass by its module."""
    if any(re.search(r":[^;]*:", text) for text in texts):
        add_current_directory()


def flow_of(
    passes: tuple[str, ...], disabled: tuple[str, ...] = (), flow: Flow | None = None
) -> Flow:
    """Return the pipelines that ``--pass`` and ``--disable-pass`` ask for.

    Raises: ParseError that points at the column; IRKitError for a name or place that does not
    exist, or an order that cannot hold.
    """
    for text in passes:
        _check_placed(text)
    add_current_directory_for(passes)
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
    """Return True for a part of ``1:p{a=1,b=2}`` after a shell has expanded the braces to
    ``1:pa=1 1:pb=2``, or has split the text at a space."""
    return text.count("{") != text.count("}") or ("=" in text and "{" not in text)
