"""The gradient of a graph function, as a graph function."""

from collections.abc import Sequence
from typing import overload

from irkit.core import DTypeError, IRKitError, IRModule, ShapeError, deep_recursion
from irkit.graph.build import Builder
from irkit.graph.differentiation.applied import zeros_like
from irkit.graph.differentiation.kept_states import LoopFunctions
from irkit.graph.differentiation.reverse import ReverseSweep, active_values, is_float
from irkit.graph.function import GraphFunc
from irkit.graph.functions.inline import inline_calls
from irkit.graph.infer import written_type
from irkit.graph.nodes import Body, GraphIf, Value
from irkit.graph.tensor import constant, tensor_of
from irkit.graph.types import TensorType
from irkit.ir import PrimFunc

# What an input and an output share, or what a caller cuts, has no meaning for gradients.
_REFUSED_ATTRS = {
    "cuts": "its outputs are cut to a number of elements that depends on data",
    "state": "an output overwrites an input",
    "mutations": "an output overwrites an input",
}


@overload
def gradient(
    program: GraphFunc,
    wrt: Sequence[str] | str | None = None,
    *,
    entry: str = "main",
    with_value: bool = False,
) -> GraphFunc: ...
@overload
def gradient(
    program: IRModule,
    wrt: Sequence[str] | str | None = None,
    *,
    entry: str = "main",
    with_value: bool = False,
) -> IRModule: ...
def gradient(
    program: GraphFunc | IRModule,
    wrt: Sequence[str] | str | None = None,
    *,
    entry: str = "main",
    with_value: bool = False,
) -> GraphFunc | IRModule:
    """Return a function of the same parameters that computes the gradient of the result.

    The result must be one float. ``wrt`` names the parameters to differentiate with respect to,
    all those of floats if it is None; the gradients come in that order, several as a tuple, and
    after the result itself ``with_value``. Their names are those of the parameters with ``d_``
    before. Of a module, the function ``entry`` is replaced; graph functions that it calls are
    inlined. At a tie or a kink the gradient is PyTorch's.
    Raises: IRKitError for a step without a derivative that the result depends on: an operator
    of ``NOT_DIFFERENTIABLE``, recursion, a loop function that does more than move elements, an
    output that overwrites an input.
    """
    if isinstance(program, IRModule):
        func = program[entry]
        if not isinstance(func, GraphFunc):
            raise IRKitError(f"{entry!r} is not a graph function")
        known = {
            name: each
            for name, each in program.functions.items()
            if isinstance(each, (GraphFunc, PrimFunc))
        }
        builder = Builder(func.name, functions=known)
        found = _gradient(func, program, wrt, with_value, builder)
        return program.with_functions({**builder.functions, entry: found})
    return _gradient(program, None, wrt, with_value, Builder(program.name))


def _gradient(
    func: GraphFunc,
    module: IRModule | None,
    wrt: Sequence[str] | str | None,
    with_value: bool,
    functions: Builder,
) -> GraphFunc:
    """Return the gradient; the functions that it calls join those of the builder."""
    attrs = dict(func.attrs)
    for name, reason in _REFUSED_ATTRS.items():
        if attrs.get(name):
            raise IRKitError(f"cannot differentiate {func.name!r}: {reason}", span=func.span)
    plain = inline_calls(func, module)
    result = plain.body.result
    if not is_float(result) or not isinstance(result.type, TensorType) or result.type.shape:
        raise ShapeError(
            f"cannot differentiate {func.name!r}: its result is {written_type(result.type)}, "
            "expected one float",
            hint="Return a loss: sum or mean of the result.",
        )
    wanted = _wanted(func, plain, wrt)
    loops = LoopFunctions(module)
    active = _everywhere(plain.body, set(wanted))
    with deep_recursion:
        plain = loops.with_kept_states(plain, active, functions)
    builder = Builder.of(plain)
    builder.functions = functions.functions
    sweep = ReverseSweep(builder, set(wanted), loops)
    sweep.add(result, constant(1.0, result.type.dtype))
    sweep.run(plain.body.bindings)
    found = {value: sweep.of(value) for value in dict.fromkeys(wanted)}
    values = {
        value: sweep.binding.value(zeros_like(tensor_of(value)) if each is None else each)
        for value, each in found.items()
    }
    results = [*([result] if with_value else []), *(values[value] for value in wanted)]
    names = [
        *(["value"] if with_value else []),
        *(f"d_{name}" for name in _names(func, plain, wanted)),
    ]
    return builder.finish(*results, span=func.span, **{**attrs, "outputs": tuple(names)})


def _everywhere(body: Body, wanted: set[Value]) -> set[Value]:
    """Return the values that depend on those wanted, with those inside of branches."""
    found, waiting = set(wanted), [body]
    while waiting:
        bindings = waiting.pop().bindings
        found |= active_values(bindings, found)
        for bind in bindings:
            if isinstance(bind.step, GraphIf):
                waiting += [bind.step.then, bind.step.otherwise]
    return found


def _inputs(func: GraphFunc) -> list[str]:
    """Return the names by which a caller knows the parameters."""
    given = dict(func.attrs).get("inputs")
    names = given if isinstance(given, tuple) else tuple(param.name for param in func.params)
    return [str(name) for name in names]


def _names(func: GraphFunc, plain: GraphFunc, wanted: Sequence[Value]) -> list[str]:
    by_value = dict(zip(plain.params, _inputs(func), strict=True))
    return [by_value[value] for value in wanted]


def _wanted(func: GraphFunc, plain: GraphFunc, wrt: Sequence[str] | str | None) -> list[Value]:
    """Return the parameters to differentiate with respect to."""
    if wrt is None:
        found = [param for param in plain.params if is_float(param)]
        if not found:
            raise DTypeError(f"{func.name!r} has no parameter of floats")
        return found
    known = dict(zip(_inputs(func), plain.params, strict=True))
    known |= {param.name: param for param in plain.params if param.name not in known}
    names = [wrt] if isinstance(wrt, str) else list(wrt)
    if not names or len(set(names)) != len(names):
        raise IRKitError(f"wrt must name different parameters, found {names}")
    for name in names:
        if name not in known:
            raise IRKitError(
                f"{func.name!r} has no parameter {name!r}; it has: {', '.join(known) or 'none'}"
            )
        if not is_float(known[name]):
            raise DTypeError(
                f"cannot differentiate with respect to {name!r}, which is "
                f"{written_type(known[name].type)}"
            )
    return [known[name] for name in names]
