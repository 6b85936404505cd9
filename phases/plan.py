"""Turn a lowered graph function into the plan that the executor runs, and its constants into one
block of parameters."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from irkit.codegen import ALIGNMENT, Copy, KernelCall, Place, Plan, TensorSpec
from irkit.core import IRKitError
from irkit.graph import (
    Bind,
    Constant,
    GraphFunc,
    Invoke,
    MemoryPlan,
    TensorType,
    Tuple,
    TupleGet,
    Value,
    memory_plan,
    recorded_plan,
)
from irkit.ir import as_int


def make_plan(func: GraphFunc) -> tuple[Plan, bytes]:
    """Give every value a place and list the calls in order; ``plan-memory`` has placed those in the
    arena.

    Raises: IRKitError for a step that no kernel was made for, or a symbolic shape.
    """
    memory = recorded_plan(func)
    return _Planner(func, memory_plan(func) if memory is None else memory).run()


def tensor_spec(value: Value, name: str) -> TensorSpec:
    """Describe a tensor for the outside.

    Raises: IRKitError if its shape is symbolic or it is no tensor.
    """
    if not isinstance(value.type, TensorType):
        raise IRKitError(f"{name!r} is no tensor, so it can be no input or output of a model")
    dims = [as_int(dim) for dim in value.type.shape]
    known = tuple(dim for dim in dims if dim is not None)
    if len(known) != len(dims):
        raise IRKitError(
            f"the shape of {name!r} is not constant: {value.type}",
            hint=f"Fix it when compiling: shapes={{{name!r}: (...)}}.",
        )
    return TensorSpec(name, known, str(value.type.dtype))


class _Planner:
    def __init__(self, func: GraphFunc, memory: MemoryPlan) -> None:
        self.func = func
        self.memory = memory
        self.places: dict[Value, Place] = {}
        self.tuples: dict[Value, tuple[Value, ...]] = {}
        self.params: list[tuple[int, TensorSpec]] = []
        self.blocks: list[bytes] = []
        self.param_bytes = 0
        self.calls: list[KernelCall] = []

    def run(self) -> tuple[Plan, bytes]:
        attrs = dict(self.func.attrs)
        inputs = self._names(attrs.get("inputs"), [param.name for param in self.func.params])
        for number, param in enumerate(self.func.params):
            self.places[param] = Place("input", number)
        self._find_tuples()
        results = self._results()
        outputs = self._names(attrs.get("outputs"), [value.name for value in results])
        copies = self._place_outputs(results)
        for bind in self.func.body.bindings:
            self._bind(bind)
        plan = Plan(
            tuple(tensor_spec(v, n) for v, n in zip(self.func.params, inputs, strict=True)),
            tuple(tensor_spec(v, n) for v, n in zip(results, outputs, strict=True)),
            tuple(self.params),
            self.param_bytes,
            self.memory.size,
            tuple(self.calls),
            tuple(
                Copy(Place("output", number), self.places[value], _bytes(value))
                for number, value in copies
            ),
        )
        return plan, b"".join(self.blocks)

    @staticmethod
    def _names(given: object, default: list[str]) -> list[str]:
        if not isinstance(given, tuple):
            return default
        return [str(name) for name in given]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]

    def _find_tuples(self) -> None:
        """See through tuples: whoever takes an item apart means the value that was put in."""
        for bind in self.func.body.bindings:
            if isinstance(bind.step, Tuple):
                self.tuples[bind.var] = bind.step.items
            elif isinstance(bind.step, Invoke) and not isinstance(bind.var.type, TensorType):
                self.tuples[bind.var] = self._items(bind.var)

    def _items(self, var: Value) -> tuple[Value, ...]:
        found: dict[int, Value] = {}
        for bind in self.func.body.bindings:
            if isinstance(bind.step, TupleGet) and bind.step.value is var:
                found[bind.step.index] = bind.var
        count = len(getattr(var.type, "items", ()))
        missing = [number for number in range(count) if number not in found]
        if missing:
            raise IRKitError(f"item {missing[0]} of {var.name!r} is computed but never named")
        return tuple(found[number] for number in range(count))

    def _results(self) -> list[Value]:
        result = self.func.body.result
        return list(self.tuples.get(result, (result,)))

    def _place_outputs(self, results: Sequence[Value]) -> list[tuple[int, Value]]:
        """Let kernels write outputs directly; what comes from elsewhere is copied at the end."""
        computed = {
            bind.var
            for bind in self.func.body.bindings
            if isinstance(bind.step, (Invoke, TupleGet))
        }
        copies: list[tuple[int, Value]] = []
        for number, value in enumerate(results):
            if value in computed and value not in self.places:
                self.places[value] = Place("output", number)
            else:
                copies.append((number, value))
        return copies

    def _bind(self, bind: Bind) -> None:
        var, step = bind.var, bind.step
        if isinstance(step, Constant):
            self._param(var, step.data.array)
        elif isinstance(step, Invoke):
            targets = self.tuples.get(var, (var,))
            for item, value in enumerate(targets):
                self._place(value, var.name, item)
            args = (*step.args, *targets)
            node = "" if bind.span is None else str(bind.span)
            places = tuple(self.places[arg] for arg in args)
            self.calls.append(KernelCall(step.function, places, node or var.name))
        elif not isinstance(step, (Tuple, TupleGet)):
            raise IRKitError(
                f"no kernel was made for {type(step).__name__} {var.name!r}", span=bind.span
            )

    def _place(self, value: Value, name: str, item: int) -> None:
        if value in self.places:
            return
        slot = self.memory.slot(name, item)
        assert slot is not None, name
        self.places[value] = Place("arena", slot.offset)

    def _param(self, var: Value, array: NDArray[Any]) -> None:
        data = np.ascontiguousarray(array).tobytes()
        self.params.append((self.param_bytes, tensor_spec(var, var.name)))
        self.places[var] = Place("param", self.param_bytes)
        data += b"\0" * (-len(data) % ALIGNMENT)
        self.blocks.append(data)
        self.param_bytes += len(data)


def _bytes(value: Value) -> int:
    assert isinstance(value.type, TensorType)
    count = 1
    for dim in value.type.shape:
        count *= as_int(dim) or 0
    return count * value.type.dtype.bytes
