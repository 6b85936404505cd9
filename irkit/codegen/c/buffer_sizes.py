"""Sizes of buffers in C: elements, and strides in elements."""

import math

from irkit.codegen.c.expressions import evaluate
from irkit.codegen.c.writer import UNARY, Code, FunctionWriter
from irkit.ir import I64, Buffer, Expr, as_int, strided_count


def constant_size(buffer: Buffer) -> int | None:
    """Return the number of elements of a buffer, if it is constant."""
    if buffer.strides is not None:
        return as_int(strided_count(buffer.shape, buffer.strides))
    dims = [as_int(dim) for dim in buffer.shape]
    known = [max(dim, 0) for dim in dims if dim is not None]
    return math.prod(known) if len(known) == len(dims) else None


def strides(writer: FunctionWriter, buffer: Buffer) -> tuple[int | str, ...]:
    """Return the distance between neighbours along each dimension, in elements."""
    if buffer.strides is not None:
        return tuple(_extent(writer, stride) for stride in buffer.strides)
    found: list[int | str] = []
    step: int | str = 1
    for dim in buffer.shape[:0:-1]:
        found.append(step)
        size = _extent(writer, dim)
        if isinstance(step, int) and isinstance(size, int):
            step = step * size
        else:
            step = writer.variable(I64, Code(f"(int64_t){step} * {size}"), "stride").text
    return tuple(reversed([*found, step][: buffer.rank]))


def _extent(writer: FunctionWriter, dim: Expr) -> int | str:
    known = as_int(dim)
    if known is not None:
        return known
    writer.begin_statement()
    value = evaluate(writer, dim)
    if value.text.isidentifier():
        return value.text
    return writer.variable(I64, value, "extent").text


def fail_unless(writer: FunctionWriter, cond: Expr, status: int) -> None:
    """Leave the function with a status if a condition on sizes does not hold."""
    contracts, writer.contracts = writer.contracts, False
    writer.begin_statement()
    holds = evaluate(writer, cond)
    writer.contracts = contracts
    writer.fail(f"!{holds.within(UNARY)}", status)
