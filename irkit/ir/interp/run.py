"""Run functions and evaluate expressions of the loop IR on NumPy arrays."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from irkit.core import IRKitError, deep_recursion
from irkit.ir.buffer import Buffer
from irkit.ir.exact_sizes import size_guard
from irkit.ir.expr import Expr, Var
from irkit.ir.function import PrimFunc, shape_vars
from irkit.ir.instructions import Instruction, find_instruction
from irkit.ir.interp.arguments import ArgumentBinder, argument_label, written_params
from irkit.ir.interp.machine import (
    RUN,
    Program,
    Registers,
    RunLimits,
    execute,
)
from irkit.ir.interp.memory import BufferRegisters, settle
from irkit.ir.interp.statements import StatementCompiler
from irkit.ir.numpy_types import numpy_dtype
from irkit.ir.stmt import Evaluate

MAX_STEPS = 500_000_000
MAX_BYTES = 1 << 31


class InterpretedFunction:
    """A function compiled for the interpreter, which can run many times."""

    compiler: type[StatementCompiler] = StatementCompiler

    @deep_recursion
    def __init__(self, func: PrimFunc) -> None:
        self.func = func
        self.written = written_params(func)
        compiler = self.compiler()
        compiler.instruction = _instruction_function
        for var in (*(p for p in func.params if isinstance(p, Var)), *shape_vars(func)):
            compiler.variables[var] = compiler.code.register()
        compiler.begin(func.span)
        self.places: dict[int, BufferRegisters] = {
            number: compiler.new_place(param)
            for number, param in enumerate(func.params)
            if isinstance(param, Buffer)
        }
        self.variables = dict(compiler.variables)
        self.guard = size_guard(func)
        if self.guard is not None:
            compiler.allocations = self.guard.allocations
        for number, param in enumerate(func.params):
            if isinstance(param, Buffer):
                place, label = compiler.place(param), argument_label(func, number)
                compiler.code.emit(settle(place, param, label=label, span=func.span))
        with np.errstate(all="ignore"):  # Constants are rounded to their types.
            compiler.compile(func.body)
        self.result = compiler.last
        self.program: Program = compiler.program()

    def __call__(
        self, *args: Any, max_steps: int | None = MAX_STEPS, max_bytes: int = MAX_BYTES
    ) -> int:
        """Run on NumPy arrays and numbers, in place, and return the number of steps.

        Raises: IRKitError if an argument does not fit, an access is out of bounds, an assertion
        fails, or a limit is exceeded.
        """
        limits: RunLimits = self.run(args, max_steps, max_bytes)[RUN]
        return limits.steps

    def run(self, args: Sequence[Any], max_steps: int | None, max_bytes: int) -> Registers:
        """Run, and return the registers at the end."""
        registers = self.program.registers.copy()
        registers[RUN] = RunLimits(max_steps, max_bytes)
        binder = ArgumentBinder(self.func, registers, self.variables)
        binder.check_count(args)
        with np.errstate(all="ignore"):
            self._bind(binder, args, registers)
            execute(self.program, registers)
        return registers

    def _bind(self, binder: ArgumentBinder, args: Sequence[Any], registers: Registers) -> None:
        arrays: dict[int, Any] = {}
        for number, param in enumerate(self.func.params):
            if isinstance(param, Var):
                binder.scalar(number, param, args[number])
        for number, param in enumerate(self.func.params):
            if isinstance(param, Buffer):
                arrays[number] = args[number]
                writes = number in self.written
                binder.array(number, param, self.places[number], args[number], writes)
        binder.check_aliases(arrays, self.written)
        values: dict[Any, Any] = {var: registers[at] for var, at in self.variables.items()}
        binder.check_extents(arrays, values)
        if self.guard is not None and not evaluate(self.guard.condition, values, max_steps=None):
            raise self.guard.problem(self.func, values)


def _instruction_function(name: str) -> Callable[..., Any]:
    found = find_instruction(name)
    if found is None:
        raise IRKitError(f"there is no instruction {name!r}")
    return _function_of(found)


@cache
def _function_of(instruction: Instruction) -> Callable[..., Any]:
    """Return the function of lanes that the meaning of an instruction describes."""
    run = InterpretedFunction(instruction.meaning)
    dtype = instruction.dtype

    def value(*args: Any) -> Any:
        result = np.empty(dtype.lanes, numpy_dtype(dtype))
        run(*(np.array(arg, ndmin=1) for arg in args), result)
        return result

    return value


def interpret(
    func: PrimFunc, *args: Any, max_steps: int | None = MAX_STEPS, max_bytes: int = MAX_BYTES
) -> None:
    """Run a function of the loop IR on NumPy arrays and numbers, in place, at any stage of
    lowering.

    The function must be valid. ``max_steps`` limits the operations (None for no limit),
    ``max_bytes`` the memory of its allocations at any time.

    Raises: IRKitError if an argument does not fit, an access is out of bounds, an assertion fails,
    or a limit is exceeded (StepLimit, MemoryLimit).
    """
    InterpretedFunction(func)(*args, max_steps=max_steps, max_bytes=max_bytes)


def evaluate(
    expr: Expr,
    bindings: Mapping[Var, Any] | Mapping[Buffer, Any] | Mapping[Any, Any] | None = None,
    *,
    max_steps: int | None = MAX_STEPS,
) -> Any:
    """Evaluate an expression, given its variables (numbers) and buffers (arrays).

    The result is a NumPy scalar, or an array of lanes.

    Raises: IRKitError as ``interpret`` does, and if a variable has no value.
    """
    given = dict(bindings or {})
    made = InterpretedFunction(PrimFunc("evaluate", tuple(given), Evaluate(expr)))
    return made.run(tuple(given.values()), max_steps, MAX_BYTES)[made.result]
