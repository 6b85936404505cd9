"""What OpenCL C and CUDA C have in another way than C: a table that the printer reads.

The printer writes C. A dialect spells a few things differently: ``words`` are replaced in the
finished text, the rest is asked for where it is written. In C itself there are no threads.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

import msgspec

from irkit.ir import INTRINSICS

Space = Literal["", "global", "shared"]

_NOTHING: Mapping[str, str] = MappingProxyType({})


class Dialect(msgspec.Struct, frozen=True):
    """How a language of the family of C says what all of them can say.

    ``spaces`` are the qualifiers of pointers, ``kernel`` the head of a kernel with places for
    its name, parameters and threads along x, y and z. ``index`` has places for ``block`` or
    ``thread`` and for the axis. ``lanes`` is a constant vector. ``arch`` is that of the
    instructions whose C code it takes. ``asked`` declares shared memory that the launch asks for,
    and a part of it. ``read`` and ``write`` are of a vector that is aligned to ``align`` bytes.
    ``long_suffix`` ends a number of 64 bits, ``ll`` in C.
    """

    name: str
    kernel: str = ""
    spaces: Mapping[str, str] = MappingProxyType({"": "", "global": "", "shared": ""})
    restrict: str = "restrict "
    index: Mapping[str, str] = _NOTHING
    barrier: str = ""
    warp_barrier: str = ""
    arch: str = ""
    shared: str = ""
    asked: tuple[str, str] = ("", "")
    read: str = ""
    write: str = ""
    aligned: str = "_Alignas({align}) "
    zeros: str = "({kind}){{0}}"
    lanes: str = "({kind}){{{values}}}"
    vector: str = "typedef {element} {kind} __attribute__(({how}));"
    bits: Mapping[str, str] = _NOTHING
    words: Mapping[str, str] = _NOTHING
    long_suffix: str = "ll"
    prelude: str = ""

    @property
    def has_threads(self) -> bool:
        return bool(self.barrier)


C11 = Dialect("c")

_OPENCL_BITS = {
    "bits_of_f32": "as_uint(x)",
    "bits_of_f64": "as_ulong(x)",
    "f32_of_bits": "as_float(bits)",
    "f64_of_bits": "as_double(bits)",
}
_FLOAT_FUNCTIONS = (*INTRINSICS, "fabs", "rint", "copysign", "ldexp")
_OPENCL_WORDS = {
    **{f"{name}f": name for name in _FLOAT_FUNCTIONS},
    "__builtin_popcountll": "popcount",
    "__builtin_clzll": "clz",
    "memcpy": "__builtin_memcpy",
}
_OPENCL_PRELUDE = """\
#pragma OPENCL FP_CONTRACT OFF
typedef char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef uchar uint8_t;
typedef ushort uint16_t;
typedef uint uint32_t;
typedef ulong uint64_t;
#define INT8_MIN SCHAR_MIN
#define INT8_MAX SCHAR_MAX
#define INT16_MIN SHRT_MIN
#define INT16_MAX SHRT_MAX
#define INT32_MIN INT_MIN
#define INT32_MAX INT_MAX
#define INT64_MIN LONG_MIN
#define INT64_MAX LONG_MAX
#define UINT8_MAX UCHAR_MAX
#define UINT16_MAX USHRT_MAX
#define UINT32_MAX UINT_MAX
#define UINT64_MAX ULONG_MAX
#define INT64_C(x) x##L
"""
OPENCL = Dialect(
    "opencl",
    kernel="__kernel __attribute__((reqd_work_group_size({x}, {y}, {z})))\nvoid {name}({params})",
    spaces={"": "", "global": "__global ", "shared": "__local "},
    index={"block": "get_group_id({number})", "thread": "get_local_id({number})"},
    barrier="barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    shared="__local __attribute__((aligned({align}))) {kind} {name}[{size}];",
    aligned="__attribute__((aligned({align}))) ",
    zeros="({kind}){{{all}}}",
    bits=_OPENCL_BITS,
    words=_OPENCL_WORDS,
    long_suffix="l",  # ``long long`` has 128 bits.
    prelude=_OPENCL_PRELUDE,
)

_CUDA_BITS = {
    "bits_of_f32": "__float_as_uint(x)",
    "bits_of_f64": "(uint64_t)__double_as_longlong(x)",
    "f32_of_bits": "__uint_as_float(bits)",
    "f64_of_bits": "__longlong_as_double((int64_t)bits)",
}
_CUDA_PRELUDE = """\
#ifdef __CUDACC_RTC__
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define INT8_MIN (-128)
#define INT8_MAX 127
#define INT16_MIN (-32768)
#define INT16_MAX 32767
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define INT64_MIN (-9223372036854775807LL - 1)
#define INT64_MAX 9223372036854775807LL
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295u
#define UINT64_MAX 18446744073709551615ull
#define INT64_C(x) x##LL
#define NAN __int_as_float(0x7FC00000)
#define INFINITY __int_as_float(0x7F800000)
#else
#include <math.h>
#include <stdint.h>
#include <string.h>
#endif
"""
CUDA = Dialect(
    "cuda",
    kernel='extern "C" __global__ void __launch_bounds__({threads})\n{name}({params})',
    restrict="__restrict__ ",
    index={"block": "blockIdx.{axis}", "thread": "threadIdx.{axis}"},
    barrier="__syncthreads();",
    warp_barrier="__syncwarp();",
    read="irkit_read<{kind}, {align}>(&{first})",
    write="irkit_write<{align}>(&{first}, {value});",
    arch="nvptx64",
    shared="__shared__ __align__({align}) {kind} {name}[{size}];",
    asked=(
        "extern __shared__ __align__(16) unsigned char irkit_shared[];",
        "{kind} *const {name} = ({kind} *)(irkit_shared + {first});",
    ),
    aligned="__align__({align}) ",
    zeros="{kind}{{{{0}}}}",
    lanes="{kind}{{{{{values}}}}}",
    vector="typedef irkit_vector<{element}, {count}> {kind};",
    bits=_CUDA_BITS,
    words={
        "static inline": "static __device__ inline",
        "__builtin_popcountll": "__popcll",
        "__builtin_clzll": "__clzll",
        "__builtin_convertvector": "irkit_convert",
    },
    prelude=_CUDA_PRELUDE,
)
