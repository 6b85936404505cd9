"""Threads that divide their number are told apart by its digits."""

import itertools

from hypothesis import example, given, strategies as st

from irkit.ir import PrimFunc, as_int, parse
from irkit.ir.analysis.conflicts import only_zero
from irkit.ir.threads.digits import thread_digits
from irkit.passes.loop import flatten_buffers, simplify, thread_sync

FACTORS = st.sampled_from([-16, -8, -4, -3, -1, 0, 1, 2, 4, 8, 16])
TERMS = st.lists(st.tuples(FACTORS, st.integers(-3, 3), st.integers(0, 3)), max_size=3)


@given(FACTORS, st.integers(0, 4), TERMS, st.integers(-20, 20))
@example(1, 3, [(8, -2, 4)], -10)
def test_only_zero_claims_what_holds_for_all_values(
    factor: int, reach: int, others: list[tuple[int, int, int]], rest: int
) -> None:
    terms = [(factor, -reach, reach), *((f, low, low + more) for f, low, more in others)]
    if only_zero(terms, rest):
        choices = (range(low, high + 1) for _, low, high in terms)
        for values in itertools.product(*choices):
            total = rest + sum(f * x for (f, _, _), x in zip(terms, values, strict=True))
            assert total != 0 or values[0] == 0


def test_places_are_fixed_from_the_largest_on() -> None:
    # 4 * lane + 128 * q + r, with q below 16 and r below 4.
    assert only_zero([(4, -31, 31), (128, -15, 15), (1, -3, 3)], 0)
    assert not only_zero([(4, -31, 31), (128, -15, 15), (1, -4, 4)], 0)
    assert not only_zero([(4, -32, 32), (128, -15, 15)], 0)


def barriers(index: str, extent: int = 32, size: int = 4096) -> int:
    func: PrimFunc = parse(
        f"def f(A: f32[{extent}], C: f32[{size}]):\n"
        f'    for t in thread(0, {extent}, "threadIdx.x"):\n'
        "        for r in serial(0, 4):\n"
        f"            C[{index}] = A[t]\n"
    )
    return str(thread_sync(simplify(flatten_buffers(func)))).count("barrier()")


def test_threads_that_meet_in_no_element_do_not_wait() -> None:
    assert not barriers("t // 4 * 64 + t % 4 * 8 + r")
    assert not barriers("t % 4 * 256 + t // 4 * 4 + r")
    assert not barriers("r * 32 + t")
    assert not barriers("t // 16 * 1024 + t // 4 % 4 * 64 + t % 4 * 8 + r")


def test_threads_that_meet_wait() -> None:
    assert barriers("t // 4 * 64 + t % 4 * 2 + r")
    assert barriers("t // 4 * 4 + r")
    assert barriers("t % 4 * 4 + r")
    assert barriers("t // 4 * 8 + t % 4 * 4 + r")


def test_digits_are_those_that_divide_the_number_of_threads() -> None:
    func = parse(
        "def f(C: f32[4096]):\n"
        '    for t in thread(0, 24, "threadIdx.x"):\n'
        "        C[t // 4 * 100 + t % 4 + t // 5] = f32(1.0)\n"
    )
    ((_, digits),) = thread_digits(func.body).items()
    assert [(as_int(loop.end), step) for loop, step in digits] == [(6, 4), (4, 1)]
