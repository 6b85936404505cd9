"""The base class of all IR nodes, and the table of what the fields of each class contain.

A field of a node is one of four kinds, read once from its annotation:

- ``child``: a node, an optional node, or a tuple of nodes. Traversal enters it, except below a
  symbol: the shape of a buffer or the type of a value is visited where the symbol is introduced.
  ``PARTS`` reads it.
- ``binder`` (``Binds[...]``): the variables and buffers introduced here. Traversal skips it.
- ``use`` (``Uses[...]``): a symbol introduced elsewhere that is not an expression, such as the
  buffer of a load. Traversal skips it; substitution replaces it.
- ``data``: everything else.
"""

import sys
import types
from collections.abc import Callable, Iterable
from functools import cache
from operator import attrgetter
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    Self,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

FieldKind = Literal["child", "binder", "use", "data"]

_T = TypeVar("_T")
_BINDS = "irkit.binds"
_USES = "irkit.uses"
Binds = Annotated[_T, _BINDS]
Uses = Annotated[_T, _USES]

# The value of an attribute: data that can be printed, parsed and written to a file.
AttrScalar = str | int | float | bool | None
AttrValue = AttrScalar | tuple[AttrScalar, ...] | tuple[tuple[AttrScalar, ...], ...]
Attrs = tuple[tuple[str, AttrValue], ...]


COLLECTED = sys.version_info >= (3, 14)
"""Whether expressions are to be garbage collected. None is part of a cycle, so nothing gains by it,
and before Python 3.14 building a node takes up to three times as long (3.14: 10 % longer). But from
3.14 on the interpreter frees nested objects by recursion in C, and ends that recursion only at
objects that can be collected: an expression 100,000 deep would overflow the stack. Only leaves,
which end a recursion, may set ``gc`` to False."""


class Node(msgspec.Struct, frozen=True):
    """Base class of IR nodes: frozen, positional, usable in ``match``.

    ``symbol`` marks classes with identity (variables, buffers): a symbol is bound once and compared
    with ``is``. ``expression`` marks those that may be shared without end: everything that walks
    them visits each once, so they are never written out.
    """

    symbol: ClassVar[bool] = False
    expression: ClassVar[bool] = False
    _nothing: ClassVar[tuple["Node", ...]] = ()  # The children of a leaf, read by one C call.

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed, or this object if none differs by identity."""
        if all(getattr(self, name) is value for name, value in changes.items()):
            return self
        return msgspec.structs.replace(self, **changes)

    def __repr__(self) -> str:
        """Return the class and its plain data; child nodes are only named, as IR can be deep."""
        shown = [_shallow(getattr(self, name)) for name in self.__struct_fields__]
        return f"{type(self).__name__}({', '.join(shown)})"

    def copied(self) -> "Node":
        """Return another node with the same fields; a copied symbol has a new identity."""
        return msgspec.structs.replace(self)

    def rebuilt(self) -> "Node":
        """Return the normal form after children were replaced, such as a flattened sequence."""
        return self


def _shallow(value: Any) -> str:
    if isinstance(value, Node):
        name = getattr(value, "name", None)
        return f"<{type(value).__name__}{f' {name}' if name is not None else ''}>"
    if isinstance(value, tuple):
        items = cast(tuple[Any, ...], value)
        return (
            "("
            + ", ".join([_shallow(item) for item in items[:8]])
            + (", ...)" if len(items) > 8 else ")")
        )
    return str(value) if isinstance(value, msgspec.Struct) else repr(value)


class Field(msgspec.Struct, frozen=True):
    """Description of one field: its name, kind, and whether it holds a tuple, None, and expressions
    only."""

    name: str
    kind: FieldKind
    many: bool
    optional: bool
    expressions: bool = False


@cache
def fields(cls: type[Node]) -> tuple[Field, ...]:
    """Return the fields of a node class in order of declaration, read from its annotations."""
    hints = get_type_hints(cls, include_extras=True)
    return tuple(_field(name, hints[name]) for name in cls.__struct_fields__)


def _field(name: str, hint: Any) -> Field:
    kind: FieldKind = "data"
    if get_origin(hint) is Annotated:
        marks = get_args(hint)[1:]
        kind = "binder" if _BINDS in marks else "use" if _USES in marks else "data"
        hint = get_args(hint)[0]
    options = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    optional = type(None) in options
    many = any(get_origin(option) is tuple for option in options)
    held = [inner for option in options for inner in _held(option)]
    nodes = [isinstance(inner, type) and issubclass(inner, Node) for inner in held]
    assert all(nodes) or not any(nodes), f"field {name!r} mixes nodes and data"
    if kind == "data" and nodes and all(nodes):
        kind = "child"
    return Field(name, kind, many, optional, all(nodes) and all(inner.expression for inner in held))


def _held(option: Any) -> Iterable[Any]:
    if option is type(None):
        return ()
    if get_origin(option) is tuple:
        inner = [arg for arg in get_args(option) if arg is not Ellipsis]
        return [
            leaf
            for arg in inner
            for leaf in (get_args(arg) if get_origin(arg) in (Union, types.UnionType) else (arg,))
        ]
    return (option,)


READS_NOTHING = cast(Callable[[Any], tuple[Node, ...]], attrgetter("_nothing"))
"""The reader of a class without fields of a kind."""


def _reader(chosen: list[Field]) -> Callable[[Any], tuple[Node, ...]]:
    """Return a fast function that lists the nodes in some fields."""
    names = [field.name for field in chosen]
    if not chosen:
        return READS_NOTHING
    if all(not field.many and not field.optional for field in chosen):
        if len(names) > 1:
            return cast(Callable[[Any], tuple[Node, ...]], attrgetter(*names))
        only = attrgetter(names[0])
        return lambda node: (only(node),)
    if len(chosen) == 1 and not chosen[0].optional:
        return attrgetter(names[0])
    plain = [not field.many and not field.optional for field in chosen]
    odd, last = chosen[plain.index(False)], chosen[-1]
    if odd.many and not odd.optional and not last.many and sum(plain[:-1]) == len(chosen) - 2:
        return _reader_of_access(chosen)

    # The second name makes attrgetter return a tuple even for a class of one field.
    held = attrgetter(*names, "__class__")

    def read(node: Any) -> tuple[Node, ...]:
        found: list[Node] = []
        for value in held(node)[:-1]:
            if value.__class__ is tuple:
                found += value
            elif value is not None:
                found.append(value)
        return tuple(found)

    return read


def _reader_of_access(chosen: list[Field]) -> Callable[[Any], tuple[Node, ...]]:
    """Return a function that lists single nodes, those of one tuple, and a last one, which may be
    None: what loads and stores hold, of which there are many."""
    *inner, last = chosen
    at = next(place for place, field in enumerate(inner) if field.many)
    items, end = attrgetter(inner[at].name), attrgetter(last.name)
    around = [field.name for field in (*inner[:at], *inner[at + 1 :])]
    # The second name makes attrgetter return a tuple even for one field.
    singles = attrgetter(*around, "__class__")

    def read(node: Any) -> tuple[Node, ...]:
        found = items(node)
        if around:
            single = singles(node)
            found = (*single[:at], *found, *single[at:-1])
        value = end(node)
        return found if value is None else (*found, value)

    return read


class _Readers(dict[type[Node], Callable[[Any], tuple[Node, ...]]]):
    def __init__(self, *kinds: FieldKind, parts: bool = False, expressions: bool = True) -> None:
        super().__init__()
        self.kinds = kinds
        self.parts = parts
        self.expressions = expressions

    def __missing__(self, cls: type[Node]) -> Callable[[Any], tuple[Node, ...]]:
        chosen = [field for field in fields(cls) if field.kind in self.kinds]
        if cls.symbol and not self.parts:
            chosen = []
        if not self.expressions:
            chosen = [field for field in chosen if not field.expressions]
        made = self[cls] = _reader(chosen)
        return made


# Hot loops index these by class: one dictionary lookup and one C call per node.
CHILDREN = _Readers("child")
BINDERS = _Readers("binder")
USES = _Readers("use")
PARTS = _Readers("child", parts=True)
HELD = _Readers("child", "binder", "use")
STATEMENTS = _Readers("child", expressions=False)
"""Children in fields that are not for expressions only; of a statement, those are statements."""


def children(node: Node) -> tuple[Node, ...]:
    """Return the nodes directly below, in field order; a symbol has none."""
    return CHILDREN[type(node)](node)


def binders(node: Node) -> tuple[Node, ...]:
    """Return the symbols that a node introduces."""
    return BINDERS[type(node)](node)


def uses(node: Node) -> tuple[Node, ...]:
    """Return the symbols that a node refers to other than through an expression."""
    return USES[type(node)](node)


def parts(symbol: Node) -> tuple[Node, ...]:
    """Return the nodes inside a symbol: the shape of a buffer, the type of a value."""
    return PARTS[type(symbol)](symbol)


def with_fields(
    node: Node, new: "dict[int, Node]", kinds: tuple[FieldKind, ...] = ("child",)
) -> Node:
    """Replace child nodes whose ``id`` is in ``new``; return the same object if there are none."""
    changes: dict[str, Any] = {}
    held = (
        _CHILD_FIELDS[node.__class__]
        if kinds == ("child",)
        else _held_fields(node.__class__, kinds)
    )
    for name, many in held:
        value = getattr(node, name)
        if not many:
            if id(value) in new:
                changes[name] = new[id(value)]
        elif value is not None:
            for item in value:
                if id(item) in new:
                    changes[name] = tuple([new.get(id(each), each) for each in value])
                    break
    return msgspec.structs.replace(node, **changes).rebuilt() if changes else node


_HeldFields = tuple[tuple[str, bool], ...]


@cache
def _held_fields(cls: type[Node], kinds: tuple[FieldKind, ...]) -> _HeldFields:
    return tuple((field.name, field.many) for field in fields(cls) if field.kind in kinds)


class _ChildFields(dict[type[Node], _HeldFields]):
    def __missing__(self, cls: type[Node]) -> _HeldFields:
        made = self[cls] = _held_fields(cls, ("child",))
        return made


_CHILD_FIELDS = _ChildFields()
