"""C functions and files.

A kernel is ``int32_t name(...)``. It takes a pointer for each buffer and a value for each scalar,
in the order of the parameters, then an ``int64_t`` for each variable of ``shape_vars``, then the
record of the call if it needs one. A 16-bit float is passed as its bits. The kernel returns 0, the
number of the assertion that failed (from 1, in text order), -1 if memory ran out, or -32768 if a
size would wrap around.
"""

from collections.abc import Mapping, Sequence

from irkit.codegen.alignment import Alignment
from irkit.codegen.c.buffer_sizes import fail_unless, strides
from irkit.codegen.c.kept_loads import note_kept
from irkit.codegen.c.memory_access import element_pointer, from_memory
from irkit.codegen.c.operations.conversions import convert
from irkit.codegen.c.parallel_regions import POOL
from irkit.codegen.c.statements import write
from irkit.codegen.c.types import identifier, memory_type
from irkit.codegen.c.writer import (
    ATOM,
    BufferPointer,
    Code,
    FunctionWriter,
    SourceText,
    without_unused,
)
from irkit.codegen.llvm.builder.exits import BAD_SIZE
from irkit.codegen.llvm.module.stub import written_buffers
from irkit.codegen.llvm.statements.assertion_record import record_size
from irkit.codegen.wrapping_loops import wrapping_loops
from irkit.core import IRKitError, Target, deep_recursion, walk
from irkit.ir import I64, Assert, Buffer, PrimFunc, shape_vars, size_guard
from irkit.ir.math import with_wide_floats
from irkit.ir.threads import split_threads

FLAGS = "-std=c11 -O3 -ffp-contract=off"
HEADER = """\
/* {title}: C11 with the vector extension of GCC and Clang, written by irkit.
 *
 * Build:  cc {flags} -c {file}
 *         with -march=native for the vectors of this machine, -fopenmp for parallel loops, and -lm
 *         when linking. Without -ffp-contract=off results may differ in the last place.
 * Use:    each function returns 0, the number of the assertion that failed, -1 without memory, or
 *         -32768 for sizes that 64 bits do not hold.
 *         Pointers must not overlap where something is written.
 */
"""
INCLUDES = """\
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#pragma clang diagnostic ignored "-Wxor-used-as-pow"
#elif defined(__GNUC__)
/* Vectors that one iteration of a loop leaves for the next take the registers of its sums. */
#pragma GCC optimize("no-predictive-commoning")
#endif
/* A program may compare what is known already, and write what it never reads: no mistakes. */
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wtautological-compare"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
"""


def c_symbol(name: str) -> str:
    """Return the name of a function in C."""
    plain = identifier(name)
    return plain if plain == name else f"irkit_kernel_{plain}"


@deep_recursion
def emit_c(
    funcs: Sequence[PrimFunc],
    target: Target,
    *,
    static: bool = False,
    lines: Mapping[int, int] | None = None,
    ir_file: str = "function.irs",
    title: str = "",
    file: str = "kernel.c",
    hosted: bool = False,
) -> str:
    """Return functions at any stage of lowering as a C file.

    ``static`` functions are for other code in the same file. With ``lines``, which maps the ``id``
    of statements to lines of ``ir_file``, the code has ``#line``. With ``hosted``, a pool of the
    host's can run parallel loops.
    Raises: IRKitError if two functions have the same name, or something cannot be expressed.
    """
    source = SourceText(target, lines, ir_file, hosted=hosted)
    seen = set[str]()
    bodies: list[str] = []
    for func in funcs:
        name = c_symbol(func.name)
        if name in seen:
            raise IRKitError(f"two functions of a module are called {name!r}")
        seen.add(name)
        bodies.append(_function(source, func, name, static=static))
    meanings = list[str]()
    for name, meaning in source.meanings.items():
        meanings.append(_function(source, meaning, name, static=True))
    pool = [POOL] if hosted else []
    defined = [*source.types.values(), "", *pool, *source.helpers.values()]
    parts = [*defined, *meanings, *source.regions, *bodies]
    head = HEADER.format(title=title or ", ".join(f.name for f in funcs), flags=FLAGS, file=file)
    return f"{head}{INCLUDES}\n" + "\n".join(parts) + "\n"


def c_signature(func: PrimFunc) -> str:
    """Return the parameters of a function, as its declaration has them."""
    return ", ".join(_parameters(FunctionWriter(SourceText(Target())), func)) or "void"


def _function(source: SourceText, func: PrimFunc, name: str, *, static: bool) -> str:
    params, body = _written(source, split_threads(func), name)
    scope = "static " if static else ""
    return f"\n{scope}int32_t {name}({', '.join(params) or 'void'}) {{\n{body}\n}}"


def write_kernel(
    source: SourceText, kernel: PrimFunc, block: tuple[int, int, int], *, asks: bool = False
) -> str:
    """Return a kernel, whose loops over blocks and threads are those of its launch.

    ``source`` has a dialect with threads; ``block`` is the number of threads along x, y and z;
    ``asks`` tells that the launch asks for the memory that they share.
    """
    name = c_symbol(kernel.name)
    params, body = _written(source, kernel, name, 0 if asks else None)
    x, y, z = block
    head = source.dialect.kernel.format(
        name=name, params=", ".join(params), x=x, y=y, z=z, threads=x * y * z
    )
    return f"\n{head} {{\n{body}\n}}"


def _written(
    source: SourceText, func: PrimFunc, name: str, shared_end: int | None = None
) -> tuple[list[str], str]:
    """Return the parameters and the body of a function."""
    func = with_wide_floats(func)
    writer = FunctionWriter(source)
    writer.shared_end = shared_end
    if source.dialect.read:
        writer.alignment = Alignment()
        for param in func.params:
            if isinstance(param, Buffer):
                writer.alignment.begins(param, max(param.dtype.bytes, param.align))
    writer.names(name)
    writer.wrapping = wrapping_loops(func)
    attrs = dict(func.attrs)
    writer.noalias = attrs.get("noalias") is not False
    writer.contracts = attrs.get("contract") is not False and not source.dialect.has_threads
    writer.parallel = attrs.get("threads") is not False and not source.dialect.has_threads
    failing = list(walk(func, Assert))
    writer.failures = {id(node): place + 1 for place, node in enumerate(failing)}
    writer.written = {id(buffer) for buffer in written_buffers(func)}
    params = writer.declared_params = _parameters(writer, func)
    guard = None if source.dialect.has_threads else size_guard(func)
    if guard is not None:
        writer.allocations = guard.allocations
        fail_unless(writer, guard.condition, BAD_SIZE)
    for param in func.params:
        if isinstance(param, Buffer):
            place = writer.places[id(param)]
            steps = strides(writer, param)
            writer.places[id(param)] = BufferPointer(place.pointer, steps, place.space)
    note_kept(writer, func)
    write(writer, func.body)
    return params, _finished(writer, params)


def _parameters(writer: FunctionWriter, func: PrimFunc) -> list[str]:
    """Bind the parameters and return their declarations."""
    declared: list[str] = []
    written = {id(buffer) for buffer in written_buffers(func)}
    dialect = writer.source.dialect
    alias = dialect.restrict if writer.noalias else ""
    space = dialect.spaces["global"]
    for param in func.params:
        name = writer.name(param.name)
        if isinstance(param, Buffer):
            constant = id(param) not in written
            pointer = element_pointer(param.dtype, constant=constant, space=space)
            declared.append(f"{pointer}{alias}{name}")
            writer.places[id(param)] = BufferPointer(name, (), "global")
        else:
            declared.append(f"{memory_type(param.dtype)} {name}")
            writer.values[id(param)] = from_memory(writer, param.dtype, name)
    for var in shape_vars(func):
        name = writer.name(var.name)
        declared.append(f"int64_t {name}")
        value = Code(name, ATOM, I64.low, I64.high)
        writer.values[id(var)] = convert(writer, I64, var.dtype, value)
    if record_size(func):
        writer.record = writer.name("record_values")
        declared.append(f"int64_t *{writer.record}")
    return declared


def _finished(writer: FunctionWriter, params: list[str]) -> str:
    """Return the body of a function with its beginning and its end."""
    names = [declared.replace("*", " ").split()[-1] for declared in params]
    lines, words = without_unused(writer.lines)
    text = "\n".join(lines)
    begin = [f"    (void){name};" for name in names if name not in words]
    begin += [f"    void *{slot} = NULL;" for slot in writer.heap]
    begin += [f"    {declared}" for declared in writer.block_memory]
    end = [] if writer.source.dialect.has_threads else ["    return 0;"]
    if writer.jumps:
        begin.insert(0, "    int32_t status = 0;")
        freed = [f"    free({slot});" for slot in writer.heap]
        end = ["leave:", *freed, "    return status;"]
    return "\n".join([*begin, *([text] if text else []), *end])
