"""A model as C: its kernels, the run over a planned arena, and functions for other programs.

All of it is one file, so that everything but the interface is ``static`` and two models fit into
one program.
"""

import re
from collections.abc import Sequence

from irkit.codegen.c import interface_text
from irkit.codegen.c.memory_access import element_pointer
from irkit.codegen.c.source_file import c_symbol, emit_c
from irkit.codegen.c.types import identifier
from irkit.codegen.executor_plan import (
    Branch,
    Copy,
    ExecutorPlan,
    KernelCall,
    Region,
    Repeat,
    TensorPlace,
    TensorSpec,
    control_flow,
)
from irkit.codegen.llvm.module.stub import written_buffers
from irkit.core import IRKitError, Target
from irkit.ir import Buffer, PrimFunc, dtype as as_dtype

_CODES = {"i": 0, "u": 1, "f": 2, "bf": 4, "bool": 6}
_TABLES = {"input": "inputs", "output": "outputs"}


def interface_names(name: str) -> str:
    """Return a model's name as the prefix of its functions.

    Raises: IRKitError if C does not allow it.
    """
    if not name.isidentifier() or not name.isascii() or identifier(name) != name:
        raise IRKitError(
            f"{name!r} cannot be the prefix of functions in C",
            hint="Use letters, digits and _, and no word of C.",
        )
    return name


def c_prefix(text: str) -> str:
    """Return a prefix that C allows, made of any text."""
    plain = re.sub(r"\W", "_", text, flags=re.ASCII)
    if not plain or plain[0].isdigit():
        plain = f"model_{plain}"
    return plain if identifier(plain) == plain else f"{plain}_model"


def emit_header(name: str) -> str:
    """Return the header of a model."""
    return interface_text.HEADER.replace("NAME", name)


def emit_interface(
    plan: ExecutorPlan, functions: Sequence[PrimFunc], target: Target, name: str
) -> str:
    """Return the C file of a model.

    Raises: IRKitError for an input or output of a type that DLPack has no number for, or if a
    dimension is known at the call only.
    """
    if plan.dims:
        names = ", ".join(repr(dim.name) for dim in plan.dims)
        raise IRKitError(
            f"C source needs sizes that are known, and the model leaves open: {names}",
            hint="Compile it for one size, with shapes= or --shape.",
        )
    renamed = {func.name: f"kernel_{place}_{func.name}" for place, func in enumerate(functions)}
    funcs = [func.replace(name=renamed[func.name]) for func in functions]
    by_name = dict(zip(renamed, funcs, strict=True))
    title, file = f"the model {name}", f"{name}.c"
    kernels = emit_c(funcs, target, static=True, title=title, file=file)
    parts = [
        interface_text.INCLUDES.replace("NAME", name),
        f"extern const unsigned char {name}_weights[];",
        f"#define IRKIT_WEIGHTS {plan.param_bytes}ull",
        f"#define IRKIT_ARENA {max(plan.arena_bytes, 1)}ull",
        f"#define IRKIT_INPUTS {len(plan.inputs)}",
        f"#define IRKIT_OUTPUTS {len(plan.outputs)}",
        _tensors(name, "inputs", plan.inputs),
        _tensors(name, "outputs", plan.outputs),
        _execute(plan, by_name),
        interface_text.INTERFACE.replace("NAME", name),
    ]
    return kernels + "\n" + "\n".join(parts)


def _tensors(name: str, which: str, specs: Sequence[TensorSpec]) -> str:
    """Return the table of inputs or outputs."""
    shapes, rows = list[str](), list[str]()
    for number, spec in enumerate(specs):
        dims = ", ".join(map(str, spec.shape)) or "0"
        place = f"irkit_{which}_{number}"
        shapes.append(f"static const int64_t {place}[] = {{{dims}}};")
        rows.append(f"    {{{_quoted(spec.name)}, {_type(spec)}, {len(spec.shape)}, {place}}},")
    rows = rows or ['    {"", {0, 0, 0}, 0, 0},']
    head = f"static const {name}_tensor irkit_{which}[] = {{"
    return "\n".join([*shapes, head, *rows, "};"])


def _type(spec: TensorSpec) -> str:
    try:
        dtype = as_dtype(spec.dtype)
    except IRKitError:
        raise IRKitError(
            f"{spec.name!r} is of type {spec.dtype}, which the C interface does not have",
            hint="Convert it in the model, or run the model from Python.",
        ) from None
    return f"{{{_CODES[dtype.kind]}, {max(dtype.bits, 8)}, 1}}"


def _quoted(text: str) -> str:
    """Return a string of C, with other characters as octal bytes."""
    plain = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\?' else f"\\{byte:03o}"
        for byte in text.encode("utf-8", "surrogatepass")
    )
    return f'"{plain}"'


def _execute(plan: ExecutorPlan, functions: dict[str, PrimFunc]) -> str:
    """Return the function that calls the kernels in order."""
    lines = [
        "static int32_t irkit_execute(void *const *inputs, void *const *outputs,",
        "                             const unsigned char *weights, unsigned char *arena,",
        "                             const char **failed) {",
        "    int32_t status;",
        "    (void)inputs, (void)outputs, (void)weights, (void)arena, (void)failed, (void)status;",
    ]
    indent = "    "
    for what, number in control_flow(plan):
        if what == "call":
            lines += [indent + line for line in _call(plan.calls[number], functions)]
            continue
        region = plan.regions[number]
        if what in ("else", "end"):
            inside = _carried(region) if isinstance(region, Repeat) else []
            lines += [indent + line for line in inside]
            indent = indent[4:]
        before = _entered(region) if what == "loop" and isinstance(region, Repeat) else []
        lines += [indent + line for line in before]
        lines.append(indent + _header(region, what))
        indent += "    " * (what != "end")
    for copy in plan.copies:
        lines.append(f"    {_copied(copy)}")
    return "\n".join([*lines, "    return 0;", "}"])


def _call(call: KernelCall, functions: dict[str, PrimFunc]) -> tuple[str, str]:
    """Call a kernel, and leave with its status if it failed."""
    func = functions[call.kernel]
    written = written_buffers(func)
    args = [
        f"({element_pointer(param.dtype, constant=param not in written)}){_address(place)}"
        for param, place in zip(func.params, call.args, strict=True)
        if isinstance(param, Buffer)
    ]
    args += ["NULL"] * call.records
    return (
        f"status = {c_symbol(func.name)}({', '.join(args)});",
        f"if (status) return *failed = {_quoted(call.node or call.kernel)}, status;",
    )


def _header(region: Region, what: str) -> str:
    """Return the line at which a region begins, changes sides or ends."""
    if what in ("else", "end"):
        return "} else {" if what == "else" else "}"
    cond = f"*(const unsigned char *){_address(region.cond)}"
    if isinstance(region, Branch):
        return f"if ({cond}) {{"
    number = f"*(int64_t *){_address(region.number)}"
    limits = [f"*(const int64_t *){_address(region.count)}", *(str(r.rows) for r in region.rows)]
    return f"while ({cond}{''.join(f' && {number} < {limit}' for limit in limits)}) {{"


def _entered(loop: Repeat) -> list[str]:
    """Return what is done before the first iteration."""
    return [
        *map(_copied, loop.enter),
        *(f"memset({_address(row.to)}, 0, (size_t){row.size} * {row.rows});" for row in loop.rows),
        f"*(int64_t *){_address(loop.number)} = 0;",
    ]


def _carried(loop: Repeat) -> list[str]:
    """Return what is done after each iteration."""
    number = f"*(int64_t *){_address(loop.number)}"
    return [
        *map(_copied, loop.carry),
        *(
            f"memcpy((unsigned char *){_address(row.to)} + {number} * {row.size}, "
            f"{_address(row.source)}, {row.size});"
            for row in loop.rows
        ),
        f"++{number};",
    ]


def _copied(copy: Copy) -> str:
    return f"memcpy({_address(copy.to)}, {_address(copy.source)}, {copy.size});"


def _address(place: TensorPlace) -> str:
    if place.kind in _TABLES:
        return f"{_TABLES[place.kind]}[{place.at}]"
    return f"({'weights' if place.kind == 'param' else 'arena'} + {place.at})"
