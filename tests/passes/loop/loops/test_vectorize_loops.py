"""Which loops become vectors, which do not, and the remarks about it."""

import random

import pytest

from irkit.core import Recorder, recording
from irkit.ir import (
    F32,
    I64,
    Buffer,
    Expr,
    For,
    If as Branch,
    PrimFunc,
    Stmt,
    Store,
    Var,
    const,
    gt,
    if_then_else,
    lt,
    parse,
    script,
    seq,
)
from irkit.passes.loop import vectorize_loops
from tests.passes.loop.kernels import results

HEAD = "def f(A: f32[64], B: f32[64], C: f32[64], n: i64):\n"


def lowered(*lines: str, lanes: int = 16) -> tuple[str, list[str]]:
    text = HEAD + "".join(f"    {line}\n" for line in lines)
    recorder = Recorder()
    with recording(recorder):
        made = script(vectorize_loops(parse(text), lanes=lanes))
    body = made.removeprefix(HEAD)
    return body, [remark.text for remark in recorder.remarks]


def test_a_condition_that_differs_from_lane_to_lane_becomes_a_mask() -> None:
    body, _ = lowered("for i in vectorized(0, 8):", "    if i < n:", "        C[i] = A[i]")
    assert body == (
        "    store(C, (ramp(0, 1, 8),), load(A, (ramp(0, 1, 8),), "
        "mask=ramp(0, 1, 8) < broadcast(n, 8)), mask=ramp(0, 1, 8) < broadcast(n, 8))\n"
    )


def test_a_condition_that_all_lanes_share_stays_a_branch() -> None:
    body, _ = lowered("for i in vectorized(0, 8):", "    if n < 3:", "        C[i] = A[i]")
    assert body == "    if n < 3:\n        C[ramp(0, 1, 8)] = A[ramp(0, 1, 8)]\n"


def test_the_shared_part_of_a_condition_is_a_branch_and_the_rest_a_mask() -> None:
    body, _ = lowered(
        "for i in vectorized(0, 8):", "    if i < 5 and n < 3:", "        C[i] = f32(1.0)"
    )
    assert body.startswith("    if n < 3:\n        store(C, ")
    assert "mask=ramp(0, 1, 8) < broadcast(5, 8)" in body


def test_a_guarded_load_becomes_a_masked_load_and_a_choice() -> None:
    body, _ = lowered("for i in vectorized(0, 8):", "    C[i] = A[i - 1] if i >= 1 else f32(0.0)")
    assert "select(" in body
    assert "load(A, (ramp(0 - 1, 1, 8),), mask=ramp(0, 1, 8) >= broadcast(1, 8))" in body


def test_registers_are_read_whole_where_a_store_has_a_mask() -> None:
    body, _ = lowered(
        'with alloc(f32[8], scope="local") as T:',
        "    for i in vectorized(0, 8):",
        "        if i < n:",
        "            C[i] = T[i] + A[i]",
    )
    assert "T[ramp(0, 1, 8)] + load(A, (ramp(0, 1, 8),), mask=" in body
    assert ", mask=ramp(0, 1, 8) < broadcast(n, 8))\n" in body


@pytest.mark.parametrize("index", ["T[i + 1]", "T[i // 2 * n]"])
def test_a_register_that_a_lane_might_miss_keeps_its_mask(index: str) -> None:
    body, _ = lowered(
        'with alloc(f32[8], scope="local") as T:',
        "    for i in vectorized(0, 8):",
        "        if i < n:",
        f"            C[i] = {index}",
    )
    assert "load(T, " in body


def test_a_longer_loop_becomes_vectors_and_a_shorter_vector() -> None:
    body, _ = lowered("for i in vectorized(0, 40):", "    C[i] = A[i]")
    assert body == (
        "    for i_o in serial(0, 2):\n"
        "        C[ramp(i_o * 16, 1, 16)] = A[ramp(i_o * 16, 1, 16)]\n"
        "    C[ramp(32, 1, 8)] = A[ramp(32, 1, 8)]\n"
    )


def test_a_single_iteration_that_is_left_over_is_not_a_vector() -> None:
    body, _ = lowered("for i in vectorized(0, 17):", "    C[i] = A[i]")
    assert body == (
        "    for i_o in serial(0, 1):\n"
        "        C[ramp(i_o * 16, 1, 16)] = A[ramp(i_o * 16, 1, 16)]\n"
        "    C[16] = A[16]\n"
    )


def test_lanes_is_an_option() -> None:
    body, _ = lowered("for i in vectorized(0, 8):", "    C[i] = A[i]", lanes=4)
    assert "for i_o in serial(0, 2):" in body
    body, _ = lowered("for i in vectorized(0, 8):", "    C[i] = A[i]", lanes=1)
    assert body == "    for i in serial(0, 8):\n        C[i] = A[i]\n"


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (("C[0] = C[0] + A[i]",), "iterations may touch the same element of 'C'"),
        (("C[i + 1] = C[i]",), "one writes what another reads"),
        (("C[i * n] = A[i]",), "one writes what another writes"),
        (("C[i // 2] = A[i]",), "one writes what another writes"),
        (("for j in serial(0, i):", "    C[i] = A[j]"), "differs from lane to lane"),
        (("T = alloc(f32[16])", "T[i] = A[i]", "C[i] = T[i]"), "it allocates 'T'"),
    ],
)
def test_a_loop_that_cannot_run_in_lockstep_becomes_serial_with_a_remark(
    lines: tuple[str, ...], why: str
) -> None:
    body, remarks = lowered("for i in vectorized(0, 8):", *(f"    {line}" for line in lines))
    assert body.startswith("    for i in serial(0, 8):\n")
    assert len(remarks) == 1
    assert why in remarks[0]


def test_a_loop_of_unknown_extent_becomes_serial() -> None:
    body, remarks = lowered("for i in vectorized(0, n):", "    C[i] = A[i]")
    assert body == "    for i in serial(0, n):\n        C[i] = A[i]\n"
    assert remarks == ["its extent is not constant: left as a serial loop"]


def test_a_symbolic_begin_with_a_constant_extent_is_fine() -> None:
    body, _ = lowered("for i in vectorized(n, n + 8):", "    C[i] = A[i]")
    assert body == "    C[ramp(n, 1, 8)] = A[ramp(n, 1, 8)]\n"


def test_an_inner_loop_with_the_same_bounds_in_all_lanes_stays_inside() -> None:
    body, _ = lowered(
        "for i in vectorized(0, 8):",
        "    for k in serial(0, n):",
        "        C[i] = C[i] + A[k]",
    )
    assert body.startswith("    for k in serial(0, n):\n        C[ramp(0, 1, 8)] = ")


def test_panels_that_do_not_overlap_are_copied_in_vectors() -> None:
    body, remarks = lowered(
        "for p in serial(i32(0), i32(4)):",
        "    for i in vectorized(i32(0), i32(8)):",
        "        C[p // i32(2) * i32(32) + p % i32(2) * i32(8) + i] = A[p * i32(8) + i]",
    )
    assert "C[ramp(" in body
    assert not remarks


def test_other_loops_are_left_alone() -> None:
    func = parse(HEAD + "    for i in parallel(0, 8):\n        C[i] = A[i]\n")
    assert vectorize_loops(func) is func


class _Random:
    """Small vectorized loops whose lanes may or may not meet."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.buffers = [Buffer(name, (const(400, I64),), F32) for name in "AB"]

    def func(self) -> PrimFunc:
        outer, lane = Var("o"), Var("i")
        begin = self.random.randint(0, 3)
        end = begin + self.random.choice([2, 3, 8, 16, 17, 20])
        body = self.stmt([outer, lane], 0)
        loop = For(lane, const(begin, I64), const(end, I64), body, "vectorized")
        nest = For(outer, const(0, I64), const(3, I64), loop)
        return PrimFunc("f", tuple(self.buffers), nest)

    def index(self, around: list[Var]) -> Expr:
        total: Expr = const(self.random.randint(0, 6), I64)
        for var in around:
            total = total + var * self.random.choice([0, 1, 1, 1, 2, 3, 4, 8])
        kind = self.random.random()
        return total // 2 if kind < 0.1 else total % 8 if kind < 0.2 else total

    def load(self, around: list[Var]) -> Expr:
        return self.random.choice(self.buffers)[self.index(around)]

    def value(self, around: list[Var]) -> Expr:
        value = self.load(around)
        if self.random.random() < 0.4:
            value = value + self.load(around)
        if self.random.random() < 0.3:
            value = if_then_else(
                lt(around[-1], self.random.randint(0, 8)), self.load(around), value
            )
        return value

    def stmt(self, around: list[Var], depth: int) -> Stmt:
        kind = self.random.random() if depth < 3 else 0.0
        if kind < 0.5:
            buffer = self.random.choice(self.buffers)
            return Store(buffer, (self.index(around),), self.value(around))
        if kind < 0.7:
            limits = lt(self.random.choice(around), self.random.randint(1, 6))
            cond = self.random.choice([limits, gt(self.value(around), 0.5)])
            otherwise = self.random.choice([None, self.stmt(around, depth + 1)])
            return Branch(cond, self.stmt(around, depth + 1), otherwise)
        if kind < 0.85:
            var = Var("j")
            end = const(self.random.randint(1, 4), I64)
            return For(var, const(0, I64), end, self.stmt([*around, var], depth + 1))
        return seq(self.stmt(around, depth + 1), self.stmt(around, depth + 1))


@pytest.mark.parametrize("seed", range(0, 200, 20))
def test_lockstep_gives_what_one_iteration_after_the_other_gives(seed: int) -> None:
    for each in range(seed, seed + 20):
        func = _Random(each).func()
        assert results(vectorize_loops(func)) == results(func), each
