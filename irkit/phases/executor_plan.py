"""The plan that the executor runs, and the block of parameters, from a lowered graph function."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from irkit.codegen import Copy, ExecutorPlan, KernelCall, TensorPlace, TensorSpec
from irkit.core import ALIGNMENT, IRKitError, UniqueNames
from irkit.graph import (
    Bind,
    Constant,
    GraphFunc,
    Invoke,
    MemoryPlan,
    TensorType,
    Tuple,
    TupleGet,
    TupleType,
    Type,
    Value,
    memory_plan,
    recorded_plan,
    tensors_in,
    written_type,
)
from irkit.ir import as_int


def make_plan(
    func: GraphFunc, operators: Mapping[str, tuple[str, ...]] = MappingProxyType({})
) -> tuple[ExecutorPlan, bytes]:
    """Return the plan, with a place for every value and the calls in order, and the parameters.

    Places in the arena are those that ``plan-memory`` has chosen. ``operators`` says for the name
    of a value which operators of the graph compute it.
    Raises: IRKitError for a step without a kernel, a symbolic shape, or a memory plan that is older
    than the function.
    """
    return _ExecutorPlanner(func, _memory(func), operators).run()


def tensor_spec(type: Type, name: str, dtype: str = "") -> TensorSpec:
    """Return the description of an input or output that the caller of a model sees, whose arrays
    can have a narrow type.

    Raises: IRKitError if it is not a tensor, or its shape is symbolic.
    """
    if not isinstance(type, TensorType):
        raise IRKitError(f"{name!r} is not a tensor, so it cannot be an input or output of a model")
    dims = [as_int(dim) for dim in type.shape]
    known = tuple(dim for dim in dims if dim is not None)
    if len(known) != len(dims):
        raise IRKitError(
            f"the shape of {name!r} is not constant: {written_type(type)}",
            hint="Fix the shapes of inputs: shapes={name: (1, 3, 8, 8)}, or --shape name=1,3,8,8.",
        )
    return TensorSpec(name, known, dtype or str(type.dtype))


def input_specs(func: GraphFunc) -> tuple[TensorSpec, ...]:
    """Return the descriptions of all inputs.

    Raises: IRKitError as ``tensor_spec`` does.
    """
    names, narrow = input_names(func), narrow_types(func, "inputs")
    return tuple(
        tensor_spec(param.type, name, narrow.get(name, ""))
        for param, name in zip(func.params, names, strict=True)
    )


def narrow_types(func: GraphFunc, of: Literal["inputs", "outputs"]) -> dict[str, str]:
    """Return the names of those inputs or outputs of a model whose bytes are numbers of a narrow
    type, with that type."""
    flat = dict(func.attrs).get(f"narrow_{of}", ())
    assert isinstance(flat, tuple)
    return dict(zip(map(str, flat[::2]), map(str, flat[1::2]), strict=True))


def input_names(func: GraphFunc) -> list[str]:
    """Return the names of the inputs in the model, or else those of the parameters."""
    return _names(func, "inputs", [param.name for param in func.params])


def _names(func: GraphFunc, key: str, default: Sequence[str]) -> list[str]:
    found = dict(func.attrs).get(key, tuple(default))
    names = [str(name) for name in found] if isinstance(found, tuple) else []  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if len(names) != len(default) or len(set(names)) != len(names):
        raise IRKitError(
            f"attribute {key!r} of {func.name!r} must hold {len(default)} different names, "
            f"found {found!r}"
        )
    return names


def _memory(func: GraphFunc) -> MemoryPlan:
    """Return the recorded plan if it matches the function, or a new one if there is none."""
    current, recorded = memory_plan(func), recorded_plan(func)
    if recorded is None:
        return current
    lives = [
        {(slot.value, slot.item, slot.size, slot.first, slot.last) for slot in plan.slots}
        for plan in (current, recorded)
    ]
    if lives[0] != lives[1]:
        raise IRKitError(
            f"the memory plan of {func.name!r} is older than its values",
            hint="Run plan-memory after every pass that changes the graph.",
        )
    return recorded


class _Tensor(msgspec.Struct, frozen=True, eq=False):
    """One stored tensor, however many values and tuples stand for it: item ``item`` of the result
    that ``value`` was bound to."""

    value: Value
    item: int
    type: TensorType
    computed: bool

    @property
    def name(self) -> str:
        whole = isinstance(self.value.type, TensorType)
        return self.value.name if whole else f"{self.value.name}_{self.item}"


class _ExecutorPlanner:
    def __init__(
        self, func: GraphFunc, memory: MemoryPlan, operators: Mapping[str, tuple[str, ...]]
    ) -> None:
        self.func = func
        self.operators = operators
        self.slots = {(slot.value, slot.item): slot.offset for slot in memory.slots}
        self.arena_bytes = memory.size
        self.tensors: dict[Value, tuple[_Tensor, ...]] = {}
        self.places: dict[_Tensor, TensorPlace] = {}
        self.params: list[tuple[int, TensorSpec]] = []
        self.blocks: list[bytes] = []
        self.param_bytes = 0
        self.calls: list[KernelCall] = []

    def run(self) -> tuple[ExecutorPlan, bytes]:
        inputs = input_specs(self.func)
        for number, param in enumerate(self.func.params):
            (tensor,) = self.tensors[param] = _stored(param, computed=False)
            self.places[tensor] = TensorPlace("input", number)
        for bind in self.func.body.bindings:
            self._bind(bind)
        results = self.tensors[self.func.body.result]
        unique = UniqueNames()
        names = _names(self.func, "outputs", [unique(tensor.name) for tensor in results])
        narrow = narrow_types(self.func, "outputs")
        copies = self._place_outputs(results)
        for bind in self.func.body.bindings:
            if isinstance(bind.step, Invoke):
                self._call(bind, bind.step)
        plan = ExecutorPlan(
            inputs,
            tuple(
                tensor_spec(result.type, name, narrow.get(name, ""))
                for result, name in zip(results, names, strict=True)
            ),
            tuple(self.params),
            self.param_bytes,
            self.arena_bytes,
            tuple(self.calls),
            copies,
        )
        return plan, b"".join(self.blocks)

    def _bind(self, bind: Bind) -> None:
        """Record the tensors that a value consists of; tuples share those of their items."""
        var, step = bind.var, bind.step
        if isinstance(step, Tuple):
            self.tensors[var] = tuple(t for item in step.items for t in self.tensors[item])
        elif isinstance(step, TupleGet):
            whole = step.value.type
            assert isinstance(whole, TupleType)
            counts = [len(tensors_in(item)) for item in whole.items]
            begin = sum(counts[: step.index])
            part = slice(begin, begin + counts[step.index])
            self.tensors[var] = self.tensors[step.value][part]
        elif isinstance(step, Constant):
            (tensor,) = self.tensors[var] = _stored(var, computed=False)
            self._param(tensor, step.data.array)
        elif isinstance(step, Invoke):
            self.tensors[var] = _stored(var, computed=True)
        else:
            raise IRKitError(f"{type(step).__name__} {var.name!r} has no kernel", span=bind.span)

    def _place_outputs(self, results: Sequence[_Tensor]) -> tuple[Copy, ...]:
        """Place outputs so that kernels write them directly; return copies for the others."""
        copies: list[Copy] = []
        for number, tensor in enumerate(results):
            if tensor.computed and tensor not in self.places:
                self.places[tensor] = TensorPlace("output", number)
            else:
                source = self.places[tensor]
                copies.append(Copy(TensorPlace("output", number), source, _bytes(tensor)))
        return tuple(copies)

    def _call(self, bind: Bind, step: Invoke) -> None:
        results = self.tensors[bind.var]
        for tensor in results:
            tensor_spec(tensor.type, tensor.name)
            if tensor not in self.places:
                offset = self.slots[bind.var.name, tensor.item]
                self.places[tensor] = TensorPlace("arena", offset)
        tensors = [t for arg in step.args for t in self.tensors[arg]]
        places = tuple(self.places[tensor] for tensor in (*tensors, *results))
        node = bind.var.name if bind.span is None else str(bind.span)
        operators = self.operators.get(bind.var.name, ())
        self.calls.append(KernelCall(step.function, places, node, operators=operators))

    def _param(self, tensor: _Tensor, array: NDArray[Any]) -> None:
        data = np.ascontiguousarray(array).tobytes()
        self.params.append((self.param_bytes, tensor_spec(tensor.type, tensor.name)))
        self.places[tensor] = TensorPlace("param", self.param_bytes)
        data += b"\0" * (-len(data) % ALIGNMENT)
        self.blocks.append(data)
        self.param_bytes += len(data)


def _stored(value: Value, *, computed: bool) -> tuple[_Tensor, ...]:
    return tuple(
        _Tensor(value, item, type, computed) for item, type in enumerate(tensors_in(value.type))
    )


def _bytes(tensor: _Tensor) -> int:
    count = tensor.type.dtype.bytes
    for dim in tensor_spec(tensor.type, tensor.name).shape:
        count *= dim
    return count
