"""Functions and modules of LLVM IR.

A kernel is ``i32 @name(...)``. It takes a pointer for each buffer and a value for each scalar, in
the order of the parameters, then an i64 for each variable of ``shape_vars``, then the record of the
call if it needs one (see ``assertion_record``). A scalar bool is passed as i8, a 16-bit float as
its bits. The kernel returns 0, the number of the assertion that failed (from 1, in text order), -1
if memory ran out, or BAD_SIZE if a size would wrap around.
"""

import re
from collections.abc import Mapping, Sequence

from irkit.codegen.llvm.arithmetic.conversions import convert
from irkit.codegen.llvm.builder.debug_info import DebugInfo
from irkit.codegen.llvm.builder.exits import BAD_SIZE, leave
from irkit.codegen.llvm.builder.scope import BufferPlace, FunctionScope
from irkit.codegen.llvm.builder.text import FunctionText, ModuleText
from irkit.codegen.llvm.builder.types import memory_type, quoted, symbol
from irkit.codegen.llvm.expressions.memory_access import from_memory
from irkit.codegen.llvm.module.stub import emit_stub
from irkit.codegen.llvm.parallel.parallel_loops import attributes
from irkit.codegen.llvm.statements.assertion_record import bind_record, record_size
from irkit.codegen.llvm.statements.buffers import fail_unless, place_buffer
from irkit.codegen.llvm.statements.clocks import clocks_symbol, declare_clocks
from irkit.codegen.llvm.statements.statements import write
from irkit.codegen.wrapping_loops import wrapping_loops
from irkit.core import IRKitError, Target, deep_recursion, walk
from irkit.ir import I64, Assert, Buffer, PrimFunc, shape_vars, size_guard
from irkit.ir.math import with_wide_floats
from irkit.ir.threads import split_threads

EMITTER_VERSION = 7
_UNUSUAL = re.compile(r"[^A-Za-z0-9_]")


@deep_recursion
def emit(
    funcs: Sequence[PrimFunc], target: Target, *, lines: Mapping[int, int] | None = None
) -> str:
    """Return functions at any stage of lowering as one module of LLVM IR.

    ``target`` must be complete (see ``complete_target``). With ``lines``, which maps the ``id`` of
    statements to printed lines, instructions carry line numbers.

    Raises: IRKitError if two functions have the same name, or something cannot be expressed.
    """
    module = ModuleText(target, None if lines is None else DebugInfo(lines))
    _refuse_doubles(funcs)
    for func in funcs:
        module.functions.append(emit_function(module, func))
    for name, meaning in module.meanings.items():
        module.functions.append(_emit_meaning(module, name, meaning))
    debug = "" if module.debug is None else module.debug.render()
    return module.render() + _attributes(module) + debug


@deep_recursion
def emit_stubs(funcs: Sequence[PrimFunc], target: Target) -> str:
    """Return a module of functions that take Python objects, check them and call the kernels.

    It is separate from the kernels because stubs run once a call: optimising them would take longer
    than compiling the kernel.
    """
    module = ModuleText(target)
    _refuse_doubles(funcs)
    for func in funcs:
        module.functions.append(emit_stub(module, func))
    return module.render() + _attributes(module)


def _refuse_doubles(funcs: Sequence[PrimFunc]) -> None:
    seen = set[str]()
    for func in funcs:
        if func.name in seen:
            raise IRKitError(f"two functions of a module are called {func.name!r}")
        seen.add(func.name)


def _attributes(module: ModuleText) -> str:
    wide = ' "prefer-vector-width"="512"' if module.has_feature("avx512f") else ""
    # Without nobuiltin LLVM assumes that fmod(x, y) with finite x and y other than 0 never gives
    # NaN, even if y is NaN.
    return f"""
attributes #0 = {{ nounwind nobuiltin{wide} }}
attributes #1 = {{ nounwind willreturn memory(none) alwaysinline }}
attributes #2 = {{ nounwind willreturn nobuiltin memory(none) }}
attributes #3 = {{ nounwind willreturn }}
attributes #4 = {{ nounwind nobuiltin noinline optnone }}
!0 = !{{!"branch_weights", i32 1, i32 1000000}}
!1 = !{{!"branch_weights", i32 1000000, i32 1}}
!2 = distinct !{{!2, !3}}
!3 = !{{!"llvm.loop.vectorize.enable", i1 false}}
"""


def assertions(func: PrimFunc) -> list[Assert]:
    """Return the assertions in text order: status n is item n - 1."""
    return list(walk(split_threads(func), Assert))


def _emit_meaning(module: ModuleText, name: str, meaning: PrimFunc) -> str:
    """Write the function that stands for an instruction."""
    return emit_function(module, meaning, f"internal i32 {quoted(name)}")


def emit_function(module: ModuleText, func: PrimFunc, head: str = "") -> str:
    """Write one kernel; ``head`` is what stands before its parameters instead of its name."""
    func = with_wide_floats(split_threads(func))
    text = FunctionText(module)
    scope = FunctionScope(text)
    attrs = dict(func.attrs)
    scope.noalias = attrs.get("noalias") is not False
    scope.threads = attrs.get("threads") is not False
    if attrs.get("reassoc") is True:
        scope.flags = "reassoc contract"
    if attrs.get("contract") is False:
        scope.flags = scope.flags.replace("contract", "").strip()
    scope.failures = {id(node): place + 1 for place, node in enumerate(assertions(func))}
    params = _bind_parameters(scope, func)
    if record_size(func):
        params.append(bind_record(scope))
    _check_sizes(scope, func)
    for param in func.params:
        if isinstance(param, Buffer):
            place_buffer(scope, param, scope.places[id(param)].pointer)
    module.kernel, module.wrapping = func.name, wrapping_loops(func)
    write(scope, func.body)
    leave(scope)
    module.declare(clocks_symbol(func.name), declare_clocks(module, func.name))
    named = head or f"i32 {quoted(symbol(func.name))}"
    first = f"define {named}({', '.join(params)}) {attributes(scope)}{text.debug}"
    return f"{first} {{\n{text.body()}\n}}"


def _check_sizes(scope: FunctionScope, func: PrimFunc) -> None:
    """Leave a call in which a size would wrap around, before it does anything."""
    guard = size_guard(func)
    if guard is not None:
        scope.allocations = guard.allocations
        fail_unless(scope, guard.condition, BAD_SIZE)


def _bind_parameters(scope: FunctionScope, func: PrimFunc) -> list[str]:
    """Add the parameters to the scope and return their declarations."""
    declared: list[str] = []
    alias = " noalias" if scope.noalias else ""
    for place, param in enumerate(func.params):
        name = f"%{_UNUSUAL.sub('_', param.name)}.{place}"
        if isinstance(param, Buffer):
            declared.append(f"ptr{alias} {name}")
            scope.places[id(param)] = BufferPlace(name, ())
        else:
            declared.append(f"{memory_type(param.dtype)} {name}")
            scope.values[id(param)] = from_memory(scope, param.dtype, name)
    for place, var in enumerate(shape_vars(func)):
        name = f"%{_UNUSUAL.sub('_', var.name)}.shape{place}"
        declared.append(f"i64 {name}")
        scope.values[id(var)] = convert(scope.text, I64, var.dtype, name)
    return declared
