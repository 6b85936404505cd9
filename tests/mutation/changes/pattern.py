"""Patterns of Python source, matched against a syntax tree: spacing, quotes, parentheses and
comments do not matter.

A pattern is an expression, one or more statements, or the head of a compound statement
(``if $x:``), which stands for the statement with whatever body it has. ``$name`` stands for any
expression, or for any name that is no expression, such as that of a parameter; the same one where
it is repeated. Text in backquotes is a part of a string.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from difflib import get_close_matches
from typing import Any, cast

import msgspec

from irkit.core import IRKitError

_ANY = "_any_"
_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
_IGNORED = ("ctx", "kind", "type_comment")
_Bound = dict[str, Any]


class Match(msgspec.Struct, frozen=True):
    """A place where a pattern matches: the nodes ``at`` to ``end`` of a list in a tree, or one node
    in a field of ``owner``; and what each ``$name`` stands for."""

    owner: Any
    field: str
    at: int | None
    end: int
    bound: _Bound
    node: ast.AST

    @property
    def line(self) -> int:
        """Return the line where it begins."""
        return getattr(self.node, "lineno", 1)

    def replace(self, made: Sequence[ast.AST]) -> None:
        """Replace it in its tree."""
        if self.at is None:
            (one,) = made
            setattr(self.owner, self.field, one)
            return
        nodes = getattr(self.owner, self.field)
        nodes[self.at : self.end] = made
        if not nodes:
            nodes.append(ast.Pass())


class Change:
    """A pattern and what replaces it. Raises: IRKitError if one of them is no Python."""

    def __init__(self, before: str, after: str) -> None:
        self.before = before
        self._texts = None
        if before[:1] == "`":
            self._texts = (before.strip("`"), after.strip("`"))
            return
        self._old, self._new = _parsed(before), _parsed(after)
        self._expression = all(
            len(each) == 1 and isinstance(each[0], ast.Expr) for each in (self._old, self._new)
        )
        unknown = _placeholders(after) - _placeholders(before)
        if unknown:
            raise IRKitError(f"${min(unknown)} is in {after!r} and not in {before!r}")

    def matches(self, nodes: Sequence[ast.AST]) -> list[Match]:
        """Return the places in some trees where the pattern matches."""
        if self._texts is not None:
            return [found for found in _strings(nodes) for _ in range(self._count(found.node))]
        if self._expression:
            (old,) = self._old
            assert isinstance(old, ast.Expr)
            return [
                msgspec.structs.replace(found, bound=bound)
                for found in _expressions(nodes)
                if _fits(old.value, found.node, bound := {})
            ]
        return list(_runs(nodes, self._old))

    def apply(self, found: Match) -> None:
        """Replace a match in its tree."""
        if self._texts is not None:
            made = ast.parse(ast.unparse(found.node).replace(*self._texts), mode="eval").body
            found.replace([made])
            return
        filled: list[Any] = [_Filled(found).visit(deepcopy(each)) for each in self._new]
        found.replace([each.value for each in filled] if self._expression else filled)

    def nearest(self, nodes: Sequence[ast.AST]) -> list[str]:
        """Return what in some trees is most like the pattern."""
        places = _expressions(nodes) if self._texts or self._expression else _statements(nodes)
        texts = sorted({_head(place.node) for place in places})
        return get_close_matches(self.before.replace("$", ""), texts, cutoff=0.5)

    def _count(self, node: ast.AST) -> int:
        assert self._texts is not None
        return ast.unparse(node).count(self._texts[0])


def _parsed(text: str) -> list[ast.stmt]:
    source = re.sub(r"\$(\w+)", rf"{_ANY}\1", text)
    is_head = source.endswith(":")
    try:
        found = ast.parse(f"{source} ..." if is_head else source).body
    except SyntaxError as error:
        raise IRKitError(f"{text!r} is no Python: {error.msg}") from None
    if is_head:
        setattr(found[0], "body", [])  # No parsed statement has an empty one.
    return found


def _placeholders(text: str) -> set[str]:
    return set(re.findall(r"\$(\w+)", text))


def _is_head(node: Any) -> bool:
    """Return True if a statement in a pattern has no body of its own."""
    return getattr(node, "body", None) == []


def _fits(pattern: Any, found: Any, bound: _Bound) -> bool:
    """Return True if a part of a pattern matches a part of a tree; add what placeholders are."""
    if isinstance(pattern, ast.Name) and pattern.id.startswith(_ANY):
        return isinstance(found, ast.expr) and _bind(pattern.id, found, bound)
    if isinstance(pattern, str) and pattern.startswith(_ANY):
        return isinstance(found, str) and _bind(pattern, ast.Name(found), bound)
    if type(pattern) is not type(found):
        return False
    if isinstance(pattern, list):
        patterns = cast(list[Any], pattern)
        return len(patterns) == len(found) and all(
            _fits(a, b, bound) for a, b in zip(patterns, found, strict=True)
        )
    if not isinstance(pattern, ast.AST):
        return pattern == found
    ignored = _BODIES if _is_head(pattern) else ()
    return all(
        _fits(value, getattr(found, name), bound)
        for name, value in ast.iter_fields(pattern)
        if name not in _IGNORED and name not in ignored
    )


def _bind(name: str, found: ast.expr, bound: _Bound) -> bool:
    known = bound.setdefault(name, found)
    return known is found or ast.unparse(known) == ast.unparse(found)


class _Filled(ast.NodeTransformer):
    """Fills a replacement with what the placeholders stand for, and bodies that are left out."""

    def __init__(self, found: Match) -> None:
        self.found = found

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.Name) and node.id.startswith(_ANY):
            return deepcopy(self.found.bound[node.id])
        if _is_head(node):
            for name in _BODIES:
                if hasattr(self.found.node, name):
                    setattr(node, name, getattr(self.found.node, name))
        for name, value in ast.iter_fields(node):
            if isinstance(value, str) and value.startswith(_ANY):
                setattr(node, name, self.found.bound[value].id)
        return self.generic_visit(node)


def _places(nodes: Sequence[ast.AST]) -> Iterator[Match]:
    """Yield every node in some trees with its place."""
    for owner in (inner for node in nodes for inner in ast.walk(node)):
        for field, value in ast.iter_fields(owner):
            if isinstance(value, ast.AST):
                yield Match(owner, field, None, 0, {}, value)
            elif isinstance(value, list):
                for at, each in enumerate(cast(list[Any], value)):
                    if isinstance(each, ast.AST):
                        yield Match(owner, field, at, at + 1, {}, each)


def _expressions(nodes: Sequence[ast.AST]) -> Iterator[Match]:
    return (found for found in _places(nodes) if isinstance(found.node, ast.expr))


def _statements(nodes: Sequence[ast.AST]) -> Iterator[Match]:
    return (found for found in _places(nodes) if isinstance(found.node, ast.stmt))


def _runs(nodes: Sequence[ast.AST], pattern: list[ast.stmt]) -> Iterator[Match]:
    """Yield the statements side by side that match."""
    for first in _statements(nodes):
        assert first.at is not None
        end = first.at + len(pattern)
        bound: _Bound = {}
        if _fits(pattern, getattr(first.owner, first.field)[first.at : end], bound):
            yield msgspec.structs.replace(first, end=end, bound=bound)


def _strings(nodes: Sequence[ast.AST]) -> Iterator[Match]:
    """Yield strings, but not the parts of one."""
    for found in _expressions(nodes):
        if isinstance(found.node, ast.JoinedStr) or (
            isinstance(found.node, ast.Constant)
            and isinstance(found.node.value, str)
            and not isinstance(found.owner, (ast.JoinedStr, ast.FormattedValue))
        ):
            yield found


def _head(node: ast.AST) -> str:
    return ast.unparse(node).split("\n", 1)[0]
