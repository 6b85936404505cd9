"""Functions that a C file defines for what C leaves undefined or does not have: docs/semantics.md.

Each ``make`` function returns the name of a helper and defines it on first use. Operands are
scalars; loops over lanes call them too.
"""

from irkit.codegen.c.types import value_type
from irkit.codegen.c.writer import SourceText
from irkit.core import MOST_ELEMENTS
from irkit.ir import DType


def _function(result: str, name: str, params: str, body: str) -> str:
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    return f"static inline {result} {name}({params}) {{\n{lines}\n}}"


def _integers(source: SourceText, name: str, dtype: DType, params: str, body: str) -> str:
    """Define a helper on integers; ``T`` and ``U`` in the body are the type and the unsigned one,
    ``LOW`` and ``HIGH`` its ends."""
    kind = value_type(dtype)
    full = f"irkit_{name}_{dtype.element}"
    wide = f"uint{max(dtype.bits, 32)}_t"
    signed = dtype.kind == "i"
    ends = (f"INT{dtype.bits}_MIN", f"INT{dtype.bits}_MAX") if signed else ("0", "HIGH")
    text = body.replace("LOW", ends[0]).replace("HIGH", ends[1]).replace("BITS", str(dtype.bits))
    text = text.replace("HIGH", f"UINT{dtype.bits}_MAX").replace("TYPE", kind).replace("WIDE", wide)
    given = params.replace("TYPE", kind)
    return source.helper(full, lambda: _function(kind, full, given, text))


def divide(source: SourceText, dtype: DType, how: str) -> str:
    """Return the helper of ``floordiv``, ``floormod``, ``truncdiv`` or ``truncmod``."""
    signed = dtype.kind == "i"
    safe = "if (b == 0) return 0;\n"
    if how.endswith("div") and signed:
        safe += "if (b == -1) return (TYPE)(0 - (WIDE)a);\n"
    elif signed:
        safe += "if (b == -1) return 0;\n"
    if not signed or how.startswith("trunc"):
        sign = "%" if how.endswith("mod") else "/"
        return _integers(source, how, dtype, "TYPE a, TYPE b", f"{safe}return (TYPE)(a {sign} b);")
    opposite = (
        "const TYPE rest = (TYPE)(a % b);\nconst bool down = rest != 0 && (rest < 0) != (b < 0);\n"
    )
    result = "down ? rest + b : rest" if how == "floormod" else "a / b - down"
    return _integers(
        source, how, dtype, "TYPE a, TYPE b", f"{safe}{opposite}return (TYPE)({result});"
    )


def shift(source: SourceText, dtype: DType, name: str) -> str:
    """Return the helper of ``shl`` or ``shr``, for any distance."""
    far = "b < 0 || b >= BITS" if dtype.kind == "i" else "b >= BITS"
    if name == "shl":
        body = f"return {far} ? 0 : (TYPE)((WIDE)a << b);"
    elif dtype.kind == "i":
        body = f"return (TYPE)(a >> ({far} ? BITS - 1 : b));"
    else:
        body = f"return {far} ? 0 : (TYPE)(a >> b);"
    return _integers(source, name, dtype, "TYPE a, TYPE b", body)


def integer_function(source: SourceText, name: str, dtype: DType) -> str:
    """Return the helper of an intrinsic function on integers."""
    if name in ("truncdiv", "truncmod"):
        return divide(source, dtype, name)
    signed = dtype.kind == "i"
    one, two = "TYPE x", "TYPE a, TYPE b"
    params = one if name in ("abs", "sign", "popcount", "clz") else two
    wide = "int64_t" if signed else "uint64_t"
    match name:
        case "abs":
            body = "return x < 0 ? (TYPE)(0 - (WIDE)x) : x;" if signed else "return x;"
        case "sign":
            body = "return (TYPE)((x > 0) - (x < 0));" if signed else "return x > 0;"
        case "popcount":
            zeros = f"uint{dtype.bits}_t"
            body = f"return (TYPE)__builtin_popcountll((uint64_t)({zeros})x);"
        case "clz":
            zeros = f"uint{dtype.bits}_t"
            body = (
                f"const {zeros} bits = ({zeros})x;\n"
                "return bits == 0 ? BITS : "
                f"(TYPE)(__builtin_clzll((uint64_t)bits) - {64 - dtype.bits});"
            )
        case "mul_sat":
            low = "if ((a < 0) != (b < 0)) return LOW;\n" if signed else ""
            body = (
                "TYPE product;\nif (!__builtin_mul_overflow(a, b, &product)) return product;\n"
                f"{low}return HIGH;"
            )
        case "pow":
            below = (
                "if (b < 0) return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;\n" if signed else ""
            )
            body = (
                f"{below}WIDE result = 1, square = (WIDE)a;\n"
                "for (; b > 0; b = (TYPE)(b >> 1)) {\n"
                "    if (b & 1) result *= square;\n"
                "    square *= square;\n"
                "}\n"
                "return (TYPE)result;"
            )
        case _:
            raise AssertionError(f"no helper for {name} on {dtype} ({wide})")
    return _integers(source, name, dtype, params, body)


def float_min_max(source: SourceText, dtype: DType, name: str) -> str:
    kind, full = value_type(dtype), f"irkit_{name}_{'f64' if dtype.bits == 64 else 'f32'}"
    sign = "<" if name == "min" else ">"
    body = f"return a {sign} b || a != a ? a : b;"
    return source.helper(full, lambda: _function(kind, full, f"{kind} a, {kind} b", body))


def remainder(source: SourceText, double: bool) -> str:
    """Return the helper of ``fmod``: long division of the mantissas, as many binary digits a step
    as 64 bits have room for. It is exact.

    Both numbers are wholes, times a power of 2 that the exponents give; those of denormals are 1.
    """
    kind, end, digits = ("double", "", 52) if double else ("float", "f", 23)
    full, whole = f"irkit_fmod_{'f64' if double else 'f32'}", f"uint{64 if double else 32}_t"
    size = f"0x{'7' + 'f' * (15 if double else 7)}"
    top, room = f"((uint64_t)1 << {digits})", 63 - digits
    far = f"((uint64_t){2047 if double else 255} << {digits})"
    make, value = bits_of(source, double), of_bits(source, double)
    body = f"""const {whole} bits = {make}(a);
const uint64_t above = bits & {size}, below = {make}(b) & {size};
if (above >= {far} || below > {far} || below == 0) return NAN;
if (above < below) return a;
const uint64_t divisor = below >> {digits} ? (below & ({top} - 1)) | {top} : below;
uint64_t rest = above >> {digits} ? (above & ({top} - 1)) | {top} : above;
int scale = below >> {digits} ? (int)(below >> {digits}) - 1 : 0;
int left = (above >> {digits} ? (int)(above >> {digits}) - 1 : 0) - scale;
do {{
    const int by = left < {room} ? left : {room};
    rest = (rest << by) % divisor;
    left -= by;
}} while (left > 0);
if (rest == 0) return copysign{end}({"0.0" + end}, a);
const int zeros = __builtin_clzll(rest) - {room};
const int up = zeros < scale ? zeros : scale;
rest = (rest << up) + ((uint64_t)(scale - up) << {digits});
return {value}(({whole})rest | (bits & ~({whole}){size}));"""
    return source.helper(full, lambda: _function(kind, full, f"{kind} a, {kind} b", body))


def float_divide(source: SourceText, dtype: DType, how: str) -> str:
    """Return the helper of ``floordiv`` or ``floormod`` on floats: through the remainder, which is
    exact, as NumPy does."""
    double = dtype.bits == 64
    kind, end = ("double", "") if double else ("float", "f")
    zero, half, one = f"0.0{end}", f"0.5{end}", f"1.0{end}"
    full = f"irkit_{how}_{'f64' if double else 'f32'}"
    differ = (
        f"const {kind} rest = {remainder(source, double)}(a, b);\n"
        f"const bool differ = rest != {zero} && (rest < {zero}) != (b < {zero});\n"
    )
    if how == "floormod":
        body = (
            f"{differ}if (b == {zero}) return rest;\n"
            f"if (!(rest != {zero})) return copysign{end}({zero}, b);\n"
            "return differ ? rest + b : rest;"
        )
    else:
        body = (
            f"const {kind} plain = a / b;\nif (b == {zero}) return plain;\n{differ}"
            f"const {kind} quotient = (a - rest) / b;\n"
            f"const {kind} near = differ ? quotient - {one} : quotient;\n"
            f"if (near == {zero}) return copysign{end}({zero}, plain);\n"
            f"const {kind} whole = floor{end}(near);\n"
            f"return near - whole > {half} ? whole + {one} : whole;"
        )
    return source.helper(full, lambda: _function(kind, full, f"{kind} a, {kind} b", body))


def to_integer(source: SourceText, dtype: DType, double: bool) -> str:
    """Return the helper that converts a float to an integer: towards 0, saturating, NaN gives 0."""
    kind, made, end = ("double" if double else "float"), value_type(dtype), "" if double else "f"
    full = f"irkit_{dtype.element}_of_{'f64' if double else 'f32'}"
    name = made[:-2].upper()
    low = f"{name}_MIN" if dtype.kind == "i" else "0"
    least = f"-{2.0 ** (dtype.bits - 1)}{end}" if dtype.kind == "i" else f"0.0{end}"
    most = f"{2.0 ** (dtype.bits - (dtype.kind == 'i'))}{end}"
    body = (
        f"if (!(x > {least})) return x != x ? 0 : {low};\n"
        f"return x >= {most} ? {name}_MAX : ({made})x;"
    )
    return source.helper(full, lambda: _function(made, full, f"{kind} x", body))


def _own(source: SourceText, full: str, body: str) -> str:
    """Return the body of a helper that moves bits: by what the language has for it, if anything."""
    own = source.dialect.bits.get(full.removeprefix("irkit_"))
    return body if own is None else f"return {own};"


def bits_of(source: SourceText, double: bool) -> str:
    kind, whole = ("double", "uint64_t") if double else ("float", "uint32_t")
    full = f"irkit_bits_of_{'f64' if double else 'f32'}"
    body = f"{whole} bits;\nmemcpy(&bits, &x, sizeof bits);\nreturn bits;"
    body = _own(source, full, body)
    return source.helper(full, lambda: _function(whole, full, f"{kind} x", body))


def of_bits(source: SourceText, double: bool) -> str:
    kind, whole = ("double", "uint64_t") if double else ("float", "uint32_t")
    full = f"irkit_{'f64' if double else 'f32'}_of_bits"
    body = f"{kind} x;\nmemcpy(&x, &bits, sizeof x);\nreturn x;"
    body = _own(source, full, body)
    return source.helper(full, lambda: _function(kind, full, f"{whole} bits", body))


def narrow(source: SourceText, dtype: DType) -> str:
    """Return the helper that rounds a float to the bits of a 16-bit one, ties to even."""
    bits, full = bits_of(source, double=False), f"irkit_{dtype.element}_of_f32"
    if dtype.kind == "bf":
        body = (
            f"const uint32_t bits = {bits}(x);\n"
            "if (x != x) return (uint16_t)(bits >> 16 | 0x40);\n"
            "return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);"
        )
    else:
        back = of_bits(source, double=False)
        body = (
            f"const uint32_t bits = {bits}(x), size = bits & 0x7FFFFFFF;\n"
            "const uint32_t sign = bits >> 16 & 0x8000;\n"
            "if (size > 0x7F800000) return (uint16_t)(sign | 0x7E00 | (size >> 13 & 0x3FF));\n"
            "if (size >= 0x477FF000) return (uint16_t)(sign | 0x7C00);\n"
            f"if (size < 0x38800000) {{\n"
            f"    const uint32_t held = {bits}({back}(size) + 0.5f);\n"
            "    return (uint16_t)(sign | (held - 0x3F000000));\n"
            "}\n"
            "return (uint16_t)(sign | (size - 0x38000000 + 0xFFF + (size >> 13 & 1)) >> 13);"
        )
    return source.helper(full, lambda: _function("uint16_t", full, "float x", body))


def widen(source: SourceText, dtype: DType) -> str:
    """Return the helper that converts the bits of a 16-bit float to a float."""
    back, full = of_bits(source, double=False), f"irkit_f32_of_{dtype.element}"
    if dtype.kind == "bf":
        body = f"return {back}((uint32_t)bits << 16);"
    else:
        # The bits moved up are a number that is too small by 2**112.
        again = bits_of(source, double=False)
        body = (
            "const uint32_t size = bits & 0x7FFF, moved = size << 13;\n"
            "const uint32_t sign = (uint32_t)(bits & 0x8000) << 16;\n"
            f"if (size >= 0x7C00) return {back}(moved | 0x7F800000 | sign);\n"
            f"return {back}({again}({back}(moved) * 5192296858534827628530496329220096.0f) | sign);"
        )
    return source.helper(full, lambda: _function("float", full, "uint16_t bits", body))


def rounded(source: SourceText, dtype: DType) -> str:
    """Return the helper that rounds a float to a number of a 16-bit type."""
    full, there, back = f"irkit_round_{dtype.element}", narrow(source, dtype), widen(source, dtype)
    return source.helper(
        full, lambda: _function("float", full, "float x", f"return {back}({there}(x));")
    )


def sign(source: SourceText, double: bool) -> str:
    """Return the helper of the sign of a float."""
    kind, full = ("double", "irkit_sign_f64") if double else ("float", "irkit_sign_f32")
    body = "return x > 0 ? 1 : x < 0 ? -1 : x == 0 ? 0 : x;"
    return source.helper(full, lambda: _function(kind, full, f"{kind} x", body))


def scaled(source: SourceText, dtype: DType) -> str:
    """Return the helper that multiplies by a power of 2."""
    kind, end, name = ("double", "", "f64") if dtype.bits == 64 else ("float", "f", "f32")
    full = f"irkit_ldexp_{name}"
    body = f"return ldexp{end}(x, n < -4096 ? -4096 : n > 4096 ? 4096 : (int)n);"
    return source.helper(full, lambda: _function(kind, full, f"{kind} x, int64_t n", body))


def times(source: SourceText) -> str:
    """Return the helper that multiplies sizes; a product beyond any memory is -1, and stays so."""
    full = "irkit_times"
    body = (
        "int64_t product;\nif (a == 0 || b <= 0) return 0;\n"
        "if (a < 0 || __builtin_mul_overflow(a, b, &product)) return -1;\nreturn product;"
    )
    return source.helper(full, lambda: _function("int64_t", full, "int64_t a, int64_t b", body))


def allocate(source: SourceText) -> str:
    """Return the helper that allocates elements; NULL without memory, or if there are -1."""
    full, most = "irkit_allocate", MOST_ELEMENTS
    body = (
        "const int64_t bytes = irkit_times(count, size);\n"
        f"if (bytes < 0 || bytes > INT64_C({most})) return NULL;\n"
        "const uint64_t rounded = ((uint64_t)bytes + 2 * (uint64_t)align - 1) / align * align;\n"
        "return aligned_alloc(align, rounded);"
    )
    times(source)
    return source.helper(
        full,
        lambda: _function("void *", full, "int64_t count, int64_t size, size_t align", body),
    )


def all_lanes(source: SourceText, lanes: int) -> str:
    """Return the helper that tells whether a bool vector holds in all its lanes."""
    kind = source.vector("i8", lanes)
    full, width = f"irkit_all_{kind}", min(lanes, 8)
    whole, count = f"uint{8 * width}_t", lanes // width
    body = (
        f"{whole} words[{count}], all = ({whole})-1;\n"
        "memcpy(words, mask, sizeof words);\n"
        f"for (int i = 0; i < {count}; ++i) all &= words[i];\n"
        f"return all == ({whole})-1;"
    )
    return source.helper(full, lambda: _function("bool", full, f"const {kind} *mask", body))
