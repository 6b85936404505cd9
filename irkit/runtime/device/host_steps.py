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
from irkit.core import Node
from irkit.ir import Buffer, Expr, Var, as_int, evaluate, numpy_dtype, strided_count
from irkit.runtime.device.driver import Driver


def run_steps(program: DeviceProgram, driver: Driver, values: Mapping[Node, Any]) -> None:
    """Run the steps of a program; ``values`` has the memory of buffers, and numbers."""
    _run(program.steps, driver, dict(values))


def _run(steps: Steps, driver: Driver, values: dict[Node, Any]) -> None:
    for step in steps:
        match step:
            case Launch():
                _launch(step, driver, values)
            case Temporary():
                memory = driver.allocate(bytes_of(step.buffer, values))
                try:
                    _run(step.steps, driver, {**values, step.buffer: memory})
                finally:
                    driver.free(memory)
            case HostLoop():
                first, end = (_number(x, values) for x in (step.loop.begin, step.loop.end))
                for number in range(first, end):
                    _run(step.steps, driver, {**values, step.loop.var: number})
            case HostBranch():
                taken = step.then if _number(step.cond, values) else step.otherwise
                _run(taken, driver, values)


def _launch(launch: Launch, driver: Driver, values: dict[Node, Any]) -> None:
    grid, block = (
        tuple(_number(dim, values) for dim in dims) for dims in (launch.grid, launch.block)
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


def _number(expr: Expr, values: Mapping[Node, Any]) -> int:
    known = as_int(expr)  # Most are constant, and an evaluation takes 0.1 ms.
    if known is not None:
        return known
    numbers = {key: value for key, value in values.items() if isinstance(key, Var)}
    return int(evaluate(expr, numbers))


def bytes_of(buffer: Buffer, values: Mapping[Node, Any]) -> int:
    """Return the size of a buffer in bytes, from its first to its last element."""
    if buffer.strides is not None:
        return _number(strided_count(buffer.shape, buffer.strides), values) * buffer.dtype.bytes
    size = buffer.dtype.bytes
    for dim in buffer.shape:
        size *= max(_number(dim, values), 0)
    return size
