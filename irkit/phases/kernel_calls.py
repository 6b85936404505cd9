"""Checks that kernels take what the executor passes them: native code checks nothing."""

from collections.abc import Iterator

from irkit.codegen import written_buffers
from irkit.core import IRKitError, IRModule
from irkit.graph import GraphFunc, Invoke, TupleType, verify
from irkit.ir import Buffer, PrimFunc, shape_vars


def check_calls(module: IRModule, main: GraphFunc) -> None:
    """Check that each function that ``main`` invokes fits its calls.

    Raises: IRKitError with every problem.
    """
    problems = [str(problem) for problem in verify(module)]
    for bind in main.body.bindings:
        if isinstance(bind.step, Invoke) and bind.step.function in module:
            name = bind.step.function
            results = len(bind.var.type.items) if isinstance(bind.var.type, TupleType) else 1
            problems += [f"{name!r} {what}" for what in _problems(module[name], results)]
    if problems:
        listed = "\n  ".join(dict.fromkeys(problems))
        raise IRKitError(f"the lowered graph is invalid:\n  {listed}")


def _problems(func: object, results: int) -> Iterator[str]:
    """Yield the reasons why a function is not a kernel that fills its last parameters."""
    if not isinstance(func, PrimFunc):
        yield f"is a {type(func).__name__}; expected a function over loops"
        return
    outputs = written_buffers(func)
    for place, param in enumerate(func.params):
        if not isinstance(param, Buffer):
            yield f"takes the number {param.name!r}; kernels of a model take only tensors"
            continue
        if place < len(func.params) - results and param in outputs:
            yield f"writes to {param.name!r}, which is not a result"
        if param.strides is not None:
            yield f"takes strides of {param.name!r}; tensors of a model are contiguous"
        if param.align > param.dtype.bytes:
            yield f"needs {param.name!r} aligned to {param.align} bytes; tensors of callers are not"
    for name in dict.fromkeys(var.name for var in shape_vars(func)):
        yield f"takes any extent {name!r}; kernels of a model have constant shapes"
