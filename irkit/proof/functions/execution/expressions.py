"""Expressions as Python functions of a state.

A function that is made for an expression calls those of its operands, so nothing here is evaluated
that the interpreter does not evaluate.
"""

from collections.abc import Callable
from typing import Any

from irkit.core import children, postorder
from irkit.ir import (
    BOOL,
    I64,
    OPERATIONS,
    Add,
    And,
    Binary,
    Broadcast,
    Buffer,
    Call,
    Cast,
    Compare,
    Conditional,
    Const,
    DType,
    Expr,
    Load,
    Mul,
    Neg,
    Not,
    Or,
    Ramp,
    Select,
    Var,
)
from irkit.proof.functions.execution.memory import Place
from irkit.proof.functions.execution.state import SymbolicState
from irkit.proof.functions.execution.terms import PLAIN, NotExecuted, Value, wrapped

Evaluate = Callable[[], Value]
MOST_NODES = 20_000
"""Operations of one expression, counted each time it is used."""


class Expressions:
    """Makes functions for expressions; each variable and buffer has a slot of the state."""

    def __init__(self, state: SymbolicState) -> None:
        self.state = state
        self._slot: dict[Var | Buffer, int] = {}

    def slot(self, symbol: Var | Buffer) -> int:
        """Return the slot of a symbol, which may be bound later."""
        found = self._slot.get(symbol)
        if found is None:
            found = self._slot[symbol] = len(self.state.slots)
            self.state.slots.append(None)
        return found

    def cost(self, *exprs: Expr) -> int:
        """Return the number of operations that expressions take.

        Raises: NotExecuted if there are too many.
        """
        total = 0
        for expr in exprs:
            below: dict[int, int] = {}
            for node in postorder(expr):
                lanes = node.dtype.lanes if isinstance(node, Expr) else 1
                below[id(node)] = lanes + sum([below[id(each)] for each in children(node)])
            total += below[id(expr)]
        if total > MOST_NODES:
            raise NotExecuted("an expression is too large")
        return total

    def value(self, expr: Expr) -> Evaluate:
        """Return a function that evaluates an expression."""
        made = _CASES.get(expr.__class__)
        if made is None:
            raise NotExecuted(f"it holds {expr.__class__.__name__}")
        return made(self, expr)

    def wide(self, expr: Expr, lanes: int) -> Evaluate:
        """Return a function that gives a list of lanes, also for a scalar."""
        inner = self.value(expr)
        return inner if expr.dtype.lanes > 1 else lambda: [inner()] * lanes

    def index(self, expr: Expr) -> Evaluate:
        """Return a function that gives an index as a number of 64 bits."""
        inner, of, terms = self.value(expr), expr.dtype.element, self.state.terms

        def one(value: Value) -> Value:
            if not isinstance(value, Expr):
                return int(value)
            return value if of == I64 else terms.unary(Cast, value, I64, of)

        if expr.dtype.lanes == 1:
            return lambda: one(inner())
        return lambda: [one(value) for value in inner()]

    # One method for each class of expressions.

    def const(self, node: Const) -> Evaluate:
        dtype = node.dtype
        value = self.state.terms.constant(node.value, dtype) if dtype.is_float else node.value
        return lambda: value

    def var(self, node: Var) -> Evaluate:
        slots, at = self.state.slots, self.slot(node)
        return lambda: slots[at]

    def binary(self, node: Binary) -> Evaluate:
        if isinstance(node, (And, Or)):
            return self._lazy(node)
        a, b = self.value(node.a), self.value(node.b)
        one = self._operation(node.__class__, node.dtype.element, node.a.dtype.element)
        if node.dtype.lanes == 1:
            return lambda: one(a(), b())
        return lambda: [one(x, y) for x, y in zip(a(), b(), strict=True)]

    def _operation(
        self, cls: type[Binary], dtype: DType, of: DType
    ) -> Callable[[Value, Value], Value]:
        terms = self.state.terms
        plain = PLAIN.get(cls) if of.is_integer else None

        def slow(x: Value, y: Value) -> Value:
            return terms.binary(cls, x, y, dtype, of)

        if plain is None:
            return slow
        if issubclass(cls, Compare):
            return lambda x, y: plain(x, y) if x.__class__ is int is y.__class__ else slow(x, y)
        low, high = dtype.low, dtype.high

        def fast(x: Value, y: Value) -> Value:
            if x.__class__ is int is y.__class__:
                found = plain(x, y)
                return found if low <= found <= high else wrapped(found, dtype)
            return slow(x, y)

        return fast

    def _lazy(self, node: Binary) -> Evaluate:
        """Evaluate the right side where the left does not decide."""
        a, b, state = self.value(node.a), self.value(node.b), self.state
        cls, is_and = node.__class__, isinstance(node, And)
        if node.dtype.lanes > 1:
            return lambda: self._lazy_lanes(cls, a(), b)

        def value() -> Value:
            left = a()
            if isinstance(left, bool):
                return b() if left is is_and else left
            with state.under(left if is_and else state.terms.inverse(left)):
                right = b()
            return state.terms.binary(cls, left, right, BOOL, BOOL)

        return value

    def _lazy_lanes(self, cls: type[Binary], left: list[Value], b: Evaluate) -> list[Value]:
        terms = self.state.terms
        open_ = left if cls is And else [terms.inverse(each) for each in left]
        right = self._in_lanes(open_, b)
        return [terms.binary(cls, x, y, BOOL, BOOL) for x, y in zip(left, right, strict=True)]

    def _in_lanes(self, conds: list[Value], inner: Evaluate) -> list[Value]:
        """Evaluate a vector only in the lanes where a condition holds."""
        state, terms = self.state, self.state.terms
        if not any(each is not False for each in conds):
            return [False] * len(conds)  # No lane is looked at.
        outer = state.lanes
        if outer is not None:
            if len(outer) != len(conds):
                raise NotExecuted("vectors of different lengths are chosen from")
            conds = [terms.both(x, y) for x, y in zip(outer, conds, strict=True)]
        state.lanes = conds
        try:
            return inner()
        finally:
            state.lanes = outer

    def choice(self, node: Select | Conditional) -> Evaluate:
        cond, a, b = self.value(node.cond), self.value(node.then), self.value(node.otherwise)
        state, terms, dtype = self.state, self.state.terms, node.dtype.element
        lazy = isinstance(node, Conditional)
        if node.cond.dtype.lanes > 1:
            return lambda: self._chosen_lanes(cond(), a, b, dtype, lazy=lazy)
        lanes = node.dtype.lanes

        def value() -> Value:
            test = cond()
            if lazy and isinstance(test, bool):
                return a() if test else b()
            if lazy:
                with state.under(test):
                    x = a()
                with state.under(terms.inverse(test)):
                    y = b()
            else:
                x, y = a(), b()
            if lanes == 1:
                return terms.chosen(test, x, y, dtype)
            return [terms.chosen(test, p, q, dtype) for p, q in zip(x, y, strict=True)]

        return value

    def _chosen_lanes(
        self, test: list[Value], a: Evaluate, b: Evaluate, dtype: DType, *, lazy: bool
    ) -> list[Value]:
        terms = self.state.terms
        if lazy:
            x = self._in_lanes(test, a)
            y = self._in_lanes([terms.inverse(each) for each in test], b)
        else:
            x, y = a(), b()
        # A lane that was not evaluated is never chosen.
        return [terms.chosen(c, p, q, dtype) for c, p, q in zip(test, x, y, strict=True)]

    def unary(self, node: Neg | Not | Cast) -> Evaluate:
        operand = node.value if isinstance(node, Cast) else node.a
        inner, of, dtype = self.value(operand), operand.dtype.element, node.dtype.element
        cls, terms = node.__class__, self.state.terms

        def one(x: Value) -> Value:
            if x.__class__ is int and dtype.is_integer and cls is not Not:
                return wrapped(x if cls is Cast else -x, dtype)
            return not x if isinstance(x, bool) and cls is Not else terms.unary(cls, x, dtype, of)

        if of == dtype and cls is Cast:
            return inner
        if node.dtype.lanes == 1:
            return lambda: one(inner())
        return lambda: [one(x) for x in inner()]

    def broadcast(self, node: Broadcast) -> Evaluate:
        return self.wide(node.value, node.dtype.lanes)

    def ramp(self, node: Ramp) -> Evaluate:
        base, stride, dtype = self.value(node.base), self.value(node.stride), node.dtype.element
        add, times = self._operation(Add, dtype, dtype), self._operation(Mul, dtype, dtype)
        lanes = [wrapped(lane, dtype) for lane in range(node.dtype.lanes)]

        def value() -> Value:
            first, step = base(), stride()
            return [add(first, times(lane, step)) for lane in lanes]

        return value

    def call(self, node: Call) -> Evaluate:
        args = [self.value(arg) for arg in node.args]
        if not args or node.dtype.lanes != node.args[0].dtype.lanes:
            raise NotExecuted(f"it evaluates {node.name}")
        of, dtype, terms = node.args[0].dtype.element, node.dtype.element, self.state.terms
        name = node.name
        if node.dtype.lanes == 1:
            return lambda: terms.called(name, [arg() for arg in args], dtype, of)
        return lambda: [
            terms.called(name, each, dtype, of)
            for each in zip(*[arg() for arg in args], strict=True)
        ]

    def load(self, node: Load) -> Evaluate:
        state, at, name, lanes = (
            self.state,
            self.slot(node.buffer),
            node.buffer.name,
            node.dtype.lanes,
        )
        slots, dtype = state.slots, node.dtype.element
        if lanes == 1 and node.mask is None:
            indices = [self.index(index) for index in node.indices]

            def scalar() -> Value:
                outer = state.lanes
                if outer is None:
                    return state.load(slots[at], [index() for index in indices], name, True)
                return self._scalar_in_lanes(slots[at], indices, name, outer)

            return scalar
        if lanes == 1:
            raise NotExecuted("a load of one element has a mask")
        wide = [self._wide_index(index, lanes) for index in node.indices]
        mask = None if node.mask is None else self.wide(node.mask, lanes)
        zero = False if dtype.is_bool else 0
        rest = state.terms.constant(0.0, dtype) if dtype.is_float else zero
        return lambda: self._vector_load(slots[at], wide, mask, name, rest)

    def _wide_index(self, expr: Expr, lanes: int) -> Evaluate:
        inner = self.index(expr)
        return inner if expr.dtype.lanes > 1 else lambda: [inner()] * lanes

    def _scalar_in_lanes(
        self, place: Place, indices: list[Evaluate], name: str, lanes: list[Value]
    ) -> Value:
        """Load an element if any lane needs it."""
        terms = self.state.terms
        needed: Value = False
        for each in lanes:
            needed = terms.binary(Or, needed, each, BOOL, BOOL)
        return self.state.load(place, [index() for index in indices], name, needed)

    def _vector_load(
        self,
        place: Place,
        indices: list[Evaluate],
        mask: Evaluate | None,
        name: str,
        rest: Value,
    ) -> list[Value]:
        state, terms, dtype = self.state, self.state.terms, place.memory.dtype
        rows = list(zip(*[index() for index in indices], strict=True))
        shown: list[Value] = [True] * len(rows) if mask is None else mask()
        outer = state.lanes
        if outer is not None and len(outer) != len(rows):
            raise NotExecuted("vectors of different lengths are chosen from")
        found: list[Value] = []
        for lane, row in enumerate(rows):
            cond = shown[lane] if outer is None else terms.both(shown[lane], outer[lane])
            if cond is False:
                found.append(rest)
            else:
                value = state.load(place, row, name, cond)
                found.append(terms.chosen(shown[lane], value, rest, dtype))
        return found


_CASES: dict[type[Expr], Callable[[Expressions, Any], Evaluate]] = {
    **dict.fromkeys(OPERATIONS, Expressions.binary),
    Const: Expressions.const,
    Var: Expressions.var,
    Neg: Expressions.unary,
    Not: Expressions.unary,
    Cast: Expressions.unary,
    Select: Expressions.choice,
    Conditional: Expressions.choice,
    Broadcast: Expressions.broadcast,
    Ramp: Expressions.ramp,
    Load: Expressions.load,
    Call: Expressions.call,
}
