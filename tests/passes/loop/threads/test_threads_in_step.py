"""Random programs of threads that meet at barriers, against NumPy."""

from typing import Any

import numpy as np
from hypothesis import given, settings, strategies as st

from irkit.ir import (
    PrimFunc,
    parse,
    script,
)
from irkit.ir.threads import split_threads
from irkit.passes.loop import thread_sync
from irkit.phases import lower
from tests.draws import few_or_all
from tests.passes.loop.threads.execution import barriers, interpreted

Lines = list[tuple[str, str, str, str]]

INDICES = {
    "t": lambda t: t,
    "7 - t": lambda t: 7 - t,
    "(t + 1) % 8": lambda t: (t + 1) % 8,
    "t // 2": lambda t: t // 2,
    "0": lambda t: t * 0,
    "t % 4 + 4": lambda t: t % 4 + 4,
}
ONE_EACH = ("t", "7 - t", "(t + 1) % 8")


@st.composite
def steps(draw: st.DrawFn) -> Lines:
    """Draw stores ``to[write] = source[read] * 3 + to[write]``; each alone is free of conflicts."""
    made: Lines = []
    for _ in range(draw(st.integers(1, 5))):
        to, source = draw(st.sampled_from("STC")), draw(st.sampled_from("STA"))
        write = draw(st.sampled_from(ONE_EACH))
        read = write if to == source else draw(st.sampled_from(list(INDICES)))
        made.append((to, write, source, read))
    return made


def in_step(lines: Lines, rounds: int, a: Any) -> Any:
    """Run the stores in NumPy, each for all threads before the next."""
    t = np.arange(8)
    memory = {"A": a, "C": np.ones(8, np.int32), "S": a.copy(), "T": a[::-1].copy()}
    for to, write, source, read in lines * rounds:
        at = INDICES[write](t)
        memory[to][at] = memory[source][INDICES[read](t)] * np.int32(3) + memory[to][at]
    return memory["C"]


STEPS = """
def f(A: i32[8], C: i32[8]):
    S = alloc(i32[8], scope="shared")
    T = alloc(i32[8])
    for {loop}:
        S[{t}] = A[{t}]
        T[7 - {t}] = A[{t}]
        for k in serial(0, {rounds}):
{body}"""


def program(lines: Lines, rounds: int, *, backwards: bool) -> PrimFunc:
    """Return the stores as a program over threads; the first or last thread runs first."""
    t, pad = "(7 - u)" if backwards else "t", " " * 12
    body = "".join(
        f"{pad}{to}[{write}] = {source}[{read}] * 3 + {to}[{write}]\n".replace("t", t)
        for to, write, source, read in lines
    )
    loop = f'{"u" if backwards else "t"} in thread(0, 8, "threadIdx.x")'
    return parse(STEPS.format(loop=loop, t=t, rounds=rounds, body=body).strip() + "\n")


@settings(max_examples=few_or_all(32, 80), deadline=None, derandomize=True)
@given(steps(), st.integers(1, 3), st.booleans())
def test_threads_that_wait_at_barriers_stay_in_step(
    lines: Lines, rounds: int, backwards: bool
) -> None:
    func = program(lines, rounds, backwards=backwards)
    a = (np.arange(8) % 5 - 2).astype(np.int32)
    expected = in_step(lines, rounds, a.copy())
    synced = thread_sync(func)
    assert thread_sync(synced) is synced
    for made in (synced, split_threads(synced), lower(func)):
        assert (interpreted(made, [a, np.ones(8, np.int32)])[1] == expected).all(), script(synced)


def test_a_thread_that_reads_only_what_it_wrote_does_not_wait() -> None:
    mine = [("S", at, "T", at) for at in ("t", "7 - t")]
    assert barriers(script(program(mine[:1], 3, backwards=False))) == 1  # T is filled in reverse.
    assert (
        barriers(script(program([("S", "t", "A", "0"), ("C", "t", "S", "t")], 3, backwards=False)))
        == 0
    )


def test_a_barrier_inside_a_loop_also_separates_accesses_before_it() -> None:
    swap = [("S", "t", "C", "t"), ("C", "t", "S", "7 - t")]
    assert barriers(script(program(swap, 3, backwards=False))) == 2
