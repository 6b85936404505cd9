"""Allocations move inwards, but never into a loop that carries values in them."""

from irkit.core import Recorder, recording
from irkit.fuzz.generators.seed_corpus.texts import THREADS
from irkit.ir import Allocate, Evaluate, If, Seq, script, verify
from irkit.ir.threads import BARRIER
from irkit.passes import loop
from irkit.passes.loop import plan_allocations
from irkit.phases import DEFAULT
from tests.passes.loop.programs import body, func, text
from tests.passes.loop.threads.execution import func_of


def test_a_parallel_loop_keeps_its_own_buffer() -> None:
    given = func(
        "for i in parallel(0, 8):",
        "    T = alloc(f32[1])",
        "    if i >= 1:",
        "        C[i] = T[0]",
        "    T[0] = A[i]",
    )
    assert loop.plan_allocations(given) is given


def test_a_buffer_without_uses_is_dropped() -> None:
    recorder = Recorder()
    with recording(recorder):
        made = loop.plan_allocations(func("T = alloc(f32[4])", "C[0] = A[0]"))
    assert body(made) == text("C[0] = A[0]")
    assert [remark.text for remark in recorder.remarks] == [
        "'T' is never used: its allocation is dropped"
    ]


def test_a_buffer_is_placed_although_a_statement_is_shared() -> None:
    given = func("T = alloc(f32[4])", "T[0] = A[0]", "if A[1] > f32(0.0):", "    C[0] = T[0]")
    outer = given.body
    assert isinstance(outer, Allocate)
    assert isinstance(outer.body, Seq)
    first, branch = outer.body.stmts
    assert isinstance(branch, If)
    waits = Evaluate(BARRIER)
    inside = branch.replace(then=Seq((waits, branch.then)))
    made = loop.plan_allocations(
        given.replace(body=outer.replace(body=Seq((first, waits, inside))))
    )
    assert verify(made) == []


def test_a_buffer_is_not_moved_into_a_loop_that_reads_what_it_wrote_before() -> None:
    given = func(
        "T = alloc(f32[8])",
        "for i in serial(0, 8):",
        "    if i >= 1:",
        "        C[i] = T[i - 1]",
        "    T[i] = A[i]",
    )
    assert loop.plan_allocations(given) is given


def test_a_buffer_that_is_not_surely_written_stays_outside() -> None:
    given = func(
        "T = alloc(f32[64])",
        "for i in serial(0, 7):",
        "    for j in serial(0, 10):",
        "        if i * 8 + j < 50:",
        "            T[i * 8 + j] = A[i * 8 + j]",
        "    for j in serial(0, 8):",
        "        C[i * 8 + j] = T[i * 8 + j] + T[i * 8 + j + 1]",
    )
    assert loop.plan_allocations(given) is given


def test_memory_of_a_thread_moves_into_its_loop_and_shared_memory_stays_whole() -> None:
    func = func_of(THREADS["COOPERATIVE_MATMUL"])
    after = next(s.after for s in DEFAULT.steps(func) if s.name == "compact-buffers")
    text = script(after)
    assert 'S = alloc(f32[4, 4], scope="shared")' in text
    assert 'L = alloc(f32[1, 1], scope="local")' in text
    assert plan_allocations(func) is not func
