"""Seeded bugs: small changes to irkit that the checks and the fuzzer must find, and who may be
blamed for each.

They are kept by family in `tests/mutation/bugs`. A line ``module NAME`` or ``guilty NAMES`` is for
all bugs below it, up to the next one. A bug is a line ``name | definition | program`` with a
pattern after ``-`` and its replacement after ``+`` (see `pattern`); each may have several lines.
"""

import ast
from collections.abc import Iterator

import msgspec

from irkit.core import IRKitError
from tests.mutation.changes.pattern import Change, Match
from tests.mutation.changes.source import definitions_in, modules_that_define, source_of


class SeededBug(msgspec.Struct, frozen=True):
    """A small change to a definition of irkit, and who may be blamed for it.

    ``before`` is a pattern that matches in one place of the definition, and ``after`` replaces it.
    ``guilty`` are the passes that may be named: the one that is changed, or those of the fixed
    programs that use what is changed; if no pass uses it, the tiers that may see it first. ``case``
    is the program that shows it, or empty where no fixed one does.
    """

    name: str
    module: str
    definition: str
    before: str
    after: str
    guilty: tuple[str, ...] = ()
    case: str = ""

    @property
    def source(self) -> str:
        """Return the source of the module with the bug.

        Raises: IRKitError if the pattern does not match in one place of the definition.
        """
        tree, change, found = self._found()
        change.apply(found)
        return ast.unparse(ast.fix_missing_locations(tree))

    @property
    def line(self) -> int:
        """Return the line where the change begins. Raises: IRKitError as ``source`` does."""
        return self._found()[2].line

    def _found(self) -> tuple[ast.Module, Change, Match]:
        tree = self._tree()
        nodes = definitions_in(tree, self.definition)
        if not nodes:
            raise self._error(f"{self.module} does not define {self.definition}", self._places())
        try:
            change = Change(self.before, self.after)
        except IRKitError as error:
            raise self._error(error.message, "") from None
        found = change.matches(nodes)
        if len(found) == 1:
            return tree, change, found[0]
        lines = ", ".join(str(match.line) for match in found)
        nearest = "; ".join(change.nearest(nodes))
        hint = f"In lines {lines}." if found else nearest and f"Most like it: {nearest}"
        where = f"{self.module}:{self.definition}"
        what = f"{self.before!r} is in {len(found)} places of {where}, expected 1"
        raise self._error(what, hint)

    def _tree(self) -> ast.Module:
        try:
            return ast.parse(source_of(self.module))
        except IRKitError as error:
            raise self._error(error.message, self._places() or error.hint) from None

    def _places(self) -> str:
        """Return a sentence on where the definition is now."""
        found = modules_that_define(self.definition)
        return f"It is defined in {' and '.join(found)}." if found else ""

    def _error(self, message: str, hint: str) -> IRKitError:
        return IRKitError(f"seeded bug {self.name!r}: {message}", hint=hint)


def read_bugs(text: str) -> Iterator[SeededBug]:
    """Read the bugs of a family. Raises: IRKitError if a line is not as it should be."""
    module, guilty = "", ()
    _, *parts = text.strip().split("\n\n")  # The first says what they are.
    for part in parts:
        head, *rest = part.split("\n")
        if head.startswith(("module ", "guilty ")):
            for line in (head, *rest):
                kind, _, value = line.partition(" ")
                if kind == "module":
                    module = value
                else:
                    guilty = tuple(value.split(", "))
            continue
        name, definition, *case = head.split(" | ")
        before = "\n".join(line[2:] for line in rest if line.startswith("-"))
        after = "\n".join(line[2:] for line in rest if line.startswith("+"))
        yield SeededBug(name, module, definition, before, after, guilty, "".join(case))
