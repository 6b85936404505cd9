"""Memory that the side after allocates smaller: a box of what the side before has."""

import msgspec

from irkit.core import Node, any_node, substitute, symbols_used, walk
from irkit.ir import (
    Allocate,
    Block,
    Buffer,
    Expr,
    For,
    Let,
    Load,
    Stmt,
    Store,
    convert,
    ge,
    logical_and,
    lt,
)
from irkit.proof.functions.loads import as_index

MOST_NESTED = 8
"""Values of variables that are in terms of others."""


class BoxView(msgspec.Struct, frozen=True, eq=False):
    """A buffer as a box in one of the side before: where it begins, and its extents, over the
    symbols of the side before."""

    buffer: Buffer
    begins: tuple[Expr, ...]
    extents: tuple[Expr, ...]

    def places(self, indices: tuple[Expr, ...] | list[Expr]) -> list[Expr]:
        """Return the indices of an element in the buffer of the side before."""
        return [as_index(i) + begin for i, begin in zip(indices, self.begins, strict=True)]

    def load(self, node: Load) -> Load:
        """Return a load as one of the buffer of the side before."""
        return Load(self.buffer, tuple(self.places(node.indices)), node.mask, node.dtype)

    def inside(self, places: tuple[Expr, ...] | list[Expr]) -> Expr:
        """Return that an element of the buffer of the side before is in the box."""
        parts: list[Expr] = []
        for at, begin, extent in zip(places, self.begins, self.extents, strict=True):
            distance = as_index(at) - begin
            parts += [ge(distance, 0), lt(distance, as_index(extent))]
        return logical_and(*parts)


def first_places(allocate: Allocate) -> tuple[Expr, ...] | None:
    """Return the indices of the first store to new memory, in the first iteration of the loops in
    it; None if they depend on what only exists there."""
    store = next((s for s in walk(allocate.body, Store) if s.buffer is allocate.buffer), None)
    if store is None or any(any_node(index, Load) for index in store.indices):
        return None
    values = _first_values(allocate.body)
    found = store.indices
    for _ in range(MOST_NESTED):
        found = tuple([substitute(index, values) for index in found])
    if any(var in values for index in found for var in symbols_used(index)):
        return None
    return None if any(any_node(index, Load) for index in found) else found


def _first_values(body: Stmt) -> dict[Node, Node]:
    found: dict[Node, Node] = {}
    for stmt in walk(body, (For, Let, Block)):
        match stmt:
            case For(var, begin):
                found[var] = convert(begin, var.dtype)
            case Let(var, value):
                found[var] = value
            case _:
                assert isinstance(stmt, Block)
                found.update(
                    {axis.var: convert(axis.binding, axis.var.dtype) for axis in stmt.axes}
                )
    return found
