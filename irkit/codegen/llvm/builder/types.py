"""Spelling of types, constants and names in LLVM IR.

A value of a 16-bit float is a ``float`` that holds a 16-bit number, which a conversion has rounded:
the JIT has no compiler runtime library that could convert. In memory it is an ``i16``. A bool is an
``i1`` as a value and an ``i8`` in memory.
"""

import math
import re
import struct
from functools import cache

from irkit.core import DTypeError
from irkit.ir import F32, DType

MAX_LANES = 4096
_VALUE = {"f16": "float", "bf16": "float", "f32": "float", "f64": "double"}
_MEMORY = {**_VALUE, "f16": "i16", "bf16": "i16", "bool": "i8"}
_PLAIN = re.compile(r"[A-Za-z$._][A-Za-z0-9$._]*\Z")

# LLVM may insert calls of these, so no function of the user may have these names.
RESERVED = (
    "malloc", "calloc", "realloc", "free", "aligned_alloc", "memcpy", "memmove", "memset",
    "memcmp", "bcmp", "bzero", "strlen", "wcslen", "main", "_init", "_fini", "_start",
)  # fmt: skip


@cache
def value_type(dtype: DType) -> str:
    """Return the type of a value: ``float``, ``<8 x i1>``.

    Raises: DTypeError if it has more lanes than LLVM handles in reasonable time.
    """
    if dtype.lanes > MAX_LANES:
        raise DTypeError(f"no code for {dtype}: vectors can have at most {MAX_LANES} lanes")
    scalar = _VALUE.get(str(dtype.element)) or f"i{dtype.bits}"
    return scalar if dtype.lanes == 1 else f"<{dtype.lanes} x {scalar}>"


@cache
def memory_type(dtype: DType) -> str:
    """Return the type in memory: ``i8`` for bool, ``i16`` for 16-bit floats."""
    scalar = _MEMORY.get(str(dtype.element)) or f"i{dtype.bits}"
    return scalar if dtype.lanes == 1 else f"<{dtype.lanes} x {scalar}>"


@cache
def suffix(spelled: str) -> str:
    """Return a type as spelled in names of intrinsics: ``f32``, ``v8i64``."""
    lanes, _, element = spelled.strip("<>").rpartition(" x ")
    short = {"float": "f32", "double": "f64", "half": "f16", "ptr": "p0"}.get(element, element)
    return f"v{lanes}{short}" if lanes else short


def as_vector(spelled: str, lanes: int) -> str:
    """Return the vector of a scalar type; one lane is the scalar."""
    return spelled if lanes == 1 else f"<{lanes} x {spelled}>"


def is_small_float(dtype: DType) -> bool:
    """Return True if values are numbers of 16 bits that are held as ``float``."""
    return dtype.is_float and dtype.bits == 16


def literal(value: float | int | bool, dtype: DType) -> str:
    """Return a scalar constant of an element type; floats by their bits."""
    if dtype.is_bool:
        return "true" if value else "false"
    if not dtype.is_float:
        whole = int(value) & ((1 << dtype.bits) - 1)
        return str(whole - (1 << dtype.bits) if whole > dtype.high else whole)
    return float_bits(nearest(float(value), dtype))


def float_bits(value: float) -> str:
    """Return a double by its bits; LLVM reads ``float`` constants in this form too."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def nearest(value: float, dtype: DType) -> float:
    """Round to the nearest value of a float type, ties to even, overflow to infinity.

    Rounding to 16 bits goes through f32, like all 16-bit arithmetic.
    """
    if dtype.bits == 64 or value == 0 or not math.isfinite(value):
        return value
    if dtype.bits == 16:
        value = nearest(value, F32)
        if not math.isfinite(value):
            return value
    digits, low, high = _PRECISION[str(dtype.element)]
    step = max(math.frexp(value)[1] - digits, low)
    rounded = math.ldexp(round(math.ldexp(value, -step)), step)
    return rounded if abs(rounded) < math.ldexp(1.0, high) else math.copysign(math.inf, value)


# Digits of the mantissa, exponent of the smallest number, exponent of the overflow bound.
_PRECISION = {"f32": (24, -149, 128), "f16": (11, -24, 16), "bf16": (8, -133, 128)}


def splat(scalar: str, dtype: DType) -> str:
    """Return a vector of equal constants."""
    return f"splat ({value_type(dtype.element)} {scalar})"


def number(value: float, dtype: DType) -> str:
    """Return a float constant, repeated in every lane."""
    scalar = float_bits(nearest(value, dtype))
    return scalar if dtype.lanes == 1 else splat(scalar, dtype)


def integers(values: list[int], dtype: DType) -> str:
    """Return a constant vector of integers, wrapped to their type."""
    name, mask = value_type(dtype.element), (1 << dtype.bits) - 1
    return "<" + ", ".join(f"{name} {value & mask}" for value in values) + ">"


def symbol(name: str) -> str:
    """Return the symbol of a function: its name, unless the C library uses that."""
    clash = name in RESERVED or name in MATH_NAMES or name.startswith(("llvm.", "irkit."))
    return f"irkit.kernel.{name}" if clash or not name else name


def quoted(name: str) -> str:
    """Return a global name, quoted and escaped if it has unusual characters."""
    if _PLAIN.match(name):
        return f"@{name}"
    safe = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02X}"
        for byte in name.encode("utf-8", "surrogatepass")
    )
    return f'@"{safe}"'


_MATH = (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "tanh", "erf", "sin",
    "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "floor",
    "ceil", "trunc", "round", "roundeven", "rint", "nearbyint", "pow", "atan2", "fmod", "fma",
    "ldexp", "fmin", "fmax", "fminimum", "fmaximum", "sincos", "fabs", "exp10", "frexp",
    "modf", "copysign", "hypot", "cbrt",
)  # fmt: skip
MATH_NAMES = frozenset(name + end for name in _MATH for end in ("", "f", "l"))
