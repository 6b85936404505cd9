"""C code of instructions: of those that irkit knows, and the function that holds any of them.

The code reads operands and writes the result by pointers, as compilers take such loads and stores
away; so nothing needs to know the vector types of C.
"""

import re
from typing import cast

from irkit.core import IRKitError
from irkit.ir.buffer import Buffer
from irkit.ir.dtype import DType
from irkit.ir.instructions.instruction import Instruction

_PREFIXES = {512: "_mm512", 256: "_mm256", 128: "_mm"}
_OPERAND = re.compile(r"\{(\w+)\}")


def c_function(row: Instruction, name: str) -> str:
    """Return a C function of an instruction, its result last, with the headers that it includes.

    16-bit floats are ``uint16_t``. Raises: IRKitError if the instruction has no C code.
    """
    if not row.c.strip():
        raise IRKitError(f"instruction {row.name!r} has no C code")
    lines = [line.strip() for line in row.c.strip().splitlines()]
    *given, out = cast(tuple[Buffer, ...], row.meaning.params)
    params = [f"const {_c_type(each.dtype)} *{each.name}" for each in given]
    params.append(f"{_c_type(out.dtype)} *{out.name}")
    held = [line for line in lines if not line.startswith("#")]
    return "\n".join(
        [
            "#include <stdint.h>",
            *[line for line in lines if line.startswith("#")],
            f"void {name}({', '.join(params)}) {{",
            *[_OPERAND.sub(r"\1", f"  {line}") for line in held],
            "}\n",
        ]
    )


def x86_dot_code(bits: int, call: str, *, one: bool) -> str:
    """Return the C code of a dot product of bytes or of 16-bit integers."""
    first = _repeated(bits) if one else _loaded(bits, "a")
    args = ", ".join([_loaded(bits, "acc"), first, _loaded(bits, "b")])
    return f"#include <immintrin.h>\n{_stored(bits, f'{_PREFIXES[bits]}_{call}({args})')}"


def x86_bf16_code(bits: int, *, one: bool) -> str:
    """Return the C code of a dot product of bf16 numbers."""
    first, prefix = _repeated(bits) if one else _loaded(bits, "a"), _PREFIXES[bits]
    kind = f"(__m{bits}bh)"
    args = f"{prefix}_loadu_ps({{acc}}), {kind}{first}, {kind}{_loaded(bits, 'b')}"
    return f"#include <immintrin.h>\n{prefix}_storeu_ps({{out}}, {prefix}_dpbf16_ps({args}));"


def x86_fused_code(bits: int, *, one: bool) -> str:
    """Return the C code of a product of f16 numbers that is added with one rounding."""
    prefix = _PREFIXES[bits]
    ending = f"cast{'si512' if bits == 512 else f'si{bits}'}_ph"
    repeated = f"{prefix}_{ending}({prefix}_set1_epi16((short)*{{a}}))"
    first = repeated if one else f"{prefix}_loadu_ph({{a}})"
    args = f"{first}, {prefix}_loadu_ph({{b}}), {prefix}_loadu_ph({{acc}})"
    return f"#include <immintrin.h>\n{prefix}_storeu_ph({{out}}, {prefix}_fmadd_ph({args}));"


def neon_dot_code(call: str, a: str, b: str, result: str, *, one: bool) -> str:
    """Return the C code of a dot product of AArch64; types are those of its functions, as s8."""
    word = "vld1q_dup_s32((const int32_t *){a})"
    first = f"vreinterpretq_{a}_s32({word})" if one else f"vld1q_{a}({{a}})"
    value = f"{call}_{result}(vld1q_{result}({{acc}}), {first}, vld1q_{b}({{b}}))"
    return f"#include <arm_neon.h>\nvst1q_{result}({{out}}, {value});"


def interleave_code(group: int, lanes: int) -> str:
    """Return the C code that interleaves vectors."""
    stores = " ".join(f"{{out}}[i * {group} + {n}] = {{row{n}}}[i];" for n in range(group))
    return f"for (int i = 0; i < {lanes}; ++i) {{ {stores} }}"


def _c_type(dtype: DType) -> str:
    if dtype.is_float:
        return {64: "double", 32: "float"}.get(dtype.bits, "uint16_t")
    unsigned = dtype.is_bool or str(dtype.element).startswith("u")
    return f"{'u' if unsigned else ''}int{8 * dtype.element.bytes}_t"


def _loaded(bits: int, name: str) -> str:
    if bits == 512:
        return f"_mm512_loadu_si512({{{name}}})"
    return f"{_PREFIXES[bits]}_loadu_si{bits}((const __m{bits}i *){{{name}}})"


def _repeated(bits: int) -> str:
    return f"{_PREFIXES[bits]}_broadcastd_epi32(_mm_loadu_si32({{a}}))"


def _stored(bits: int, value: str) -> str:
    if bits == 512:
        return f"_mm512_storeu_si512({{out}}, {value});"
    return f"{_PREFIXES[bits]}_storeu_si{bits}((__m{bits}i *){{out}}, {value});"
