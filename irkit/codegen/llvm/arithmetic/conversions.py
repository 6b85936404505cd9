"""Conversions between number types, including the 16-bit floats, which are computed in f32.

x86 has instructions for f16 (F16C); elsewhere, and always for bf16, the code works on the bits: the
bf16 instructions flush denormals to 0.
"""

from irkit.codegen.llvm.arithmetic.integer_ops import constant
from irkit.codegen.llvm.builder.text import FunctionText
from irkit.codegen.llvm.builder.types import as_vector, is_small_float, splat, suffix, value_type
from irkit.ir import I32, DType


def widen(text: FunctionText, dtype: DType, bits: str) -> str:
    """Convert the bits of a 16-bit float in memory to a ``float`` value."""
    short, whole, kind = _kinds(dtype)
    if dtype.kind == "bf":
        wide = text.op(f"zext {short} {bits} to {whole}")
        moved = text.op(f"shl {whole} {wide}, {_int(16, dtype)}")
        return text.op(f"bitcast {whole} {moved} to {kind}")
    if _has_half(text):
        half = as_vector("half", dtype.lanes)
        cast = text.op(f"bitcast {short} {bits} to {half}")
        return text.op(f"fpext {half} {cast} to {kind}")
    return _half_to_float(text, dtype, bits)


def narrow(text: FunctionText, dtype: DType, value: str) -> str:
    """Round a ``float`` value to the bits of a 16-bit float, ties to even."""
    short, _, kind = _kinds(dtype)
    if dtype.kind == "bf":
        return _float_to_bf16(text, dtype, value)
    if _has_half(text):
        half = as_vector("half", dtype.lanes)
        cast = text.op(f"fptrunc {kind} {value} to {half}")
        return text.op(f"bitcast {half} {cast} to {short}")
    return _float_to_half(text, dtype, value)


def rounded(text: FunctionText, dtype: DType, value: str) -> str:
    """Round a result computed in f32 to its 16-bit type; other types are unchanged."""
    return widen(text, dtype, narrow(text, dtype, value)) if is_small_float(dtype) else value


def fence_rounding(text: FunctionText, source: DType, target: DType, value: str) -> str:
    """Stop LLVM from merging the rounding of a ``double`` to ``float`` with that to f16.

    Of two such roundings LLVM makes one, which gives other bits and calls a runtime library that is
    not there.
    """
    is_single = source.is_float and source.bits == 32
    if not is_single or target.kind != "f" or target.bits != 16 or not _has_half(text):
        return value
    return text.intrinsic("arithmetic.fence", as_vector("float", target.lanes), value)


def reinterpret(text: FunctionText, source: DType, target: DType, value: str) -> str:
    """Take the bits of a value for those of another type of the same width."""
    if is_small_float(source):
        value = narrow(text, source, value)
    elif source.is_float:
        bits = as_vector(f"i{source.bits}", source.lanes)
        value = text.op(f"bitcast {value_type(source)} {value} to {bits}")
    if is_small_float(target):
        return widen(text, target, value)
    if not target.is_float:
        return value
    bits = as_vector(f"i{target.bits}", target.lanes)
    return text.op(f"bitcast {bits} {value} to {value_type(target)}")


_MOST_EXPONENT = 1 << 14
"""An exponent beyond that of any quotient of two floats."""


def scaled(text: FunctionText, kind: str, whole: DType, value: str, exponent: str) -> str:
    """Multiply by a power of 2, where that is an instruction. It takes signed exponents."""
    if whole.kind == "u" and whole.bits < 32:
        wide = I32.with_lanes(whole.lanes)
        exponent, whole = convert(text, whole, wide, exponent), wide
    bits = value_type(whole)
    if whole.kind == "u":
        exponent = text.intrinsic("umin", bits, exponent, constant(_MOST_EXPONENT, whole))
    name = f"llvm.ldexp.{suffix(kind)}.{suffix(bits)}"
    text.module.declare(name, f"declare {kind} @{name}({kind}, {bits})")
    return text.call(name, kind, (kind, value), (bits, exponent))


def convert(text: FunctionText, source: DType, target: DType, value: str) -> str:
    """Convert between any two types; floats out of range saturate, NaN gives 0."""
    if source == target:
        return value
    old, new = value_type(source), value_type(target)
    if target.is_bool:
        zero = constant(0, source)
        if source.is_float:
            return text.op(f"fcmp une {old} {value}, {_zero(source)}")
        return text.op(f"icmp ne {old} {value}, {zero}")
    if source.is_float and target.is_float:
        return _float_to_float(text, source, target, value)
    if source.is_float:
        name = f"llvm.fpto{'s' if target.kind == 'i' else 'u'}i.sat.{suffix(new)}.{suffix(old)}"
        text.module.declare(name, f"declare {new} @{name}({old})")
        return text.call(name, new, (old, value))
    if target.is_float:
        sign = "s" if source.kind == "i" else "u"
        return text.op(f"{sign}itofp {old} {value} to {new}")
    if source.bits == target.bits:
        return value
    if source.bits > target.bits:
        return text.op(f"trunc {old} {value} to {new}")
    return text.op(f"{'s' if source.kind == 'i' else 'z'}ext {old} {value} to {new}")


def _float_to_float(text: FunctionText, source: DType, target: DType, value: str) -> str:
    old, new = value_type(source), value_type(target)
    if source.bits == 64:
        return text.op(f"fptrunc {old} {value} to {new}")
    if target.bits == 64:
        return text.op(f"fpext {old} {value} to {new}")
    return rounded(text, target, value)


def _float_to_bf16(text: FunctionText, dtype: DType, value: str) -> str:
    short, whole, kind = _kinds(dtype)
    bits = text.op(f"bitcast {kind} {value} to {whole}")
    high = text.op(f"lshr {whole} {bits}, {_int(16, dtype)}")
    odd = text.op(f"and {whole} {high}, {_int(1, dtype)}")
    near = text.op(f"add {whole} {bits}, {_int(0x7FFF, dtype)}")
    tied = text.op(f"add {whole} {near}, {odd}")
    moved = text.op(f"lshr {whole} {tied}, {_int(16, dtype)}")
    quiet = text.op(f"or {whole} {high}, {_int(0x40, dtype)}")  # A rounded NaN could be infinite.
    number = text.op(f"fcmp ord {kind} {value}, {_zero(dtype)}")
    chosen = text.op(
        f"select {as_vector('i1', dtype.lanes)} {number}, {whole} {moved}, {whole} {quiet}"
    )
    return text.op(f"trunc {whole} {chosen} to {short}")


def _half_to_float(text: FunctionText, dtype: DType, bits: str) -> str:
    """Widen by arithmetic: shift the bits up, then scale by 2**112, which is exact."""
    short, whole, kind = _kinds(dtype)
    test = as_vector("i1", dtype.lanes)
    wide = text.op(f"zext {short} {bits} to {whole}")
    size = text.op(f"and {whole} {wide}, {_int(0x7FFF, dtype)}")
    moved = text.op(f"shl {whole} {size}, {_int(13, dtype)}")
    small = text.op(f"bitcast {whole} {moved} to {kind}")
    scaled = text.op(f"fmul {kind} {small}, {_float('0x46F0000000000000', dtype)}")
    number = text.op(f"bitcast {kind} {scaled} to {whole}")
    special = text.op(f"icmp uge {whole} {size}, {_int(0x7C00, dtype)}")
    infinite = text.op(f"or {whole} {moved}, {_int(0x7F800000, dtype)}")
    chosen = text.op(f"select {test} {special}, {whole} {infinite}, {whole} {number}")
    sign = text.op(f"and {whole} {wide}, {_int(0x8000, dtype)}")
    top = text.op(f"shl {whole} {sign}, {_int(16, dtype)}")
    return text.op(f"bitcast {whole} {text.op(f'or {whole} {chosen}, {top}')} to {kind}")


def _float_to_half(text: FunctionText, dtype: DType, value: str) -> str:
    """Round by integer arithmetic; an addition does the rounding of denormals."""
    short, whole, kind = _kinds(dtype)
    test = as_vector("i1", dtype.lanes)
    bits = text.op(f"bitcast {kind} {value} to {whole}")
    size = text.op(f"and {whole} {bits}, {_int(0x7FFFFFFF, dtype)}")
    # Normal: rebias by 2**-112 in the exponent field and round half to even.
    last = text.op(f"lshr {whole} {size}, {_int(13, dtype)}")
    odd = text.op(f"and {whole} {last}, {_int(1, dtype)}")
    rebased = text.op(f"add {whole} {size}, {_int(0xFFF - (112 << 23), dtype)}")
    tied = text.op(f"add {whole} {rebased}, {odd}")
    normal = text.op(f"lshr {whole} {tied}, {_int(13, dtype)}")
    # Denormal: adding 0.5 leaves the wanted bits at the bottom of the mantissa, rounded.
    plain = text.op(f"bitcast {whole} {size} to {kind}")
    half = "0x3FE0000000000000"
    summed = text.op(f"fadd {kind} {plain}, {_float(half, dtype)}")
    held = text.op(f"bitcast {kind} {summed} to {whole}")
    denormal = text.op(f"sub {whole} {held}, {_int(0x3F000000, dtype)}")
    is_small = text.op(f"icmp ult {whole} {size}, {_int(0x38800000, dtype)}")
    finite = text.op(f"select {test} {is_small}, {whole} {denormal}, {whole} {normal}")
    is_large = text.op(f"icmp uge {whole} {size}, {_int(0x477FF000, dtype)}")
    is_nan = text.op(f"icmp ugt {whole} {size}, {_int(0x7F800000, dtype)}")
    payload = text.op(f"and {whole} {last}, {_int(0x3FF, dtype)}")
    quiet = text.op(f"or {whole} {payload}, {_int(0x7E00, dtype)}")
    capped = text.op(f"select {test} {is_large}, {whole} {_int(0x7C00, dtype)}, {whole} {finite}")
    chosen = text.op(f"select {test} {is_nan}, {whole} {quiet}, {whole} {capped}")
    sign = text.op(
        f"and {whole} {text.op(f'lshr {whole} {bits}, {_int(16, dtype)}')}, {_int(0x8000, dtype)}"
    )
    return text.op(f"trunc {whole} {text.op(f'or {whole} {chosen}, {sign}')} to {short}")


def _has_half(text: FunctionText) -> bool:
    triple = text.module.target.triple
    return text.module.has_feature("f16c") or triple.startswith(("aarch64", "arm64"))


def _kinds(dtype: DType) -> tuple[str, str, str]:
    lanes = dtype.lanes
    return as_vector("i16", lanes), as_vector("i32", lanes), as_vector("float", lanes)


def _splat(scalar: str, lanes: int, kind: str) -> str:
    return scalar if lanes == 1 else f"splat ({kind} {scalar})"


def _int(number: int, dtype: DType) -> str:
    return _splat(str(number), dtype.lanes, "i32")


def _float(number: str, dtype: DType) -> str:
    return _splat(number, dtype.lanes, "float")


def _zero(dtype: DType) -> str:
    return "0.0" if dtype.lanes == 1 else splat("0.0", dtype)
