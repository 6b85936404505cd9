"""Integer arithmetic that never traps: division, shifts, powers.

Operands are scalars or vectors.
"""

from irkit.codegen.llvm.builder.text import FunctionText
from irkit.codegen.llvm.builder.types import splat, value_type
from irkit.ir import DType


def constant(number: int, dtype: DType) -> str:
    """Return an integer constant of a type, repeated in every lane."""
    return str(number) if dtype.lanes == 1 else splat(str(number), dtype)


def shift_left(text: FunctionText, dtype: DType, a: str, b: str) -> str:
    """Shift left; a shift by the width or more, or by a negative number, gives 0."""
    return _where_short(text, dtype, "shl", a, b)


def shift_right(text: FunctionText, dtype: DType, a: str, b: str) -> str:
    """Shift right; a shift too far gives 0, or -1 for negative numbers."""
    kind = value_type(dtype)
    if dtype.kind == "i":
        most = text.intrinsic("umin", kind, b, constant(dtype.bits - 1, dtype))
        return text.op(f"ashr {kind} {a}, {most}")
    return _where_short(text, dtype, "lshr", a, b)


def _where_short(text: FunctionText, dtype: DType, name: str, a: str, b: str) -> str:
    kind = value_type(dtype)
    # A shift too far is poison even if the select drops it: LLVM 22 assumes that -1 shifted left is
    # never 0 and may divide by it. As unsigned, a negative shift is huge.
    within = text.op(f"and {kind} {b}, {constant(dtype.bits - 1, dtype)}")
    shifted = text.op(f"{name} {kind} {a}, {within}")
    short = text.op(f"icmp ult {kind} {b}, {constant(dtype.bits, dtype)}")
    return choose(text, dtype, short, shifted, constant(0, dtype))


def choose(text: FunctionText, dtype: DType, cond: str, then: str, otherwise: str) -> str:
    """Select by a condition with as many lanes as the values."""
    kind, test = value_type(dtype), value_type(DType("bool", 1, dtype.lanes))
    return text.op(f"select {test} {cond}, {kind} {then}, {kind} {otherwise}")


def divide(text: FunctionText, dtype: DType, a: str, b: str, known: int | None, how: str) -> str:
    """Divide integers; ``how`` is ``floordiv``, ``floormod``, ``truncdiv`` or ``truncmod``.

    ``known`` is the divisor if it is constant. Division by 0 gives 0; the smallest number divided
    by -1 wraps around.
    """
    wants_remainder = how.endswith("mod")
    if known == 0:
        return constant(0, dtype)
    if known is not None and known > 0:
        return _by_positive(text, dtype, a, known, how)
    text.divides = True
    kind = value_type(dtype)
    one, zero = constant(1, dtype), constant(0, dtype)
    unsafe = is_zero = text.op(f"icmp eq {kind} {b}, {zero}")
    is_minus = ""
    if dtype.kind == "i":
        is_minus = text.op(f"icmp eq {kind} {b}, {constant(-1, dtype)}")
        test = value_type(DType("bool", 1, dtype.lanes))
        unsafe = text.op(f"or {test} {is_zero}, {is_minus}")
    safe = choose(text, dtype, unsafe, one, b)
    result = _divided(text, dtype, a, safe, how)
    if wants_remainder:  # 0 and -1 were replaced by 1, whose remainder is 0, as required.
        return result
    if is_minus:
        negated = text.op(f"sub {kind} {zero}, {a}")
        result = choose(text, dtype, is_minus, negated, result)
    return choose(text, dtype, is_zero, zero, result)


def _by_positive(text: FunctionText, dtype: DType, a: str, known: int, how: str) -> str:
    kind = value_type(dtype)
    power = known & (known - 1) == 0
    if power and dtype.kind == "i" and how == "floordiv":
        return text.op(f"ashr {kind} {a}, {constant(known.bit_length() - 1, dtype)}")
    if power and how == "floormod":
        return text.op(f"and {kind} {a}, {constant(known - 1, dtype)}")
    return _divided(text, dtype, a, constant(known, dtype), how)


def _divided(text: FunctionText, dtype: DType, a: str, b: str, how: str) -> str:
    """Divide by a divisor that is not 0 and, if signed, not -1."""
    kind, sign = value_type(dtype), "s" if dtype.kind == "i" else "u"
    if sign == "u" or how.startswith("trunc"):
        return text.op(f"{sign}{'rem' if how.endswith('mod') else 'div'} {kind} {a}, {b}")
    rest = text.op(f"srem {kind} {a}, {b}")
    mixed = text.op(f"xor {kind} {rest}, {b}")
    opposite = text.op(f"icmp slt {kind} {mixed}, {constant(0, dtype)}")
    uneven = text.op(f"icmp ne {kind} {rest}, {constant(0, dtype)}")
    test = value_type(DType("bool", 1, dtype.lanes))
    down = text.op(f"and {test} {opposite}, {uneven}")
    if how == "floormod":
        moved = text.op(f"add {kind} {rest}, {b}")
        return choose(text, dtype, down, moved, rest)
    quotient = text.op(f"sdiv {kind} {a}, {b}")
    return text.op(f"add {kind} {quotient}, {text.op(f'sext {test} {down} to {kind}')}")


def power_helper(dtype: DType) -> str:
    """Return a function for integer powers, by squaring; results wrap around.

    A negative exponent gives 1 or -1 for the bases 1 and -1, else 0, like the division of 1.
    """
    kind = value_type(dtype)
    negative = "icmp slt" if dtype.kind == "i" else "icmp ult"  # Always false for unsigned numbers.
    return f"""
define internal {kind} @irkit.pow.{dtype}({kind} %base, {kind} %power) #1 {{
entry:
  %below = {negative} {kind} %power, 0
  br i1 %below, label %inverse, label %loop
inverse:
  %unit = icmp eq {kind} %base, 1
  %minus = icmp eq {kind} %base, -1
  %odd = and {kind} %power, 1
  %isodd = icmp eq {kind} %odd, 1
  %sign = select i1 %isodd, {kind} -1, {kind} 1
  %some = select i1 %minus, {kind} %sign, {kind} 0
  %inverted = select i1 %unit, {kind} 1, {kind} %some
  ret {kind} %inverted
loop:
  %result = phi {kind} [ 1, %entry ], [ %next, %step ]
  %square = phi {kind} [ %base, %entry ], [ %squared, %step ]
  %left = phi {kind} [ %power, %entry ], [ %halved, %step ]
  %done = icmp eq {kind} %left, 0
  br i1 %done, label %exit, label %step
step:
  %bit = and {kind} %left, 1
  %set = icmp eq {kind} %bit, 1
  %product = mul {kind} %result, %square
  %next = select i1 %set, {kind} %product, {kind} %result
  %squared = mul {kind} %square, %square
  %halved = lshr {kind} %left, 1
  br label %loop
exit:
  ret {kind} %result
}}
"""


def saturated_product(text: FunctionText, a: str, b: str) -> str:
    """Multiply two i64s; a product beyond the type is the nearest number of it."""
    return text.intrinsic("smul.fix.sat", "i64", a, b, more="i32 0")
