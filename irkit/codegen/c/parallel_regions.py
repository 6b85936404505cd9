"""Parallel loops of a model: the body becomes a function, which a pool of the host's can run.

``irkit_bodyN`` takes what the body uses of the function around it, and the bounds of a part of the
iterations; ``irkit_regionN`` takes the same as one struct, for a pool that knows pointers only.
"""

import re
from collections.abc import Mapping

from irkit.codegen.c.writer import DECLARATION, WORD, FunctionWriter

POOL = """\
/* Where the host's pool runs the iterations of a loop, and what it is given. */
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

HOST_FAILED = -2
"""The status of a kernel whose loop a pool of the host's did not run."""
_LOOP = re.compile(r" *for \((\w+) (\w+) = ")
_VIEW = re.compile(r"\*const (\w+) = (\w+)(?: \+ .*)?;$")
_POINTER = re.compile(r"^(.*?\*)(?:const |restrict )*\w+$")


def declare_region(writer: FunctionWriter, body: list[str], first: str, last: str) -> str:
    """Define the functions of a loop between the bounds ``first`` and ``last``, whose text is
    ``body``; return the call that fills its struct and runs it, up to the bounds.

    The names of the function around it that the body uses are found in its text so far.
    """
    source = writer.source
    number = len(source.regions)
    words = {word for line in body for word in WORD.findall(line)}
    words -= _declared(body).keys()
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
    kind = f"const struct irkit_data{number}"
    taken = f"    {kind} *const in = data;\n" if types else "    (void)data;\n"
    struct = f"struct irkit_data{number} {{\n{fields}}};\n" if types else ""
    text = "\n".join(body)
    source.regions.append(
        f"\n{struct}static void irkit_body{number}({', '.join(params)}) {{\n{text}\n}}\n\n"
        f"static int irkit_region{number}(void *data, int64_t begin, int64_t end) {{\n{taken}"
        f"    irkit_body{number}({given}begin, end);\n    return 0;\n}}"
    )
    source.helper("irkit_parallel", lambda: _PARALLEL)
    data = "NULL"
    if types:
        data = f"&(struct irkit_data{number}){{{', '.join(types)}}}"
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
