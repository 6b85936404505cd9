"""Memory of scope "local" is one a thread, also if it is allocated around loops over threads."""

from typing import Any

import numpy as np
import pytest

from irkit.core import IRKitError
from irkit.ir import find_race, interpret, parse

HEAD = 'def f(A: f32[2, 4], C: f32[2, 4]):\n    for b in thread(0, 2, "blockIdx.x"):\n'
A = np.arange(8, dtype=np.float32).reshape(2, 4)


def ran(*lines: str) -> Any:
    """Return what a program computes from ``A``; no threads of it may meet."""
    func = parse(HEAD + "".join(f"        {line}\n" for line in lines))
    found = [np.full((2, 4), -1, np.float32) for _ in range(2)]
    interpret(func, A.copy(), found[0])
    assert find_race(func, A.copy(), found[1]) is None
    np.testing.assert_array_equal(*found)
    return found[0]


def test_each_thread_has_its_own_and_keeps_it_to_the_next_loop_of_its_axis() -> None:
    found = ran(
        'R = alloc(f32[1], scope="local")',
        'for t in thread(0, 4, "threadIdx.x"):',
        "    R[0] = A[b, t]",
        'for u in thread(0, 4, "threadIdx.x"):',
        "    C[b, u] = R[0] * f32(2.0)",
    )
    np.testing.assert_array_equal(found, A * 2)


def test_a_thread_has_what_was_stored_outside_before() -> None:
    found = ran(
        'R = alloc(f32[2], scope="local")',
        "R[0] = f32(1.0)",
        'for t in thread(0, 4, "threadIdx.x"):',
        "    R[0] = R[0] + A[b, t]",
        "R[1] = f32(3.0)",
        'for u in thread(0, 4, "threadIdx.x"):',
        "    C[b, u] = R[0] + R[1]",
    )
    np.testing.assert_array_equal(found, A + 4)


def test_a_store_outside_is_one_of_every_thread_and_also_through_a_view() -> None:
    found = ran(
        'R = alloc(f32[3], scope="local")',
        "V = view(R, f32[2], offset=1)",
        'for t in thread(0, 4, "threadIdx.x"):',
        "    V[1] = A[b, t]",
        "V[0] = f32(5.0)",
        'for u in thread(0, 4, "threadIdx.x"):',
        "    C[b, u] = R[1] + R[2]",
    )
    np.testing.assert_array_equal(found, A + 5)


def test_threads_wait_with_memory_of_their_own() -> None:
    found = ran(
        'R = alloc(f32[1], scope="local")',
        'S = alloc(f32[4], scope="shared")',
        'for t in thread(0, 4, "threadIdx.x"):',
        "    R[0] = A[b, t]",
        "    S[t] = R[0]",
        "    evaluate(barrier())",
        "    C[b, t] = R[0] * f32(10.0) + S[3 - t]",
    )
    np.testing.assert_array_equal(found, A * 10 + A[:, ::-1])


def test_threads_on_two_axes_each_have_their_own() -> None:
    found = ran(
        'R = alloc(f32[1], scope="local")',
        'for y in thread(0, 2, "threadIdx.y"):',
        '    for x in thread(0, 2, "threadIdx.x"):',
        "        R[0] = A[b, y * 2 + x]",
        'for y2 in thread(0, 2, "threadIdx.y"):',
        "    R[0] = R[0] if y2 < 0 else f32(7.0)",
        '    for x2 in thread(0, 2, "threadIdx.x"):',
        "        C[b, y2 * 2 + x2] = R[0]",
    )
    np.testing.assert_array_equal(found, np.full((2, 4), 7))


NESTED = (
    'for t in thread(0, 4, "threadIdx.x"):',
    '    R = alloc(f32[1], scope="local")',
    "    R[0] = f32(0.0)",
    '    for u in thread(0, 4, "threadIdx.x"):',
    "        R[0] = R[0] + A[b, u]",
    "    C[b, t] = R[0]",
)


def test_a_loop_of_the_same_axis_inside_is_run_by_one_thread() -> None:
    np.testing.assert_array_equal(ran(*NESTED), A.sum(1)[:, None].repeat(4, 1))


def test_global_memory_of_a_block_is_one_for_its_threads() -> None:
    found = ran(
        "S = alloc(f32[4])",
        'for t in thread(0, 4, "threadIdx.x"):',
        "    S[t] = A[b, t]",
        'for u in thread(0, 4, "threadIdx.x"):',
        "    C[b, u] = S[3 - u]",
    )
    np.testing.assert_array_equal(found, A[:, ::-1])


@pytest.mark.parametrize(
    ("who", "lines"),
    [
        (
            r"thread threadIdx.x = \d reads R\[\d\]",
            (
                'for t in thread(0, 4, "threadIdx.x"):',
                "    R[t] = A[b, t]",
                "    evaluate(barrier())",
                "    C[b, t] = R[3 - t]",
            ),
        ),
        (
            r"thread threadIdx.x = 0 reads R\[3\]",
            (
                'for t in thread(0, 4, "threadIdx.x"):',
                "    R[t] = A[b, t]",
                'for u in thread(0, 4, "threadIdx.x"):',
                "    C[b, u] = R[3 - u]",
            ),
        ),
        (
            r"a statement outside the threads reads R\[0\]",
            (
                "R[0] = f32(1.0)",
                'for t in thread(0, 4, "threadIdx.x"):',
                "    R[0] = A[b, t]",
                "C[b, 0] = R[0]",
            ),
        ),
    ],
)
def test_what_only_another_thread_has_written_is_not_read(who: str, lines: tuple[str, ...]) -> None:
    with pytest.raises(IRKitError, match=who + ", which only another thread has written"):
        ran('R = alloc(f32[4], scope="local")', *lines)


def test_what_a_loop_over_one_axis_stores_the_threads_of_the_other_have() -> None:
    text = (
        "def f(A: f32[8], C: f32[8]):\n"
        '    R = alloc(f32[1], scope="local")\n'
        "    R[0] = f32(1.0)\n"
        '    for x in thread(0, 4, "threadIdx.x"):\n'
        "        R[0] = R[0] + A[x]\n"
        '    for y in thread(0, 2, "threadIdx.y"):\n'
        "        R[0] = R[0] * f32(1.0)\n"
        '    for y1 in thread(0, 2, "threadIdx.y"):\n'
        '        for x1 in thread(0, 4, "threadIdx.x"):\n'
        "            C[y1 * 4 + x1] = R[0]\n"
    )
    first = text.replace("        R[0] = R[0] * f32(1.0)\n", "        evaluate(barrier())\n")
    values, result = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    interpret(parse(first), values, result)
    np.testing.assert_array_equal(result, [1, 2, 3, 4, 1, 2, 3, 4])
    with pytest.raises(IRKitError, match=r"threadIdx.y = 0 reads R\[0\], which only another"):
        interpret(parse(text), values, result)


def test_a_loop_over_one_axis_stores_once_in_memory_that_threads_share() -> None:
    text = (
        "def f(A: f32[4], C: f32[8]):\n"
        '    S = alloc(f32[4], scope="shared")\n'
        '    R = alloc(f32[1], scope="local")\n'
        '    for x0 in thread(0, 4, "threadIdx.x"):\n'
        "        S[x0] = f32(0.0)\n"
        '    for x in thread(0, 4, "threadIdx.x"):\n'
        "        R[0] = S[x] + A[x]\n"
        "        S[x] = S[x] + A[x] + R[0]\n"
        '    for y in thread(0, 2, "threadIdx.y"):\n'
        '        for x1 in thread(0, 4, "threadIdx.x"):\n'
        "            C[y * 4 + x1] = S[x1] + R[0]\n"
    )
    result = np.zeros(8, np.float32)
    interpret(parse(text), np.arange(4, dtype=np.float32), result)
    np.testing.assert_array_equal(result, [0, 3, 6, 9, 0, 3, 6, 9])


def test_copies_count_as_memory() -> None:
    text = (
        "def f(A: f32[64]):\n"
        '    R = alloc(f32[1024], scope="local")\n'
        '    for t in thread(0, 64, "threadIdx.x"):\n'
        "        R[t] = A[t]\n"
        "        evaluate(barrier())\n"
        "        A[t] = R[t]\n"
    )
    interpret(parse(text), np.zeros(64, np.float32), max_bytes=4096 * 65)
    with pytest.raises(IRKitError, match="needs 4096 bytes for each thread"):
        interpret(parse(text), np.zeros(64, np.float32), max_bytes=4096 * 64)
