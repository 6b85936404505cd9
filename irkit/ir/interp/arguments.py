"""Check the arguments of a call against the signature, and bind symbolic shapes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from irkit.core import DTypeError, IRKitError, ShapeError, Span, children
from irkit.ir.buffer import Buffer
from irkit.ir.dtype import DType
from irkit.ir.exact_sizes import exact_value
from irkit.ir.expr import Const, Expr, Var
from irkit.ir.function import PrimFunc
from irkit.ir.interp.machine import Registers
from irkit.ir.interp.memory import BufferRegisters, row_major
from irkit.ir.interp.values import constant
from irkit.ir.numpy_types import numpy_dtype, plain_array, read_only_hint
from irkit.ir.stmt import Stmt, Store, View


def nested_statements(body: Stmt) -> list[Stmt]:
    """Return a statement and those inside it once each, inner ones first, without entering
    expressions."""
    order: list[Stmt] = []
    seen: set[int] = set()

    def enter(stmt: Stmt) -> None:
        seen.add(id(stmt))
        for child in children(stmt):
            if isinstance(child, Stmt) and id(child) not in seen:
                enter(child)
        order.append(stmt)

    enter(body)
    return order


def written_params(func: PrimFunc) -> set[int]:
    """Return the numbers of the parameters that the body writes, directly or through views."""
    body = nested_statements(func.body)
    source = {stmt.buffer: stmt.source for stmt in body if isinstance(stmt, View)}
    stored: set[Buffer] = set()
    for stmt in body:
        at = stmt.buffer if isinstance(stmt, Store) else None
        while at is not None and at not in stored:
            stored.add(at)
            at = source.get(at)
    return {number for number, param in enumerate(func.params) if param in stored}


def argument_label(func: PrimFunc, number: int) -> str:
    """Return how errors name a parameter of a function."""
    return f"argument {number + 1} ({func.params[number].name!r}) of {func.name}"


class ArgumentBinder:
    """Binding of the arguments of one call to registers."""

    def __init__(self, func: PrimFunc, registers: Registers, variables: dict[Any, int]) -> None:
        self.func = func
        self.registers = registers
        self.variables = variables
        self.bound: dict[Var, str] = {}

    def label(self, number: int) -> str:
        return argument_label(self.func, number)

    def check_count(self, args: Sequence[Any]) -> None:
        if len(args) != len(self.func.params):
            names = ", ".join(param.name for param in self.func.params)
            raise IRKitError(
                f"{self.func.name} takes {len(self.func.params)} arguments ({names}), "
                f"found {len(args)}",
                span=self.func.span,
            )

    def scalar(self, number: int, var: Var, value: Any) -> None:
        """Bind a scalar parameter."""
        self.registers[self.variables[var]] = as_scalar(
            value, var.dtype, self.label(number), self.func.span
        )
        self.bound[var] = self.label(number)

    def array(
        self, number: int, buffer: Buffer, place: BufferRegisters, value: Any, writes: bool
    ) -> None:
        """Bind the memory of a buffer parameter, and the variables that its shape names."""
        label, span = self.label(number), self.func.span
        array = plain_array(value)
        if array is None:
            raise DTypeError(
                f"{label} must be a NumPy array, found {type(value).__name__}", span=span
            )
        wanted = numpy_dtype(buffer.dtype)
        if array.dtype != wanted:
            raise DTypeError(f"{label} must hold {wanted}, found {array.dtype}", span=span)
        if array.ndim != buffer.rank:
            raise ShapeError(
                f"{label} must have {buffer.rank} dimensions, found shape {array.shape}", span=span
            )
        if writes and not array.flags.writeable:
            raise ShapeError(
                f"{label} is written by the function, but is read-only",
                hint=read_only_hint(value),
                span=span,
            )
        for axis, (dim, size) in enumerate(zip(buffer.shape, array.shape, strict=True)):
            self._dimension(dim, size, f"dimension {axis} of {label}")
        self._layout(buffer, array, label)
        self.registers[place.memory] = array

    def check_extents(self, arrays: dict[int, Any], values: dict[Var, Any]) -> None:
        """Raise ShapeError for an extent of a parameter that is computed, and wraps around."""
        known = {var: int(value) for var, value in values.items() if not var.dtype.is_float}
        for number, array in arrays.items():
            param = self.func.params[number]
            assert isinstance(param, Buffer)
            for axis, (dim, size) in enumerate(zip(param.shape, np.shape(array), strict=True)):
                exact = None if isinstance(dim, (Const, Var)) else exact_value(dim, known)
                if exact is not None and exact != size:
                    raise ShapeError(
                        f"dimension {axis} of {self.label(number)} must be {exact}; found {size}",
                        span=self.func.span,
                    )

    def _dimension(self, dim: Expr, size: int, where: str) -> None:
        if isinstance(dim, Var) and dim not in self.bound:
            self.registers[self.variables[dim]] = as_scalar(size, dim.dtype, where, self.func.span)
            self.bound[dim] = where
            return
        if isinstance(dim, Const):
            expected, why = dim.value, ""
        elif isinstance(dim, Var):
            expected = int(self.registers[self.variables[dim]])
            why = f" = {dim.name}, from {self.bound[dim]}"
        else:
            return  # Expressions are compared after everything is bound.
        if expected != size:
            raise ShapeError(f"{where} must be {expected}{why}; found {size}", span=self.func.span)

    def _layout(self, buffer: Buffer, value: Any, label: str) -> None:
        if buffer.strides is None:
            if not value.flags.c_contiguous:
                raise ShapeError(
                    f"{label} must be contiguous in row-major order, found byte strides "
                    f"{value.strides} for shape {value.shape}",
                    hint="Copy it with numpy.ascontiguousarray.",
                    span=self.func.span,
                )
            return
        # The strides of an empty array, and of a dimension of one element, mean nothing; a variable
        # is bound to those of an array without gaps, or to what NumPy says.
        empty, packed = 0 in value.shape, row_major(value.shape)
        for axis, (stride, size) in enumerate(zip(buffer.strides, value.shape, strict=True)):
            binds = isinstance(stride, Var) and stride not in self.bound
            counts = size > 1 and not empty
            if not (binds or counts):
                continue
            given, where = value.strides[axis], f"stride {axis} of {label}"
            if not empty and (given < 0 or given % value.itemsize):
                raise ShapeError(
                    f"{where} is {given} bytes; expected whole elements of "
                    f"{value.itemsize} bytes, and no negative stride",
                    span=self.func.span,
                )
            self._dimension(stride, packed[axis] if empty else given // value.itemsize, where)

    def check_aliases(self, arrays: dict[int, Any], written: set[int]) -> None:
        """Raise ShapeError if a written array overlaps another one."""
        for number in sorted(written & set(arrays)):
            for other, array in arrays.items():
                if other != number and np.may_share_memory(arrays[number], array):
                    raise ShapeError(
                        f"{self.label(number)} is written and overlaps {self.label(other)}",
                        span=self.func.span,
                    )


def as_scalar(value: Any, dtype: DType, label: str, span: Span | None) -> Any:
    """Convert a Python or NumPy number exactly to a scalar of a type; floats are rounded.

    Raises: DTypeError if it is of another kind, or out of range.
    """
    item = value.item() if getattr(value, "ndim", 1) == 0 else value
    fits = (
        isinstance(item, (int, float)) and not isinstance(item, bool)
        if dtype.is_float
        else isinstance(item, bool)
        if dtype.is_bool
        else isinstance(item, int)
        and not isinstance(item, bool)
        and dtype.low <= item <= dtype.high
    )
    if not fits:
        raise DTypeError(f"{label} must be a number that {dtype} holds, found {value!r}", span=span)
    return constant(item, dtype)
