"""Spelling of types, constants and names in C."""

import math
import re
import struct

from irkit.codegen.llvm.builder.types import MATH_NAMES, RESERVED, nearest
from irkit.ir import DType

_SCALAR = {"f16": "float", "bf16": "float", "f32": "float", "f64": "double", "bool": "bool"}
_MEMORY = {**_SCALAR, "f16": "uint16_t", "bf16": "uint16_t", "bool": "uint8_t"}
_TAKEN = """
    auto break case char const continue default do double else enum extern float for goto if inline
    int long register restrict return short signed sizeof static struct switch typedef union
    unsigned void volatile while asm typeof bool true false status leave
    NULL INFINITY NAN errno stdin stdout stderr main linux unix
    j0 j1 jn y0 y1 yn gamma lgamma tgamma logb ilogb scalbn scalbln nextafter nexttoward remainder
    remquo fdim nan lround llround lrint llrint isnan isinf isfinite isnormal signbit fpclassify
    exit abort abs labs llabs div ldiv lldiv rand srand random drem significand atof atoi atol
    strtod strtof strtol qsort bsearch getenv system mblen memchr strcpy strcat strcmp strncpy
    strchr strstr index rindex signal select lane
    kernel global local constant private generic half half2 uchar ushort uint ulong size_t ptrdiff_t
    event_t sampler_t barrier popcount clz get_group_id get_local_id get_global_id
    threadIdx blockIdx blockDim gridDim warpSize dim3 class template typename new delete this
    operator namespace public protected virtual friend using try catch throw mutable explicit
    export nullptr decltype constexpr noexcept alignas alignof static_assert wchar_t and or not xor
    queue kernels context stream
"""
_WORDS = frozenset(_TAKEN.split())
"""Words of C, of OpenCL C and CUDA C, of their libraries, and names that the code uses itself."""
_OURS = re.compile(
    r"([fiu]\d+x\d+(_u)?|u?int\d+_t|_.*|irkit.*"
    r"|(float|double|u?(char|short|int|long))\d+|(as|convert|atomic|vload|vstore)_\w+)\Z"
)
_UNUSUAL = re.compile(r"[^A-Za-z0-9_]")


def value_type(dtype: DType) -> str:
    """Return the C type of a scalar value."""
    return _SCALAR.get(str(dtype.element)) or _integer(dtype)


def memory_type(dtype: DType) -> str:
    """Return the C type of an element in memory: the bits of a 16-bit float, a byte for a bool."""
    return _MEMORY.get(str(dtype.element)) or _integer(dtype)


def _integer(dtype: DType) -> str:
    return f"{'u' if dtype.kind == 'u' else ''}int{dtype.bits}_t"


def lane(dtype: DType) -> str:
    """Return the short name of the element type of a vector of values."""
    if dtype.is_bool:
        return "i8"
    return f"f{max(dtype.bits, 32)}" if dtype.is_float else f"{dtype.kind}{dtype.bits}"


def memory_lane(dtype: DType) -> str:
    """Return the short name of the element type of a vector in memory."""
    short = {"bool": "u8", "f16": "u16", "bf16": "u16"}
    return short.get(str(dtype.element)) or lane(dtype)


def unsigned(name: str) -> str:
    """Return the unsigned integers as wide as the elements of a short name."""
    return "u" + name[1:]


def padded(lanes: int) -> int:
    """Return the number of lanes that a vector has in C: a power of two."""
    return 1 << (lanes - 1).bit_length()


def element_type(name: str) -> str:
    """Return the C type of a short name."""
    if name[0] == "f":
        return "float" if name == "f32" else "double"
    return f"{'u' if name[0] == 'u' else ''}int{name[1:]}_t"


def is_small(dtype: DType) -> bool:
    """Return True if values are numbers of 16 bits that are held as ``float``."""
    return dtype.is_float and dtype.bits == 16


def literal(value: float | int | bool, dtype: DType) -> str:
    """Return a scalar constant."""
    if dtype.is_bool:
        return "true" if value else "false"
    if dtype.is_float:
        return float_literal(nearest(float(value), dtype), dtype.bits)
    whole = int(value) & ((1 << dtype.bits) - 1)
    whole = whole - (1 << dtype.bits) if whole > dtype.high else whole
    if dtype.kind == "u":
        return f"{whole}{'u' if dtype.bits == 32 else 'ull' if dtype.bits == 64 else ''}"
    if dtype.bits >= 32 and whole == dtype.low:
        return f"INT{dtype.bits}_MIN"
    return str(whole) if abs(whole) < 1 << 31 else f"INT64_C({whole})"


def float_literal(value: float, bits: int) -> str:
    """Return the shortest decimal number that is read as a value."""
    if value != value:
        return "NAN"
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    if math.isinf(value):
        return f"{sign}INFINITY"
    if bits == 64:
        text = repr(abs(value))
    else:
        shortest = (f"{abs(value):.{digits}g}" for digits in range(1, 10))
        text = next(text for text in shortest if _as_f32(float(text)) == abs(value))
    whole = text if "." in text or "e" in text else text + ".0"
    return f"{sign}{whole}{'' if bits == 64 else 'f'}"


def _as_f32(value: float) -> float:
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.inf


def identifier(name: str) -> str:
    """Return a name as C has it: without unusual characters, and no word of C or its library."""
    plain = _UNUSUAL.sub("_", name) or "_"
    if plain[0].isdigit():
        plain = f"v{plain}"
    taken = plain in _WORDS or plain in RESERVED or plain in MATH_NAMES or _OURS.match(plain)
    if not taken:
        return plain
    return f"v{plain}_" if plain.startswith(("_", "irkit")) else f"{plain}_"
