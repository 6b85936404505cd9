"""The C file of a model, its header, and what is written beside them."""

import re
from collections.abc import Sequence

from irkit.codegen.c.interface.call_text import CALL
from irkit.codegen.c.interface.execution import Execution
from irkit.codegen.c.interface.folder_text import CMAKE, EXAMPLE, WEIGHTS
from irkit.codegen.c.interface.foreign_text import ForeignKernel, link_flags
from irkit.codegen.c.interface.header_text import HEADER
from irkit.codegen.c.interface.interface_text import INCLUDES, INTERFACE
from irkit.codegen.c.interface.model_tables import tables
from irkit.codegen.c.interface.pool_text import BEGIN, OWN_POOL
from irkit.codegen.c.parallel_regions import HOST_FAILED
from irkit.codegen.c.source_file import emit_c
from irkit.codegen.c.types import identifier
from irkit.codegen.executor_plan import ExecutorPlan, ImportedFunction
from irkit.codegen.llvm.builder.exits import BAD_SIZE
from irkit.core import IRKitError, Target
from irkit.ir import PrimFunc


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
    return HEADER.replace("NAME", name)


def folder_files(
    name: str,
    foreign: Sequence[ForeignKernel] = (),
    imports: Sequence[ImportedFunction] = (),
) -> dict[str, str]:
    """Return the files beside the C file of a model, by name: weights as source, kernels of
    backends, a CMakeLists.txt and an example."""
    texts = {f"{name}_weights.c": WEIGHTS, "CMakeLists.txt": CMAKE, "main.c": EXAMPLE}
    kernels = {f"{name}_{each.symbol}.c": each.file(name) for each in foreign}
    more = {"SOURCES": " ".join(kernels), "LIBRARIES": " ".join(link_flags(imports))}
    found = {file: text.replace("NAME", name) for file, text in texts.items()}
    for word, names in more.items():
        text = found["CMakeLists.txt"].replace(f" {word}", f" {names}" if names else "")
        found["CMakeLists.txt"] = text
    return kernels | found


def emit_interface(
    plan: ExecutorPlan,
    functions: Sequence[PrimFunc],
    target: Target,
    name: str,
    foreign: Sequence[ForeignKernel] = (),
) -> str:
    """Return the C file of a model; ``foreign`` kernels have files of their own.

    Raises: IRKitError for an input or output of a type that DLPack has no number for.
    """
    renamed = {func.name: f"kernel_{place}_{func.name}" for place, func in enumerate(functions)}
    funcs = [func.replace(name=renamed[func.name]) for func in functions]
    title, file = f"the model {name}", f"{name}.c"
    kernels = emit_c(funcs, target, static=True, title=title, file=file, hosted=True)
    called = dict(zip(renamed, funcs, strict=True))
    run = Execution(plan, called | {each.kernel.name: each.named(name) for each in foreign})
    is_open = isinstance(plan.arena_bytes, str)
    arena = run.size(plan.arena_bytes, "(sizes)") if is_open else f"{max(int(plan.arena_bytes), 1)}"
    parts = [
        INCLUDES.replace("NAME", name),
        f"extern const unsigned char {name}_weights[];",
        f"#define IRKIT_WEIGHTS {plan.param_bytes}ull",
        f"#define IRKIT_ARENA(sizes) ((void)(sizes), {arena})",
        f"#define IRKIT_FIRST_ARENA {1 if is_open else arena}ull",
        f"#define IRKIT_MEMORY(sizes) ((void)(sizes), (int64_t){run.size(plan.memory, '(sizes)')})",
        f"#define IRKIT_LIMIT {run.size(plan.memory_limit)}",
        f"#define IRKIT_INPUTS {len(plan.inputs)}",
        f"#define IRKIT_OUTPUTS {len(plan.outputs)}",
        f"#define IRKIT_DIMS {len(plan.dims)}",
        f"#define IRKIT_SIZES {len(plan.size_names)}",
        f"#define IRKIT_STATES {len(plan.state)}",
        f"#define IRKIT_HOST ({HOST_FAILED}) /* the host's pool did not run a loop */",
        f"#define IRKIT_BAD_SIZE ({BAD_SIZE}) /* a size of a kernel would wrap around */",
        "#define IRKIT_MEASURED (-3) /* a dimension that the run finds is refused */",
        tables(plan, name),
        *(each.declared(name) for each in foreign),
        run.computed(),
        run.executed(),
        OWN_POOL.replace("NAME_parallel", f"{name}_parallel"),
        INTERFACE.replace("NAME", name),
        CALL.replace("NAME", name),
    ]
    title, end, kernels = kernels.partition(" */\n")
    return title + end + BEGIN + kernels + "\n" + "\n".join(parts)
