"""Runs of the interpreter that count what they execute."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from irkit.core import rewrite, walk
from irkit.ir import (
    Add,
    Buffer,
    Call,
    Div,
    Expr,
    FloorDiv,
    FloorMod,
    Load,
    Max,
    Min,
    Mul,
    PrimFunc,
    Store,
    Sub,
    View,
)
from irkit.ir.analysis import ValueNumbering
from irkit.ir.interp.machine import Registers
from irkit.ir.interp.memory import BufferRegisters
from irkit.ir.interp.run import MAX_BYTES, InterpretedFunction
from irkit.ir.interp.statements import StatementCompiler

FLOPS: dict[type[Expr], int] = dict.fromkeys((Add, Sub, Mul, Div, FloorDiv, FloorMod, Min, Max), 1)
counts: Counter[tuple[str, Buffer | None]] = Counter()


class CountingCompiler(StatementCompiler):
    """Compiler of statements that count what they compute, read and write, in ``counts``."""

    def operation(self, node: Expr) -> int:
        register, lanes = super().operation(node), node.dtype.lanes
        if isinstance(node, Load):
            mask = None if node.mask is None else self.at(node.mask)
            self.count("loaded", node.buffer, node.buffer.dtype.bytes, lanes, mask)
        elif node.dtype.is_float and isinstance(node, Call):
            self.count("flops", None, 2 if node.name == "fma" else 1, lanes, None)
        elif node.dtype.is_float and type(node) in FLOPS:
            self.count("flops", None, 1, lanes, None)
        return register

    def before_store(
        self,
        stmt: Store,
        place: BufferRegisters,
        indices: list[int],
        value: int,
        mask: int | None,
        lanes: int,
    ) -> None:
        self.count("stored", stmt.buffer, stmt.buffer.dtype.bytes, lanes, mask)

    def count(
        self, what: str, buffer: Buffer | None, each: int, lanes: int, mask: int | None
    ) -> None:
        masks = [mask, self.active(lanes) if lanes > 1 else None]
        registers = [register for register in masks if register is not None]

        def add(r: Registers) -> None:
            active = np.ones(lanes, np.bool_)
            for register in registers:
                active = active & r[register]
            counts[what, buffer] += each * int(np.count_nonzero(active))

        self.code.emit(add)


class CountingFunction(InterpretedFunction):
    """A function compiled to count."""

    compiler = CountingCompiler


def shared(func: PrimFunc) -> PrimFunc:
    """Return a function in which equal expressions are the same object: within a statement, the
    interpreter computes an object once."""
    numbering = ValueNumbering()

    def canonical(expr: Expr) -> Expr:
        return numbering.exprs[numbering.of(expr)]

    return rewrite(func, canonical, on=Expr)


def counted(func: PrimFunc, args: Sequence[Any]) -> tuple[int, int, int, int]:
    """Run a function and return flops, bytes loaded, bytes stored and bytes moved."""
    counts.clear()
    program = shared(func)
    CountingFunction(program).run(args, 50_000_000, MAX_BYTES)
    source = {view.buffer: view.source for view in walk(program.body, View)}
    moved = 0
    for place, param in enumerate(program.params):
        for what in ("loaded", "stored") if isinstance(param, Buffer) else ():
            assert isinstance(param, Buffer)
            accessed = sum(
                number
                for (which, buffer), number in counts.items()
                if which == what and buffer is not None and _memory(buffer, source) is param
            )
            moved += min(accessed, args[place].nbytes)
    totals = [
        sum(number for (which, _), number in counts.items() if which == what)
        for what in ("flops", "loaded", "stored")
    ]
    return totals[0], totals[1], totals[2], moved


def _memory(buffer: Buffer, source: dict[Buffer, Buffer]) -> Buffer:
    while buffer in source:
        buffer = source[buffer]
    return buffer
