"""Arithmetic of expansions as LLVM IR."""

from irkit.codegen.llvm.arithmetic.integer_ops import choose, constant
from irkit.codegen.llvm.builder.text import FunctionText
from irkit.codegen.llvm.builder.types import number, suffix, value_type
from irkit.codegen.math.lane_arithmetic import LaneArithmetic
from irkit.ir import F64, DType

_FUSES = ("aarch64", "arm64", "amdgcn", "nvptx")


class LaneOps(LaneArithmetic):
    """Writer of LLVM IR on f32 or f64, scalar or vector."""

    def __init__(self, text: FunctionText, dtype: DType) -> None:
        module = text.module
        fuses = module.has_feature("fma") or module.target.triple.startswith(_FUSES)
        super().__init__(dtype, fuses=fuses, scales=module.has_feature("avx512vl"))
        self.text, self.kind = text, value_type(dtype)
        self.bits = value_type(self.whole)

    def value(self, x: str | float) -> str:
        return x if isinstance(x, str) else number(x, self.dtype)

    def _op(self, name: str, a: str | float, b: str | float) -> str:
        return self.text.op(f"{name} {self.kind} {self.value(a)}, {self.value(b)}")

    def add(self, a: str | float, b: str | float) -> str:
        return self._op("fadd", a, b)

    def sub(self, a: str | float, b: str | float) -> str:
        return self._op("fsub", a, b)

    def mul(self, a: str | float, b: str | float) -> str:
        return self._op("fmul", a, b)

    def div(self, a: str | float, b: str | float) -> str:
        return self._op("fdiv", a, b)

    def fused(self, a: str | float, b: str | float, c: str | float) -> str:
        return self.text.intrinsic("fma", self.kind, *(self.value(x) for x in (a, b, c)))

    def neg(self, x: str) -> str:
        return self.text.op(f"fneg {self.kind} {x}")

    def abs(self, x: str) -> str:
        return self.text.intrinsic("fabs", self.kind, x)

    def sqrt(self, x: str) -> str:
        return self.text.intrinsic("sqrt", self.kind, x)

    def with_sign_of(self, x: str, sign: str) -> str:
        return self.text.intrinsic("copysign", self.kind, x, sign)

    def integer(self, name: str, a: str | int, b: str | int) -> str:
        left, right = (x if isinstance(x, str) else constant(x, self.whole) for x in (a, b))
        return self.text.op(f"{name} {self.bits} {left}, {right}")

    def as_bits(self, x: str) -> str:
        return self.text.op(f"bitcast {self.kind} {x} to {self.bits}")

    def from_bits(self, bits: str) -> str:
        return self.text.op(f"bitcast {self.bits} {bits} to {self.kind}")

    def compare(self, test: str, a: str, b: str | float) -> str:
        return self.text.op(f"fcmp {test} {self.kind} {a}, {self.value(b)}")

    def compare_bits(self, test: str, a: str, b: int) -> str:
        return self.text.op(f"icmp {test} {self.bits} {a}, {constant(b, self.whole)}")

    def choose(self, condition: str, a: str | float, b: str | float) -> str:
        return choose(self.text, self.dtype, condition, self.value(a), self.value(b))

    def choose_bits(self, condition: str, a: str, b: int) -> str:
        return choose(self.text, self.whole, condition, a, constant(b, self.whole))

    def ldexp(self, x: str, exponent: str) -> str:
        name = f"llvm.ldexp.{suffix(self.kind)}.{suffix(self.bits)}"
        self.text.module.declare(name, f"declare {self.kind} @{name}({self.kind}, {self.bits})")
        return self.text.call(name, self.kind, (self.kind, x), (self.bits, exponent))

    def widened(self, x: str) -> tuple[LaneArithmetic, str]:
        wide = LaneOps(self.text, F64.with_lanes(self.dtype.lanes))
        return wide, self.text.op(f"fpext {self.kind} {x} to {wide.kind}")

    def narrowed(self, wide: LaneArithmetic, x: str) -> str:
        return self.text.op(f"fptrunc {value_type(wide.dtype)} {x} to {self.kind}")
