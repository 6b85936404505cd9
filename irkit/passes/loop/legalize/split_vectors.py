"""Compute vectors that are wider than a register in parts.

Before::

    def f(A: f32[8], C: f32[8]):
        t: f32x8 = A[ramp(0, 1, 8)]
        C[ramp(0, 1, 8)] = t * t

After::

    def f(A: f32[8], C: f32[8]):
        t: f32x4 = A[ramp(0, 1, 4)]
        t_1: f32x4 = A[ramp(4, 1, 4)]
        C[ramp(0, 1, 4)] = t * t
        C[ramp(4, 1, 4)] = t_1 * t_1

For compilers that take such vectors through memory, or apart into scalars, as GCC 12 does. All
parts of a value that is read where it is stored are computed before the first is stored. What holds
an instruction of whole vectors, and what shares a variable with it, stays whole.
"""

from collections.abc import Iterator

from irkit.core import any_node, children, deep_recursion, postorder, walk
from irkit.ir import (
    Buffer,
    Expr,
    Let,
    Load,
    PrimFunc,
    Stmt,
    Store,
    Var,
    View,
    map_below,
    nested,
    seq,
)
from irkit.passes.loop.support.vector_parts import can_be_split, part, widest_element
from irkit.transform import define_pass


@define_pass(idempotent=True, atomic=True)
def split_vectors(func: PrimFunc, *, register_bytes: int = 16) -> PrimFunc:
    """Split statements over vectors into statements over parts that fit into a register.

    Args:
        register_bytes: the width of a vector register.
    """
    groups = _Groups(func, register_bytes)
    if not groups.lanes:
        return func
    with deep_recursion:
        return func.replace(body=_Splitter(groups, _roots(func)).visit(func.body))


class _Groups:
    """Statements that share vector variables: each group is split into the same lanes, or stays.

    ``lanes`` has those of the parts, by the ``id`` of each statement that is split.
    """

    def __init__(self, func: PrimFunc, register_bytes: int) -> None:
        self._parent: dict[int, int] = {}
        stmts = [stmt for stmt in walk(func.body, Stmt) if _vectors(stmt)]
        for stmt in stmts:
            for var in _vector_vars(stmt):
                self._join(id(stmt), id(var))
        members: dict[int, list[Stmt]] = {}
        for stmt in stmts:
            members.setdefault(self._find(id(stmt)), []).append(stmt)
        self.lanes: dict[int, int] = {}
        for group in members.values():
            lanes = _lanes_of_parts(group, register_bytes)
            if lanes:
                self.lanes |= {id(stmt): lanes for stmt in group}

    def _find(self, key: int) -> int:
        while self._parent.get(key, key) != key:
            key = self._parent[key]
        return key

    def _join(self, a: int, b: int) -> None:
        self._parent[self._find(a)] = self._find(b)


def _vectors(stmt: Stmt) -> list[Expr]:
    """Return the expressions of a statement that are vectors, or hold some outside of an index."""
    return [each for each in _expressions(stmt) if widest_element(each) or each.dtype.lanes > 1]


def _expressions(stmt: Stmt) -> Iterator[Expr]:
    for child in children(stmt):
        if isinstance(child, Expr):
            yield child


def _vector_vars(stmt: Stmt) -> Iterator[Var]:
    if isinstance(stmt, Let) and stmt.var.dtype.lanes > 1:
        yield stmt.var
    for root in _expressions(stmt):
        for node in postorder(root):
            if isinstance(node, Var) and node.dtype.lanes > 1:
                yield node


def _lanes_of_parts(group: list[Stmt], register_bytes: int) -> int:
    """Return the lanes of the parts of some statements; 0 if they stay whole."""
    whole = {_lanes_of(stmt) for stmt in group}
    width = max(_width(stmt) for stmt in group)
    if len(whole) != 1 or 0 in whole or not width:
        return 0
    lanes, most = whole.pop(), register_bytes // width
    fits = lanes > most > 1 and lanes % most == 0
    return most if fits and all(map(can_be_split, _all_of(group))) else 0


def _all_of(group: list[Stmt]) -> list[Expr]:
    return [each for stmt in group for each in _expressions(stmt)]


def _lanes_of(stmt: Stmt) -> int:
    """Return the lanes of all vectors of a statement; 0 if it cannot be split."""
    if not isinstance(stmt, (Let, Store)):
        return 0
    found = {
        node.dtype.lanes
        for root in _expressions(stmt)
        for node in postorder(root)
        if isinstance(node, Expr) and node.dtype.lanes > 1
    }
    if isinstance(stmt, Store) and all(root.dtype.lanes == 1 for root in _expressions(stmt)):
        return 0
    return found.pop() if len(found) == 1 else 0


def _width(stmt: Stmt) -> int:
    counted = list(_expressions(stmt))
    if isinstance(stmt, Store):
        counted = [stmt.value, *([] if stmt.mask is None else [stmt.mask])]
        if stmt.value.dtype.lanes == 1:  # One value for several elements.
            return max(stmt.buffer.dtype.bytes, *map(widest_element, counted))
    return max(map(widest_element, counted), default=0)


def _roots(func: PrimFunc) -> dict[Buffer, Buffer]:
    """Map each view to the buffer whose memory it shows."""
    found: dict[Buffer, Buffer] = {}
    for view in walk(func.body, View):
        found[view.buffer] = found.get(view.source, view.source)
    if dict(func.attrs).get("noalias") is False:  # All parameters may be the same memory.
        first = next((param for param in func.params if isinstance(param, Buffer)), None)
        for param in func.params:
            if isinstance(param, Buffer) and first is not None:
                found = {view: first if root is param else root for view, root in found.items()}
                found[param] = first
    return found


class _Splitter:
    """Rewrites statements; ``parts`` are the variables in place of those that are split."""

    def __init__(self, groups: _Groups, roots: dict[Buffer, Buffer]) -> None:
        self.groups = groups
        self.roots = roots
        self.parts: dict[Var, tuple[Var, ...]] = {}

    def visit(self, stmt: Stmt) -> Stmt:
        lanes = self.groups.lanes.get(id(stmt))
        match stmt:
            case Let() if lanes:
                return self._let(stmt, lanes)
            case Store() if lanes:
                return self._store(stmt, lanes)
            case _:
                return map_below(stmt, self.visit)

    def _let(self, let: Let, lanes: int) -> Stmt:
        if let.var.dtype.lanes == 1:
            return map_below(let, self.visit)
        count = let.var.dtype.lanes // lanes
        names = tuple(Var(let.var.name, let.var.dtype.with_lanes(lanes)) for _ in range(count))
        self.parts[let.var] = names
        body = self.visit(let.body)
        for number in reversed(range(count)):
            value = part(let.value, number, lanes, self.parts)
            body = Let(names[number], value, body, span=let.span)
        return body

    def _store(self, store: Store, lanes: int) -> Stmt:
        whole = max(each.dtype.lanes for each in _expressions(store))
        count = whole // lanes
        stores: list[Store] = []
        names: list[tuple[Var, Expr]] = []
        again = self._reads(store)

        def own(root: Expr, number: int) -> Expr:
            """Return a part of an expression; a name for it if it must be read before any store."""
            made = part(root, number, lanes, self.parts)
            if not again or not any_node(made, Load):
                return made
            names.append((Var("t", made.dtype), made))
            return names[-1][0]

        for number in range(count):
            value = own(store.value, number)
            indices = tuple([own(each, number) for each in store.indices])
            mask = None if store.mask is None else own(store.mask, number)
            stores.append(store.replace(indices=indices, value=value, mask=mask))
        around = [Let(var, value, store, span=store.span) for var, value in names]
        return nested(around, seq(*stores))

    def _reads(self, store: Store) -> bool:
        """Return True if a store may write what its own expressions read."""
        written = self.roots.get(store.buffer, store.buffer)
        return any(
            self.roots.get(load.buffer, load.buffer) is written
            for root in _expressions(store)
            for load in walk(root, Load)
        )
