"""Which loops are split at their guards, which stay whole, and the remarks about it."""

import random

import numpy as np
import pytest

import irkit
from irkit.core import Recorder, recording, same
from irkit.ir import (
    F32,
    I64,
    Buffer,
    Expr,
    For,
    If,
    Let,
    PrimFunc,
    Stmt,
    Store,
    Var,
    const,
    ge,
    gt,
    if_then_else,
    interpret,
    le,
    logical_and,
    lt,
    parse,
    script,
    select,
    seq,
    verify,
)
from irkit.passes.loop import loop_partition
from irkit.phases import lower
from tests.draws import sampled

HEAD = "def f(A: f32[64], C: f32[64], n: i64, m: i64):\n"


def split(*lines: str, **options: bool | int) -> tuple[list[str], list[str]]:
    recorder = Recorder()
    given = parse(HEAD + "".join(f"    {line}\n" for line in lines))
    with recording(recorder):
        made = loop_partition(given, **options)
    said = [remark.text for remark in recorder.remarks]
    assert (made is given) == same(made, given)
    assert recorder.count > 0 or made is given
    return [line[4:] for line in script(made).removeprefix(HEAD).splitlines()], said


INEXACT = (
    "for i in serial(0, (n + 15) // 16):",
    "    for j in vectorized(0, 16):",
    "        if i * 16 + j < n:",
    "            C[i * 16 + j] = A[i * 16 + j]",
)


def test_a_symbolic_size_gives_a_loop_of_whole_vectors_and_a_tail() -> None:
    text = "def f(A: f32[n], C: f32[n]):\n" + "".join(f"    {line}\n" for line in INEXACT)
    assert script(loop_partition(parse(text))).splitlines()[1:] == [
        "    for i in serial(0, n // 16):",
        "        for j in vectorized(0, 16):",
        "            C[i * 16 + j] = A[i * 16 + j]",
        "    for i_1 in serial(n // 16, (n + 15) // 16, partition=False):",
        "        for j_1 in vectorized(0, 16):",
        "            if i_1 * 16 + j_1 < n:",
        "                C[i_1 * 16 + j_1] = A[i_1 * 16 + j_1]",
    ]


def test_a_size_that_may_be_negative_keeps_the_parts_in_order() -> None:
    made, _ = split(*INEXACT)
    middle = "max(min((n - 16) // 16 + 1, (n + 15) // 16), 0)"
    assert made[0] == f"for i in serial(0, {middle}):"
    assert made[3] == f"for i_1 in serial({middle}, (n + 15) // 16, partition=False):"


def test_a_parallel_loop_stays_one_and_branches() -> None:
    made, _ = split(
        "for i in parallel(0, 4):",
        "    for j in vectorized(0, 16):",
        "        if i * 16 + j < 50:",
        "            C[i * 16 + j] = A[i * 16 + j]",
    )
    assert made == [
        "for i in parallel(0, 4, partition=False):",
        "    if i < 3:",
        "        for j in vectorized(0, 16):",
        "            C[i * 16 + j] = A[i * 16 + j]",
        "    else:",
        "        for j_1 in vectorized(0, 16):",
        "            if i * 16 + j_1 < 50:",
        "                C[i * 16 + j_1] = A[i * 16 + j_1]",
    ]


PADDED = (
    "for i in serial(0, 6):",
    "    for j in serial(0, 6):",
    "        C[i * 6 + j] = (A[i * 4 + j - 5] if i >= 1 and i < 5 and j >= 1 and j < 5 "
    "else f32(0.0))",
)


def test_the_border_of_an_image_gets_loops_of_its_own() -> None:
    made, _ = split(*PADDED, only_vectorized=False, max_copies=9)
    assert made == [
        "for j in serial(0, 6):",
        "    C[0 * 6 + j] = f32(0.0)",
        "for i in serial(1, 5):",
        "    C[i * 6 + 0] = f32(0.0)",
        "    for j_1 in serial(1, 5):",
        "        C[i * 6 + j_1] = A[i * 4 + j_1 - 5]",
        "    C[i * 6 + 5] = f32(0.0)",
        "for j_2 in serial(0, 6):",
        "    C[5 * 6 + j_2] = f32(0.0)",
    ]


def test_a_stencil_in_three_dimensions_has_no_guards_inside() -> None:
    made, _ = split(
        "for i in parallel(0, 3):",
        "    for j in serial(0, 3):",
        "        for k in serial(0, 3):",
        "            for v in vectorized(0, 2):",
        "                C[i * 18 + j * 6 + k * 2 + v] = (A[i * 18 + j * 6 + k * 2 + v] "
        "if i > 0 and i < 2 and j > 0 and j < 2 and k * 2 + v > 0 and k * 2 + v < 5 else f32(0.0))",
    )
    first = [line.strip() for line in made[: made.index("    else:")]]
    assert "C[i * 18 + 1 * 6 + 1 * 2 + v_2] = A[i * 18 + 1 * 6 + 1 * 2 + v_2]" in first


def test_iterations_in_which_nothing_happens_are_left_out() -> None:
    made, _ = split(
        "for i in serial(0, 64):",
        "    for j in vectorized(0, 4):",
        "        if i >= 3 and i + j < 10:",
        "            C[i + j] = C[i + j] + A[i]",
    )
    assert made == [
        "for i in serial(3, 7):",
        "    for j in vectorized(0, 4):",
        "        C[i + j] = C[i + j] + A[i]",
        "for i_1 in serial(7, 10, partition=False):",
        "    for j_1 in vectorized(0, 4):",
        "        if i_1 + j_1 < 10:",
        "            C[i_1 + j_1] = C[i_1 + j_1] + A[i_1]",
    ]


@pytest.mark.parametrize(
    ("lines", "options"),
    [
        (PADDED, {}),
        (INEXACT, {"symbolic_loops": False}),
        (INEXACT, {"max_steps": 0}),
        (INEXACT, {"max_copies": 1}),
        ((INEXACT[0].replace("16):", "16, partition=False):"), *INEXACT[1:]), {}),
        ((INEXACT[0].replace("serial(", "unrolled("), *INEXACT[1:]), {}),
        (PADDED, {"only_vectorized": False, "constant_loops": False}),
        # Lanes have masks.
        (("for i in vectorized(0, 16):", "    if i < n:", "        C[i] = A[i]"), {}),
        (("for i in serial(0, 16):", "    if A[i] < f32(3.0):", "        C[i] = A[i]"), {}),
        (
            ("for i in serial(0, 8):", "    if i * n < 16:", "        C[i] = A[i]"),
            {"only_vectorized": False},
        ),
    ],
)
def test_a_loop_that_gains_nothing_or_is_not_chosen_stays(
    lines: tuple[str, ...], options: dict[str, bool | int]
) -> None:
    made, _ = split(*lines, **options)
    assert made == list(lines)


def test_a_hint_asks_for_a_loop_without_vectors() -> None:
    lines = ("for i in serial(0, 8, partition=True):", "    if i < n:", "        C[i] = A[i]")
    made, _ = split(*lines)
    assert made[0] == "for i in serial(0, max(min(n, 8), 0), partition=True):"
    assert made[1] == "    C[i] = A[i]"


def test_more_copies_than_allowed_are_refused_with_a_remark() -> None:
    _, said = split(*INEXACT, max_copies=1)
    assert said == ["its guards need 2 copies of its body, which is more than allowed: left whole"]


def test_bounds_in_memory_are_refused_with_a_remark() -> None:
    lines = ("for i in serial(0, cast(A[0], i64)):", *INEXACT[1:])
    made, said = split(*lines)
    assert made == list(lines)
    assert said == ["its bounds are read from memory, which its body may change: left whole"]


def test_an_inexact_split_runs_natively_with_no_mask_in_its_main_loop() -> None:
    text = """def add(A: f32[n], C: f32[n]):
    for i in serial(0, (n + 15) // 16):
        for j in vectorized(0, 16):
            if i * 16 + j < n:
                C[i * 16 + j] = A[i * 16 + j] + f32(1.0)
"""
    func = parse(text)
    assert script(lower(func)).count("mask=") == 2  # a load and a store, both in the tail
    kernel = irkit.build(func)
    for size in (1, 15, 16, 17, 100):
        a, c = np.arange(size, dtype=np.float32), np.zeros(size, np.float32)
        kernel(a, c)
        assert (c == a + 1).all()


class _Random:
    """Nests of guarded loops whose bounds and guards may be symbolic."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.a, self.c = (Buffer(name, (const(2000, I64),), F32) for name in "AC")
        self.n, self.m = Var("n"), Var("m")
        self.around: list[Var] = []
        self.place: Expr = const(0, I64)

    def func(self) -> PrimFunc:
        chosen = self.random.choice
        loops: list[For] = []
        for name in "ijk"[: self.random.randint(1, 3)]:
            begins: list[Expr] = [const(0, I64), const(chosen([0, 1, 3]), I64), self.n]
            ends = [const(chosen([2, 5, 7]), I64), self.n + chosen([0, 4]), self.m]
            if self.around:
                begins.append(self.around[0])
                ends.append(self.around[-1] + 2)
            kind = chosen(["serial", "serial", "parallel", "vectorized", "unrolled"])
            hint = chosen([(), (), (("partition", True),), (("partition", False),)])
            var = Var(name)
            loops.append(For(var, chosen(begins), chosen(ends), seq(), kind, "", hint))
            self.around.append(var)
        for var, step in zip(self.around, (64, 8, 1), strict=False):
            self.place = self.place + var * step
        body = self.stmt(0)
        for loop in reversed(loops):
            body = loop.replace(body=body)
        return PrimFunc("f", (self.a, self.c, self.n, self.m), body)

    def cond(self) -> Expr:
        chosen = self.random.choice
        conds: list[Expr] = []
        for _ in range(self.random.randint(1, 3)):
            total: Expr = const(self.random.randint(-8, 8), I64)
            for var in (*self.around, self.n, self.m):
                total = total + var * chosen([0, 0, 1, 1, 2, -1, -3, 4])
            limit = chosen([const(self.random.randint(-4, 20), I64), self.n * 2, self.m + 3])
            conds.append(chosen([lt, le, gt, ge])(total, limit))
        return logical_and(*conds)

    def stmt(self, depth: int) -> Stmt:
        kind = self.random.random()
        if depth > 2 or kind < 0.3:
            value, old = self.a[self.place] + 1.0, self.c[self.place]
            if self.random.random() < 0.5:
                value = if_then_else(self.cond(), value, old)
            if self.random.random() < 0.3:
                value = select(self.cond(), value, old)
            return Store(self.c, (self.place,), value)
        if kind < 0.75:
            otherwise = self.random.choice([None, self.stmt(depth + 1)])
            return If(self.cond(), self.stmt(depth + 1), otherwise)
        if kind < 0.85:
            var = Var("t")
            test = lt(var, self.random.randint(0, 20))
            return Let(var, self.around[0] * 2 + self.n, If(test, self.stmt(depth + 1)))
        return seq(self.stmt(depth + 1), self.stmt(depth + 1))


def outcome(func: PrimFunc, n: int, m: int) -> bytes:
    a, c = np.arange(2000, dtype=np.float32), np.full(2000, -1, np.float32)
    interpret(func, a, c, n, m)
    return c.tobytes()


@pytest.mark.parametrize("start", sampled(range(0, 280, 40), every=3))
def test_the_parts_together_do_what_the_loop_did(start: int) -> None:
    changed = 0
    for seed in range(start, start + 40):
        func = _Random(seed).func()
        options = {"only_vectorized": seed % 2 == 0, "max_copies": [8, 2, 30, 3][seed % 4]}
        made = loop_partition(func, **options)
        assert verify(made) == []
        assert loop_partition(made, **options) is made, seed
        changed += made is not func
        for n, m in [(0, 0), (1, 5), (4, 3), (3, 7)] if made is not func else []:
            assert outcome(made, n, m) == outcome(func, n, m), (seed, n, m)
    assert changed > 4
