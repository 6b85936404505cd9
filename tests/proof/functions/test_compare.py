"""Steps that are proved, steps that are not, and that no wrong step is proved."""

import random
from typing import Any, cast

import pytest

from irkit.core import rewrite, walk
from irkit.debug import InterpreterExecutor, input_sets, scheduled_steps
from irkit.fuzz.generators.draw_sample import draw_sample
from irkit.fuzz.generators.sample import LOOP_SAMPLES, Unusable
from irkit.fuzz.picks import picks_of
from irkit.ir import Const, Expr, PrimFunc, StepLimit, parse, verify
from irkit.proof import Prover, StepProof, Unknown, prove_step
from irkit.proof.functions import scope
from irkit.proof.functions.compare import compare_statements

pytest.importorskip("z3")

START = """
def f(A: f32[64, 8], B: i32[n], C: f32[64, 8], x: i64):
    for i in serial(0, min(n, 64)):
        for j in serial(0, 8):
            C[i, j] = A[(i * 8 + j) // 8, j] + (A[i, j - 1] if j >= 1 else f32(0.0))
        if x * 2 >= 4:
            B[i] = B[i] * 2 + cast(x + x, i32)
"""
C_STORE, B_STORE = "            C[i, j] =", "            B[i] ="


def proof(after: str, before: str = START) -> StepProof:
    return compare_statements(parse(before), parse(after), Prover())


def changed(*changes: tuple[str, str]) -> str:
    text = START
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize(
    "changes",
    [
        [("(i * 8 + j) // 8, j", "i, j")],
        [("j >= 1", "0 < j")],
        [("j >= 1", "not j < 1"), ("j - 1]", "-1 + j]")],
        [("x * 2 >= 4", "x << 1 > 3"), ("x + x", "x * 2")],
        [("cast(x + x, i32)", "cast(x, i32) * 2")],
        [(C_STORE, f"            t: i64 = i * 8\n{C_STORE}"), ("(i * 8 +", "(t +")],
        [("        if x", "        for k in serial(x, x):\n            B[0] = 1\n        if x")],
        [("            C[i", "            if i < n:\n              C[i")],
        [("            C[i", "            for k in serial(x % 3, x % 3 + 1):\n              C[i")],
        [(B_STORE, f"            b: i32 = B[i]\n{B_STORE}"), ("B[i] * 2", "b * 2")],
        [
            ("serial(0, 8)", "serial(i32(0), i32(8))"),
            (" * 8 + j)", " * 8 + cast(j, i64))"),
            ("j - 1]", "j - i32(1)]"),
            ("j >= 1", "j > i32(0)"),
        ],
    ],
)
def test_equal_statements_are_proved(changes: list[tuple[str, str]]) -> None:
    found = proof(changed(*changes))
    assert found.proved, found.message
    assert proof(START, changed(*changes)).proved


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ([("j - 1]", "j]")], "which differs at"),
        ([("j >= 1", "j >= 0")], "an exact meaning is missing for Add of f32"),
        ([("B[i] * 2 +", "B[i] * 2 + B[i + 1] * 0 +")], "may be a new load"),
        ([("x * 2 >= 4", "x * 2 >= 4 + cast(B[i + 1] * 0, i64)")], "may be a new load"),
        ([("(A[i, j - 1] if j >= 1 else f32(0.0))", "f32(0.0)")], "became"),
        ([("B[i] * 2", "B[i] * 3")], "which differs at"),
        ([("x * 2 >= 4", "x >= 2")], "which differs at"),
        ([("serial(0, 8)", "serial(0, 7)")], "8 became 7, which differs at"),
        ([("            B[i] =", "            B[i + 1] =")], "became i + 1, which differs at"),
        (
            [
                (
                    "            B[i] =",
                    "            b: i32 = B[i]\n            B[i] = 0\n            B[i] =",
                ),
                ("B[i] * 2", "b * 2"),
            ],
            "Store became Let",
        ),
        ([("cast(x + x, i32)", "cast(x, i32)")], "which differs at"),
        ([("            C[i", "            if i < n - 1:\n              C[i")], "Store became If"),
        (
            [("            C[i", "            for k in serial(0, 2):\n              C[i")],
            "nothing became Store",
        ),
        ([("C[i, j] = A", "C[i, j] = A[i, 0] * f32(0.0) + A")], "became"),
    ],
)
def test_other_steps_are_not_proved_and_the_reason_is_given(
    changes: list[tuple[str, str]], reason: str
) -> None:
    found = proof(changed(*changes))
    assert not found.proved
    assert reason in found.message


SHIFT = """
def f(A: f32[9], C: f32[9]):
    for i in {}(0, 8):
        {}
"""


@pytest.mark.parametrize("kind", ["serial", "unrolled", "parallel", "vectorized"])
@pytest.mark.parametrize("other", ["serial", "unrolled", "parallel", "vectorized"])
def test_a_loop_of_another_kind_is_proved_if_its_iterations_never_meet(
    kind: str, other: str
) -> None:
    body = "C[i + 1] = A[i] * f32(2.0)"
    assert proof(SHIFT.format(other, body), SHIFT.format(kind, body)).proved


@pytest.mark.parametrize("kind", ["parallel", "vectorized"])
def test_a_loop_of_another_kind_is_not_proved_if_its_iterations_may_meet(kind: str) -> None:
    body = "C[i + 1] = C[i] * f32(2.0)"
    found = proof(SHIFT.format(kind, body), SHIFT.format("serial", body))
    assert not found.proved
    assert f"a serial loop became a {kind} loop" in found.message
    assert proof(SHIFT.format("serial", body), SHIFT.format(kind, body)).proved


THREADS = """
def f(A: f32[n, 8], C: f32[n, 8]):
    for i in {}:
        for j in {}:
            {}
"""
BOUND = {
    "serial": ("serial(0, n)", "serial(0, 8)"),
    "parallel": ("parallel(0, n)", "vectorized(0, 8)"),
    "grid": ("thread(0, n, 'blockIdx.x')", "thread(0, 8, 'threadIdx.x')"),
    "nest": ("thread(0, n, 'threadIdx.y')", "thread(0, 8, 'threadIdx.x')"),
    "blocks": ("thread(0, n, 'blockIdx.x')", "serial(0, 8)"),
}


@pytest.mark.parametrize("old", BOUND)
@pytest.mark.parametrize("new", BOUND)
def test_loops_over_threads_are_proved_if_they_never_meet(old: str, new: str) -> None:
    body = "C[i, j] = A[i, 7 - j] * f32(2.0)"
    before, after = (THREADS.format(*BOUND[kind], body) for kind in (old, new))
    assert proof(after, before).proved


@pytest.mark.parametrize(
    "body",
    [
        "C[i, 0] = A[i, j]",  # The last iteration wins, and any thread does.
        "C[i, j] = C[i, 7 - j]",
        "C[i, j] = A[i, j]\n            evaluate(barrier())\n            A[i, 7 - j] = C[i, j]",
    ],
)
@pytest.mark.parametrize("threads", ["grid", "nest"])
def test_loops_over_threads_that_may_meet_are_not_proved(body: str, threads: str) -> None:
    serial, bound = (THREADS.format(*BOUND[kind], body) for kind in ("serial", threads))
    assert not proof(bound, serial).proved
    assert not proof(serial, bound).proved


def test_what_threads_share_is_no_memory_of_each_iteration() -> None:
    body = """T = alloc(f32[1], scope="shared")
            T[0] = A[i, j]
            C[i, j] = T[0]"""
    serial, bound = (THREADS.format(*BOUND[kind], body) for kind in ("serial", "grid"))
    assert not proof(bound, serial).proved


def test_what_a_failed_assertion_says_is_free() -> None:
    text = """
def f(A: f32[4], x: i64):
    assert x > 3, ("small: {}", x)
    A[0] = f32(1.0)
"""
    assert proof(text, text.replace("small", "large").replace(", x)", ", x + 1)")).proved
    assert not proof(text, text.replace("x > 3", "x > 4")).proved


def test_a_let_is_not_looked_through_where_its_memory_is_written() -> None:
    text = """
def f(B: i32[4], C: i32[4]):
    b: i32 = B[0]
    B[0] = b + 1
    C[0] = b
"""
    assert proof(text, text).proved
    assert not proof(text.replace("= b\n", "= B[0]\n"), text).proved
    later = text.replace("    B[0] =", "    c: i32 = b + 1\n    B[0] =").replace(
        "= b\n", "= c - 1\n"
    )
    assert not proof(later.replace("= c - 1\n", "= B[0]\n"), later).proved
    loop = """
def f(B: i32[4], C: i32[4]):
    b: i32 = B[0]
    for i in serial(0, 4):
        C[i] = {}
        B[0] = 7
"""
    assert not proof(loop.format("B[0]"), loop.format("b")).proved


def test_a_loop_that_runs_once_by_wrapping_around_never_runs() -> None:
    text = """
def f(B: i32[4], x: i64):
    for k in serial(x, x + 1):
        B[0] = 1
"""
    assert not proof("def f(B: i32[4], x: i64):\n    B[0] = 1\n", text).proved


def test_blocks_are_looked_through() -> None:
    block = """
def f(A: f32[4, 8], C: f32[4]):
    for i in serial(0, 4):
        for k in serial(0, 8):
            with block("C"):
                vi = axis.spatial(4, i)
                vk = axis.reduce(8, k)
                where(k < 7)
                with init():
                    C[vi] = f32(0.0)
                C[vi] = C[vi] + A[vi, vk]
"""
    loops = """
def f(A: f32[4, 8], C: f32[4]):
    for i in serial(0, 4):
        for k in serial(0, 8):
            if k < 7:
                if k == 0:
                    C[i] = f32(0.0)
                C[i] = C[i] + A[i, k]
"""
    assert proof(loops, block).proved
    assert proof(block, loops).proved
    assert not proof(loops.replace("k == 0", "k == 1"), block).proved
    assert not proof(loops.replace("k < 7", "k < 8"), block).proved
    assert not proof(block.replace("spatial(4, i)", "spatial(3, i)"), loops).proved


FLAT = """
def f(A: f32[n, 8], C: f32[n, 8]):
    A_flat = view(A, f32[n * 8], offset=0)
    C_flat = view(C, f32[n * 8], offset=0)
    for i in serial(0, n):
        for j in unrolled(0, 8):
            C_flat[i * 8 + j] = A_flat[j + i * 8]
"""
NOT_FLAT = """
def f(A: f32[n, 8], C: f32[n, 8]):
    for i in serial(0, n):
        for j in unrolled(0, 8):
            C[i, j] = A[i, j]
"""


def test_views_of_whole_memory_are_looked_through() -> None:
    assert proof(FLAT, NOT_FLAT).proved
    for wrong in (
        FLAT.replace("A_flat[j + i * 8]", "A_flat[j + i * 7]"),
        FLAT.replace("C_flat[i * 8", "C_flat[i * 4"),
        FLAT.replace("view(A, f32[n * 8], offset=0)", "view(A, f32[n * 8], offset=1)"),
        FLAT.replace("view(A, f32[n * 8]", "view(A, f32[n * 8 + 1]"),
        FLAT.replace("view(A,", "view(C,"),
    ):
        assert not proof(wrong, NOT_FLAT).proved


def test_a_view_is_not_left_for_several_indices() -> None:
    # C[i, j + 1 - 1] could be outside its dimension where C_flat[...] is inside the memory.
    found = proof(NOT_FLAT, FLAT)
    assert not found.proved
    assert "is not seen as one dimension" in found.message


def test_short_loops_are_copies() -> None:
    copies = NOT_FLAT.replace("        for j in unrolled(0, 8):\n", "").replace(
        "    C[i, j] = A[i, j]\n", "{}"
    )
    lines = [f"        C[i, {j}] = A[i, {j}]\n" for j in range(8)]
    right = copies.replace("        {}", "".join(lines))
    assert proof(right, NOT_FLAT).proved
    assert proof(NOT_FLAT, right).proved
    assert not proof(copies.replace("        {}", "".join(lines[:7])), NOT_FLAT).proved
    swapped = "".join(lines).replace("A[i, 3]", "A[i, 2]")
    assert not proof(copies.replace("        {}", swapped), NOT_FLAT).proved


def test_a_parallel_loop_is_no_list_of_copies() -> None:
    text = """
def f(C: i32[1]):
    for i in {}(0, 2):
        C[0] = C[0] * 2 + cast(i, i32)
"""
    serial = "def f(C: i32[1]):\n    C[0] = C[0] * 2 + 0\n    C[0] = C[0] * 2 + 1\n"
    assert proof(text.format("serial"), serial).proved
    assert not proof(text.format("parallel"), serial).proved


def test_a_mask_says_which_lanes_count() -> None:
    text = """
def f(A: i64[8], C: i64[8], x: i64):
    store(C, (ramp(0, 1, 8),), {}, mask=ramp(0, 1, 8) < broadcast(4, 8))
"""
    wide, narrow = "ramp(0, 1, 8) % broadcast({}, 8)", "ramp(0, 1, 8)"
    assert proof(text.format(narrow), text.format(wide.format(4))).proved
    found = proof(text.format(narrow), text.format(wide.format(3)))
    assert "which differs at" in found.message


def mutated(func: PrimFunc, rng: random.Random) -> PrimFunc:
    """Change one constant or one operator of a function."""
    nodes = [node for node in walk(func.body, Expr) if _other(node, rng) is not None]
    if not nodes:
        return func
    chosen = rng.choice(nodes)
    done = False

    def change(node: Expr) -> Expr | None:
        nonlocal done
        if done or node != chosen:
            return None
        done = True
        return _other(node, rng)

    return rewrite(func, change, on=Expr)


def _other(node: Expr, rng: random.Random) -> Expr | None:
    kind = node.dtype
    if isinstance(node, Const) and kind.is_integer and kind.low < node.value < kind.high:
        return Const(int(node.value) + rng.choice((-1, 1)), kind)
    swapped: Any = node
    if hasattr(node, "a") and hasattr(node, "b"):
        return swapped.replace(a=swapped.b, b=swapped.a)
    return None


def agree(before: PrimFunc, after: PrimFunc, seed: int) -> bool:
    """Return True if two functions compute the same on random inputs."""
    executor = InterpreterExecutor(200_000)
    for inputs in input_sets(before, {}, dims={}, seed=seed, samples=2):
        try:
            first = executor.run(before, inputs.copied())
            second = executor.run(after, inputs.copied())
        except StepLimit:
            continue
        if first.error:
            continue
        if second.error or any(
            a.tobytes() != b.tobytes()
            for a, b in zip(first.arrays, second.arrays, strict=True)
            if a.dtype.kind in "biu"
        ):
            return False
    return True


def tried(seeds: range) -> tuple[int, int, int]:
    """Mutate drawn programs at every step, and run what was proved equal."""
    prover = Prover(retries=0)
    proved = refused = wrong = 0
    for seed in seeds:
        try:
            sample = draw_sample(LOOP_SAMPLES[seed % 3], picks_of(seed))
        except Unusable:
            continue
        rng = random.Random(seed)
        for step in scheduled_steps(sample.ir, sample.schedule, sample.pipeline):  # type: ignore[arg-type]
            if not step.changed or not isinstance(step.after, PrimFunc) or rng.random() < 0.5:
                continue
            after = mutated(step.after, rng)
            if after is step.after or verify(after):
                continue
            before = step.after if rng.random() < 0.5 else cast(PrimFunc, step.before)
            found = prove_step(before, after, prover)
            proved += found.proved
            refused += not found.proved
            wrong += found.proved and not agree(before, after, seed)
    return proved, refused, wrong


def test_no_wrong_mutant_is_proved() -> None:
    proved, refused, wrong = tried(range(3))
    assert not wrong
    assert proved > 0
    assert refused > 1


@pytest.mark.long
def test_no_wrong_mutant_of_many_programs_is_proved() -> None:
    proved, refused, wrong = tried(range(1000, 2500))
    assert not wrong
    assert proved > 100
    assert refused > 1000


def test_a_refutation_that_is_not_found_a_second_time_keeps_the_step_from_being_proved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def forgets(*_: object) -> Unknown:
        return Unknown("z3 found no proof in its time", out_of_time=True)

    monkeypatch.setattr(scope, "prove_claim", forgets)
    found = proof(START.replace("B[i] * 2", "B[i] * 3"))
    assert not found.proved
    assert found.refuted is None
    assert "which differs for some values" in found.message
