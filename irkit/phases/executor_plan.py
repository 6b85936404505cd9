"""Turn a lowered graph function into the plan that the executor runs, and its constants into one
block of parameters."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from irkit.codegen import ALIGNMENT, Copy, ExecutorPlan, KernelCall, TensorPlace, TensorSpec
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
    TupleType,
    Type,
    UniqueNames,
    Value,
    memory_plan,
    recorded_plan,
    written_type,
)
from irkit.ir import as_int


def make_plan(func: GraphFunc) -> tuple[ExecutorPlan, bytes]:
    """Give every value a place and list the calls in order; ``plan-memory`` has placed those in the
    arena.

    Raises: IRKitError for a step that no kernel was made for, a symbolic shape, or a memory plan
    that is older than the function.
    """
    return _ExecutorPlanner(func, _memory(func)).run()


def tensor_spec(type: Type, name: str) -> TensorSpec:
    """Describe a tensor for the outside.

    Raises: IRKitError if its shape is symbolic or it is no tensor.
    """
    if not isinstance(type, TensorType):
        raise IRKitError(f"{name!r} is no tensor, so it can be no input or output of a model")
    dims = [as_int(dim) for dim in type.shape]
    known = tuple(dim for dim in dims if dim is not None)
    if len(known) != len(dims):
        raise IRKitError(
            f"the shape of {name!r} is not constant: {written_type(type)}",
            hint="Fix the shapes of inputs: shapes={name: (1, 3, 8, 8)}, or --shape name=1,3,8,8.",
        )
    return TensorSpec(name, known, str(type.dtype))


def input_names(func: GraphFunc) -> list[str]:
    """Name the inputs: as the model names them, or as the parameters are named."""
    return _names(func, "inputs", [param.name for param in func.params])


def _names(func: GraphFunc, key: str, default: Sequence[str]) -> list[str]:
    given = dict(func.attrs).get(key, tuple(default))
    names = [str(name) for name in given] if isinstance(given, tuple) else []  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if len(names) != len(default) or len(set(names)) != len(names):
        raise IRKitError(
            f"attribute {key!r} of {func.name!r} must hold {len(default)} different names, "
            f"found {given!r}"
        )
    return names


def _memory(func: GraphFunc) -> MemoryPlan:
    """Take the plan that was written down, if it is about the values as they are now."""
    now, recorded = memory_plan(func), recorded_plan(func)
    if recorded is None:
        return now
    lives = [
        {(slot.value, slot.item, slot.size, slot.first, slot.last) for slot in plan.slots}
        for plan in (now, recorded)
    ]
    if lives[0] != lives[1]:
        raise IRKitError(
            f"the memory plan of {func.name!r} is older than its values",
            hint="Run plan-memory after every pass that changes the graph.",
        )
    return recorded


class _Tensor(msgspec.Struct, frozen=True, eq=False):
    """One tensor that is stored somewhere, whatever values and tuples mean it: item ``item`` of
    what ``value`` was bound to."""

    value: Value
    item: int
    type: TensorType
    computed: bool

    @property
    def name(self) -> str:
        whole = isinstance(self.value.type, TensorType)
        return self.value.name if whole else f"{self.value.name}_{self.item}"


class _ExecutorPlanner:
    def __init__(self, func: GraphFunc, memory: MemoryPlan) -> None:
        self.func = func
        self.slots = {(slot.value, slot.item): slot.offset for slot in memory.slots}
        self.arena_bytes = memory.size
        self.tensors: dict[Value, tuple[_Tensor, ...]] = {}
        self.places: dict[_Tensor, TensorPlace] = {}
        self.params: list[tuple[int, TensorSpec]] = []
        self.blocks: list[bytes] = []
        self.param_bytes = 0
        self.calls: list[KernelCall] = []

    def run(self) -> tuple[ExecutorPlan, bytes]:
        params = list(zip(self.func.params, input_names(self.func), strict=True))
        inputs = [tensor_spec(param.type, name) for param, name in params]
        for number, param in enumerate(self.func.params):
            (tensor,) = self.tensors[param] = _stored(param, computed=False)
            self.places[tensor] = TensorPlace("input", number)
        for bind in self.func.body.bindings:
            self._bind(bind)
        results = self.tensors[self.func.body.result]
        unique = UniqueNames()
        names = _names(self.func, "outputs", [unique(tensor.name) for tensor in results])
        copies = self._place_outputs(results)
        for bind in self.func.body.bindings:
            if isinstance(bind.step, Invoke):
                self._call(bind, bind.step)
        plan = ExecutorPlan(
            tuple(inputs),
            tuple(tensor_spec(r.type, name) for r, name in zip(results, names, strict=True)),
            tuple(self.params),
            self.param_bytes,
            self.arena_bytes,
            tuple(self.calls),
            copies,
        )
        return plan, b"".join(self.blocks)

    def _bind(self, bind: Bind) -> None:
        """Find the tensors that a value consists of; tuples share those of their items."""
        var, step = bind.var, bind.step
        if isinstance(step, Tuple):
            self.tensors[var] = tuple(t for item in step.items for t in self.tensors[item])
        elif isinstance(step, TupleGet):
            whole = step.value.type
            assert isinstance(whole, TupleType)
            counts = [sum(1 for _ in _leaves(item)) for item in whole.items]
            begin = sum(counts[: step.index])
            part = slice(begin, begin + counts[step.index])
            self.tensors[var] = self.tensors[step.value][part]
        elif isinstance(step, Constant):
            (tensor,) = self.tensors[var] = _stored(var, computed=False)
            self._param(tensor, step.data.array)
        elif isinstance(step, Invoke):
            self.tensors[var] = _stored(var, computed=True)
        else:
            raise IRKitError(
                f"no kernel was made for {type(step).__name__} {var.name!r}", span=bind.span
            )

    def _place_outputs(self, results: Sequence[_Tensor]) -> tuple[Copy, ...]:
        """Let kernels write outputs directly; what comes from elsewhere is copied at the end."""
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
        self.calls.append(KernelCall(step.function, places, node))

    def _param(self, tensor: _Tensor, array: NDArray[Any]) -> None:
        data = np.ascontiguousarray(array).tobytes()
        self.params.append((self.param_bytes, tensor_spec(tensor.type, tensor.name)))
        self.places[tensor] = TensorPlace("param", self.param_bytes)
        data += b"\0" * (-len(data) % ALIGNMENT)
        self.blocks.append(data)
        self.param_bytes += len(data)


def _stored(value: Value, *, computed: bool) -> tuple[_Tensor, ...]:
    return tuple(
        _Tensor(value, item, type, computed) for item, type in enumerate(_leaves(value.type))
    )


def _leaves(type: Type) -> Iterator[TensorType]:
    stack = [type]
    while stack:
        found = stack.pop()
        if isinstance(found, TensorType):
            yield found
        elif isinstance(found, TupleType):
            stack.extend(reversed(found.items))


def _bytes(tensor: _Tensor) -> int:
    count = tensor.type.dtype.bytes
    for dim in tensor_spec(tensor.type, tensor.name).shape:
        count *= dim
    return count
