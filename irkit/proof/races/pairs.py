"""Two accesses as a question to z3: can they touch one element in two iterations?

Each side has copies of its own of what differs between iterations: variables, private memory, and
memory that changes meanwhile, whose loads can give anything.
"""

from typing import Any

import msgspec

from irkit.core import IRKitError, Node, substitute, walk
from irkit.ir import Buffer, Expr, Interval, Load, Store, Var
from irkit.ir.arith import simplify
from irkit.proof.accesses.conditions import Conditions
from irkit.proof.accesses.guarded_accesses import GuardedAccess
from irkit.proof.algebra import Term
from irkit.proof.concrete import ModelValues
from irkit.proof.integers import Whole
from irkit.proof.races.places import AccessTable, buffer_of
from irkit.proof.races.single_lanes import SingleLane


class Iterations(msgspec.Struct, frozen=True):
    """What two iterations, or two threads, have in common, and what not.

    ``own`` is what each has for itself: variables and buffers that are bound inside. At least one
    of the variables ``apart`` differs; those in ``equal`` do not. ``changing`` memory can have any
    contents.
    """

    own: frozenset[Node]
    apart: tuple[Var, ...]
    equal: tuple[Var, ...]
    changing: frozenset[Buffer]


class PairSide:
    """One of two accesses, in the variables of its iteration."""

    def __init__(self, access: GuardedAccess, iterations: Iterations, table: AccessTable) -> None:
        self.access, self._iterations, self._table = access, iterations, table
        self.lane = SingleLane()
        self._own: dict[Node, Node] = {}
        lanes = max([index.dtype.lanes for index, _ in access.sides], default=1)
        self.lanes = lanes
        self.facts = [self.of(fact) for fact in access.facts if fact.dtype.lanes in (1, lanes)]
        self.with_all_facts = access.complete and len(self.facts) == len(access.facts)
        spans = {**access.ranges, self.lane.number: Interval(0, lanes - 1)}
        self.sides = [
            (self.of(simplify(self.lane.of(index), spans)), self.of(extent))
            for index, extent in access.sides
        ]

    def of(self, expr: Expr) -> Expr:
        """Return an expression in this iteration, of a vector at the lane."""
        scalar = self.lane.of(expr)
        for node in walk(scalar, (Var, Load)):
            symbol = node.buffer if isinstance(node, Load) else node
            if symbol not in self._own and self._differs(symbol):
                assert isinstance(symbol, (Var, Buffer))
                self._own[symbol] = symbol.copy()
        return substitute(scalar, self._own)

    def _differs(self, symbol: Node) -> bool:
        changes = isinstance(symbol, Buffer) and self._table.memory(symbol) in (
            self._iterations.changing
        )
        return changes or symbol in self._iterations.own

    def ranges(self) -> dict[Var, Interval]:
        found = {self.lane.number: Interval(0, self.lanes - 1)}
        for var, span in self.access.ranges.items():
            own = self._own.get(var, var)
            assert isinstance(own, Var)
            found[own] = span
        return found

    @property
    def moves(self) -> bool:
        """Return True if the buffer is a view that begins elsewhere in each iteration."""
        buffer = buffer_of(self.access)
        while buffer in self._table.views:
            if buffer in self._iterations.own:
                return True
            buffer = self._table.views[buffer].source
        return False

    @property
    def is_exact(self) -> bool:
        """Return True if nothing is left out, and nothing is read that changes meanwhile."""
        changing = any(isinstance(symbol, Buffer) for symbol in self._own)
        return self.with_all_facts and not self.moves and not changing

    def value(self) -> Expr | None:
        """Return what is stored, if the access is a store."""
        node = self.access.node
        return self.of(node.value) if isinstance(node, Store) else None


class PairQuestion(Conditions):
    """The conditions of two accesses and that they touch the same element, in a solver.

    Raises: TooManyNodes.
    """

    def __init__(
        self,
        first: GuardedAccess,
        second: GuardedAccess,
        iterations: Iterations,
        table: AccessTable,
        context: Any,
    ) -> None:
        self.table = table
        self.one = PairSide(first, iterations, table)
        self.other = PairSide(second, iterations, table)
        self.apart = [self._both(var) for var in iterations.apart]
        equal = [self._both(var) for var in iterations.equal]
        self.values = self.one.value(), self.other.value()
        ranges = self.one.ranges() | self.other.ranges()
        buffers = dict.fromkeys((*first.buffers, *second.buffers))
        facts = (*self.one.facts, *self.other.facts)
        super().__init__(ranges, buffers, facts, 1, context)
        for a, b in equal:
            self.add(self.number(a).term == self.number(b).term)
        differ = [self.number(a).term != self.number(b).term for a, b in self.apart]
        self.add(self.z3.Or(*differ) if differ else self.z3.BoolVal(False, context))
        self.goal: Term = self._same_element()
        self.add()

    def _both(self, var: Var) -> tuple[Var, Var]:
        one, other = self.one.of(var), self.other.of(var)
        assert isinstance(one, Var)
        assert isinstance(other, Var)
        return one, other

    def _same_element(self) -> Term:
        ones, others = self._places(self.one), self._places(self.other)
        same_shape = buffer_of(self.one.access) is buffer_of(self.other.access)
        if same_shape and not self.one.moves:
            return self.z3.And(
                *[
                    a.term == b.term
                    for a, b in zip(ones, others, strict=True)
                    if a is not None and b is not None
                ],
                self.z3.BoolVal(True, self.context),
            )
        one, other = self._address(self.one, ones), self._address(self.other, others)
        if one is None or other is None:
            return self.z3.BoolVal(True, self.context)
        return one == other

    def _places(self, side: PairSide) -> list[Whole | None]:
        """Return the indices; they are in bounds, or the program fails before it races."""
        found: list[Whole | None] = []
        for index, extent in side.sides:
            at: Whole = self.translation.number(index)
            if not index.dtype.is_integer:
                found.append(None)
                continue
            end = self.number(extent)
            at = self._inside(at, end, index)
            self.add(at.term >= 0, at.term < end.term)
            found.append(at)
        return found

    def _inside(self, at: Whole, end: Whole, index: Expr) -> Whole:
        dtype = index.dtype.element
        if not (dtype.low <= at.low and at.high <= dtype.high):
            self.add()
            outside = self.z3.Or(at.term < 0, at.term >= end.term)
            if self.ask(outside) == self.z3.unsat:
                return at  # What lies between 0 and an extent has not wrapped around.
        return self.algebra.exact(at, dtype)

    def _address(self, side: PairSide, places: list[Whole | None]) -> Term | None:
        """Return the number of an element in its memory."""
        buffer = buffer_of(side.access)
        total: Term = self.z3.IntVal(0, self.context)
        size: Term = self.z3.IntVal(1, self.context)
        for axis in reversed(range(len(places))):
            at = places[axis]
            if at is None:
                return None
            strides = buffer.strides
            step = size if strides is None else self.number(side.of(strides[axis])).term
            total = total + at.term * step
            size = size * self.number(side.of(buffer.shape[axis])).term
        while buffer in self.table.views:
            view = self.table.views[buffer]
            total = total + self.number(side.of(view.offset)).term
            buffer = view.source
        return total

    def meeting(self) -> ModelValues | None:
        """Return small values for which both touch one element; None if there are certainly none.

        Two stores of one same value do not meet. Raises: NoAnswer.
        """
        goal = self.goal
        if self.ask(goal) == self.z3.unsat:
            return None
        a, b = self.values
        if a is not None and b is not None:
            same = self.translation.same(a, b)
            self.add()
            goal = self.z3.And(goal, self.z3.Not(same))
            if self.ask(goal) == self.z3.unsat:
                return None
        found = self.smallest(goal)
        if found is None:
            raise NoAnswer
        return found

    def is_met(self, model: ModelValues) -> bool:
        """Return True if the interpreter finds two stores to meet at the values of a model: all
        conditions true, the indices equal and the values not.

        A load does not meet a store of what its own iteration wrote there before.
        """
        a, b = self.values
        if a is None or b is None or not (self.one.is_exact and self.other.is_exact):
            return False
        if buffer_of(self.one.access) is not buffer_of(self.other.access):
            return False
        try:
            facts = (*self.one.facts, *self.other.facts)
            pairs = zip(self.one.sides, self.other.sides, strict=True)
            return (
                all(bool(model.of(fact)) for fact in facts)
                and all(int(model.of(i)) == int(model.of(j)) for (i, _), (j, _) in pairs)
                and bool(model.of(a) != model.of(b))
            )
        except IRKitError:
            return False

    def shown(self, model: ModelValues) -> str:
        """Return the two iterations and the element as text."""
        return " and ".join([self._access(side, model) for side in (self.one, self.other)])

    def given(self, model: ModelValues) -> str:
        """Return the sizes and scalar parameters as text."""
        free = [
            f"{var.name} = {model.bindings.get(var, 1)}"
            for var in self.table.free
            if var.dtype.is_integer
        ]
        return f", where {', '.join(free)}" if free else ""

    def _access(self, side: PairSide, model: ModelValues) -> str:
        own = [pair[side is self.other] for pair in self.apart]
        values = ", ".join([f"{var.name} = {model.of(var)}" for var in own])
        indices = ", ".join([str(model.of(index)) for index, _ in side.sides])
        verb = "writes" if side.access.kind == "store" else "reads"
        return f"{values} {verb} {side.access.name}[{indices}]"


class NoAnswer(Exception):
    """The solver found neither a proof nor values in its time."""
