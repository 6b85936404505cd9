"""How a reduction combines values, one or several at a time."""

from collections.abc import Sequence
from typing import cast

import msgspec

from irkit.core import Node, Span, rewrite, substitute, walk
from irkit.ir import Block, Buffer, Expr, If, Let, Load, PrimFunc, Seq, Stmt, Store, Var, seq
from irkit.ir.analysis import Accumulation, accumulation_of, same_place, uses_of


class Combination(msgspec.Struct, frozen=True):
    """A reduction of the elements ``stores`` with the values ``gathered``, if ``cond`` holds.

    ``begun`` are the stores of its init; None if it is not one store for each element.
    """

    stores: tuple[Store, ...]
    gathered: tuple[Expr, ...]
    cond: Expr | None
    begun: tuple[Store, ...] | None
    single: Accumulation | None
    rights: tuple[Var, ...]
    lets: tuple[Let, ...]

    @property
    def rank(self) -> int:
        return self.stores[0].buffer.rank

    def start(self, buffers: Sequence[Buffer], at: Sequence[Expr], span: Span) -> Stmt:
        """Return the statement that initialises elements of some buffers."""
        if self.single is not None:
            return Store(buffers[0], tuple(at), self.single.identity, span=span)
        assert self.begun is not None
        values = [store.value for store in self.begun]
        pairs = zip(buffers, values, strict=True)
        return seq(*[Store(buffer, tuple(at), value, span=span) for buffer, value in pairs])

    def update(
        self, buffers: Sequence[Buffer], at: Sequence[Expr], gathered: Sequence[Expr]
    ) -> Stmt:
        """Return the statement that combines elements of some buffers with some values."""
        place, span = tuple(at), self.stores[0].span
        if self.single is not None:
            value = self.single.joined(buffers[0][place], gathered[0])
            return Store(buffers[0], place, value, span=span)
        copies: dict[Node, Node] = {
            var: Var(var.name, var.dtype) for var in (*self.rights, *[let.var for let in self.lets])
        }
        loads = self._loads(buffers, place)
        results = [_replaced(substitute(store.value, copies), loads) for store in self.stores]
        body = seq(
            *[
                Store(buffer, place, value, span=span)
                for buffer, value in zip(buffers, results, strict=True)
            ]
        )
        for let in reversed(self.lets):
            value = _replaced(substitute(let.value, copies), loads)
            body = Let(cast(Var, copies[let.var]), value, body)
        for var, value in zip(reversed(self.rights), reversed(gathered), strict=True):
            body = Let(cast(Var, copies[var]), value, body)
        return body

    def _loads(self, buffers: Sequence[Buffer], at: tuple[Expr, ...]) -> dict[Buffer, Expr]:
        pairs = zip(self.stores, buffers, strict=True)
        return {store.buffer: buffer[at] for store, buffer in pairs}


def combination_of(func: PrimFunc, block: Block) -> Combination | None:
    """Return how a block combines values in any order, or None.

    That is an accumulation, or, if the block has the attribute ``reassoc``, a body as te makes it:
    one ``Let`` for each value to combine with, others for the results, and one store for each.
    """
    begun = _stores(block.init) if block.init is not None else None
    single = accumulation_of(func, block)
    if single is not None:
        if begun is not None and len(begun) != 1:
            begun = None
        stores = (single.store,)
        return Combination(stores, (single.gathered,), single.cond, begun, single, (), ())
    if dict(block.attrs).get("reassoc") is not True:
        return None
    cond, body = None, block.body
    if isinstance(body, If) and body.otherwise is None:
        cond, body = body.cond, body.then
    lets: list[Let] = []
    while isinstance(body, Let):
        lets.append(body)
        body = body.body
    stores = _stores(body)
    if stores is None or len(lets) < len(stores):
        return None
    if begun is not None and len(begun) != len(stores):
        begun = None
    rights, rest = lets[: len(stores)], lets[len(stores) :]
    found = Combination(
        stores,
        tuple(let.value for let in rights),
        cond,
        begun,
        None,
        tuple(let.var for let in rights),
        tuple(rest),
    )
    return found if _is_closed(func, block, found) else None


def _stores(stmt: Stmt) -> tuple[Store, ...] | None:
    """Return the stores that a statement consists of, into buffers of one shape; or None."""
    parts = stmt.stmts if isinstance(stmt, Seq) else (stmt,)
    stores = [part for part in parts if isinstance(part, Store) and part.mask is None]
    if len(stores) != len(parts) or len({store.buffer for store in stores}) != len(stores):
        return None
    first = stores[0]
    alike = all(
        same_place(Load(first.buffer, each.indices, None, first.buffer.dtype), first)
        for each in stores
    )
    return tuple(stores) if alike else None


def _is_closed(func: PrimFunc, block: Block, found: Combination) -> bool:
    """Return True if what is combined depends on no result so far, and the combination on nothing
    but that and the results so far."""
    memory = uses_of(func).memory
    own = {memory(store.buffer) for store in found.stores}
    if len(own) != len(found.stores):
        return False
    outside = [*found.gathered, *[index for s in found.stores for index in s.indices]]
    outside += [each for each in (found.cond, block.predicate) if each is not None]
    if any(memory(load.buffer) in own for each in outside for load in walk(each, Load)):
        return False
    inside = [let.value for let in found.lets] + [store.value for store in found.stores]
    known = {*found.rights, *[let.var for let in found.lets]}
    at = {store.buffer: store for store in found.stores}
    for value in inside:
        for load in walk(value, Load):
            store = at.get(load.buffer)
            if store is None or load.mask is not None or not same_place(load, store):
                return False
        if not _free_variables(value) <= known:
            return False
    values = [store.value for store in found.begun or ()]
    return not any(
        _free_variables(value) or any(True for _ in walk(value, Load)) for value in values
    )


def _free_variables(value: Expr) -> set[Var]:
    """Return the variables of an expression, except in the indices of its loads."""
    indices = {var for load in walk(value, Load) for at in load.indices for var in walk(at, Var)}
    return set(walk(value, Var)) - indices


def _replaced(value: Expr, loads: dict[Buffer, Expr]) -> Expr:
    """Read other buffers instead."""

    def elsewhere(load: Load) -> Expr | None:
        return loads.get(load.buffer)

    return rewrite(value, elsewhere, on=Load)
