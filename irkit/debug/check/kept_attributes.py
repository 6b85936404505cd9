"""What a step must keep that is no value: names, calls, and attributes, each with its direction.

What lets code generation choose may only be taken away. What the callers of a function rely on
never changes. Attributes without a row are hints, which a pass may add and drop.
"""

from collections.abc import Iterator
from typing import Literal

import msgspec

from irkit.core import Function, Node, walk
from irkit.graph import GraphFunc, GraphLoop, Invoke
from irkit.ir import Block, Buffer, For, PrimFunc, Store, View

Direction = Literal["may only be taken", "may only be added", "never changes"]


class AttributeRow(msgspec.Struct, frozen=True):
    """One attribute of functions, and what a step may do to it: to a ``value``, or to any."""

    name: str
    direction: Direction
    value: bool | None = None


ATTRIBUTES = (
    AttributeRow("contract", "may only be added", False),
    AttributeRow("threads", "may only be added", False),
    AttributeRow("noalias", "may only be added", False),
    AttributeRow("reassoc", "may only be taken", True),
    AttributeRow("unscheduled", "may only be taken", True),
    AttributeRow("inputs", "never changes"),
    AttributeRow("outputs", "never changes"),
    AttributeRow("state", "never changes"),
    AttributeRow("updates", "never changes"),
    AttributeRow("appends", "never changes"),
    AttributeRow("narrow_inputs", "never changes"),
    AttributeRow("narrow_outputs", "never changes"),
)
"""The attributes of functions that mean something, of loop functions and graphs alike. What must
not be allowed is added, what is allowed is taken, so code generation never gets more freedom."""


def broken_attribute(
    before: Function,
    after: Function,
    *,
    scheduling: bool = False,
    in_module: bool = False,
    inside: bool = False,
) -> str:
    """Return what a step changed of one function that it must keep, or an empty string.

    A step of a schedule may annotate loops and blocks as its author says. ``in_module``: the step
    saw the module, and may call other functions of it. ``inside``: only the module itself calls
    the function, so that the two may agree on something else.
    """
    if before.name != after.name:
        return f"function {before.name!r} became {after.name!r}: a pass keeps each name"
    rows = [row for row in ATTRIBUTES if not inside or row.direction != "never changes"]
    changed = [text for row in rows for text in _changed(row, before, after)]
    if isinstance(before, GraphFunc) and isinstance(after, GraphFunc) and not in_module:
        changed += _new_calls(before, after)
    if isinstance(before, PrimFunc) and isinstance(after, PrimFunc) and not scheduling:
        changed += _reordered(before, after)
    return next(iter(changed), "")


def _changed(row: AttributeRow, before: Function, after: Function) -> Iterator[str]:
    old, new = (dict(getattr(each, "attrs", ())).get(row.name) for each in (before, after))
    match row.direction:
        case "never changes":
            wrong = old != new
        case "may only be added":
            wrong = old is row.value and new is not row.value
        case "may only be taken":
            wrong = new is row.value and old is not row.value
    if wrong:
        of = row.name if row.value is None else f"{row.name}={row.value}"
        yield f"attribute {row.name!r} was {_shown(old)} and is {_shown(new)}: {of} {row.direction}"


def _shown(value: object) -> str:
    return "not set" if value is None else repr(value)


def calls_of(func: GraphFunc) -> set[str]:
    """Return the names of the functions that a graph calls."""
    return {each.function for each in walk(func, (Invoke, GraphLoop))}


def _new_calls(before: GraphFunc, after: GraphFunc) -> Iterator[str]:
    for name in sorted(calls_of(after) - calls_of(before)):
        yield f"it calls {name!r}, which nothing called before: a pass keeps each call"


def _reordered(before: PrimFunc, after: PrimFunc) -> Iterator[str]:
    """Yield the loops and blocks to which a step gives the permission to reorder."""
    if before is after or not any(_permits(node) for node in walk(after, (For, Block))):
        return
    old = {_identity(node): _permits(node) for node in walk(before, (For, Block))}
    stored = {
        b for node in walk(before, (For, Block)) if _permits(node) for b in _stored(before, node)
    }
    ever = _stored(before, before)
    for node in walk(after, (For, Block)):
        if not _permits(node):
            continue
        own = _stored(after, node) & ever
        if not old.get(_identity(node), True) or not own <= stored:
            kind, name = ("loop", node.var.name) if isinstance(node, For) else ("block", node.name)
            yield f"{kind} {name!r} got attribute 'reassoc': reassoc=True may only be taken"


def _permits(node: For | Block) -> bool:
    return dict(node.attrs).get("reassoc") is True


def _identity(node: For | Block) -> object:
    return node.var if isinstance(node, For) else node.name


def _stored(func: PrimFunc, node: Node) -> set[Buffer]:
    """Return the memory that is stored to inside a node of a function."""
    sources = {view.buffer: view.source for view in walk(func, View)}
    found: set[Buffer] = set()
    for store in walk(node, Store):
        buffer = store.buffer
        while buffer in sources:
            buffer = sources[buffer]
        found.add(buffer)
    return found
