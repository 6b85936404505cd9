"""Expressions of the loop IR as terms of z3.

A vector is translated at one unknown lane: what holds there holds in every lane. A load is an
uninterpreted function of its indices, one for each buffer; so is every operation that the algebra
has no exact form for, which a proof may use (it holds whatever the function is) and a refutation
may not.
"""

from collections.abc import Callable
from typing import Any, cast

from irkit.core import children, postorder
from irkit.ir import (
    EQ,
    GE,
    GT,
    I64,
    LE,
    LT,
    NE,
    OPERATIONS,
    U16,
    Add,
    And,
    Binary,
    BitAnd,
    BitOr,
    BitXor,
    Broadcast,
    Buffer,
    Call,
    Cast,
    Compare,
    Conditional,
    Const,
    DType,
    Expr,
    InstructionCall,
    Interval,
    Ldexp,
    Load,
    Max,
    Min,
    Mul,
    Neg,
    Not,
    Or,
    Ramp,
    Reinterpret,
    Select,
    Var,
    evaluate,
    find_instruction,
)
from irkit.ir.arith import Ranges
from irkit.proof.algebra import Abstract, Algebra, Number, Term
from irkit.proof.floats import COMMUTES, Floats, bits_of
from irkit.proof.solver import z3_module

MAX_NODES = 4000


class TooManyNodes(Exception):
    """An expression that is not translated: too large, or of lanes that depend on each other."""


class Translation:
    """Expressions over the same variables, as terms of one context of z3.

    ``conditions`` hold for every value: ranges of variables, and limits of loaded integers.
    ``abstract`` names the operations for which an uninterpreted function stands.
    """

    def __init__(self, algebra: Algebra, context: Any, ranges: Ranges, lanes: int) -> None:
        self.z3 = z3_module()
        self.algebra, self.context, self.ranges, self.lanes = algebra, context, ranges, lanes
        self.floats = Floats(context)
        self.conditions: list[Term] = []
        self.abstract: set[str] = set()
        self.variables: dict[Var, Term] = {}
        self.buffers: dict[Buffer, int] = {}
        self.instructions: dict[Expr, int] = {}
        self.lane: Term = None
        self.done: dict[int, Any] = {}
        self._kept: list[Expr] = []
        self._varies: set[int] = set()
        self._functions: dict[str, Any] = {}
        self._limited: dict[int, Term] = {}
        if lanes > 1:
            number, limits = algebra.variable("lane", U16, 0, lanes - 1)
            self.conditions += limits
            self.lane, self._lane = algebra.value(number, U16), number

    def term(self, expr: Expr) -> Term:
        """Return the value of an expression, of a vector at the unknown lane.

        Raises: TooManyNodes.
        """
        return self._value(self.number(expr), expr.dtype)

    def same(self, a: Expr, b: Expr) -> Term:
        """Return that two expressions of one type have the same value."""
        x, y = self.term(a), self.term(b)
        return self.floats.same(x, y, a.dtype) if a.dtype.is_float else x == y

    def number(self, expr: Expr) -> Any:
        """Return the value of an expression as the algebra keeps it; floats and bools as terms."""
        order = postorder(expr)
        if len(order) + len(self.done) > MAX_NODES:
            raise TooManyNodes
        self._kept.append(expr)  # The table is by identity.
        for visited in order:
            node = cast(Expr, visited)
            if id(node) not in self.done:
                self.done[id(node)] = self._translated(node)
        return self.done[id(expr)]

    def _translated(self, node: Expr) -> Any:
        below = children(node)
        if not self._varies.isdisjoint(map(id, below)) or isinstance(node, (Var, Load)):
            self._varies.add(id(node))
        elif node.dtype.lanes == 1 and _has_floats(node):
            return self._computed(node)
        return _CASES[node.__class__](self, node)

    def _at(self, node: Expr) -> Any:
        return self.done[id(node)]

    def _value(self, number: Any, dtype: DType) -> Term:
        return self.algebra.value(number, dtype) if dtype.is_integer else number

    def sort(self, dtype: DType) -> Any:
        """Return z3's sort of the values of a type."""
        if dtype.is_bool:
            return self.z3.BoolSort(self.context)
        return (self.floats if dtype.is_float else self.algebra).sort(dtype)

    def const(self, node: Const) -> Any:
        return self.constant(node.value, node.dtype)

    def constant(self, value: Any, dtype: DType) -> Any:
        if dtype.is_bool:
            return self.z3.BoolVal(bool(value), self.context)
        if dtype.is_float:
            return self.floats.number(float(value), dtype)
        return self.algebra.number(int(value), dtype)

    def var(self, node: Var) -> Any:
        dtype, name = node.dtype.element, f"v{len(self.variables)}"
        if not dtype.is_integer:
            found = term = self.z3.Const(name, self.sort(dtype))
        else:
            low, high = self._limits(node)
            found, limits = self.algebra.variable(name, dtype, low, high)
            self.conditions += limits
            term = self.algebra.value(found, dtype)
        self.variables[node] = term
        return found

    def _limits(self, var: Var) -> tuple[int, int]:
        known = self.ranges.get(var) or Interval()
        low = var.dtype.low if known.low is None else max(var.dtype.low, known.low)
        high = var.dtype.high if known.high is None else min(var.dtype.high, known.high)
        return (low, high) if low <= high else (var.dtype.low, var.dtype.high)

    def binary(self, node: Binary) -> Any:
        a, b, kind = self._at(node.a), self._at(node.b), node.a.dtype
        if kind.is_bool:
            return self._logic(node.__class__, a, b)
        if kind.is_float:
            return self._of_floats(node, a, b)
        if isinstance(node, Compare):
            return self.algebra.compared(node.__class__, a, b, kind)
        try:
            return self.algebra.operation(node.__class__, a, b, kind)
        except Abstract:
            return self._function(node.__class__.__name__, [a, b], kind, node.dtype)

    def _logic(self, cls: type[Binary], a: Term, b: Term) -> Term:
        return _LOGIC[cls](self.z3, a, b)

    def _of_floats(self, node: Binary, a: Term, b: Term) -> Term:
        cls, dtype = node.__class__, node.a.dtype.element
        if isinstance(node, Compare):
            return self.floats.compared(cls, a, b, dtype)
        if cls in (Min, Max):
            return self.floats.extremum(cls, a, b, dtype)
        kept = self.floats.without_neutral(cls, a, b, dtype)
        if kept is not None:
            return kept
        x, y = self.floats.constant(a, dtype), self.floats.constant(b, dtype)
        if x is not None and y is not None:
            return self._computed(cls(x, y, dtype))
        if cls in COMMUTES and not a.eq(b):  # The smaller vector of bits first.
            swap = self.z3.UGT(a, b)
            a, b = self.z3.If(swap, b, a), self.z3.If(swap, a, b)
        return self._function(cls.__name__, [a, b], dtype, dtype)

    def _computed(self, node: Expr) -> Any:
        """Compute an operation on constants by the interpreter."""
        found = evaluate(node)
        dtype = node.dtype
        if dtype.is_float:
            return self.floats.bits(bits_of(found, dtype), dtype)
        return self.constant(found, dtype)

    def negation(self, node: Neg) -> Any:
        side = self.floats if node.dtype.is_float else self.algebra
        return side.negated(self._at(node.a), node.dtype)

    def inversion(self, node: Not) -> Any:
        a = self._at(node.a)
        return self.z3.Not(a) if node.dtype.is_bool else self.algebra.inverted(a, node.dtype)

    def choice(self, node: Select | Conditional) -> Any:
        cond, a, b = (self._at(part) for part in (node.cond, node.then, node.otherwise))
        return self._chosen(cond, a, b, node.dtype)

    def _chosen(self, cond: Term, a: Any, b: Any, dtype: DType) -> Any:
        if dtype.is_integer:
            return self.algebra.chosen(cond, a, b, dtype)
        return self.z3.If(cond, a, b)

    def cast(self, node: Cast) -> Any:
        a, source, target = self._at(node.value), node.value.dtype.element, node.dtype.element
        if source == target:
            return a
        if target.is_bool:
            if source.is_float:
                return self.z3.Not(self.floats.is_zero(a, source))
            return self.algebra.compared(NE, a, self.constant(0, source), source)
        if source.is_bool:
            one, zero = self.constant(1, target), self.constant(0, target)
            return self._chosen(a, one, zero, target)
        if source.is_integer and target.is_integer:
            return self.algebra.converted(a, source, target)
        if source.is_integer:
            # The same whole number of any type becomes the same float.
            return self._applied(f"to {target}", [self.algebra.whole(a, source)], target)
        return self._function(f"to {target}", [a], source, target)

    def broadcast(self, node: Broadcast) -> Any:
        return self._at(node.value)

    def ramp(self, node: Ramp) -> Any:
        algebra, dtype = self.algebra, node.dtype.element
        steps = algebra.operation(
            Mul, algebra.lane(self._lane, dtype), self._at(node.stride), dtype
        )
        return algebra.operation(Add, self._at(node.base), steps, dtype)

    def load(self, node: Load) -> Any:
        number = self.buffers.setdefault(node.buffer, len(self.buffers))
        indices = [self.index(index) for index in node.indices]
        dtype = node.dtype.element
        found = self._applied(f"b{number}", indices, dtype, [self.algebra.sort(I64)] * len(indices))
        if node.mask is None:
            return found
        return self._chosen(self._at(node.mask), found, self.constant(0, dtype), dtype)

    def index(self, expr: Expr) -> Term:
        """Return a translated index as a term of 64 bits."""
        number, dtype = self._at(expr), expr.dtype.element
        if dtype.is_bool:
            one, zero = self.constant(1, I64), self.constant(0, I64)
            return self.algebra.value(self._chosen(number, one, zero, I64), I64)
        return self.algebra.value(self.algebra.converted(number, dtype, I64), I64)

    def call(self, node: Call) -> Any:
        args, kind = [self._at(arg) for arg in node.args], node.args[0].dtype.element
        if kind.is_integer:
            try:
                return self.algebra.called(node.name, args, kind)
            except Abstract:
                return self._function(node.name, args, kind, node.dtype.element)
        found = self.floats.called(node.name, args[0], kind)
        if found is not None:
            return found
        plain = [self.floats.constant(arg, kind) for arg in args]
        known = [each for each in plain if each is not None]
        if len(known) == len(args):
            return self._computed(Call(node.name, tuple(known), node.dtype.element))
        return self._function(node.name, args, kind, node.dtype.element)

    def reinterpret(self, node: Reinterpret) -> Any:
        """Return a function of the number of which nothing more is known."""
        source, target = node.value.dtype.element, node.dtype.element
        return self._function(f"bits as {target}", [self._at(node.value)], source, target)

    def ldexp(self, node: Ldexp) -> Any:
        kind, whole = node.dtype.element, node.exponent.dtype.element
        value = self._value(self._at(node.value), kind)
        exponent = self.algebra.whole(self._at(node.exponent), whole)
        return self._applied(f"ldexp of {kind}", [value, exponent], kind)

    def instruction(self, node: InstructionCall) -> Any:
        """Return one unknown function of the lane for all equal calls: each mixes lanes."""
        row = find_instruction(node.name)
        if row is None or row.argument_problem(node.args) or node.dtype.lanes != self.lanes:
            raise TooManyNodes  # Not a value at the unknown lane.
        number = self.instructions.setdefault(node, len(self.instructions))
        return self._applied(f"{node.name} {number}", [self.lane], node.dtype.element)

    def _function(self, name: str, args: list[Number], source: DType, target: DType) -> Any:
        """Apply an uninterpreted function to arguments of one type."""
        element = source.element
        terms = [self._value(arg, element) for arg in args]
        return self._applied(f"{name} of {element}", terms, target.element)

    def _applied(
        self, name: str, args: list[Term], target: DType, sorts: list[Any] | None = None
    ) -> Any:
        made = self._functions.get(name)
        if made is None:
            if sorts is None:
                self.abstract.add(name)
                sorts = [arg.sort() for arg in args]
            made = self._functions[name] = self.z3.Function(name, *sorts, self.sort(target))
        found = made(*args)
        if not target.is_integer:
            return found
        number, limits = self.algebra.known(found, target)
        if found.get_id() not in self._limited:
            self._limited[found.get_id()] = found
            self.conditions += limits
        return number

    def loaded(self, buffer: Buffer) -> Any:
        """Return the function of z3 that stands for the elements of a buffer."""
        return self._functions[f"b{self.buffers[buffer]}"]


def _has_floats(node: Expr) -> bool:
    return node.dtype.is_float or any(cast(Expr, each).dtype.is_float for each in children(node))


_LOGIC: dict[type[Binary], Callable[[Any, Term, Term], Term]] = {
    **dict.fromkeys((And, BitAnd, Min), lambda z3, a, b: z3.And(a, b)),
    **dict.fromkeys((Or, BitOr, Max), lambda z3, a, b: z3.Or(a, b)),
    **dict.fromkeys((NE, BitXor), lambda z3, a, b: z3.Xor(a, b)),
    EQ: lambda z3, a, b: a == b,
    LT: lambda z3, a, b: z3.And(z3.Not(a), b),
    LE: lambda z3, a, b: z3.Or(z3.Not(a), b),
    GT: lambda z3, a, b: z3.And(a, z3.Not(b)),
    GE: lambda z3, a, b: z3.Or(a, z3.Not(b)),
}
_CASES: dict[type[Expr], Callable[[Translation, Any], Any]] = {
    **dict.fromkeys(OPERATIONS, Translation.binary),
    Const: Translation.const,
    Var: Translation.var,
    Neg: Translation.negation,
    Not: Translation.inversion,
    Select: Translation.choice,
    Conditional: Translation.choice,
    Cast: Translation.cast,
    Reinterpret: Translation.reinterpret,
    Ldexp: Translation.ldexp,
    Broadcast: Translation.broadcast,
    Ramp: Translation.ramp,
    Load: Translation.load,
    Call: Translation.call,
    InstructionCall: Translation.instruction,
}
