"""The values that a step computes in another way: pairs of expressions over what they load."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

from irkit.core import (
    Node,
    children,
    deep_recursion,
    equal,
    postorder,
    substitute,
    walk,
    with_fields,
)
from irkit.ir import (
    BOOL,
    Assert,
    Block,
    Buffer,
    Const,
    Expr,
    If,
    Let,
    Load,
    PrimFunc,
    Stmt,
    Store,
    Var,
    View,
    logical_and,
    logical_not,
    logical_or,
)

MOST_STORES, MOST_NODES, MOST_UNKNOWNS = 64, 300, 8


class ValueSource(NamedTuple):
    """Where an unknown comes from: the name of a parameter, buffer or loop variable, and which of
    the elements that the expression loads."""

    name: str
    place: int


class ChangedValue(NamedTuple):
    """Two expressions that are stored in the same place, or decide whether something is, over the
    same unknowns; ``given`` holds where they are computed."""

    before: Expr
    after: Expr
    given: Expr
    unknowns: dict[Var, ValueSource]


class _StoredValue(NamedTuple):
    buffer: str
    cond: Expr
    value: Expr


_ALWAYS = Const(True, BOOL)


def changed_values(before: PrimFunc, after: PrimFunc) -> Iterator[ChangedValue]:
    """Yield what a step changed of assertions, and of the values and conditions of stores; of these
    nothing if it changed which stores there are."""
    old, new = _Stores(before), _Stores(after)
    yield from _changed_assertions(old, new)
    pairs = zip(old.found, new.found, strict=False)
    if len(old.found) != len(new.found) or any(a.buffer != b.buffer for a, b in pairs):
        return
    for a, b in zip(old.found, new.found, strict=True):
        unknowns = _Unknowns(old, new, (a.value, a.cond), (b.value, b.cond))
        first, second = unknowns.on_left(a.cond), unknowns.on_right(b.cond)
        conds_differ = not equal(first, second)
        if conds_differ:
            yield from unknowns.of(first, second, _ALWAYS)
        one, other = unknowns.on_left(a.value), unknowns.on_right(b.value)
        if not equal(one, other):
            yield from unknowns.of(one, other, logical_and(first, second))


def _changed_assertions(old: "_Stores", new: "_Stores") -> Iterator[ChangedValue]:
    """Yield the assertions that are not the same in order; one that is gone always holds."""
    alike = len(old.asserted) == len(new.asserted)
    for number, claim in enumerate(old.asserted):
        others = [new.asserted[number]] if alike else new.asserted
        pairs = [_Unknowns(old, new, (claim,), (other,)) for other in others]
        sides = [
            (each, each.on_left(claim), each.on_right(other))
            for each, other in zip(pairs, others, strict=True)
        ]
        if any(equal(first, second) for _, first, second in sides):
            continue
        if alike:
            unknowns, first, second = sides[0]
            yield from unknowns.of(first, second, _ALWAYS)
        else:
            unknowns = _Unknowns(old, new, (claim,), ())
            yield from unknowns.of(unknowns.on_left(claim), _ALWAYS, _ALWAYS)


class _Stores:
    """The stores and assertions of a function, with names replaced by what they stand for."""

    def __init__(self, func: PrimFunc) -> None:
        self.found: list[_StoredValue] = []
        self.asserted: list[Expr] = []
        self.sources: dict[Buffer, Buffer] = {}
        self.names: dict[Node, Node] = {}
        if sum(1 for _ in walk(func, Store)) <= MOST_STORES:
            self._visit(func)

    @deep_recursion
    def _visit(self, func: PrimFunc) -> None:
        self._below(func.body, _ALWAYS)

    def _below(self, stmt: Stmt, cond: Expr) -> None:
        match stmt:
            case Store() if stmt.value.dtype.lanes == 1:
                buffer = self.memory(stmt.buffer).name
                self.found.append(_StoredValue(buffer, cond, self._plain(stmt.value)))
            case Assert():
                self.asserted.append(logical_or(logical_not(cond), self._plain(stmt.cond)))
            case If():
                decides = self._plain(stmt.cond)
                self._below(stmt.then, logical_and(cond, decides))
                if stmt.otherwise is not None:
                    self._below(stmt.otherwise, logical_and(cond, logical_not(decides)))
            case _:
                if isinstance(stmt, Let):
                    self.names[stmt.var] = self._plain(stmt.value)
                if isinstance(stmt, View):
                    self.sources[stmt.buffer] = self.memory(stmt.source)
                if isinstance(stmt, Block) and stmt.predicate is not None:
                    cond = logical_and(cond, self._plain(stmt.predicate))
                for child in children(stmt):
                    if isinstance(child, Stmt):
                        self._below(child, cond)

    def _plain(self, expr: Expr) -> Expr:
        return substitute(expr, self.names) if self.names else expr

    def memory(self, buffer: Buffer) -> Buffer:
        """Return the buffer that a view is of, or the buffer itself."""
        return self.sources.get(buffer, buffer)


class _Unknowns:
    """Variables in place of the loads and variables of a pair of stores.

    Loads with the same indices are one unknown; the others of a buffer are paired in order.
    """

    def __init__(
        self, old: _Stores, new: _Stores, left: Sequence[Expr], right: Sequence[Expr]
    ) -> None:
        self.old, self.new = old, new
        self.sources: dict[Var, ValueSource] = {}
        self.known: dict[tuple[str, str], Var] = {}
        self._add(_places(old, left))
        self._pair(_places(new, right))

    def _add(self, places: dict[tuple[str, str], Expr]) -> None:
        for key, node in places.items():
            if key not in self.known:
                count = sum(1 for name, _ in self.known if name == key[0])
                made = Var(f"{key[0]}_{count}", node.dtype)
                self.known[key] = made
                self.sources[made] = ValueSource(key[0], count)

    def _pair(self, places: dict[tuple[str, str], Expr]) -> None:
        free = [key for key in self.known if key not in places]
        for key, node in places.items():
            alike = [
                each for each in free if each[0] == key[0] and self.known[each].dtype == node.dtype
            ]
            if key not in self.known and alike:
                free.remove(alike[0])
                self.known[key] = self.known[alike[0]]
        self._add(places)

    def on_left(self, expr: Expr) -> Expr:
        """Return an expression of the function before the step over unknowns."""
        return self._over(self.old, expr)

    def on_right(self, expr: Expr) -> Expr:
        """Return an expression of the function after the step over unknowns."""
        return self._over(self.new, expr)

    @deep_recursion
    def _over(self, stores: _Stores, root: Expr) -> Expr:
        return self._replaced(stores, root, {})

    def _replaced(self, stores: _Stores, node: Expr, done: dict[int, Expr]) -> Expr:
        if id(node) not in done:
            if isinstance(node, (Load, Var)):
                done[id(node)] = self.known[_key(stores, node)]
            else:
                new: dict[int, Node] = {}
                for child in children(node):
                    new[id(child)] = self._replaced(stores, cast(Expr, child), done)
                done[id(node)] = cast(Expr, with_fields(node, new))
        return done[id(node)]

    def of(self, before: Expr, after: Expr, given: Expr) -> Iterator[ChangedValue]:
        """Yield a pair, if it is small enough and of scalars."""
        roots = (before, after, given)
        nodes = [cast(Expr, node) for root in roots for node in postorder(root)]
        scalars = all(node.dtype.lanes == 1 for node in nodes)
        if len(nodes) > MOST_NODES or not scalars or before.dtype != after.dtype:
            return
        used = {node: self.sources[node] for node in nodes if isinstance(node, Var)}
        if 0 < len(used) <= MOST_UNKNOWNS:
            yield ChangedValue(before, after, given, used)


def _places(stores: _Stores, roots: Sequence[Expr]) -> dict[tuple[str, str], Expr]:
    """Return the loads and variables of expressions, but not those in the indices of loads."""
    found: dict[tuple[str, str], Expr] = {}
    seen: set[int] = set()
    todo: list[Node] = [*reversed(roots)]
    while todo:
        node = todo.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, (Load, Var)):
            found.setdefault(_key(stores, node), node)
        else:
            todo.extend(reversed(children(node)))
    return found


def _key(stores: _Stores, node: Load | Var) -> tuple[str, str]:
    if isinstance(node, Var):
        return node.name, ""
    inside = (each for index in node.indices for each in walk(index))
    return stores.memory(node.buffer).name, " ".join([_label(each) for each in inside])


def _label(node: Node) -> str:
    if isinstance(node, Const):
        return f"{node.value}"
    return node.name if isinstance(node, (Var, Buffer)) else node.__class__.__name__
