"""Compile expressions to operations on registers, once per function.

Shared nodes are computed once. ``Conditional``, ``And`` and ``Or`` become jumps only if the side
that can be skipped contains a load, because nothing else can fail. All other sides are computed in
advance, which keeps shared expressions from multiplying.
"""

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from irkit.core import IRKitError, Node, Span, children, postorder
from irkit.ir.buffer import Buffer, Load, Ramp
from irkit.ir.conditional import Conditional, Select
from irkit.ir.dtype import I64, DType
from irkit.ir.expr import And, Binary, Broadcast, Cast, Const, Expr, Neg, Not, Or, Var
from irkit.ir.interp.assembler import GROWTH, Assembler
from irkit.ir.interp.memory import BufferRegisters, load_lanes, load_one
from irkit.ir.interp.values import (
    binary_function,
    call_function,
    cast_function,
    constant,
    lanes_and,
    lanes_not,
    ramp,
    reinterpretation,
    repeat,
    scaled,
)
from irkit.ir.intrinsics import Call, InstructionCall, Ldexp, Reinterpret


class ExpressionCompiler:
    """Compiler of the expressions of one function.

    ``variables`` and ``places`` map symbols to their registers; ``instruction`` returns the
    function that an instruction computes.
    """

    instruction: Callable[[str], Callable[..., Any]]

    def __init__(self, code: Assembler) -> None:
        self.code = code
        self.variables: dict[Node, int] = {}
        self.places: dict[Node, BufferRegisters] = {}
        self.known: dict[int, int] = {}
        self.guarded: set[int] = set()
        # The expressions computed so far in each side of a choice around the current place.
        self.sides: list[list[int]] = []
        # The registers of active-lane masks, by number of lanes.
        self.masks: dict[int, list[int]] = {}

    def begin(self, span: Span | None) -> None:
        """Start a statement: values computed for the previous one are no longer valid."""
        self.code.span = span
        self.known = {}

    def value(self, expr: Expr) -> int:
        """Compile an expression, and return the register of its value."""
        if not isinstance(expr, (Const, Var)):
            self._find_guards(expr)
        return self._value(expr)

    def index(self, expr: Expr) -> int:
        """Compile an expression whose value is used as an i64."""
        register = self.value(expr)
        return register if expr.dtype == I64 else self._as_index(register, expr.dtype)

    def _as_index(self, register: int, dtype: DType) -> int:
        if dtype.element == I64:
            return register
        return self.code.unary(cast_function(dtype, I64.with_lanes(dtype.lanes)), register)

    def _find_guards(self, root: Expr) -> None:
        """Record the choices that must jump: those with a load in a side that can be skipped."""
        self.guarded = set()
        loads: set[int] = set()
        order = postorder(root)
        self.code.allowed += GROWTH * len(order)
        for node in order:
            if isinstance(node, Load) or any(id(child) in loads for child in children(node)):
                loads.add(id(node))
            match node:
                case And(_, b) | Or(_, b) if id(b) in loads:
                    self.guarded.add(id(node))
                case Conditional(_, a, b) if id(a) in loads or id(b) in loads:
                    self.guarded.add(id(node))
                case _:
                    pass

    def _value(self, node: Expr) -> int:
        if id(node) in self.known:
            return self.known[id(node)]
        if isinstance(node, Var):
            if node not in self.variables:
                raise IRKitError(f"variable {node.name!r} has no value here", span=self.code.span)
            register = self.variables[node]
        elif isinstance(node, Const):
            register = self.code.constant(constant(node.value, node.dtype))
        else:
            register = self._choice(node) if id(node) in self.guarded else self.operation(node)
            if self.sides:
                self.sides[-1].append(id(node))
        self.known[id(node)] = register
        return register

    def operation(self, node: Expr) -> int:
        """Compile an expression that is no choice, after its operands."""
        for child in children(node):
            self._value(child)  # pyright: ignore[reportArgumentType] -- expressions hold expressions
        return EMIT[type(node)](self, node)

    def at(self, node: Expr) -> int:
        """Return the register of a node that is already compiled."""
        return self.known[id(node)]

    # Choices. With one lane they jump. With several, each side is evaluated in its lanes, under a
    # mask that its loads obey, and skipped if it has no lanes.

    def _choice(self, node: Expr) -> int:
        match node:
            case Conditional(cond, then, otherwise):
                sides = then, otherwise
            case And(cond, b):
                sides = b, None
            case Or(cond, b):
                sides = None, b
            case _:
                raise AssertionError(node)
        code, test, lanes = self.code, self._value(cond), cond.dtype.lanes
        # A side that is left out, or that no lane takes, has a neutral result.
        kind, lazy = node.dtype.element, isinstance(node, Conditional)
        neutral = [constant(0 if lazy else value, kind) for value in (True, False)]
        results = code.register(), code.register()
        for result, value in zip(results, neutral, strict=True):
            code.move(result, code.constant(value))
        masks = [test, code.unary(lanes_not, test)]
        outer = self.active(lanes) if lanes > 1 else None
        if outer is not None:
            masks = [code.binary(lanes_and, outer, mask) for mask in masks]
        for side, mask, result in zip(sides, masks, results, strict=True):
            if side is not None:
                self._side(side, lanes, mask, result)
        return code.nary(_pick if lanes == 1 else np.where, (test, *results))

    def active(self, lanes: int) -> int | None:
        """Return the register of the mask of lanes that are evaluated here, or None for all."""
        found = self.masks.get(lanes)
        return found[-1] if found else None

    def _side(self, side: Expr, lanes: int, mask: int, result: int) -> None:
        code = self.code
        body, join = code.label(), code.label()
        any_lane = mask if lanes == 1 else code.unary(np.any, mask)
        code.branch(any_lane, body, join, body)
        if lanes > 1:
            self.masks.setdefault(lanes, []).append(mask)
        self.sides.append([])
        code.move(result, self._value(side))
        code.goto(join, join)
        if lanes > 1:
            self.masks[lanes].pop()
        for key in self.sides.pop():  # Computed on one path only, so not available on the other.
            del self.known[key]

    # One method per expression class.

    def binary_(self, node: Binary) -> int:
        function = binary_function(type(node), node.a.dtype)
        return self.code.binary(function, self.at(node.a), self.at(node.b))

    def not_(self, node: Not) -> int:
        return self.code.unary(lanes_not, self.at(node.a))

    def neg(self, node: Neg) -> int:
        return self.code.unary(operator.neg, self.at(node.a))

    def cast(self, node: Cast) -> int:
        if node.value.dtype == node.dtype:
            return self.at(node.value)
        return self.code.unary(cast_function(node.value.dtype, node.dtype), self.at(node.value))

    def reinterpret(self, node: Reinterpret) -> int:
        return self.code.unary(reinterpretation(node.dtype), self.at(node.value))

    def ldexp(self, node: Ldexp) -> int:
        function = scaled(node.dtype)
        return self.code.binary(function, self.at(node.value), self.at(node.exponent))

    def select(self, node: Select | Conditional) -> int:
        function = _pick if node.cond.dtype.lanes == 1 else np.where
        args = (self.at(node.cond), self.at(node.then), self.at(node.otherwise))
        return self.code.nary(function, args)

    def call(self, node: Call) -> int:
        if not node.args:
            raise IRKitError(
                f"{node.name} has no value; it can only be used as a statement",
                span=self.code.span,
            )
        function = call_function(node.name, node.args[0].dtype)
        return self.code.nary(function, tuple(self.at(arg) for arg in node.args))

    def instruction_call(self, node: InstructionCall) -> int:
        return self.code.nary(self.instruction(node.name), tuple(self.at(arg) for arg in node.args))

    def load(self, node: Load) -> int:
        place = self.place(node.buffer)
        indices = [self._as_index(self.at(index), index.dtype) for index in node.indices]
        self.check_rank(place, len(indices))
        mask = None if node.mask is None else self.at(node.mask)
        outer = self.active(node.dtype.lanes) if node.dtype.lanes > 1 else None
        if outer is not None:
            mask = outer if mask is None else self.code.binary(lanes_and, mask, outer)
        self.before_load(place, indices, mask, node.dtype.lanes)
        to = self.code.register()
        if mask is None and node.dtype.lanes == 1:
            self.code.emit(load_one(place, indices, to, self.code.span))
        else:
            self.code.emit(load_lanes(place, indices, mask, to, node.dtype, self.code.span))
        return to

    def before_load(
        self, place: BufferRegisters, indices: list[int], mask: int | None, lanes: int
    ) -> None:
        """Add operations before a load, whose operands are ready: none here."""

    def place(self, buffer: Buffer) -> BufferRegisters:
        """Return the registers of a buffer."""
        found = self.places.get(buffer)
        if found is None:
            raise IRKitError(f"buffer {buffer.name!r} is not known here", span=self.code.span)
        return found

    def check_rank(self, place: BufferRegisters, count: int) -> None:
        if count != len(place.shape):
            raise IRKitError(
                f"{place.name} has {len(place.shape)} dimensions, found {count} indices",
                span=self.code.span,
            )

    def ramp(self, node: Ramp) -> int:
        return self.code.binary(ramp(node.dtype), self.at(node.base), self.at(node.stride))

    def broadcast(self, node: Broadcast) -> int:
        return self.code.unary(repeat(node.dtype.lanes), self.at(node.value))


def _pick(cond: Any, then: Any, otherwise: Any) -> Any:
    return then if cond else otherwise


def _emitters() -> Mapping[type[Expr], Callable[[ExpressionCompiler, Any], int]]:
    compiler = ExpressionCompiler
    table: dict[type[Expr], Callable[[ExpressionCompiler, Any], int]] = {
        Not: compiler.not_,
        Neg: compiler.neg,
        Cast: compiler.cast,
        Reinterpret: compiler.reinterpret,
        Ldexp: compiler.ldexp,
        Select: compiler.select,
        Conditional: compiler.select,
        Call: compiler.call,
        InstructionCall: compiler.instruction_call,
        Load: compiler.load,
        Ramp: compiler.ramp,
        Broadcast: compiler.broadcast,
    }
    return table


class _EmitterTable(dict[type[Expr], Callable[[ExpressionCompiler, Any], int]]):
    def __missing__(self, cls: type[Expr]) -> Callable[[ExpressionCompiler, Any], int]:
        if issubclass(cls, Binary):
            return ExpressionCompiler.binary_
        raise AssertionError(f"the interpreter has no case for {cls.__name__}")


EMIT = _EmitterTable(_emitters())
