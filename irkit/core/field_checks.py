"""Check struct fields against their annotations: files and passes can put anything into them."""

import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from inspect import signature
from operator import attrgetter
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin, get_type_hints

import msgspec

from irkit.core.module import Problem
from irkit.core.node import AttrValue, Node, fields
from irkit.core.text.excerpt import MAX_PROBLEMS

Check = Callable[[Any], bool]
_MOST_KNOWN = 10_000
"""Combinations of classes that a checker remembers: files choose them."""


@cache
def field_predicates(cls: type[Any], *, loose: bool = False) -> tuple[tuple[str, Check], ...]:
    """Return a predicate for each field of a struct class, in order of declaration.

    With ``loose``, literals and attributes are checked by class only, because the verifier of the
    level reports wrong values in better words, and annotations of an unknown form accept anything.
    """
    hints = get_type_hints(cls)
    return tuple((name, _check(hints[name], loose)) for name in cls.__struct_fields__)


class FieldChecker:
    """Field checks of one class, for files: what passed before is known by its classes.

    Most fields are decided by the class of their value and tuples by those of their items, so a
    right struct costs one or two lookups; what depends on the value itself is checked each time.
    """

    def __init__(self, cls: type[Any]) -> None:
        self.cls = cls
        self.names: tuple[str, ...] = cls.__struct_fields__
        self.make: Callable[..., Any] = cls
        """Makes a struct from the values of its fields, in order."""
        if any(each.kind is each.KEYWORD_ONLY for each in signature(cls).parameters.values()):
            self.make = lambda *values: cls(**dict(zip(self.names, values, strict=True)))
        self._predicates = field_predicates(cls)
        hints = get_type_hints(cls)
        decided = [_decided_by(hints[name]) for name in self.names]
        self._items = [(at, set[type[Any]]()) for at, by in enumerate(decided) if by == "items"]
        self._by_value = [
            (at, self._predicates[at][1]) for at, by in enumerate(decided) if by == "value"
        ]
        self._by_class = not self._items and not self._by_value
        self._known: set[tuple[type[Any], ...]] = set()

    def wrong(self, values: Sequence[Any]) -> int | None:
        """Return which of the values, one for each field, does not fit its annotation, or None."""
        classes = tuple(map(type, values))
        if classes in self._known and (self._by_class or self._passed_before(values)):
            return None
        for at, (_, check) in enumerate(self._predicates):
            if not check(values[at]):
                return at
        if len(self._known) < _MOST_KNOWN:
            self._known.add(classes)
            for at, seen in self._items:
                seen.update(map(type, values[at] or ()))
        return None

    def _passed_before(self, values: Sequence[Any]) -> bool:
        for at, seen in self._items:
            value = values[at]
            if value and not seen.issuperset(map(type, value)):
                return False
        return not self._by_value or all(check(values[at]) for at, check in self._by_value)


@cache
def field_checker(cls: type[Any]) -> FieldChecker:
    """Return the checker of a struct class."""
    return FieldChecker(cls)


_Decider = Literal["class", "items", "value"]


def _decided_by(hint: Any) -> _Decider:
    """Return what decides whether a value fits: its class, those of its items too, or more."""
    origin = get_origin(hint)
    if origin is Annotated:
        return _decided_by(get_args(hint)[0])
    if origin in (Union, types.UnionType):
        kinds = [_decided_by(each) for each in get_args(hint)]
        if kinds.count("value") + kinds.count("items") > 1 or "value" in kinds:
            return "value"
        if "items" in kinds:
            return "items"
        return "class"
    if origin is tuple:
        items = get_args(hint)
        alike = len(items) == 2 and items[1] is Ellipsis and _decided_by(items[0]) == "class"
        if alike:
            return "items"
        return "value"
    if origin is Literal:
        return "value"
    return "class"


def _check(hint: Any, loose: bool) -> Check:
    origin = get_origin(hint)
    if hint is Any or (loose and hint == AttrValue):
        return lambda value: True
    if hint is None or hint is type(None):
        return lambda value: value is None
    if origin is Annotated:
        return _check(get_args(hint)[0], loose)
    if origin is Literal:
        classes = {each.__class__ for each in get_args(hint)}
        return (lambda value: value.__class__ in classes) if loose else _literal(get_args(hint))
    if origin in (Union, types.UnionType):
        return _any_of([_check(option, loose) for option in get_args(hint)])
    if origin is tuple:
        return _tuple(get_args(hint), loose)
    if loose and not isinstance(hint, type):
        return lambda value: True
    assert isinstance(hint, type), f"fields of a node cannot be annotated {hint!r}"
    if hint in (bool, int, float, str, bytes):
        return lambda value: value.__class__ is hint  # A bool is not an int here.
    return lambda value: isinstance(value, hint)


def _literal(allowed: tuple[Any, ...]) -> Check:
    known = frozenset((each.__class__, each) for each in allowed)
    classes = frozenset(each.__class__ for each in allowed)
    return lambda value: value.__class__ in classes and (value.__class__, value) in known


def _any_of(options: list[Check]) -> Check:
    return lambda value: any(option(value) for option in options)


def _tuple(items: tuple[Any, ...], loose: bool) -> Check:
    if len(items) == 2 and items[1] is Ellipsis:
        each = _check(items[0], loose)
        return lambda value: isinstance(value, tuple) and all(map(each, value))  # pyright: ignore[reportUnknownArgumentType] -- the items are what is checked
    inner = [_check(item, loose) for item in items]

    def holds(value: Any) -> bool:
        return (
            isinstance(value, tuple)
            and len(value) == len(inner)  # pyright: ignore[reportUnknownArgumentType] -- as above
            and all(check(item) for check, item in zip(inner, value, strict=True))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] -- as above
        )

    return holds


def structs_within(cls: type[Any]) -> set[type[msgspec.Struct]]:
    """Return the struct classes mentioned in the annotations of a struct class."""
    return {
        leaf
        for hint in get_type_hints(cls).values()
        for leaf in _leaves(hint)
        if isinstance(leaf, type) and issubclass(leaf, msgspec.Struct)
    }


def _leaves(hint: Any) -> Iterator[Any]:
    inner = get_args(hint) if get_origin(hint) is not Literal else ()
    if not inner:
        yield hint
    for each in inner:
        yield from _leaves(each)


_MODULE = re.compile(r"\b[a-z_]\w*\.(?=\w)")
_Values = tuple[Any, ...]
_PLAIN = frozenset({"str", "int", "bool", "float", "Span | None"})


def field_problem(node: Node) -> str:
    """Return what is wrong with the fields of one node, or an empty string; data with fields of its
    own is checked by its class only."""
    checker = _CHECKERS[node.__class__]
    values = checker.values(node)
    return "" if checker.passes(values) else checker.problem(values)


def check_fields(
    root: Node,
    valid: Mapping[type[Any], Callable[[Any], bool]],
    *,
    limit: int = MAX_PROBLEMS,
    known: Iterable[int] = (),
    expressions: bool = True,
) -> list[Problem]:
    """List the fields below a node that do not hold what their annotation requires.

    Symbols introduced or used below the node are checked too. Each object is checked once, and at
    most ``limit`` problems are listed. ``valid`` maps classes of data with fields of their own to a
    predicate. Nodes whose ``id`` is in ``known`` were checked before, with all below them. Without
    ``expressions``, those that are no symbols are left to the caller.
    """
    problems: list[Problem] = []
    stack: list[Node] = [root]
    seen = {id(root), *known}
    mark, push, checkers = seen.add, stack.append, _CHECKERS
    while stack and len(problems) < limit:
        node = stack.pop()
        checker = checkers[node.__class__]
        values = checker.values(node)
        if not checker.passes(values):
            found = checker.problem(values)
            if found:
                problems.append(Problem(found, node))
                continue
        for at in checker.several:
            for item in values[at] or ():
                if id(item) not in seen and (expressions or not item.expression or item.symbol):
                    mark(id(item))
                    push(item)
        for at in checker.single:
            value = values[at]
            if id(value) in seen or value is None:
                continue
            if expressions or not value.expression or value.symbol:
                mark(id(value))
                push(value)
        for at in checker.data:
            value = values[at]
            if id(value) not in seen:
                mark(id(value))
                if value.__class__ in valid and not valid[value.__class__](value):
                    problems.append(Problem(f"{checker.name} holds {_shown(value)}", node))
    return problems


class _NodeChecker:
    """Field checks of one node class.

    Combinations of classes that passed are cached, so a valid node costs one or two lookups.
    """

    def __init__(self, cls: type[Node]) -> None:
        self.name = cls.__name__
        self.fields = field_predicates(cls, loose=True)
        names = [name for name, _ in self.fields]
        # The second name makes attrgetter return a tuple even for a class of one field.
        self.values: Callable[[Node], _Values] = attrgetter(*names, "__class__")
        hints = [get_type_hints(cls)[name] for name in names]
        self.hints = [_MODULE.sub("", _text(hint)) for hint in hints]
        self.known: set[_Values] = set()
        self.tuples = tuple(at for at, text in enumerate(self.hints) if "tuple" in text)
        kinds = list(enumerate(fields(cls)))
        self.several = tuple(at for at, each in kinds if each.many and each.kind != "data")
        self.single = tuple(at for at, each in kinds if not each.many and each.kind != "data")
        # Data with fields of its own. Spans are only printed, so they are not checked.
        self.data = tuple(
            at
            for at, each in kinds
            if each.kind == "data" and not each.many and self.hints[at] not in _PLAIN
        )
        # The class of a tuple tells nothing about its items.
        self.items: dict[int, set[type[Any]]] = {at: set() for at in self.tuples}

    def passes(self, values: _Values) -> bool:
        """Return True if values, and the items of tuples, are of classes that passed before."""
        if tuple(map(type, values)) not in self.known:
            return False
        for at in self.tuples:
            value = values[at]
            if value and not self.items[at].issuperset(map(type, value)):
                return False
        return True

    def problem(self, values: _Values) -> str:
        """Return what is wrong with the field values, or an empty string."""
        for (name, holds), hint, value in zip(self.fields, self.hints, values, strict=False):
            if not holds(value):
                remedy = _INSTEAD_OF_BOOL if "Expr" in hint and _has_bool(value) else ""
                return (
                    f"field {name!r} of {self.name} holds {_shown(value)}; expected {hint}{remedy}"
                )
        self.known.add(tuple(map(type, values)))
        for at in self.tuples:
            # Nested tuples are checked each time.
            self.items[at].update(cls for cls in map(type, values[at] or ()) if cls is not tuple)
        return ""


_INSTEAD_OF_BOOL = ". To compare expressions write eq(a, b), not a == b; a flag is const(True)"


def _has_bool(value: object) -> bool:
    items = cast(_Values, value) if isinstance(value, tuple) else (value,)
    return any(type(item).__name__ in ("bool", "bool_") for item in items)  # Python's or NumPy's.


class _NodeCheckers(dict[type[Node], _NodeChecker]):
    def __missing__(self, cls: type[Node]) -> _NodeChecker:
        made = self[cls] = _NodeChecker(cls)
        return made


_CHECKERS = _NodeCheckers()


def _text(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) and "[" not in str(hint) else str(hint)


def _shown(value: object) -> str:
    """Describe a value by its class, and a tuple by its items."""
    if value is None:
        return "None"
    if isinstance(value, tuple):
        items = cast(_Values, value)
        inside = ", ".join(_class(item) for item in items[:4])
        return f"a tuple of {inside}{', ...' if len(items) > 4 else ''}" if items else "()"
    if isinstance(value, msgspec.Struct) and not isinstance(value, Node):
        fields = [getattr(value, name) for name in value.__struct_fields__]
        return f"{_class(value)}({', '.join(str(each)[:20] for each in fields)})"
    return f"a {_class(value)}"


def _class(value: object) -> str:
    return "None" if value is None else type(value).__name__
