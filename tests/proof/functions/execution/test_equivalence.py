"""Two versions of a function, executed: what is proved, and that nothing wrong is."""

import pytest

from irkit.ir import parse
from irkit.proof import Prover
from irkit.proof.functions.execution.equivalence import Executed, execute_step
from tests.draws import sampled

pytest.importorskip("z3")


def executed(before: str, after: str) -> Executed:
    return execute_step(parse(before), parse(after), Prover())


PARTITION = (
    """
def f(A: f32[35], C: f32[35]):
    for i in serial(0, 3):
        for j in vectorized(0, 16):
            if i * 16 + j < 35:
                C[i * 16 + j] = A[i * 16 + j]
""",
    """
def f(A: f32[35], C: f32[35]):
    for i in serial(0, 2):
        for j in vectorized(0, 16):
            C[i * 16 + j] = A[i * 16 + j]
    for j_1 in vectorized(0, 3):
        C[2 * 16 + j_1] = A[2 * 16 + j_1]
""",
    [
        ("vectorized(0, 3)", "vectorized(0, 2)", "is not shown to be the same"),
        ("vectorized(0, 3)", "vectorized(0, 4)", "outside 0 to 34"),
        ("serial(0, 2)", "serial(0, 1)", "is not shown to be the same"),
        ("A[2 * 16 + j_1]", "A[16 + j_1]", "is not shown to be the same"),
    ],
)
FLATTEN = (
    """
def f(A: f32[5, 3], C: f32[3, 5]):
    T = alloc(f32[5, 3])
    for i in serial(0, 5):
        for j in serial(0, 3):
            T[i, j] = A[i, j] * f32(2.0)
    for i_1 in serial(0, 5):
        for j_1 in serial(0, 3):
            C[j_1, i_1] = T[i_1, j_1]
""",
    """
def f(A: f32[5, 3], C: f32[3, 5]):
    A_flat = view(A, f32[15], offset=0)
    C_flat = view(C, f32[15], offset=0)
    T = alloc(f32[15])
    for i in serial(0, 5):
        for j in serial(0, 3):
            T[j * 5 + i] = A_flat[i * 3 + j] * f32(2.0)
    for i_1 in serial(0, 5):
        for j_1 in serial(0, 3):
            C_flat[j_1 * 5 + i_1] = T[j_1 * 5 + i_1]
""",
    [
        ("T[j * 5 + i]", "T[j * 3 + i]", "is not shown to be the same"),
        ("A_flat[i * 3 + j]", "A_flat[i * 2 + j]", "is not shown to be the same"),
        ("C_flat[j_1 * 5 + i_1]", "C_flat[j_1 * 6 + i_1]", "outside 0 to 14"),
        ("T = alloc(f32[15])", "T = alloc(f32[14])", "outside 0 to 13"),
        ("view(C, f32[15], offset=0)", "view(C, f32[15], offset=1)", "leaves its memory"),
    ],
)
UNROLL = (
    """
def f(A: f32[9], C: f32[9], S: f32[1]):
    for i in unrolled(0, 3):
        C[i] = A[i] + A[i + 3]
        S[0] = S[0] + C[i]
""",
    """
def f(A: f32[9], C: f32[9], S: f32[1]):
    C[0] = A[0] + A[3]
    S[0] = S[0] + C[0]
    C[1] = A[1] + A[4]
    S[0] = S[0] + C[1]
    C[2] = A[2] + A[5]
    S[0] = S[0] + C[2]
""",
    [
        ("    S[0] = S[0] + C[2]\n", "", "is not shown to be the same"),
        ("A[2] + A[5]", "A[2] + A[4]", "is not shown to be the same"),
        (
            "    S[0] = S[0] + C[0]\n    C[1] = A[1] + A[4]\n    S[0] = S[0] + C[1]\n",
            "    C[1] = A[1] + A[4]\n    S[0] = S[0] + C[1]\n    S[0] = S[0] + C[0]\n",
            "is not shown to be the same",
        ),
    ],
)
VECTORIZE = (
    """
def f(A: f32[40], C: f32[20]):
    for i in vectorized(0, 20):
        if A[i * 2] > f32(0.0):
            C[i] = A[i * 2] / f32(3.0)
""",
    """
def f(A: f32[40], C: f32[20]):
    for i_o in serial(0, 1):
        taken = A[ramp(i_o * 16 * 2, 2, 16)] > broadcast(f32(0.0), 16)
        part = load(A, (ramp(i_o * 32, 2, 16),), mask=taken)
        store(C, (ramp(i_o * 16, 1, 16),), part / broadcast(f32(3.0), 16), mask=taken)
    tail = A[ramp(32, 2, 4)] > broadcast(f32(0.0), 4)
    rest = load(A, (ramp(32, 2, 4),), mask=tail)
    store(C, (ramp(16, 1, 4),), rest / broadcast(f32(3.0), 4), mask=tail)
""",
    [
        ("ramp(i_o * 32, 2, 16)", "ramp(i_o * 32, 1, 16)", "is not shown to be the same"),
        ("ramp(16, 1, 4)", "ramp(17, 1, 4)", "outside 0 to 19"),
        ("(32, 2, 4),), mask=tail)", "(31, 2, 4),), mask=tail)", "is not shown to be the same"),
        ("serial(0, 1)", "serial(0, 0)", "is not shown to be the same"),
        ("load(A, (ramp(32, 2, 4),), mask=tail)", "A[ramp(36, 2, 4)]", "outside 0 to 39"),
    ],
)
STORAGE = (
    """
def f(A: f32[8], C: f32[8]):
    T = alloc(f32[8])
    U = alloc(f32[8])
    for i in serial(0, 8):
        T[i] = exp(A[i])
    for j in serial(0, 8):
        U[j] = T[j] * f32(2.0)
    for k in serial(0, 8):
        C[k] = U[7 - k]
""",
    """
def f(A: f32[8], C: f32[8]):
    T = alloc(f32[8])
    for i in serial(0, 8):
        T[i] = exp(A[i])
    for j in serial(0, 8):
        T[j] = T[j] * f32(2.0)
    for k in serial(0, 8):
        C[k] = T[7 - k]
""",
    [
        ("T[j] = T[j]", "T[j] = T[7 - j]", "is not shown to be the same"),
        ("C[k] = T[7 - k]", "C[k] = T[k]", "is not shown to be the same"),
        ("    for i in serial(0, 8):", "    for i in serial(0, 7):", "is not shown to be the same"),
        (
            "    for i in serial(0, 8):\n        T[i] = exp(A[i])\n",
            "    for i in parallel(0, 8):\n        T[0] = A[i]\n        T[i] = exp(A[i])\n",
            "two iterations of the parallel loop i touch one element, T[0]",
        ),
    ],
)
OVERLAP = (
    """
def f(A: f32[8], C: f32[8]):
    T = alloc(f32[8])
    U = alloc(f32[8])
    for i in serial(0, 8):
        T[i] = exp(A[i])
    for j in serial(0, 8):
        U[j] = A[j] * f32(2.0)
    for k in serial(0, 8):
        C[k] = U[k] + T[k]
""",
    """
def f(A: f32[8], C: f32[8]):
    T = alloc(f32[16])
    for i in serial(0, 8):
        T[i] = exp(A[i])
    for j in serial(0, 8):
        T[j + 8] = A[j] * f32(2.0)
    for k in serial(0, 8):
        C[k] = T[k + 8] + T[k]
""",
    [("j + 8", "j", "is not shown to be the same"), ("j + 8", "j + 7", "not shown")],
)


@pytest.mark.parametrize(
    ("before", "after", "wrong"), [PARTITION, FLATTEN, UNROLL, VECTORIZE, STORAGE, OVERLAP]
)
def test_loops_and_memory_may_change_and_what_is_computed_may_not(
    before: str, after: str, wrong: list[tuple[str, str, str]]
) -> None:
    assert executed(before, after) == Executed(True)
    for old, new, reason in wrong:
        assert after.count(old) >= 1
        found = executed(before, after.replace(old, new))
        assert not found.equal
        assert reason in found.reason


GUARDED = """
def f(A: f32[n], C: f32[n]):
    for i in serial(0, (n + 3) // 4):
        for j in serial(0, 4):
            if i * 4 + j < n:
                C[i * 4 + j] = A[i * 4 + j]
"""
PLAIN = """
def f(A: f32[n], C: f32[n]):
    for i in parallel(0, n):
        C[i] = A[i]
"""


def test_open_sizes_are_tried_below_at_and_above_the_factors() -> None:
    found = executed(GUARDED, PLAIN)
    assert found.equal
    sizes = [each["n"] for each in found.sizes]
    assert sizes == sorted(sizes)
    assert {0, 1, 3, 4, 5, 9} <= set(sizes)


@pytest.mark.parametrize(
    ("old", "new", "size"),
    [("if i * 4 + j < n", "if i * 4 + j < n - 1", 1), ("(n + 3) // 4", "n // 4", 1)],
)
def test_a_tail_that_is_lost_is_named_with_its_size(old: str, new: str, size: int) -> None:
    found = executed(PLAIN, GUARDED.replace(old, new))
    assert not found.equal
    assert found.reason.startswith(f"for n = {size}: ")


GATHER = """
def f(A: f32[{0}], X: i32[4], C: f32[4]):
    for i in serial(0, 4):
        if X[i] >= 0 and X[i] < 8:
            C[i] = A[X[i]]
        else:
            C[i] = f32(0.0)
"""
CHOSEN = """
def f(A: f32[{0}], X: i32[4], C: f32[4]):
    for i in parallel(0, 4):
        C[i] = (A[X[i]] if X[i] >= 0 and X[i] < 8 else f32(0.0))
"""


def test_indices_that_depend_on_data_are_followed() -> None:
    assert executed(GATHER.format(8), CHOSEN.format(8)).equal
    wrong = CHOSEN.format(8).replace("A[X[i]]", "A[X[i] + 1]")
    assert "may be a new one" in executed(GATHER.format(8), wrong).reason
    wrong = CHOSEN.format(8).replace("X[i] < 8", "X[i] < 7")
    assert "not shown to be the same" in executed(GATHER.format(8), wrong).reason


def test_memory_that_nothing_has_written_is_like_no_other() -> None:
    text = "def f(C: f32[1]):\n    T = alloc(f32[1])\n    C[0] = T[0]\n"
    assert not executed(text, text).equal


def test_threads_that_wait_for_each_other_are_not_followed() -> None:
    text = (
        'def f(C: f32[2]):\n    for t in thread(0, 2, "threadIdx.x"):\n'
        "        C[t] = f32(1.0)\n        evaluate(barrier())\n"
    )
    assert "wait for each other" in executed(text, text).reason


@pytest.mark.parametrize(
    "body",
    sampled(
        [
            "for i in serial(0, 1152921504606846976):\n        C[0] = f32(1.0)",
            "for i in serial(0, 1000000):\n        C[0] = C[0] * C[0] + f32(1.0)",
            "for i in serial(0, 1000000):\n        C[i] = C[i] * C[i + 1] + C[0]",
            "T = alloc(f32[1000000000])\n"
            "    for i in serial(0, 1000000000):\n        T[i] = f32(1.0)",
        ],
        every=2,
    ),
)
def test_what_is_too_large_is_said_to_be(body: str) -> None:
    text = f"def f(C: f32[2000000]):\n    {body}\n"
    assert "too " in executed(text, text).reason


def test_many_loops_without_an_order_take_steps_and_not_time() -> None:
    loops = [f"{'    ' * (at + 1)}for i{at} in parallel(0, 1):\n" for at in range(80)]
    inner = f"{'    ' * 81}for j in serial(0, 200000):\n{'    ' * 82}C[0] = f32(1.0)\n"
    text = f"def f(A: f32[200000], C: f32[200000]):\n{''.join(loops)}{inner}"
    assert executed(text, text).reason == "it is too large to be executed"


def test_a_permission_to_reorder_is_not_given_by_a_step() -> None:
    before = "def f(C: f32[4]):\n    for i in serial(0, 4):\n        C[i] = f32(1.0)\n"
    after = before.replace("serial(0, 4)", "serial(0, 4, reassoc=True)")
    assert "permits another order" in executed(before, after).reason


def test_assertions_that_may_fail_stay() -> None:
    before = 'def f(C: f32[4], x: i64):\n    assert x > 3, ("small: {}", x)\n    C[0] = f32(1.0)\n'
    assert executed(before, before).equal
    assert executed(before, before.replace("x > 3", "x > 4")).reason == "assertions differ"
    for old, new in (("small", "large"), (", x)", ", x + 1)")):
        assert executed(before, before.replace(old, new)).equal
