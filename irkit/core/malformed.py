"""Find nodes whose fields hold what they cannot: None for an operand, a list for a tuple.

Python takes anything for a field, and all that walks IR relies on the annotations. So a verifier
asks this first: where nothing is found, its own rules cannot stumble.
"""

import re
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, cast, get_type_hints

import msgspec

from irkit.core.annotations import checks
from irkit.core.module import Problem
from irkit.core.node import Node, fields

MOST = 100
_MODULE = re.compile(r"\b[a-z_]\w*\.(?=\w)")
_Values = tuple[Any, ...]
_PLAIN = frozenset({"str", "int", "bool", "float", "Span | None"})


def malformed(
    root: Node, valid: Mapping[type[Any], Callable[[Any], bool]], *, most: int = MOST
) -> list[Problem]:
    """List the fields below a node, also inside the symbols it introduces or uses, that hold
    something else than their annotation says; each object once, ``most`` problems at most.

    ``valid`` has a test for each class of values that is no node and has fields of its own.
    """
    problems: list[Problem] = []
    stack: list[Node] = [root]
    seen = {id(root)}
    mark, push, forms = seen.add, stack.append, _FORMS
    while stack and len(problems) < most:
        node = stack.pop()
        form = forms[node.__class__]
        values = form.values(node)
        if tuple(map(type, values)) not in form.known or (
            form.tuples and not form.knows_items(values)
        ):
            found = form.problem(values)
            if found:
                problems.append(Problem(found, node))
                continue
        for at in form.several:
            for item in values[at] or ():
                if id(item) not in seen:
                    mark(id(item))
                    push(item)
        for at in form.single:
            value = values[at]
            if id(value) not in seen and value is not None:
                mark(id(value))
                push(value)
        for at in form.data:
            value = values[at]
            if id(value) not in seen:
                mark(id(value))
                if value.__class__ in valid and not valid[value.__class__](value):
                    problems.append(Problem(f"{form.name} holds {_shown(value)}", node))
    return problems


class _Form:
    """What the fields of one class may hold. Which classes of values have passed is remembered, so
    that a node costs a look-up or two."""

    def __init__(self, cls: type[Node]) -> None:
        self.name = cls.__name__
        self.fields = checks(cls, loose=True)
        names = [name for name, _ in self.fields]
        # The class makes it two names at least, so that the getter always gives a tuple.
        self.values: Callable[[Node], _Values] = attrgetter(*names, "__class__")
        hints = [get_type_hints(cls)[name] for name in names]
        self.hints = [_MODULE.sub("", _text(hint)) for hint in hints]
        self.known: set[_Values] = set()
        self.tuples = tuple(at for at, text in enumerate(self.hints) if "tuple" in text)
        kinds = list(enumerate(fields(cls)))
        self.several = tuple(at for at, each in kinds if each.many and each.kind != "data")
        self.single = tuple(at for at, each in kinds if not each.many and each.kind != "data")
        # Values with fields of their own; where a line came from is only printed.
        self.data = tuple(
            at
            for at, each in kinds
            if each.kind == "data" and not each.many and self.hints[at] not in _PLAIN
        )
        # Of a tuple its class says nothing about what is in it.
        self.items: dict[int, set[type[Any]]] = {at: set() for at in self.tuples}

    def knows_items(self, values: _Values) -> bool:
        """Say whether what the tuples hold has passed before; the fields have."""
        for at in self.tuples:
            value = values[at]
            if value and not self.items[at].issuperset(map(type, value)):
                return False
        return True

    def problem(self, values: _Values) -> str:
        """Say what is wrong, or nothing."""
        for (name, holds), hint, value in zip(self.fields, self.hints, values, strict=False):
            if not holds(value):
                return f"field {name!r} of {self.name} holds {_shown(value)}; expected {hint}"
        self.known.add(tuple(map(type, values)))
        for at in self.tuples:
            # Tuples in a tuple are looked at each time.
            self.items[at].update(cls for cls in map(type, values[at] or ()) if cls is not tuple)
        return ""


class _Forms(dict[type[Node], _Form]):
    def __missing__(self, cls: type[Node]) -> _Form:
        made = self[cls] = _Form(cls)
        return made


_FORMS = _Forms()


def _text(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) and "[" not in str(hint) else str(hint)


def _shown(value: object) -> str:
    """Name the class of a value, and what is in a tuple."""
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
