"""Arithmetic of expansions as C: a helper function for each function and number of lanes."""

from irkit.codegen.c import helpers
from irkit.codegen.c.types import element_type, float_literal, lane
from irkit.codegen.c.writer import SourceText, without_unused
from irkit.codegen.llvm.builder.types import nearest
from irkit.codegen.math.lane_arithmetic import LaneArithmetic
from irkit.codegen.math.polynomials import POLYNOMIALS
from irkit.ir import F32, F64, INTRINSICS, DType

_SIGNS = {"add": "+", "sub": "-", "shl": "<<", "lshr": ">>", "and": "&", "or": "|", "xor": "^"}
_TESTS = {"olt": "<", "ogt": ">", "ole": "<=", "oge": ">=", "oeq": "==", "une": "!="}
_WHOLE_TESTS = {"eq": "==", "ne": "!=", "slt": "<"}


class LaneCode(LaneArithmetic):
    """Writer of C on f32 or f64, scalar or vector: a line for each operation.

    A condition is an ``int``, or a vector of integers that are 0 or -1, as wide as the floats.
    """

    def __init__(self, source: SourceText, dtype: DType, lines: list[str]) -> None:
        super().__init__(dtype, fuses="+fma" in source.target.features, scales=False)
        self.source, self.lines = source, lines
        self.double = dtype.bits == 64
        self.kind, self.bits, self.signed = (self._type(name) for name in self._lanes())

    def _lanes(self) -> tuple[str, str, str]:
        name = lane(self.dtype)
        return name, "u" + name[1:], "i" + name[1:]

    def _type(self, name: str) -> str:
        one = self.dtype.lanes == 1
        return element_type(name) if one else self.source.vector(name, self.dtype.lanes)

    def _new(self, kind: str, text: str) -> str:
        name = f"t{len(self.lines)}"
        self.lines.append(f"const {kind} {name} = {text};")
        return name

    def _each(self, call: str, *args: str) -> str:
        """Call a function for every lane."""
        if self.dtype.lanes == 1:
            return self._new(self.kind, f"{call}({', '.join(args)})")
        name = f"t{len(self.lines)}"
        picked = ", ".join(f"{arg}[lane]" for arg in args)
        self.lines.append(
            f"{self.kind} {name} = {self.source.zeros(self.kind)};\n"
            f"    for (int lane = 0; lane < {self.dtype.lanes}; ++lane) "
            f"{name}[lane] = {call}({picked});"
        )
        return name

    def value(self, x: str | float) -> str:
        if isinstance(x, str):
            return x
        text = float_literal(nearest(x, self.dtype), self.dtype.bits)
        if text.lstrip("-") in ("NAN", "INFINITY") and self.double:
            text = f"(double){text}"
        return f"({text})" if text[0] in "-(NI" else text

    def add(self, a: str | float, b: str | float) -> str:
        return self._new(self.kind, f"{self.value(a)} + {self.value(b)}")

    def sub(self, a: str | float, b: str | float) -> str:
        return self._new(self.kind, f"{self.value(a)} - {self.value(b)}")

    def mul(self, a: str | float, b: str | float) -> str:
        return self._new(self.kind, f"{self.value(a)} * {self.value(b)}")

    def div(self, a: str | float, b: str | float) -> str:
        return self._new(self.kind, f"{self.value(a)} / {self.value(b)}")

    def fused(self, a: str | float, b: str | float, c: str | float) -> str:
        args = [self._spread(x) for x in (a, b, c)]
        return self._each("fma" if self.double else "fmaf", *args)

    def _spread(self, x: str | float) -> str:
        """Return a value whose lanes can be picked."""
        if self.dtype.lanes == 1 or (isinstance(x, str) and x.isidentifier()):
            return self.value(x)
        return self._new(self.kind, f"{self.value(x)} - {self.source.zeros(self.kind)}")

    def neg(self, x: str) -> str:
        return self._new(self.kind, f"-{x}")

    def abs(self, x: str) -> str:
        if self.dtype.lanes == 1:
            return self._new(self.kind, f"{'fabs' if self.double else 'fabsf'}({x})")
        return self._new(self.kind, f"({self.kind})(({self.bits}){x} & {self._magnitude})")

    @property
    def _magnitude(self) -> str:
        return "0x7FFFFFFFFFFFFFFFull" if self.double else "0x7FFFFFFFu"

    def sqrt(self, x: str) -> str:
        return self._each("sqrt" if self.double else "sqrtf", x)

    def with_sign_of(self, x: str, sign: str) -> str:
        if self.dtype.lanes == 1:
            name = "copysign" if self.double else "copysignf"
            return self._new(self.kind, f"{name}({x}, {sign})")
        size = f"(({self.bits}){x} & {self._magnitude})"
        return self._new(
            self.kind, f"({self.kind})({size} | (({self.bits}){sign} & ~{self._magnitude}))"
        )

    def integer(self, name: str, a: str | int, b: str | int) -> str:
        left, right = (self._whole(x) for x in (a, b))
        if name == "ashr":
            return self._new(self.bits, f"({self.bits})(({self.signed}){left} >> {right})")
        return self._new(self.bits, f"{left} {_SIGNS[name]} {right}")

    def _whole(self, x: str | int) -> str:
        if isinstance(x, str):
            return x
        return f"{x & ((1 << self.dtype.bits) - 1)}{'ull' if self.double else 'u'}"

    def as_bits(self, x: str) -> str:
        if self.dtype.lanes > 1:
            return self._new(self.bits, f"({self.bits}){x}")
        return self._new(self.bits, f"{helpers.bits_of(self.source, self.double)}({x})")

    def from_bits(self, bits: str) -> str:
        if self.dtype.lanes > 1:
            return self._new(self.kind, f"({self.kind}){bits}")
        return self._new(self.kind, f"{helpers.of_bits(self.source, self.double)}({bits})")

    def _test(self, text: str) -> str:
        return self._new("int" if self.dtype.lanes == 1 else self.signed, text)

    def compare(self, test: str, a: str, b: str | float) -> str:
        return self._test(f"{a} {_TESTS[test]} {self.value(b)}")

    def compare_bits(self, test: str, a: str, b: int) -> str:
        if test == "slt":
            return self._test(f"({self.signed}){a} < {b}")
        return self._test(f"{a} {_WHOLE_TESTS[test]} {self._whole(b)}")

    def choose(self, condition: str, a: str | float, b: str | float) -> str:
        if self.dtype.lanes == 1:
            return self._new(self.kind, f"{condition} ? {self.value(a)} : {self.value(b)}")
        left, right = (f"({self.bits}){self._spread(x)}" for x in (a, b))
        mask = f"({self.bits}){condition}"
        return self._new(self.kind, f"({self.kind})(({left} & {mask}) | ({right} & ~{mask}))")

    def choose_bits(self, condition: str, a: str, b: int) -> str:
        if self.dtype.lanes == 1:
            return self._new(self.bits, f"{condition} ? {a} : {self._whole(b)}")
        mask = f"({self.bits}){condition}"
        return self._new(self.bits, f"({a} & {mask}) | ({self._whole(b)} & ~{mask})")

    def ldexp(self, x: str, exponent: str) -> str:
        raise AssertionError("C has no such instruction")

    def widened(self, x: str) -> tuple[LaneArithmetic, str]:
        wide = LaneCode(self.source, F64.with_lanes(self.dtype.lanes), self.lines)
        return wide, self._new(wide.kind, self._converted(wide.kind, x))

    def narrowed(self, wide: LaneArithmetic, x: str) -> str:
        return self._new(self.kind, self._converted(self.kind, x))

    def _converted(self, kind: str, x: str) -> str:
        one = self.dtype.lanes == 1
        return f"({kind}){x}" if one else f"__builtin_convertvector({x}, {kind})"


def expansion(source: SourceText, name: str, lanes: int) -> str:
    """Return the helper function that computes a function of f32 by its expansion.

    That of vectors takes pointers: ``void irkit_exp_f32x8(f32x8 *y, const f32x8 *x)``.
    """
    dtype = F32.with_lanes(lanes)
    full = f"irkit_{name}_{dtype}"

    def make() -> str:
        operands = INTRINSICS[name].params
        lines = list[str]()
        writer = LaneCode(source, dtype, lines)
        kind = writer.kind
        if lanes > 1:
            lines.extend(f"const {kind} {given} = *{given}_at;" for given in operands)
        result = POLYNOMIALS[name, "f32"](writer, *operands)
        lines.append(f"return {result};" if lanes == 1 else f"*result = {result};")
        body = "\n    ".join(without_unused(lines)[0])
        if lanes == 1:
            params = ", ".join(f"{kind} {given}" for given in operands)
            return f"static inline {kind} {full}({params}) {{\n    {body}\n}}"
        params = ", ".join(f"const {kind} *{given}_at" for given in operands)
        return f"static inline void {full}({kind} *result, {params}) {{\n    {body}\n}}"

    return source.helper(full, make)
