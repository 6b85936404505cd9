"""Export of a module: ``forward`` runs on tensors without data, and the results are bound."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

from irkit.core import IRKitError, IRModule, ShapeError, Span, substitute
from irkit.frontend.nn.parameter import Parameter
from irkit.graph import (
    Binding,
    Builder,
    GraphFunc,
    TensorExpr,
    TensorType,
    Value,
    graph_input,
    written_type,
)
from irkit.ir import Var

Inputs: TypeAlias = Mapping[str, TensorType]
ExportSpec: TypeAlias = Inputs | Mapping[str, Inputs]
Named: TypeAlias = Sequence[tuple[str, Parameter]]


def export(
    module: object, spec: ExportSpec, parameters: Named, *, constants: bool
) -> tuple[IRModule, list[tuple[str, Parameter]]]:
    """Return the functions of a module and what they take after their inputs."""
    for name, parameter in parameters:
        parameter.name = name
    functions: dict[str, GraphFunc] = {}
    for method, inputs in _methods(spec).items():
        name = "main" if method == "forward" else method
        functions[name] = _function(module, method, name, inputs, parameters, constants)
    return IRModule(functions), [] if constants else list(parameters)


def _methods(spec: ExportSpec) -> dict[str, Inputs]:
    """Return the inputs of each method; types alone are those of ``forward``."""
    if not spec:
        return {"forward": {}}
    nested = [isinstance(each, Mapping) for each in spec.values()]
    if all(nested):
        return dict(cast("Mapping[str, Inputs]", spec))
    if any(nested):
        raise IRKitError(
            "the spec mixes methods and inputs",
            hint='Write {"forward": {"x": nn.spec.Tensor(...)}, ...}.',
        )
    return {"forward": cast("Inputs", spec)}


def _function(
    module: object,
    method: str,
    name: str,
    inputs: Inputs,
    parameters: Named,
    constants: bool,
) -> GraphFunc:
    run = getattr(module, method, None)
    if not callable(run):
        raise IRKitError(f"{type(module).__name__} has no method {method!r}")
    types = _with_shared_dimensions(inputs)
    _check_arguments(module, method, run, types)
    given = {label: graph_input(label, kind) for label, kind in types.items()}
    results = _results(module, method, run(**given))
    builder, scope = Builder(name), dict[TensorExpr, Value]()
    for label, tensor in given.items():
        scope[tensor] = builder.param(label, tensor.type)
    names = [*given]
    for label, parameter in parameters:
        if constants:
            scope[parameter] = builder.constant(parameter.data, name=label)
        else:
            scope[parameter] = builder.param(label, parameter.type)
            names.append(label)
    binding = Binding(builder, scope)
    values = [binding.value(each) for each in results]
    return builder.finish(*values, span=_place(run), inputs=tuple(names))


def _place(run: Any) -> Span | None:
    code = getattr(getattr(run, "__func__", run), "__code__", None)
    if code is None:
        return None
    return Span("python", run.__qualname__, code.co_filename, code.co_firstlineno)


def _with_shared_dimensions(inputs: Inputs) -> dict[str, TensorType]:
    """Return the types with one variable for each name of a dimension."""
    known: dict[str, Var] = {}
    found: dict[str, TensorType] = {}
    for name, kind in inputs.items():
        if not isinstance(kind, TensorType):  # pyright: ignore[reportUnnecessaryIsInstance] -- a user's mistake
            raise IRKitError(
                f"the spec of {name!r} is a {type(kind).__name__}",
                hint='Write nn.spec.Tensor((1, 784), "f32").',
            )
        new = {dim: known.setdefault(dim.name, dim) for dim in kind.shape if isinstance(dim, Var)}
        shape = tuple(substitute(dim, new) for dim in kind.shape)
        found[name] = kind.replace(shape=shape)
    return found


def _check_arguments(module: object, method: str, run: Any, types: Inputs) -> None:
    try:
        inspect.signature(run).bind(**dict.fromkeys(types))
    except TypeError as error:
        taken = ", ".join(inspect.signature(run).parameters) or "nothing"
        raise IRKitError(
            f"the spec has {', '.join(types) or 'no inputs'}, but {method} of "
            f"{type(module).__name__} takes {taken}: {error}"
        ) from None


def _results(module: object, method: str, found: Any) -> list[TensorExpr]:
    several = isinstance(found, (tuple, list))
    results = list(cast("Sequence[Any]", found)) if several else [found]
    for each in results:
        if not isinstance(each, TensorExpr):
            raise ShapeError(
                f"{method} of {type(module).__name__} must return tensors, found "
                f"{written_type(each) if isinstance(each, TensorType) else type(each).__name__}"
            )
    return results
