"""``torch.compile(model, backend="irkit")``: the graphs that PyTorch captures, as native code.

PyTorch finds the backend by its entry point. It passes the parameters as inputs, so weights that
change are seen by the next call. For inference only. What PyTorch cannot capture runs in PyTorch
between two graphs, and a graph with an operator that irkit does not have runs there whole, with a
warning. A graph with symbolic sizes is compiled once, or, if an operator in it needs a number, once
for each set of sizes that it meets.
"""

import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from irkit.core import IRKitError
from irkit.frontend.torch import (
    NodeRef,
    TorchInput,
    TorchOutput,
    TorchProgram,
    array_of,
    import_program,
    missing_operators,
    nodes_of,
    symbol_range,
    tensor_type,
)
from irkit.phases import compile as compile_module
from irkit.runtime import Model


def irkit_backend(module: Any, examples: Sequence[Any]) -> Callable[..., Any]:
    """Compile what ``torch.compile`` captured; this is the function that the entry point names."""
    torch: Any = import_module("torch")
    dynamo: Any = import_module("torch._dynamo.backends.common")
    decompositions: Any = import_module("torch._decomp")
    if torch.is_grad_enabled() and any(getattr(each, "requires_grad", False) for each in examples):
        raise IRKitError(
            'backend="irkit" is for inference, and gradients are recorded here',
            hint="Call the model under torch.no_grad() or torch.inference_mode().",
        )
    backend: Any = dynamo.aot_autograd(
        fw_compiler=_compiled,
        inference_compiler=_compiled,
        decompositions=decompositions.core_aten_decompositions(),
    )
    return backend(module, examples)


def _compiled(graph: Any, examples: Sequence[Any]) -> Callable[..., Any]:
    """Return a function of the inputs of a graph of core operators."""
    autograd: Any = import_module("torch._functorch.aot_autograd")
    try:
        program, symbols = _program(graph)
        missing = missing_operators(program)
        reason = ", ".join(missing)
    except IRKitError as error:
        program, symbols, reason = None, [], error.message
    if program is None or reason:
        warnings.warn(f"irkit: a graph runs in PyTorch, because of {reason}", stacklevel=2)
        return autograd.make_boxed_func(graph.forward)
    return autograd.make_boxed_func(_Runner(program, symbols))


def _program(graph: Any) -> tuple[TorchProgram, list[str]]:
    """Return the graph as plain data, and for each input the symbol that it is, or ""."""
    inputs, symbols, sizes = list[TorchInput](), list[str](), dict[str, str]()
    ranges: dict[str, tuple[int, int]] = {}
    outputs: list[TorchOutput] = []
    for node in graph.graph.nodes:
        if node.op == "placeholder":
            value = node.meta.get("val")
            is_tensor = hasattr(value, "dtype")
            symbols.append("" if is_tensor else str(value))
            if not is_tensor:
                sizes[node.name] = str(value)
                ranges |= symbol_range(value)
            else:
                inputs.append(TorchInput(node.name, "user", node.name, tensor_type(value)))
        elif node.op == "output":
            outputs = [TorchOutput("user", _reference(each)) for each in node.args[0]]
    nodes = tuple(nodes_of(graph.graph.nodes))
    return TorchProgram(tuple(inputs), nodes, tuple(outputs), ranges, sizes=sizes), symbols


def _reference(value: Any) -> NodeRef:
    if not hasattr(getattr(value, "meta", {}).get("val"), "dtype"):
        raise IRKitError(f"the output {value}, which is not a tensor")
    return NodeRef(value.name)


class _Runner:
    """Calls the model, compiled for all sizes or for those of the call."""

    def __init__(self, program: TorchProgram, symbols: list[str]) -> None:
        self.program = program
        self.symbols = symbols
        self.models: dict[tuple[int, ...], Model] = {}
        self.of_any_size = self._of_any_size()

    def _of_any_size(self) -> Model | None:
        if not any(self.symbols):
            return self._model({})
        try:
            return self._model({})
        except IRKitError:
            return None  # An operator needs a number; what it needs is known at a call.

    def _model(self, sizes: dict[str, int]) -> Model:
        return compile_module(import_program(self.program, sizes=sizes), keep_trace=False)

    def _model_of(self, args: Sequence[Any]) -> Model:
        if self.of_any_size is not None:
            return self.of_any_size
        named = {s: int(arg) for arg, s in zip(args, self.symbols, strict=True) if s}
        sizes = tuple(named.values())
        if sizes not in self.models:
            self.models[sizes] = self._model(named)
        return self.models[sizes]

    def __call__(self, *args: Any) -> list[Any]:
        torch: Any = import_module("torch")
        tensors = [arg for arg, symbol in zip(args, self.symbols, strict=True) if not symbol]
        arrays = {
            each.name: np.ascontiguousarray(array_of(tensor))
            for each, tensor in zip(self.program.inputs, tensors, strict=True)
        }
        return [_tensor(torch, each) for each in self._model_of(args).run(arrays).values()]


def _tensor(torch: Any, array: Any) -> Any:
    if str(array.dtype) == "bfloat16":
        return torch.from_numpy(np.asarray(array).view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(np.asarray(array))
