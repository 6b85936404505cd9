"""Assemble operations into basic blocks over registers, for the statement and expression
compilers."""

from typing import Any

from irkit.core import IRKitError, Span
from irkit.ir.interp.machine import FIRST_FREE, Control, Operation, Registers
from irkit.ir.interp.values import Function

# Choices that guard loads are compiled once per path that reaches them, up to this growth.
SPARE_OPERATIONS, GROWTH = 20_000, 16


class Assembler:
    """Basic blocks and registers under construction; operations go to the current block."""

    def __init__(self) -> None:
        self.blocks: list[tuple[list[Operation], Control | None]] = [([], None)]
        self.current = self.blocks[0][0]
        self.at = 0
        self.registers: Registers = [None] * FIRST_FREE
        self.constants: dict[object, int] = {}
        self.allowed = SPARE_OPERATIONS
        self.span: Span | None = None

    def register(self, value: Any = None) -> int:
        """Return a new register, with its value before the program starts."""
        self.registers.append(value)
        return len(self.registers) - 1

    def emit(self, operation: Operation) -> None:
        self.allowed -= 1
        if self.allowed < 0:
            raise IRKitError(
                "choices that guard loads share so many others that interpreting takes too long",
                hint="Name the shared ones with let.",
                span=self.span,
            )
        self.current.append(operation)

    def label(self) -> int:
        """Return a new block to jump to."""
        self.blocks.append(([], None))
        return len(self.blocks) - 1

    def finish(self, control: Control, then: int) -> None:
        """End the current block with a jump, and continue in the block ``then``."""
        self.blocks[self.at] = (self.current, control)
        self.at = then
        self.current = self.blocks[then][0]

    def goto(self, target: int, then: int) -> None:
        self.finish(lambda r: target, then)

    def branch(self, cond: int, yes: int, no: int, then: int) -> None:
        self.finish(lambda r: yes if r[cond] else no, then)

    def unary(self, function: Function, a: int) -> int:
        to = self.register()

        def run(r: Registers) -> None:
            r[to] = function(r[a])

        self.emit(run)
        return to

    def move(self, to: int, a: int) -> None:
        def run(r: Registers) -> None:
            r[to] = r[a]

        self.emit(run)

    def binary(self, function: Function, a: int, b: int) -> int:
        to = self.register()

        def run(r: Registers) -> None:
            r[to] = function(r[a], r[b])

        self.emit(run)
        return to

    def nary(self, function: Function, args: tuple[int, ...]) -> int:
        to = self.register()

        def run(r: Registers) -> None:
            r[to] = function(*[r[arg] for arg in args])

        self.emit(run)
        return to

    def constant(self, value: Any) -> int:
        """Return the register of a NumPy scalar."""
        key = (value.dtype, value.tobytes())
        if key not in self.constants:
            self.constants[key] = self.register(value)
        return self.constants[key]
