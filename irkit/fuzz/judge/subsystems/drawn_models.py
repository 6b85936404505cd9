"""A graph with what NumPy computes for it, compiled for a machine that is drawn."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irkit.autoschedule import Machine
from irkit.debug import InputSet
from irkit.fuzz.generators.sample import Array, Sample, Tolerance
from irkit.fuzz.judge.models import ModelCase
from irkit.fuzz.judge.progress import TierProgress
from irkit.fuzz.picks import Picks
from irkit.graph import Builder, GraphFunc, TensorType, Value, tensor_type
from irkit.ir import numpy_dtype
from irkit.phases import GRAPH, for_machine

_NAMES = {"float32": "f32", "float64": "f64", "bool": "bool", "int64": "i64", "int32": "i32"}


class NumpyGraph:
    """Bindings of a graph under construction, each with its numbers."""

    def __init__(self, picks: Picks) -> None:
        self.picks = picks
        self.rng = np.random.default_rng(picks.below(1 << 16))
        self.builder = Builder("main")
        self.inputs: list[Array] = []
        self.numbers: dict[Value, Array] = {}

    def param(self, array: Array) -> Value:
        """Add a parameter."""
        kind = tensor_type(array.shape, _NAMES[array.dtype.name])
        value = self.builder.param(f"x{len(self.inputs)}", kind)
        self.inputs.append(array)
        self.numbers[value] = array
        return value

    def constant(self, array: Array) -> Value:
        """Add a constant."""
        value = self.builder.constant(array)
        self.numbers[value] = array
        return value

    def change(self, name: str, meaning: Callable[[Array], Array], x: Value, **attrs: Any) -> Value:
        """Apply an operator to one value, and compute its numbers."""
        return self.op(name, meaning, x, **attrs)

    def op(self, name: str, meaning: Callable[..., Array], *args: Value, **attrs: Any) -> Value:
        """Apply an operator, and compute its numbers."""
        value = self.builder.op(name, *args, **attrs)
        with np.errstate(all="ignore"):
            found = np.asarray(meaning(*(self.numbers[each] for each in args)))
        self.numbers[value] = found.astype(_numpy_dtype(value))
        return value


def _numpy_dtype(value: Value) -> np.dtype[Any]:
    assert isinstance(value.type, TensorType)
    return numpy_dtype(value.type.dtype)


def draw_machine(picks: Picks) -> Machine:
    """Draw a machine: vectors of some width, and caches that little fits into, or much."""
    width = picks.pick((32, 16, 64))
    return Machine(
        vector_bytes=width,
        vector_registers=32 if width == 64 else 16,
        l1=picks.pick((32 << 10, 512, 2048)),
        l2=picks.pick((1 << 20, 16 << 10)),
    )


def judge_model(
    graph: NumpyGraph, results: Sequence[Value], tolerances: Sequence[Tolerance]
) -> None:
    """Compile a graph with results for a drawn machine, and compare with NumPy.

    Raises: WrongSample.
    """
    func: GraphFunc = graph.builder.finish(*results)
    sample = Sample(
        "graphs",
        func,
        GRAPH,
        inputs=(InputSet("drawn", "whole numbers", tuple(graph.inputs)),),
        expected=(tuple(graph.numbers[each] for each in results),),
        allowed=(tuple(tolerances),),
    )
    case = ModelCase(sample, TierProgress())
    case.pipeline = for_machine(GRAPH, draw_machine(graph.picks))
    case.run(native=graph.picks.one_in(3), optimise=lambda text: False)
