"""What the host does in a call: memory, loops and conditions around the launches."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from irkit.codegen import (
    DeviceProgram,
    HostBranch,
    HostLoop,
    Launch,
    Steps,
    Temporary,
    c_symbol,
)
from irkit.core import Node, walk
from irkit.ir import Buffer, Expr, Var, as_int, evaluate, numpy_dtype, strided_count
from irkit.runtime.device.driver import Driver

_MOST_KNOWN = 4096


class HostNumbers:
    """What the host computes from the numbers of a call, remembered: it takes 0.1 ms."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], int] = {}
        self._variables: dict[int, tuple[Expr, list[Var]]] = {}

    def of(self, expr: Expr, values: Mapping[Node, Any]) -> int:
        """Return the value of an expression over numbers of a call."""
        constant = as_int(expr)
        if constant is not None:
            return constant
        if id(expr) not in self._variables:  # It is kept too, so that its number stays its own.
            self._variables[id(expr)] = expr, [*dict.fromkeys(walk(expr, Var))]
        variables = self._variables[id(expr)][1]
        key = (id(expr), *(values[var] for var in variables))
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            found = int(evaluate(expr, {var: values[var] for var in variables}))
            self._known[key] = found
        return found

    def bytes_of(self, buffer: Buffer, values: Mapping[Node, Any]) -> int:
        """Return the size of a buffer in bytes, from its first to its last element."""
        if buffer.strides is not None:
            reach = strided_count(buffer.shape, buffer.strides)
            return int(evaluate(reach, _numbers(values))) * buffer.dtype.bytes
        size = buffer.dtype.bytes
        for dim in buffer.shape:
            size *= max(self.of(dim, values), 0)
        return size


def run_steps(
    program: DeviceProgram, driver: Driver, values: Mapping[Node, Any], numbers: HostNumbers
) -> None:
    """Run the steps of a program; ``values`` has the memory of buffers, and numbers."""
    _run(program.steps, driver, dict(values), numbers)


def _run(steps: Steps, driver: Driver, values: dict[Node, Any], numbers: HostNumbers) -> None:
    for step in steps:
        match step:
            case Launch():
                _launch(step, driver, values, numbers)
            case Temporary():
                memory = driver.allocate(numbers.bytes_of(step.buffer, values))
                try:
                    _run(step.steps, driver, {**values, step.buffer: memory}, numbers)
                finally:
                    driver.free(memory)
            case HostLoop():
                first, end = (numbers.of(x, values) for x in (step.loop.begin, step.loop.end))
                for number in range(first, end):
                    _run(step.steps, driver, {**values, step.loop.var: number}, numbers)
            case HostBranch():
                taken = step.then if numbers.of(step.cond, values) else step.otherwise
                _run(taken, driver, values, numbers)


def _launch(launch: Launch, driver: Driver, values: dict[Node, Any], numbers: HostNumbers) -> None:
    grid, block = (
        tuple(numbers.of(dim, values) for dim in dims) for dims in (launch.grid, launch.block)
    )
    if not all((*grid, *block)):
        return  # A loop that never runs.
    args = [
        values[param] if isinstance(param, Buffer) else _scalar(param, values[param])
        for param in launch.kernel.params
    ]
    driver.launch(c_symbol(launch.kernel.name), grid, block, args)


def _scalar(param: Var, value: Any) -> Any:
    """Return a number as the kernel takes it: a bool as a byte, a 16-bit float as its bits."""
    made = np.asarray(value).astype(numpy_dtype(param.dtype))
    if param.dtype.is_bool:
        return made.astype(np.uint8)[()]
    if param.dtype.is_float and param.dtype.bits == 16:
        return made.view(np.uint16)[()]
    return made[()]


def _numbers(values: Mapping[Node, Any]) -> dict[Var, Any]:
    return {key: value for key, value in values.items() if isinstance(key, Var)}
