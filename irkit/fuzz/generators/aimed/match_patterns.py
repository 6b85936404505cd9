"""Patterns of expressions in the ``match`` statements of a rule, read from its source."""

import ast
import inspect
import textwrap
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from irkit.core import fields
from irkit.ir import (
    ANY,
    ANY_FLOAT,
    ANY_INTEGER,
    BOOL,
    LT,
    Add,
    And,
    Binary,
    BitAnd,
    BitOr,
    BitXor,
    Broadcast,
    Call,
    Compare,
    Const,
    Div,
    DType,
    Expr,
    Hole,
    Load,
    Not,
    Or,
    Ramp,
    Shl,
    Shr,
    hole,
)

_OF_BOOLS = (And, Or, Not, Compare)
_FIRST_OF: dict[type[Expr], type[Expr]] = {Compare: LT, Binary: Add}
"""For a class of several operations, one of them."""
_OF_LANES = (Ramp, Broadcast)
"""Made for vectors only: here all values are scalars."""
_OF_INTEGERS = (BitAnd, BitOr, BitXor, Shl, Shr)
_ANYTHING = (Const, Load, Hole)


class _Unreadable(Exception):
    """A pattern that stands for no expression."""


def patterns_in(function: Any) -> list[Expr]:
    """Return the class patterns of a function as expressions with holes, as far as they are
    patterns of operations."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return []
    names = {**getattr(function, "__globals__", {}), **_closure_of(function)}
    found: list[Expr] = []
    for case in ast.walk(tree):
        if isinstance(case, ast.match_case):
            for each in _alternatives(case.pattern):
                with suppress(_Unreadable):
                    found.append(_Reader(names, each).read())
    return found


def _closure_of(function: Any) -> dict[str, Any]:
    with suppress(TypeError, ValueError):
        return dict(inspect.getclosurevars(function).nonlocals)
    return {}


def _alternatives(pattern: ast.pattern) -> list[ast.pattern]:
    found: list[ast.pattern] = []
    left = [pattern]
    while left:
        first = left.pop()
        if isinstance(first, ast.MatchOr):
            left += reversed(first.patterns)
        elif isinstance(first, ast.MatchAs) and first.pattern is not None:
            left.append(first.pattern)
        else:
            found.append(first)
    return found


class _Reader:
    """Reads one pattern; holes get the names of its captures."""

    def __init__(self, names: Mapping[str, Any], pattern: ast.pattern) -> None:
        self.names, self.pattern = names, pattern
        self.count = 0
        kind = ANY
        for node in ast.walk(pattern):
            if isinstance(node, ast.MatchClass):
                cls = self._class(node)
                kind = ANY_FLOAT if cls is Div else ANY_INTEGER if cls in _OF_INTEGERS else kind
            elif isinstance(node, ast.Constant) and isinstance(node.value, float):
                kind = ANY_FLOAT
        self.kind = kind

    def read(self) -> Expr:
        """Return the pattern as an expression. Raises: _Unreadable."""
        made = self._expr(self.pattern, self.kind)
        if isinstance(made, _ANYTHING):
            raise _Unreadable
        return made

    def _class(self, node: ast.MatchClass) -> type[Any] | None:
        cls: Any = node.cls
        with suppress(Exception):  # The name can stand for anything, or for nothing yet.
            cls = eval(compile(ast.Expression(cls), "<pattern>", "eval"), dict(self.names))
        return cls if isinstance(cls, type) else None

    def _hole(self, dtype: DType, on: type[Expr] = Expr) -> Expr:
        self.count += 1
        return hole(f"part{self.count}", dtype, on=on)

    def _expr(self, pattern: ast.pattern, dtype: DType) -> Expr:
        pattern = _alternatives(pattern)[0]
        if not isinstance(pattern, ast.MatchClass):
            return self._hole(dtype)
        found = self._class(pattern)
        if found is None or not issubclass(found, Expr) or found in _OF_LANES:
            raise _Unreadable
        cls: type[Expr] = _FIRST_OF.get(found, found)
        given = _given(cls, pattern)
        if cls is Const:
            value = given.get("value")
            if isinstance(value, ast.MatchValue):
                return Const(ast.literal_eval(value.value), dtype)
            return self._hole(dtype, Const)
        if cls is Load or not any(field.kind == "child" for field in fields(cls)):
            return self._hole(dtype, cls)
        return self._operation(cls, given, dtype)

    def _operation(self, cls: type[Expr], given: dict[str, ast.pattern], dtype: DType) -> Expr:
        values: dict[str, Any] = {"dtype": BOOL if issubclass(cls, _OF_BOOLS) else dtype}
        operands = dtype if dtype != BOOL else self.kind
        if issubclass(cls, (And, Or)) or (issubclass(cls, Not) and dtype == BOOL):
            operands = BOOL
        for field in fields(cls):
            pattern = given.get(field.name)
            if field.name == "dtype":
                continue
            if field.kind == "child":
                wanted = BOOL if field.name == "cond" else operands
                values[field.name] = self._held(cls, pattern, wanted)
            elif isinstance(pattern, ast.MatchValue):
                values[field.name] = ast.literal_eval(pattern.value)
            else:
                raise _Unreadable
        return cls(**values)

    def _held(self, cls: type[Expr], pattern: ast.pattern | None, dtype: DType) -> Any:
        if pattern is None:
            return self._hole(dtype)
        pattern = _alternatives(pattern)[0]
        if isinstance(pattern, ast.MatchSequence):
            return tuple([self._expr(each, dtype) for each in pattern.patterns])
        if issubclass(cls, Call):
            raise _Unreadable  # It does not say how many operands there are.
        return self._expr(pattern, dtype)


def _given(cls: type[Expr], pattern: ast.MatchClass) -> dict[str, ast.pattern]:
    """Return the patterns of the fields of a node, by name."""
    names = [field.name for field in fields(cls)]
    placed = dict(zip(names, pattern.patterns, strict=False))
    return {**placed, **dict(zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True))}
