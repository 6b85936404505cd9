"""Parallel loops of a model: the body becomes a function, which a pool can run.

``irkit_bodyN`` takes what the body uses of the function around it, and the bounds of a part of the
iterations; ``irkit_regionN`` takes the same as one struct, for a pool that knows pointers only. A
body that can fail returns a status, of which the region notes that of the first part that failed:
the one that serial code gives. Parts behind one that failed are left out.
"""

import re
from collections.abc import Mapping

import msgspec

from irkit.codegen.c.writer import DECLARATION, WORD, FunctionWriter

POOL = """\
#include <stdatomic.h>

/* Where a pool runs the iterations of a loop, and what it is given. */
typedef int (*irkit_body)(void *data, int64_t begin, int64_t end);
typedef struct {
    int (*run)(void *context, int64_t begin, int64_t end, irkit_body body, void *data);
    void *context;
} irkit_pool;
static _Thread_local const irkit_pool *irkit_host __attribute__((unused));
"""
"""Declarations that every model has; its run sets ``irkit_host``."""

_PARALLEL = """\
#ifdef _OPENMP
#include <omp.h>
#endif

/* Run the iterations of a loop: on the host's pool, or by OpenMP, or here. */
static int irkit_parallel(int64_t begin, int64_t end, int worth, irkit_body body, void *data) {
    if (begin >= end) return 0;
    if (worth && irkit_host) {
        const irkit_pool *const host = irkit_host;
        irkit_host = NULL;
        const int status = host->run(host->context, begin, end, body, data);
        irkit_host = host;
        return status;
    }
#ifdef _OPENMP
    if (worth) {
        const int64_t count = end - begin, most = 4 * (int64_t)omp_get_max_threads();
        const int64_t parts = count < most ? count : most, size = count / parts;
        const int64_t longer = count % parts;
#pragma omp parallel for schedule(dynamic)
        for (int64_t part = 0; part < parts; ++part) {
            const int64_t first = begin + part * size + (part < longer ? part : longer);
            body(data, first, first + size + (part < longer));
        }
        return 0;
    }
#endif
    return body(data, begin, end);
}
"""

_FAILURE = """\
/* The first part of a loop that failed, with its status, as one number: parts are in order. */
typedef struct {
    _Atomic uint64_t first;
    int64_t begin;
} irkit_failure;

static uint64_t irkit_failed_at(const irkit_failure *failure, int64_t begin) {
    return (uint64_t)(begin - failure->begin) << 16;
}

static void irkit_note(irkit_failure *failure, int64_t begin, int32_t status) {
    const uint64_t found = irkit_failed_at(failure, begin) | (uint16_t)status;
    uint64_t known = failure->first;
    while (found < known && !atomic_compare_exchange_weak(&failure->first, &known, found)) {
    }
}

static int32_t irkit_status(const irkit_failure *failure) {
    const int32_t status = (int32_t)(failure->first & 0xffff);
    return status < 0x8000 ? status : status - 0x10000;
}
"""

HOST_FAILED = -2
"""The status of a kernel whose loop a pool of the host's did not run."""
_LOOP = re.compile(r" *for \((\w+) (\w+) = ")
_VIEW = re.compile(r"\*const (\w+) = (\w+)(?: \+ .*)?;$")
_POINTER = re.compile(r"^(.*?\*)(?:const |restrict )*\w+$")


class RegionEnds(msgspec.Struct):
    """What a body needs besides its lines: whether it ``fails``, the pointers that it frees, and
    whether it ``jumps`` to where that is done."""

    fails: bool = False
    heap: list[str] = []
    jumps: bool = False

    def around(self, lines: list[str]) -> str:
        """Return the text of the function."""
        begin = [f"    void *{slot} = NULL;" for slot in self.heap]
        end = ["    return 0;"] if self.fails else []
        if self.jumps:
            begin.insert(0, "    int32_t status = 0;")
            end = ["leave:", *(f"    free({slot});" for slot in self.heap), "    return status;"]
        return "\n".join([*begin, *lines, *end])


def declare_region(
    writer: FunctionWriter,
    body: list[str],
    first: str,
    last: str,
    ends: RegionEnds,
    failed: str,
) -> str:
    """Define the functions of a loop between the bounds ``first`` and ``last``, whose text is
    ``body``; return the call that fills its struct and runs it, up to the bounds. ``failed`` is the
    name of the failure to note, if the body can fail.

    The names of the function around it that the body uses are found in its text so far.
    """
    source = writer.source
    number = len(source.regions)
    words = {word for line in body for word in WORD.findall(line)}
    words -= _declared(body).keys() | set(ends.heap)
    types = {name: kind for name, kind in _reachable(writer).items() if name in words}
    views = dict(found for line in writer.lines for found in _VIEW.findall(line))
    roots = [_root(views, name) for name, kind in types.items() if kind.endswith("*")]
    alias = "restrict " if writer.noalias and len(set(roots)) == len(roots) else ""
    fields = "".join(f"    {kind}{_gap(kind)}{name};\n" for name, kind in types.items())
    params = [
        f"{kind}{alias}{name}" if kind.endswith("*") else f"const {kind} {name}"
        for name, kind in types.items()
    ]
    params += [f"const int64_t {first}", f"const int64_t {last}"]
    given = "".join(f"in->{name}, " for name in types)
    if failed:
        fields += "    irkit_failure *failed_first;\n"
    kind = f"const struct irkit_data{number}"
    taken = f"    {kind} *const in = data;\n" if fields else "    (void)data;\n"
    struct = f"struct irkit_data{number} {{\n{fields}}};\n" if fields else ""
    run = f"irkit_body{number}({given}begin, end)"
    runs = f"    {run};\n"
    if failed:
        source.helper("irkit_failure", lambda: _FAILURE)
        runs = (
            "    irkit_failure *const failure = in->failed_first;\n"
            "    if (failure->first < irkit_failed_at(failure, begin)) return 0;\n"
            f"    const int32_t status = {run};\n"
            "    if (status) irkit_note(failure, begin, status);\n"
        )
    source.regions.append(
        f"\n{struct}static {'int32_t' if failed else 'void'} irkit_body{number}"
        f"({', '.join(params)}) {{\n{ends.around(body)}\n}}\n\n"
        f"static int irkit_region{number}(void *data, int64_t begin, int64_t end) {{\n{taken}"
        f"{runs}    return 0;\n}}"
    )
    source.helper("irkit_parallel", lambda: _PARALLEL)
    data = "NULL"
    if fields:
        values = [*types, *([f"&{failed}"] if failed else [])]
        data = f"&(struct irkit_data{number}){{{', '.join(values)}}}"
    return f"irkit_region{number}, {data}"


def _reachable(writer: FunctionWriter) -> dict[str, str]:
    """Return the type of each name that the function has declared so far."""
    found: dict[str, str] = {}
    for param in writer.declared_params:
        name = param.replace("*", " ").split()[-1]
        pointer = _POINTER.match(param)
        found[name] = pointer[1] if pointer else param[: -len(name)].strip()
    return found | _declared(writer.lines)


def _declared(lines: list[str]) -> dict[str, str]:
    """Return the types of the names that lines declare. But for the lanes of loops over them, a
    name stands for one thing in a function."""
    found: dict[str, str] = {}
    for line in lines:
        loop, declared = _LOOP.match(line), DECLARATION.match(line)
        if loop is not None:
            found[loop[2]] = loop[1]
        elif declared is not None:
            found[declared[1]] = _type(line[: declared.start(1)], line[declared.end(1) :])
    return found


def _root(views: Mapping[str, str], name: str) -> str:
    """Return the memory that a pointer is a view of: a parameter, an array, a slot of the heap."""
    while name in views:
        name = views[name]
    return name


def _type(before: str, after: str) -> str:
    """Return the type that stands before a name, of an array that of a pointer to it."""
    kind = re.sub(r"_Alignas\(\d+\) ", "", before).strip()
    if kind.endswith("*const"):
        return kind.removesuffix("const")
    if after.startswith("["):
        return f"{kind} *"
    return kind if kind.endswith("*") else kind.removeprefix("const ")


def _gap(kind: str) -> str:
    return "" if kind.endswith("*") else " "
