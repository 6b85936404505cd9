"""Strides, cache lines and reuse of accesses, against a run that notes every address."""

from collections import Counter, defaultdict
from typing import ClassVar

import numpy as np
import pytest

from irkit.inspector_web import Texts
from irkit.inspector_web.views.memory import LineAccess, memory_accesses
from irkit.ir import Expr, InterpretedFunction, Load, PrimFunc, Store, parse
from irkit.ir.interp.machine import Registers
from irkit.ir.interp.memory import BufferRegisters
from irkit.ir.interp.races import touched_elements
from irkit.ir.interp.statements import StatementCompiler
from irkit.ir.stmt import Stmt
from irkit.phases import trace
from irkit.transform import Trace
from tests.inspector_web.pages import MATMUL

Touched = Counter[int]
SMALL = MATMUL.replace("64", "12")


class Noting(StatementCompiler):
    """Note the elements that each load and store touches, by statement and buffer."""

    touched: ClassVar[dict[tuple[int, bool, str], Touched]]
    stmt: Stmt | None = None

    def statement(self, stmt: Stmt) -> None:
        outer, self.stmt = self.stmt, stmt
        super().statement(stmt)
        self.stmt = outer

    def note(
        self, key: tuple[int, bool, str], place: BufferRegisters, at: list[int], lanes: int
    ) -> None:
        found = self.touched[key]

        def note(r: Registers) -> None:
            found.update(element for element, _, _ in touched_elements(r, place, at, [], lanes))

        self.code.emit(note)

    def operation(self, node: Expr) -> int:
        to = super().operation(node)
        if isinstance(node, Load):
            at = [self.at(index) for index in node.indices]
            key = id(self.stmt), False, node.buffer.name
            self.note(key, self.place(node.buffer), at, node.dtype.lanes)
        return to

    def before_store(
        self,
        stmt: Store,
        place: BufferRegisters,
        indices: list[int],
        value: int,
        mask: int | None,
        lanes: int,
    ) -> None:
        self.note((id(stmt), True, stmt.buffer.name), place, indices, lanes)


def touched(func: PrimFunc) -> dict[tuple[int, bool, str], Touched]:
    found: dict[tuple[int, bool, str], Touched] = defaultdict(Counter)
    compiler = type("Noted", (Noting,), {"touched": found})
    made = type("Function", (InterpretedFunction,), {"compiler": compiler})
    made(func)(*(np.ones((12, 12), np.float32) for _ in range(3)))
    return found


def test_counts_are_those_of_a_run_at_every_stage() -> None:
    texts = Texts(Trace(trace(parse(SMALL))))
    compared = 0
    for step in texts.trace:
        func = step.after
        if not step.changed or not isinstance(func, PrimFunc):
            continue
        part = texts.of_function(func)
        page = memory_accesses(part)
        for (stmt, writes, buffer), elements in touched(func).items():
            line = part.starts[stmt]
            own = [
                a for a in page.accesses if (a.line, a.writes, a.buffer) == (line, writes, buffer)
            ]
            if len(own) != 1:
                continue  # Several accesses of one buffer on a line share the counts of the run.
            (access,) = own
            compared += 1
            assert access.times is not None
            # Conditions count as if they held.
            conditional = "if " in func.script() or "init()" in func.script()
            assert access.times == elements.total() or (
                conditional and access.times > elements.total()
            )
            assert access.elements == len(elements)
            assert access.lines == len({element * 4 // 64 for element in elements})
    assert compared > 20


def accesses(text: str) -> list[LineAccess]:
    func = parse(text)
    return memory_accesses(Texts(Trace(trace(func))).of_function(func)).accesses


def test_each_loop_has_its_stride() -> None:
    read, write = accesses(
        "def f(A: f32[8, 32], C: f32[32]):\n"
        "    for i in serial(0, 32):\n"
        "        for j in serial(0, 8):\n"
        "            C[i] = A[j, i]\n"
    )
    assert read.strides is not None
    assert [(each.loop, each.extent, each.bytes) for each in read.strides] == [
        ("i", 32, 4),
        ("j", 8, 128),
    ]
    assert (read.times, read.elements, read.lines) == (256, 256, 16)
    assert (write.times, write.elements, write.lines) == (256, 32, 2)


@pytest.mark.parametrize("index", ["j // 2", "i * j", "B[i]"])
def test_nothing_is_said_of_indices_that_are_no_sums(index: str) -> None:
    found = accesses(
        "def f(A: f32[64], B: i64[8], C: f32[8, 8]):\n"
        "    for i in serial(0, 8):\n"
        "        for j in serial(0, 8):\n"
        f"            C[i, j] = A[{index}]\n"
    )
    (read,) = [each for each in found if each.buffer == "A"]
    assert read.strides is None
    assert read.elements is None
    assert read.times == 64
