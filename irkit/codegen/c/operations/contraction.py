"""Products and sums that are rounded once, where a processor has an instruction for that.

C source is built without contraction by the compiler, since products that ``strict_mul`` makes must
not be contracted, and none must be where a function's attribute says so (docs/semantics.md).
"""

from irkit.codegen.c.lanes import declared
from irkit.codegen.c.types import lane, padded
from irkit.codegen.c.writer import UNARY, Code, FunctionWriter
from irkit.ir import Add, Binary, Expr, Mul

_FUSES = """\
/* Where a product and a sum are one instruction, they are rounded once. */
#if defined(__FMA__)
#include <immintrin.h>
#define IRKIT_FUSES 1
#elif defined(__ARM_FEATURE_FMA)
#include <arm_neon.h>
#define IRKIT_FUSES 1
#elif defined(__FP_FAST_FMAF) || defined(__riscv_f)
#define IRKIT_FUSES 1
#endif
#ifdef IRKIT_FUSES
#define irkit_muladd_f32(a, b, c) __builtin_fmaf(a, b, c)
#define irkit_muladd_f64(a, b, c) __builtin_fma(a, b, c)
#else
#define irkit_muladd_f32(a, b, c) ((a) * (b) + (c))
#define irkit_muladd_f64(a, b, c) ((a) * (b) + (c))
#endif
"""
_LOOP = """\
#elif defined(IRKIT_FUSES)
#define irkit_muladd_KIND(r, a, b, c) \\
    for (int lane = 0; lane < COUNT; ++lane) r[lane] = irkit_muladd_NAME(a[lane], b[lane], c[lane])
#else
#define irkit_muladd_KIND(r, a, b, c) r = a * b + c
#endif
"""
_INSTRUCTION = """\
#HEAD defined(FEATURE)
#define irkit_muladd_KIND(r, a, b, c) r = (KIND)FUNCTION((OWN)FIRST, (OWN)SECOND, (OWN)THIRD)
"""
_X86 = {
    16: ("__FMA__", "_mm", "__m128"),
    32: ("__FMA__", "_mm256", "__m256"),
    64: ("__AVX512F__", "_mm512", "__m512"),
}
"""By the bytes of a vector: the feature, how its functions begin, and its type of f32."""


def _vector_muladd(name: str, kind: str, count: int) -> str:
    """Return the macro for vectors: an instruction by its own function, else a loop over lanes,
    which GCC 12 vectorises together with the loads before it."""
    size, double = count * int(name[1:]) // 8, name == "f64"
    text = "" if size in _X86 else "#if 0\n"
    if size in _X86:
        feature, begin, own = _X86[size]
        function = f"{begin}_fmadd_{'pd' if double else 'ps'}"
        text += _instruction("if", feature, function, f"{own}{'d' * double}", "abc")
    if size == 16:
        own = f"float{name[1:]}x{count}_t"
        text += _instruction("elif", "__ARM_FEATURE_FMA", f"vfmaq_{name}", own, "cab")
    text += _LOOP.replace("COUNT", str(count)).replace("NAME", name)
    return text.replace("KIND", kind)


def _instruction(head: str, feature: str, function: str, own: str, order: str) -> str:
    words = {"HEAD": head, "FEATURE": feature, "FUNCTION": function, "OWN": own}
    words |= dict(zip(("FIRST", "SECOND", "THIRD"), order, strict=True))
    text = _INSTRUCTION
    for word, value in words.items():
        text = text.replace(word, value)
    return text


def contracted(writer: FunctionWriter, node: Binary) -> Code | None:
    """Return a sum or difference of which one side is a product as one operation, or None.

    The operands of the product must be evaluated.
    """
    dtype = node.dtype
    if not writer.contracts or not dtype.is_float:
        return None
    product, other = (node.a, node.b) if _is_product(writer, node.a) else (node.b, node.a)
    if not isinstance(product, Mul) or not _is_product(writer, product):
        return None
    a, b, c = writer.of(product.a), writer.of(product.b), writer.of(other)
    if not isinstance(node, Add):
        if product is node.a:  # a * b - c
            c = Code(f"-{c.atom}", UNARY)
        else:  # c - a * b
            a = Code(f"-{a.atom}", UNARY)
    name = lane(dtype)
    writer.source.helper("irkit_muladd", lambda: _FUSES)
    if dtype.lanes == 1:
        return Code(f"irkit_muladd_{name}({a.text}, {b.text}, {c.text})")
    kind, count = writer.source.vector(name, dtype.lanes), padded(dtype.lanes)
    macro = writer.source.helper(f"irkit_muladd_{kind}", lambda: _vector_muladd(name, kind, count))
    names = [writer.named(dtype, each) for each in (a, b, c)]
    made = declared(writer, name, dtype.lanes)
    writer.line(f"{macro}({made}, {', '.join(names)});")
    return Code(made)


def _is_product(writer: FunctionWriter, expr: Expr) -> bool:
    return isinstance(expr, Mul) and id(expr) not in writer.shared
