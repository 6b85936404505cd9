"""OpenCL C and CUDA C: files of kernels, by the printer of C."""

import re

from irkit.codegen.c.source_file import write_kernel
from irkit.codegen.c.writer import SourceText
from irkit.codegen.device.legality import described, dynamic_bytes, threads_of
from irkit.codegen.device.program import DeviceProgram
from irkit.codegen.dialect import CUDA, OPENCL, Dialect
from irkit.core import IRKitError, Target, deep_recursion

DIALECTS: dict[str, Dialect] = {"opencl": OPENCL, "cuda": CUDA}
OPENCL_OPTIONS = "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt"
NVRTC_OPTIONS = "--fmad=false"
_HEADERS = {
    "opencl": f"""\
/* {{title}}: OpenCL C 1.2 with the vector extension of Clang, written by irkit.
 *
 * Build:  clBuildProgram with "{OPENCL_OPTIONS}"; without the
 *         second option a device may round division and square roots in another way.
 * Launch: {{launches}}
 */
""",
    "cuda": f"""\
/* {{title}}: CUDA C, written by irkit.
 *
 * Build:  nvcc {NVRTC_OPTIONS} -arch={{arch}} -c {{file}}, or NVRTC with the same options.
 *         Without {NVRTC_OPTIONS} results may differ in the last place.
 * Launch: {{launches}}
 */
""",
}
_LONG_NUMBER = re.compile(r"\b((?:0x[0-9A-Fa-f]+|\d+)u?)ll\b")
_DOUBLE = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
_VECTORS = """\
template <class T> struct irkit_mask;
template <> struct irkit_mask<float> { typedef int32_t type; };
template <> struct irkit_mask<double> { typedef int64_t type; };
template <> struct irkit_mask<int8_t> { typedef int8_t type; };
template <> struct irkit_mask<int16_t> { typedef int16_t type; };
template <> struct irkit_mask<int32_t> { typedef int32_t type; };
template <> struct irkit_mask<int64_t> { typedef int64_t type; };
template <> struct irkit_mask<uint8_t> { typedef int8_t type; };
template <> struct irkit_mask<uint16_t> { typedef int16_t type; };
template <> struct irkit_mask<uint32_t> { typedef int32_t type; };
template <> struct irkit_mask<uint64_t> { typedef int64_t type; };
/* A vector as Clang and GCC have it: elementwise operators, masks of 0 and -1, casts of bits. */
template <class T, int N> struct irkit_vector {
    T v[N];
    __device__ T &operator[](int lane) { return v[lane]; }
    __device__ const T &operator[](int lane) const { return v[lane]; }
    template <class U, int M> __device__ explicit operator irkit_vector<U, M>() const {
        static_assert(sizeof(U) * M == sizeof(T) * N, "a cast keeps the bits");
        irkit_vector<U, M> made;
        memcpy(&made, this, sizeof made);
        return made;
    }
};
#define IRKIT_OPERATOR(op)                                                                      \\
    template <class T, int N> __device__ inline irkit_vector<T, N> operator op(                 \\
        irkit_vector<T, N> a, irkit_vector<T, N> b) {                                           \\
        for (int i = 0; i < N; ++i) a[i] = (T)(a[i] op b[i]);                                   \\
        return a;                                                                               \\
    }                                                                                           \\
    template <class T, int N, class S> __device__ inline irkit_vector<T, N> operator op(        \\
        irkit_vector<T, N> a, S b) {                                                            \\
        for (int i = 0; i < N; ++i) a[i] = (T)(a[i] op (T)b);                                   \\
        return a;                                                                               \\
    }                                                                                           \\
    template <class T, int N, class S> __device__ inline irkit_vector<T, N> operator op(        \\
        S a, irkit_vector<T, N> b) {                                                            \\
        for (int i = 0; i < N; ++i) b[i] = (T)((T)a op b[i]);                                   \\
        return b;                                                                               \\
    }
#define IRKIT_COMPARISON(op)                                                                    \\
    template <class T, int N> __device__ inline irkit_vector<typename irkit_mask<T>::type, N>   \\
    operator op(irkit_vector<T, N> a, irkit_vector<T, N> b) {                                   \\
        irkit_vector<typename irkit_mask<T>::type, N> made;                                     \\
        for (int i = 0; i < N; ++i) made[i] = a[i] op b[i] ? -1 : 0;                            \\
        return made;                                                                            \\
    }                                                                                           \\
    template <class T, int N, class S> __device__ inline                                        \\
    irkit_vector<typename irkit_mask<T>::type, N> operator op(irkit_vector<T, N> a, S b) {      \\
        irkit_vector<typename irkit_mask<T>::type, N> made;                                     \\
        for (int i = 0; i < N; ++i) made[i] = a[i] op (T)b ? -1 : 0;                            \\
        return made;                                                                            \\
    }
IRKIT_OPERATOR(+) IRKIT_OPERATOR(-) IRKIT_OPERATOR(*) IRKIT_OPERATOR(/)
IRKIT_OPERATOR(&) IRKIT_OPERATOR(|) IRKIT_OPERATOR(^) IRKIT_OPERATOR(<<) IRKIT_OPERATOR(>>)
IRKIT_COMPARISON(==) IRKIT_COMPARISON(!=) IRKIT_COMPARISON(<)
IRKIT_COMPARISON(<=) IRKIT_COMPARISON(>) IRKIT_COMPARISON(>=)
template <class T, int N> __device__ inline irkit_vector<T, N> operator~(irkit_vector<T, N> a) {
    for (int i = 0; i < N; ++i) a[i] = (T)~a[i];
    return a;
}
template <class T, int N> __device__ inline irkit_vector<T, N> operator-(irkit_vector<T, N> a) {
    for (int i = 0; i < N; ++i) a[i] = -a[i];
    return a;
}
template <class V, class T, int N> __device__ inline V irkit_converted(irkit_vector<T, N> a) {
    V made;
    for (int i = 0; i < N; ++i) made[i] = (decltype(made[0] + 0))a[i];
    return made;
}
#define irkit_convert(value, kind) irkit_converted<kind>(value)
/* What moves at once, by the bytes of an address that are known to be aligned. */
template <int A> struct irkit_word { typedef uint16_t type; };
template <> struct irkit_word<4> { typedef uint32_t type; };
template <> struct irkit_word<8> { typedef uint2 type; };
template <> struct irkit_word<16> { typedef uint4 type; };
template <class V, int A> __device__ inline V irkit_read(const void *first) {
    enum { size = sizeof(V) < A ? sizeof(V) : A };
    typename irkit_word<size>::type word;
    V made;
    for (int i = 0; i < (int)(sizeof(V) / size); ++i) {
        word = ((const typename irkit_word<size>::type *)first)[i];
        memcpy((char *)&made + i * size, &word, size);
    }
    return made;
}
template <int A, class V> __device__ inline void irkit_write(void *first, V value) {
    enum { size = sizeof(V) < A ? sizeof(V) : A };
    typename irkit_word<size>::type word;
    for (int i = 0; i < (int)(sizeof(V) / size); ++i) {
        memcpy(&word, (const char *)&value + i * size, size);
        ((typename irkit_word<size>::type *)first)[i] = word;
    }
}
"""


@deep_recursion
def device_source(program: DeviceProgram, target: Target) -> str:
    """Return the kernels of a program in the language of a target.

    Raises: IRKitError if something cannot be expressed there.
    """
    dialect = DIALECTS[target.kind]
    source = SourceText(target, dialect=dialect)
    device = target.device
    assert device is not None
    kernels = [
        write_kernel(source, each.kernel, threads_of(each), asks=dynamic_bytes(each, device) > 0)
        for each in program.launches
    ]
    if source.meanings:
        raise IRKitError(
            f"the instruction {next(iter(source.meanings))!r} has no code in {dialect.name}",
            hint="Leave tensorize out of the schedule for this target.",
            span=program.func.span,
        )
    vectors = [_VECTORS] if source.types and dialect is CUDA else []
    parts = [*vectors, *source.types.values(), "", *source.helpers.values(), *kernels]
    text = _respelled("\n".join(parts), dialect)
    double = _DOUBLE if dialect is OPENCL and re.search(r"\bdouble\b", text) else ""
    head = _HEADERS[dialect.name].format(
        title=program.func.name,
        file=f"{program.func.name}.cu",
        arch=target.cpu or "sm_80",
        launches="\n *         ".join(map(described, program.launches)),
    )
    return f"{head}{double}{dialect.prelude}\n{text}\n"


def _respelled(text: str, dialect: Dialect) -> str:
    """Replace the words of C, and the ends of its numbers of 64 bits, that the language spells in
    another way."""
    text = _LONG_NUMBER.sub(rf"\g<1>{dialect.long_suffix}", text)
    if not dialect.words:
        return text
    words = "|".join(map(re.escape, sorted(dialect.words, key=len, reverse=True)))
    return re.sub(rf"(?<!\w)(?:{words})(?!\w)", lambda found: dialect.words[found[0]], text)
