"""The remainder of floats, by integers: it is exact, so its bits are those of C's fmod."""

from irkit.codegen.llvm.builder.text import FunctionText
from irkit.ir import DType


def remainder_function(text: FunctionText, dtype: DType) -> str:
    """Define the function for f32 or f64 on first use, and return its name."""
    declared = "declare i64 @llvm.ctlz.i64(i64, i1)"
    text.module.declare("llvm.ctlz.i64", declared)
    return text.module.helper(f"irkit.fmod.{dtype}", lambda: _function(dtype))


def _function(dtype: DType) -> str:
    """Return long division of the mantissas, as many binary digits a step as 64 bits have room for.

    Both numbers are wholes, times a power of 2 that the exponents give; those of denormals are 1.
    """
    double = dtype.bits == 64
    kind, bits, digits = ("double", "i64", 52) if double else ("float", "i32", 23)
    infinity = (2047 if double else 255) << digits
    sign, size = 1 << (dtype.bits - 1), (1 << (dtype.bits - 1)) - 1
    room = 63 - digits
    widen = "or i64 {}, 0" if double else "zext i32 {} to i64"
    narrow = "or i64 {}, 0" if double else "trunc i64 {} to i32"
    nan = "0x7FF8000000000000"
    return f"""
define internal {kind} @irkit.fmod.{dtype}({kind} %a, {kind} %b) #2 {{
entry:
  %abits = bitcast {kind} %a to {bits}
  %bbits = bitcast {kind} %b to {bits}
  %sign = and {bits} %abits, {sign}
  %asize = and {bits} %abits, {size}
  %bsize = and {bits} %bbits, {size}
  %afar = icmp uge {bits} %asize, {infinity}
  %bnan = icmp ugt {bits} %bsize, {infinity}
  %bzero = icmp eq {bits} %bsize, 0
  %either = or i1 %afar, %bnan
  %bad = or i1 %either, %bzero
  br i1 %bad, label %none, label %numbers
none:
  ret {kind} {nan}
numbers:
  %below = icmp ult {bits} %asize, %bsize
  br i1 %below, label %same, label %divide
same:
  ret {kind} %a
divide:
  %awide = {widen.format("%asize")}
  %bwide = {widen.format("%bsize")}
  %aexp0 = lshr i64 %awide, {digits}
  %bexp0 = lshr i64 %bwide, {digits}
  %alow = and i64 %awide, {(1 << digits) - 1}
  %blow = and i64 %bwide, {(1 << digits) - 1}
  %anormal = icmp ne i64 %aexp0, 0
  %bnormal = icmp ne i64 %bexp0, 0
  %atop = or i64 %alow, {1 << digits}
  %btop = or i64 %blow, {1 << digits}
  %amant = select i1 %anormal, i64 %atop, i64 %alow
  %bmant = select i1 %bnormal, i64 %btop, i64 %blow
  %aexp = select i1 %anormal, i64 %aexp0, i64 1
  %bexp = select i1 %bnormal, i64 %bexp0, i64 1
  %apart = sub i64 %aexp, %bexp
  br label %step
step:
  %rest = phi i64 [ %amant, %divide ], [ %less, %step ]
  %left = phi i64 [ %apart, %divide ], [ %after, %step ]
  %few = icmp ult i64 %left, {room}
  %by = select i1 %few, i64 %left, i64 {room}
  %moved = shl i64 %rest, %by
  %less = urem i64 %moved, %bmant
  %after = sub i64 %left, %by
  %done = icmp eq i64 %after, 0
  br i1 %done, label %normalise, label %step
normalise:
  %zeros = call i64 @llvm.ctlz.i64(i64 %less, i1 false)
  %free = sub i64 %zeros, {room}
  %lowest = sub i64 %bexp, 1
  %stops = icmp ult i64 %free, %lowest
  %up = select i1 %stops, i64 %free, i64 %lowest
  %mant = shl i64 %less, %up
  %exp = sub i64 %lowest, %up
  %high = shl i64 %exp, {digits}
  %sum = add i64 %mant, %high
  %nothing = icmp eq i64 %less, 0
  %found = select i1 %nothing, i64 0, i64 %sum
  %word = {narrow.format("%found")}
  %signed = or {bits} %word, %sign
  %value = bitcast {bits} %signed to {kind}
  ret {kind} %value
}}
"""
