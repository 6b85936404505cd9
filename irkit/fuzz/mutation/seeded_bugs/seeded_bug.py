"""The description of a seeded bug, and how it gets into the source."""

import ast
from collections.abc import Iterator

import msgspec

from irkit.core import IRKitError


class SeededBug(msgspec.Struct, frozen=True):
    """A small change to a module of irkit, and who may be blamed for it.

    ``target`` is written ``module:definition``, and ``anchor`` is a part of the source of that
    module which occurs there once: in that definition, at its top level. ``guilty`` are the passes
    that may be named: the one that is changed, or those of the fixed programs that use what is
    changed; if no pass uses it, the tiers that may see it first. ``case`` is the program that shows
    it, or empty where no fixed one does.
    """

    name: str
    target: str
    anchor: str
    replacement: str
    guilty: tuple[str, ...]
    case: str

    @property
    def module(self) -> str:
        return self.target.split(":")[0]

    @property
    def definition(self) -> str:
        return self.target.split(":")[1]

    def seeded_in(self, source: str) -> str:
        """Return the source with the bug.

        Raises: IRKitError if the anchor is not there exactly once, or not in the definition.
        """
        count = source.count(self.anchor)
        if count != 1:
            raise IRKitError(
                f"seeded bug {self.name!r}: its anchor occurs {count} times in {self.module}, "
                f"expected once: {self.anchor!r}"
            )
        if not any(self.anchor in text for text in _texts_of(self.definition, source)):
            raise IRKitError(
                f"seeded bug {self.name!r}: its anchor is not in {self.target}: {self.anchor!r}"
            )
        return source.replace(self.anchor, self.replacement)

    def line_in(self, source: str) -> int:
        """Return the first line that the bug changes."""
        pairs = zip(self.anchor, self.replacement, strict=False)
        alike = next((at for at, (a, b) in enumerate(pairs) if a != b), len(self.replacement))
        return source[: source.index(self.anchor) + alike].count("\n") + 1


def _texts_of(name: str, source: str) -> Iterator[str]:
    """Return the lines of each definition of a name at the top level of source."""
    lines = source.splitlines(keepends=True)
    for stmt in ast.parse(source).body:
        before = list[ast.expr]()
        if isinstance(stmt, (ast.FunctionDef, ast.ClassDef)):
            names, before = {stmt.name}, stmt.decorator_list
        elif isinstance(stmt, (ast.Assign, ast.AnnAssign)):
            targets = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]
            names = {each.id for each in targets if isinstance(each, ast.Name)}
        else:
            continue
        if name in names:
            first = min(each.lineno for each in (stmt, *before))
            yield "".join(lines[first - 1 : stmt.end_lineno])
