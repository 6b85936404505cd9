"""The C program that makes the calls: it reads their memory from a file, and writes it to another.

Each call is written as soon as it has ended, so what a crash leaves says which call it was.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from irkit.codegen import c_signature, c_symbol
from irkit.debug.targets.call_image import ArrayPlace, CallImage
from irkit.ir import PrimFunc

_HEAD = """\
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
"""
_MAIN = """
int main(int count, char **given) {
    if (count != 4) return 90;
    const int first = atoi(given[3]);
    FILE *const in = fopen(given[1], "rb"), *const out = fopen(given[2], "wb");
    if (!in || !out) return 91;
    for (int call = first; call < CALLS; ++call) {
        unsigned char *const base = aligned_alloc(64, sizes[call]);
        if (!base || fseek(in, starts[call], SEEK_SET)) return 92;
        if (fread(base, 1, sizes[call], in) != sizes[call]) return 93;
        const int32_t status = calls[call](base);
        if (fwrite(&status, 4, 1, out) != 1) return 94;
        if (fwrite(base, 1, sizes[call], out) != sizes[call] || fflush(out)) return 95;
        free(base);
    }
    return 0;
}
"""


def c_driver(funcs: Sequence[PrimFunc], calls: Sequence[tuple[PrimFunc, CallImage]]) -> str:
    """Return the text of a program that makes calls from one on, and takes as arguments the file
    of all their memory, that of the results, and the number of the first call."""
    lines = [_HEAD, *(f"int32_t {c_symbol(f.name)}({c_signature(f)});" for f in funcs)]
    starts, at = list[int](), 0
    for number, (func, image) in enumerate(calls):
        given = ", ".join(map(_argument, image.arguments))
        lines.append(
            f"static int32_t call{number}(unsigned char *base) {{\n    (void)base;\n"
            f"    return {c_symbol(func.name)}({given});\n}}"
        )
        starts.append(at)
        at += len(image.memory)
    names = ", ".join(f"call{number}" for number in range(len(calls)))
    sizes = ", ".join(str(len(image.memory)) for _, image in calls)
    lines.append(f"static int32_t (*const calls[])(unsigned char *) = {{{names}}};")
    lines.append(f"static const size_t sizes[] = {{{sizes}}};")
    lines.append(f"static const long starts[] = {{{', '.join(map(str, starts))}}};")
    return "\n".join([*lines, _MAIN.replace("CALLS", str(len(calls)))])


def _argument(given: Any) -> str:
    if isinstance(given, ArrayPlace):
        return f"(void *)(base + {given.offset})"
    if given is None:
        return "NULL"
    if isinstance(given, int):
        return f"INT64_C({given})"
    return _number(np.asarray(given))


def _number(value: Any) -> str:
    bits = int.from_bytes(value.tobytes(), "little")
    if value.dtype.kind == "f" and value.itemsize > 2:
        kind, whole = ("float", "uint32_t") if value.itemsize == 4 else ("double", "uint64_t")
        return f"((union {{ {whole} bits; {kind} x; }}){{{bits}ull}}).x"
    sign = "" if value.dtype.kind == "i" else "u"
    return f"({sign}int{8 * value.itemsize}_t){bits}ull"
