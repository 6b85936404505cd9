"""What a pass is about, as far as its source tells: patterns, classes of nodes, loops, numbers."""

import inspect
import types
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, cast, get_args

import msgspec

from irkit.core import Node, Rule, Rules
from irkit.fuzz.generators.aimed.match_patterns import patterns_in
from irkit.graph import OPS, Either, GraphRule, OpPattern, Pattern
from irkit.ir import INTRINSICS, LOOP_KINDS, Binary, Compare, Expr, LoopKind, Stmt
from irkit.transform import AnyPass

MOST_FUNCTIONS = 300
MOST_NUMBERS = 60
LARGEST = 1 << 40
_ABSTRACT = (Expr, Binary, Compare)


class PassAim(msgspec.Struct, frozen=True, eq=False):
    """What programs for a pass should contain.

    ``rules`` are rules whose patterns are data, ``patterns`` those in ``match`` statements, in
    which holes stand for any expression. ``classes`` and ``statements`` are the classes of nodes
    that its source mentions, ``kinds`` and ``calls`` the kinds of loops and functions, ``numbers``
    its constants and options. ``graph_patterns`` are those of rules over graphs, ``operators`` the
    operators of graphs that the source mentions. A pass that is ``rounding`` computes floats in
    another way.
    """

    rules: tuple[Rule, ...] = ()
    patterns: tuple[Expr, ...] = ()
    classes: tuple[type[Expr], ...] = ()
    statements: tuple[type[Stmt], ...] = ()
    kinds: tuple[LoopKind, ...] = ()
    calls: tuple[str, ...] = ()
    numbers: tuple[int | float, ...] = ()
    rounding: bool = False
    graph_patterns: tuple[Pattern, ...] = ()
    operators: tuple[str, ...] = ()

    @property
    def has_expressions(self) -> bool:
        """True if the pass is about some class of expressions."""
        return bool(self.rules or self.patterns or self.classes)


def aim_of(p: AnyPass) -> PassAim:
    """Return what a pass is about, read from its code, and that of functions of its package that it
    names; nothing of it is run."""
    reader = _Reader(p)
    reader.read(inspect.unwrap(p.function))
    for option in (*p.options.values(), *(each.default for each in p.parameters)):
        reader.note(option)
    return PassAim(
        tuple(reader.rules),
        tuple(reader.patterns),
        tuple(reader.classes),
        tuple(reader.statements),
        tuple(reader.kinds),
        tuple(reader.calls),
        tuple(list(reader.numbers)[:MOST_NUMBERS]),
        p.changes_rounding,
        tuple(reader.graph_patterns),
        tuple(reader.operators),
    )


class _Reader:
    """Collects what a function mentions."""

    def __init__(self, p: AnyPass) -> None:
        module = p.function.__module__ or ""
        # A pass of irkit stands among all others: those are not about its programs.
        self.home = module if module.startswith("irkit.") else module.partition(".")[0]
        self.seen: set[int] = set()
        self.left = MOST_FUNCTIONS
        self.rules: dict[Rule, None] = {}
        self.patterns: list[Expr] = []
        self.classes: dict[type[Expr], None] = {}
        self.statements: dict[type[Stmt], None] = {}
        self.kinds: dict[LoopKind, None] = {}
        self.calls: dict[str, None] = {}
        self.numbers: dict[int | float, None] = {}
        self.graph_patterns: list[Pattern] = []
        self.operators: dict[str, None] = {}

    def read(self, function: Any) -> None:
        """Note what a function, and what is defined inside it, mentions."""
        function = getattr(function, "__func__", function)
        code = getattr(function, "__code__", None)
        if code is None or id(code) in self.seen or not self.left:
            return
        self.left -= 1
        self.patterns += patterns_in(function)
        known: dict[str, Any] = getattr(function, "__globals__", {})
        cells = zip(code.co_freevars, getattr(function, "__closure__", None) or (), strict=False)
        for _, cell in cells:
            with suppress(ValueError):  # Not filled yet.
                self.note(cell.cell_contents)
        for hint in getattr(function, "__annotations__", {}).values():
            named = known.get(hint) if isinstance(hint, str) else hint
            for each in (named, *get_args(named)):
                if isinstance(each, type):
                    self.note(each)
        self._read_code(code, known)
        for default in getattr(function, "__defaults__", None) or ():
            self.note(default)

    def _read_code(self, code: types.CodeType, known: dict[str, Any]) -> None:
        self.seen.add(id(code))
        for value in code.co_consts:
            if isinstance(value, types.CodeType):
                self._read_code(value, known)
                continue
            # Annotations may be text.
            parts = cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,)
            for each in parts:
                named = known.get(each) if isinstance(each, str) else None
                self.note(named if isinstance(named, type) else each)
        for name in code.co_names:
            if name in known:
                self.note(known[name])

    def note(self, value: Any) -> None:
        """Note a constant, or what a name stands for."""
        if isinstance(value, type):
            self._note_class(value)
        elif isinstance(value, Rules):
            for rule in value:
                self.note(rule)
        elif isinstance(value, Rule):
            self._note_rule(value)
        elif isinstance(value, GraphRule):
            self.graph_patterns.append(value.pattern)
            self.read(value.build)
        elif isinstance(value, (OpPattern, Either)):
            self.graph_patterns.append(value)
        elif isinstance(value, str):
            if value in LOOP_KINDS:
                self.kinds[value] = None
            elif value in INTRINSICS:
                self.calls[value] = None
            self.operators.update(dict.fromkeys(each for each in value.split() if each in OPS))
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            if abs(value) <= LARGEST:
                self.numbers[value] = None
        elif isinstance(value, (tuple, list, set, frozenset, dict)):
            self._note_all(cast(Iterable[Any], value))
        elif getattr(value, "__module__", "") == self.home or self._is_near(value):
            self.read(getattr(value, "function", value))

    def _note_all(self, values: Iterable[Any]) -> None:
        for number, each in enumerate(values):
            if number == MOST_NUMBERS:
                break
            if not isinstance(each, (tuple, list, dict, set)):
                self.note(each)

    def _is_near(self, value: Any) -> bool:
        module = getattr(value, "__module__", None) or ""
        return not self.home.startswith("irkit.") and module.partition(".")[0] == self.home

    def _note_class(self, cls: type[Any]) -> None:
        if issubclass(cls, Expr):
            if cls not in _ABSTRACT:
                self.classes[cls] = None
        elif issubclass(cls, Stmt):
            self.statements[cls] = None
        elif not issubclass(cls, Node) and (cls.__module__ == self.home or self._is_near(cls)):
            for each in vars(cls).values():  # A rewriter's methods, or a visitor's.
                if callable(each):
                    self.read(each)

    def _note_rule(self, rule: Rule) -> None:
        if rule in self.rules:
            return
        if isinstance(rule.pattern, Expr):
            self.rules[rule] = None
            return
        for cls in rule.on:
            self._note_class(cls)
        apply: Any = rule.apply
        if isinstance(apply, Rules):
            self.note(apply)
        else:
            self.read(apply)
