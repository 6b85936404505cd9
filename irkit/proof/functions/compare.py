"""Two versions of a function, compared statement by statement."""

from collections.abc import Callable
from typing import Any

from irkit.core import any_node, deep_recursion, walk
from irkit.ir import (
    BOOL,
    I64,
    U64,
    Allocate,
    Assert,
    Block,
    Buffer,
    Const,
    Evaluate,
    Expr,
    For,
    If,
    Let,
    Load,
    PrimFunc,
    Stmt,
    Store,
    Var,
    View,
    convert,
    ge,
    logical_not,
    lt,
)
from irkit.ir.analysis import is_divided
from irkit.proof.functions.attempts import Attempts
from irkit.proof.functions.loads import TooManyLoads, as_index
from irkit.proof.functions.memory import size
from irkit.proof.functions.moved_allocations import MovedAllocations
from irkit.proof.functions.one_sided import OneSided, content_of
from irkit.proof.functions.scope import NotShown, Scope, Side
from irkit.proof.functions.unordered_loops import is_apart
from irkit.proof.outcome import StepProof
from irkit.proof.prover import Prover

MOST_STATEMENTS = 20_000


def compare_statements(before: PrimFunc, after: PrimFunc, prover: Prover) -> StepProof:
    """Prove that two versions of a function compute the same, if they run the same statements.

    Raises: IRKitError if z3 is not installed; ProofFault as ``prove_equal``.
    """
    scope = Scope(before, after, prover)
    try:
        with deep_recursion:
            _Comparison(scope, before, after).functions()
    except NotShown as missing:
        return StepProof(False, missing.reason, missing.refuted, scope.pairs)
    except TooManyLoads:
        return StepProof(False, "an expression performs too many loads", None, scope.pairs)
    return StepProof(True, pairs=scope.pairs)


class _Comparison:
    """Comparison of two functions in step."""

    def __init__(self, scope: Scope, before: PrimFunc, after: PrimFunc) -> None:
        self.scope, self.before, self.after = scope, before, after
        self.one_sided = OneSided(scope)
        self.elsewhere = MovedAllocations(scope, self._same_memory)
        self.attempts = Attempts(scope, self.one_sided, self.elsewhere, self.lists)
        self.left = MOST_STATEMENTS

    def functions(self) -> None:
        before, after = self.before, self.after
        if len(before.params) != len(after.params):
            raise NotShown("the signature changed")
        for a, b in zip(before.params, after.params, strict=True):
            self._same_param(a, b)
        if before.attrs != after.attrs:
            raise NotShown("the attributes of the function changed")
        for each in (*walk(before.body, Allocate), *walk(after.body, Allocate)):
            if is_divided(each):
                raise NotShown(f"each thread has its own {each.buffer.name!r}")
        self.lists([before.body], [after.body])

    def _same_param(self, a: Buffer | Var, b: Buffer | Var) -> None:
        """Take a parameter of the one function for that of the other, if they are alike."""
        values = self.scope.after.values
        if isinstance(a, Var) or isinstance(b, Var):
            if a.__class__ is not b.__class__ or a.dtype != b.dtype:
                raise NotShown(f"parameter {a.name} changed")
            values[b] = a
            return
        dims = zip((*a.shape, *(a.strides or ())), (*b.shape, *(b.strides or ())), strict=False)
        for x, y in dims:
            if isinstance(x, Var) and isinstance(y, Var) and y not in values:
                values[y] = x
        self._same_buffer(a, b)

    def lists(self, before: list[Stmt], after: list[Stmt]) -> None:
        """Compare statements that run one after the other."""
        old, new = before[::-1], after[::-1]
        while True:
            self.one_sided.unpack(old, self.scope.before)
            self.one_sided.unpack(new, self.scope.after)
            if self._taken_apart(old, new) or self.elsewhere.moved(old, new):
                continue
            if not old and not new:
                break
            self.left -= 1
            if self.left < 0:
                raise NotShown("it has too many statements")
            a, b = old[-1] if old else None, new[-1] if new else None
            if isinstance(a, For) and isinstance(b, For) and self.attempts.in_pieces(old, new):
                continue
            if a is not None and b is not None and a.__class__ is b.__class__:
                if self._looked_through(old, new, a, b):
                    continue
                old.pop()
                new.pop()
                _CASES[a.__class__](self, a, b)
            elif not self._through_one(old, new):
                raise NotShown(f"{_what(a)} became {_what(b)}")
        if self.scope.waiting:
            raise NotShown("a load may be new")

    def _taken_apart(self, old: list[Stmt], new: list[Stmt]) -> bool:
        """Take the first iteration out of a loop beside an allocation like one in that loop."""
        if not old or not new or not isinstance(old[-1], For) or not isinstance(new[-1], Allocate):
            return False
        known = new[-1].buffer.name in self.elsewhere.old
        return not known and self.attempts.in_pieces(old, new)

    def _looked_through(self, old: list[Stmt], new: list[Stmt], a: Stmt, b: Stmt) -> bool:
        """Look through one of two branches, or loops, that are not equal, if it is decided, or runs
        at most once."""
        try:
            if isinstance(a, If) and isinstance(b, If):
                self.scope.equal(self.scope.before.read(a.cond), self.scope.after.read(b.cond))
            elif isinstance(a, For) and isinstance(b, For):
                self._limits(a, b)
            elif isinstance(a, View) and isinstance(b, View):
                self._same_source(a, b)
        except NotShown:
            if self._through_one(old, new):
                return True
            raise
        return False

    def _through_one(self, old: list[Stmt], new: list[Stmt]) -> bool:
        """Look through the next statement of one of the sides, if that is possible: a frame first,
        and then a branch or a loop."""
        sides = [(old, self.scope.before), (new, self.scope.after)]
        if self.attempts.pieces.without_idle(sides):
            return True
        sides.sort(key=lambda side: _ORDER.get(side[0][-1].__class__, 0) if side[0] else 0)
        kinds = [stmts[-1].__class__ if stmts else None for stmts, _ in sides]
        self.one_sided.beside_loop = kinds == [For, For]
        if (
            kinds == [Store, For]
            and not _is_vector(sides[0][0][-1])
            and self.attempts.in_pieces(old, new)
        ):
            return True
        for stmts, side in sides:
            # A branch beside a loop holds loops like it, which its copies would not be.
            if (
                kinds == [If, For]
                and isinstance(stmts[-1], For)
                and self.attempts.by_cases(old, new)
            ):
                return True
            if self.one_sided.looked_through(stmts, side):
                return True
        return (
            kinds != [For, For] and self.attempts.in_pieces(old, new)
        ) or self.attempts.by_cases(old, new)

    # One method for each class of statements that both sides have.

    def stores(self, a: Store, b: Store) -> None:
        old = [*a.indices, a.value, *_some(a.mask)]
        new = [*b.indices, b.value, *_some(b.mask)]
        reads = [[side.read(expr) for expr in exprs] for side, exprs in self._sides(old, new)]
        old, new = reads
        count = len(a.indices)
        target, places = self.scope.before.place(a.buffer, old[:count])
        other, others = self.scope.after.place(b.buffer, new[: len(b.indices)])
        if target is not other or a.value.dtype != b.value.dtype:
            raise NotShown(f"a store to {a.buffer.name} became a store to {b.buffer.name}")
        lanes = BOOL.with_lanes(a.value.dtype.lanes)
        before, after = (
            convert(Const(True, BOOL) if stmt.mask is None else exprs[-1], lanes)
            for stmt, exprs in ((a, old), (b, new))
        )
        self.scope.equal(before, after)
        written = [] if a.mask is None else [before]
        for x, y in zip(places, others, strict=True):
            self._same_index(x, y, written)
        self.scope.equal(old[count], new[len(b.indices)], written)
        self.scope.loads(old, new)
        if a.mask is None and a.value.dtype.lanes == 1:
            self.scope.stored(target, places)
        elif target in self.scope.windows:
            raise NotShown(f"a store to the smaller buffer {b.buffer.name} is of several elements")

    def _same_index(self, a: Expr, b: Expr, facts: list[Expr]) -> None:
        if a.dtype != b.dtype:
            a, b = as_index(a), as_index(b)
        if a.dtype != b.dtype:
            raise NotShown("an index has other lanes")
        self.scope.equal(a, b, facts)

    def _sides(self, old: list[Expr], new: list[Expr]) -> list[tuple[Side, list[Expr]]]:
        return [(self.scope.before, old), (self.scope.after, new)]

    def _read(self, a: Expr, b: Expr) -> tuple[Expr, Expr]:
        """Return two expressions over the symbols of the side before, whose loads are compared."""
        x, y = self.scope.before.read(a), self.scope.after.read(b)
        self.scope.loads([x], [y])
        return x, y

    def _limits(self, a: For, b: For) -> None:
        scope = self.scope
        for x, y in ((a.begin, b.begin), (a.end, b.end)):
            self._same_index(scope.before.read(x), scope.after.read(y), [])

    def loops(self, a: For, b: For) -> None:
        if (a.kind, a.thread) != (b.kind, b.thread) and not self._may_become(a, b):
            raise NotShown(f"a {a.kind} loop became a {b.kind} loop")
        if dict(a.attrs).get("reassoc") != dict(b.attrs).get("reassoc"):
            raise NotShown("a loop permits another order of its operations")
        self.scope.loads(
            [self.scope.before.read(x) for x in (a.begin, a.end)],
            [self.scope.after.read(x) for x in (b.begin, b.end)],
        )
        begin, end = self.scope.before.read(a.begin), self.scope.before.read(a.end)
        if U64 in (a.var.dtype, b.var.dtype):
            raise NotShown("a loop counts in u64")
        self.scope.before.values.pop(a.var, None)  # It may have been a number in another copy.
        self.scope.after.values[b.var] = convert(a.var, b.var.dtype)
        lifetimes, bound = self.scope.lifetimes, (a.var, begin, end)
        counts = lifetimes.counts()
        lifetimes.loops.append((bound, b.kind if a.kind in _IN_ORDER else a.kind))
        try:
            with self.scope.counting(a.var, begin, end):
                self.lists([a.body], [b.body])
        finally:
            lifetimes.loops.pop()
        lifetimes.leave(bound, counts)

    def _may_become(self, a: For, b: For) -> bool:
        """Return True if a loop may be of another kind: one that runs in order, or one without an
        order whose iterations never meet.

        Threads before a step may be in lockstep, so they must not meet there either.
        """
        if a.kind == "thread" and not is_apart(self.before, a):
            return False
        return b.kind in _IN_ORDER or is_apart(self.after, b)

    def branches(self, a: If, b: If) -> None:
        cond, _ = self._read(a.cond, b.cond)
        with self.scope.under([cond]):
            self.lists([a.then], [b.then])
        with self.scope.under([logical_not(cond)]):
            self.lists(_some(a.otherwise), _some(b.otherwise))

    def lets(self, a: Let, b: Let) -> None:
        self.scope.equal(*self._read(a.value, b.value))
        self.scope.before.values.pop(a.var, None)
        self.scope.after.values[b.var] = a.var
        self.lists([a.body], [b.body])

    def assertions(self, a: Assert, b: Assert) -> None:
        cond, other = self._read(a.cond, b.cond)
        self.scope.equal(cond, other)
        if not any(any_node(value, Load) for value in b.values):
            return  # What a failure says is free.
        if len(a.values) != len(b.values):
            raise NotShown("an assertion reads other memory for its message")
        for x, y in zip(a.values, b.values, strict=True):
            self._same_index(*self._read(x, y), [])

    def evaluations(self, a: Evaluate, b: Evaluate) -> None:
        if a.value != b.value:
            raise NotShown("what is evaluated for its effect changed")

    def allocations(self, a: Allocate, b: Allocate) -> None:
        if a.attrs != b.attrs:
            raise NotShown(f"the attributes of {a.buffer.name} changed")
        self._same_memory(a, b)
        self.lists([a.body], [b.body])

    def _same_memory(self, a: Allocate, b: Allocate) -> None:
        try:
            self._same_buffer(a.buffer, b.buffer)
        except NotShown:
            if a.buffer.rank != b.buffer.rank:
                raise
            self.scope.narrow(a, b)

    def views(self, a: View, b: View) -> None:
        self._same_source(a, b)
        self._same_index(*self._read(a.offset, b.offset), [])
        self._same_buffer(a.buffer, b.buffer)
        self.lists([a.body], [b.body])

    def _same_source(self, a: View, b: View) -> None:
        if self.scope.after.buffer(b.source) is not a.source:
            raise NotShown(f"view {a.buffer.name} is of other memory")

    def _same_buffer(self, a: Buffer, b: Buffer) -> None:
        before, after = self.scope.before, self.scope.after
        if (a.dtype, a.scope, a.align) != (b.dtype, b.scope, b.align):
            raise NotShown(f"buffer {a.name} changed")
        if a.rank != b.rank == 1 and b.strides is None:
            sizes = [size([before.read(x) for x in a.shape]), after.read(b.shape[0])]
            self._same_index(sizes[0], sizes[1], [])
            self.scope.flatten(a, b)
            return
        if a.rank != b.rank:
            raise NotShown(f"the shape of {a.name} changed")
        if (a.strides is None) != (b.strides is None):
            raise NotShown(f"the strides of {a.name} changed")
        pairs = zip((*a.shape, *(a.strides or ())), (*b.shape, *(b.strides or ())), strict=True)
        try:
            for x, y in pairs:
                self._same_index(before.read(x), after.read(y), [])
        except NotShown:
            raise NotShown(f"the shape of {a.name} changed") from None
        after.values[b] = a

    def blocks(self, a: Block, b: Block) -> None:
        if [axis.kind for axis in a.axes] != [axis.kind for axis in b.axes]:
            raise NotShown(f"the axes of block {a.name!r} changed")
        scope = self.scope
        inside: list[Expr] = []
        bound: list[tuple[Var, Var, Expr, Expr]] = []
        for x, y in zip(a.axes, b.axes, strict=True):
            self._same_index(scope.before.read(x.extent), scope.after.read(y.extent), [])
            old, new = self._read(x.binding, y.binding)
            self._same_index(old, new, [])
            kept = self.one_sided.replaces(scope.before, x.var, x.binding, content_of(a))
            if not (kept and self.one_sided.replaces(scope.after, y.var, y.binding, content_of(b))):
                raise NotShown(f"an axis of block {a.name!r} reads memory that is written")
            bound.append((x.var, y.var, old, new))
            extent = convert(scope.before.read(x.extent), I64)
            inside += [ge(old, 0), lt(convert(old, I64), extent)]
        for var, other, old, new in bound:
            scope.before.values[var] = convert(old, var.dtype)
            scope.after.values[other] = convert(new, other.dtype)
        truth = Const(True, BOOL)
        conds = [truth if each.predicate is None else each.predicate for each in (a, b)]
        cond, other = self._read(*conds)
        scope.equal(cond, other)
        with scope.under([cond, *inside]):
            self.lists([content_of(a)], [content_of(b)])


def _some(item: Any) -> list[Any]:
    return [] if item is None else [item]


def _is_vector(stmt: Stmt) -> bool:
    return isinstance(stmt, Store) and stmt.value.dtype.lanes > 1


def _what(stmt: Stmt | None) -> str:
    if stmt is None:
        return "nothing"
    kind = stmt.__class__.__name__
    return f"{kind} ({stmt.kind})" if isinstance(stmt, For) else kind


_IN_ORDER = ("serial", "unrolled")
_ORDER: dict[type[Stmt], int] = {If: 1, For: 2}
"""What is looked through first: frames, and then branches before loops."""
_CASES: dict[type[Stmt], Callable[[_Comparison, Any, Any], None]] = {
    Store: _Comparison.stores,
    For: _Comparison.loops,
    If: _Comparison.branches,
    Let: _Comparison.lets,
    Assert: _Comparison.assertions,
    Evaluate: _Comparison.evaluations,
    Allocate: _Comparison.allocations,
    View: _Comparison.views,
    Block: _Comparison.blocks,
}
