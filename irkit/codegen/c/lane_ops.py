"""Expansions of functions as C: a helper function for each function and number of lanes."""

from collections.abc import Callable
from typing import Any

from irkit.codegen.c import helpers
from irkit.codegen.c.types import element_type, float_literal, lane
from irkit.codegen.c.writer import SourceText, without_unused
from irkit.codegen.llvm.builder.types import nearest
from irkit.core import IRKitError, postorder
from irkit.ir import (
    EQ,
    F32,
    GE,
    GT,
    INTRINSICS,
    LT,
    NE,
    Add,
    Binary,
    BitAnd,
    BitOr,
    BitXor,
    Broadcast,
    Call,
    Cast,
    Compare,
    Const,
    Div,
    DType,
    Expr,
    Mul,
    Neg,
    Reinterpret,
    Select,
    Shl,
    Shr,
    Sub,
    Var,
)
from irkit.ir.math import POLYNOMIALS, expansion as expanded, math_features

_SIGNS: dict[type[Binary], str] = {
    Add: "+", Sub: "-", Mul: "*", Div: "/", Shl: "<<", Shr: ">>", BitAnd: "&", BitOr: "|",
    BitXor: "^",
}  # fmt: skip
_TESTS: dict[type[Compare], str] = {LT: "<", GT: ">", GE: ">=", EQ: "==", NE: "!="}
_STRICT = {"strict_add": "+", "strict_sub": "-", "strict_mul": "*"}


class LaneCode:
    """Writer of an expansion, scalar or vector: a line for each operation.

    A condition is an ``int``, or a vector of integers that are 0 or -1, as wide as what is
    compared: no such vector is narrowed to bools and widened again.
    """

    def __init__(self, source: SourceText, names: dict[Var, str], lines: list[str]) -> None:
        self.source, self.names, self.lines = source, names, lines
        self.fuses = math_features(source.target).fuses
        self.texts: dict[int, str] = {}

    def text(self, root: Expr) -> str:
        """Write the lines of an expression; return the name of its value, or a constant."""
        for node in postorder(root):
            emit = _EMIT.get(node.__class__)
            if emit is None:
                raise IRKitError(f"an expansion cannot hold a {type(node).__name__}")
            self.texts[id(node)] = emit(self, node)
        return self.texts[id(root)]

    def _of(self, node: Expr) -> str:
        return self.texts[id(node)]

    def kind(self, dtype: DType, letter: str = "") -> str:
        """Return the C type of a value, or of integers as wide that ``letter`` tells."""
        name = letter + lane(dtype)[1:] if letter else lane(dtype)
        return element_type(name) if dtype.lanes == 1 else self.source.vector(name, dtype.lanes)

    def _new(self, kind: str, text: str) -> str:
        name = f"t{len(self.lines)}"
        self.lines.append(f"const {kind} {name} = {text};")
        return name

    def _each(self, dtype: DType, call: str, *args: str) -> str:
        """Call a function for every lane."""
        kind = self.kind(dtype)
        if dtype.lanes == 1:
            return self._new(kind, f"{call}({', '.join(args)})")
        args = tuple([self._spread(dtype, arg) for arg in args])
        name = f"t{len(self.lines)}"
        picked = ", ".join(f"{arg}[lane]" for arg in args)
        self.lines.append(
            f"{kind} {name} = {self.source.zeros(kind)};\n"
            f"    for (int lane = 0; lane < {dtype.lanes}; ++lane) {name}[lane] = {call}({picked});"
        )
        return name

    def _spread(self, dtype: DType, x: str) -> str:
        """Return a value whose lanes can be picked."""
        if dtype.lanes == 1 or x.isidentifier():
            return x
        kind = self.kind(dtype)
        return self._new(kind, f"{x} - {self.source.zeros(kind)}")

    # One method per expression class.

    def var(self, node: Var) -> str:
        return self.names[node]

    def const(self, node: Const) -> str:
        dtype = node.dtype
        if dtype.is_integer:
            return f"{node.value}{'u' if dtype.kind == 'u' else ''}{'ll' * (dtype.bits == 64)}"
        text = float_literal(nearest(float(node.value), dtype), dtype.bits)
        if text.lstrip("-") in ("NAN", "INFINITY") and dtype.bits == 64:
            text = f"(double){text}"
        return f"({text})" if text[0] in "-(NI" else text

    def broadcast(self, node: Broadcast) -> str:
        return self._of(node.value)  # A constant meets a vector.

    def binary(self, node: Binary) -> str:
        sign = _SIGNS[type(node)]
        return self._new(self.kind(node.dtype), f"{self._of(node.a)} {sign} {self._of(node.b)}")

    def compare(self, node: Compare) -> str:
        kind = "int" if node.dtype.lanes == 1 else self.kind(node.a.dtype, "i")
        return self._new(kind, f"{self._of(node.a)} {_TESTS[type(node)]} {self._of(node.b)}")

    def neg(self, node: Neg) -> str:
        return self._new(self.kind(node.dtype), f"-{self._of(node.a)}")

    def call(self, node: Call) -> str:
        dtype, args = node.dtype, [self._of(arg) for arg in node.args]
        end, kind = "" if dtype.bits == 64 else "f", self.kind(dtype)
        if node.name in _STRICT:
            return self._new(kind, f"{args[0]} {_STRICT[node.name]} {args[1]}")
        if node.name == "abs" and dtype.lanes > 1:
            size = "0x7FFFFFFFFFFFFFFFull" if dtype.bits == 64 else "0x7FFFFFFFu"
            return self._new(kind, f"({kind})(({self.kind(dtype, 'u')}){args[0]} & {size})")
        if node.name == "muladd" and not self.fuses:
            product = self._new(kind, f"{args[0]} * {args[1]}")
            return self._new(kind, f"{product} + {args[2]}")
        name = {"muladd": "fma", "abs": "fabs"}.get(node.name, node.name)
        return self._each(dtype, name + end, *args)

    def reinterpret(self, node: Reinterpret) -> str:
        value, old, new = self._of(node.value), node.value.dtype, node.dtype
        if new.lanes > 1 or old.is_float == new.is_float:
            return self._new(self.kind(new), f"({self.kind(new)}){value}")
        make = helpers.bits_of if old.is_float else helpers.of_bits
        return self._new(self.kind(new), f"{make(self.source, new.bits == 64)}({value})")

    def cast(self, node: Cast) -> str:
        value, old, new = self._of(node.value), node.value.dtype, node.dtype
        kind = self.kind(new)
        if isinstance(node.value, (Const, Broadcast)) and new.is_integer:
            return f"({element_type(lane(new))}){value}"
        if new.lanes == 1 or (old.is_integer and old.bits == new.bits):
            return self._new(kind, f"({kind}){value}")
        return self._new(kind, f"__builtin_convertvector({value}, {kind})")

    def select(self, node: Select) -> str:
        dtype, test = node.dtype, self._of(node.cond)
        kind, a, b = self.kind(dtype), self._of(node.then), self._of(node.otherwise)
        if dtype.lanes == 1:
            return self._new(kind, f"{test} ? {a} : {b}")
        bits = self.kind(dtype, "u")
        left, right = (f"({bits}){self._spread(dtype, x)}" for x in (a, b))
        mask = f"({bits}){test}"
        return self._new(kind, f"({kind})(({left} & {mask}) | ({right} & ~{mask}))")


_EMIT: dict[type[Any], Callable[[LaneCode, Any], str]] = {
    Var: LaneCode.var,
    Const: LaneCode.const,
    Broadcast: LaneCode.broadcast,
    **dict.fromkeys(_SIGNS, LaneCode.binary),
    **dict.fromkeys(_TESTS, LaneCode.compare),
    Neg: LaneCode.neg,
    Call: LaneCode.call,
    Reinterpret: LaneCode.reinterpret,
    Cast: LaneCode.cast,
    Select: LaneCode.select,
}


def has_helper(name: str, dtype: DType) -> bool:
    """Return True if a function of a type is written as a helper by its expansion."""
    return (name, "f64" if dtype.bits == 64 else "f32") in POLYNOMIALS


def expansion(source: SourceText, name: str, dtype: DType) -> str:
    """Return the helper function that computes a function of f32 or f64 by its expansion.

    That of vectors takes pointers: ``void irkit_exp_f32x8(f32x8 *y, const f32x8 *x)``.
    """
    dtype = dtype if dtype.bits == 64 else F32.with_lanes(dtype.lanes)
    full = f"irkit_{name}_{dtype}"

    def make() -> str:
        operands = INTRINSICS[name].params
        names = {Var(given, dtype): given for given in operands}
        body = expanded(Call(name, tuple(names), dtype), math_features(source.target))
        assert body is not None
        lines = list[str]()
        writer = LaneCode(source, names, lines)
        kind = writer.kind(dtype)
        if dtype.lanes > 1:
            lines.extend(f"const {kind} {given} = *{given}_at;" for given in operands)
        result = writer.text(body)
        lines.append(f"return {result};" if dtype.lanes == 1 else f"*result = {result};")
        text = "\n    ".join(without_unused(lines)[0])
        if dtype.lanes == 1:
            params = ", ".join(f"{kind} {given}" for given in operands)
            return f"static inline {kind} {full}({params}) {{\n    {text}\n}}"
        params = ", ".join(f"const {kind} *{given}_at" for given in operands)
        return f"static inline void {full}({kind} *result, {params}) {{\n    {text}\n}}"

    return source.helper(full, make)
