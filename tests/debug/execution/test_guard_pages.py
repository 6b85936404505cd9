"""Native code on arrays between protected pages."""

from collections.abc import Iterator

import numpy as np
import pytest

from irkit.codegen import compile_object, emit
from irkit.core import IRKitError
from irkit.debug import Flush, GuardedKernel, GuardedMemory
from irkit.fuzz.judge.loops import target_of
from irkit.ir import parse
from irkit.processes import Child, ChildDied, Limits
from tests.fuzz.campaign.faults import call_amid_guards

COPY = """
def copy(A: f32[8], C: f32[8]):
    for i in serial(0, 8):
        C[i{write}] = A[i{read}]
"""


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    with Child(Limits(seconds=60)) as made:
        yield made


def copy(read: str = "", write: str = "") -> str:
    return COPY.format(read=read, write=write)


@pytest.mark.parametrize("flush", ["end", "start"])
def test_code_that_stays_inside_gives_its_result(child: Child, flush: Flush) -> None:
    assert child.call(call_amid_guards, copy(), flush, 3) == list(range(8))


@pytest.mark.parametrize(
    ("text", "flush", "level"),
    [
        (copy(read=" + 1"), "end", 3),
        (copy(write=" - 1"), "start", 0),
    ],
)
def test_an_access_off_by_one_is_a_crash(child: Child, text: str, flush: Flush, level: int) -> None:
    with pytest.raises(ChildDied, match="SIGSEGV"):
        child.call(call_amid_guards, text, flush, level)


def test_a_write_away_from_the_guard_page_is_found_after_the_call() -> None:
    with pytest.raises(IRKitError, match="writes outside of 'C'"):
        call_amid_guards(copy(write=" + 1"), "start", 0)


def test_a_copy_of_bytes_beside_another_array_is_found() -> None:
    beyond = copy(read=" + 1", write=" + 1")
    with pytest.raises(IRKitError, match="writes outside of 'C'"):
        call_amid_guards(beyond, "start", 0)


def test_scalars_symbolic_shapes_strides_and_empty_arrays_are_passed() -> None:
    func = parse("""
def scale(A: buffer(f32[n], strides=(s,)), C: f32[n], x: f16, y: i8, go: bool):
    for i in serial(0, n):
        if go:
            C[i] = A[i] * cast(x, "f32") + cast(y, "f32")
""")
    image = compile_object(emit([func], target_of(0)), target_of(0))
    kernel = GuardedKernel(func, image)
    given = np.arange(10, dtype=np.float32)[::2]
    for flush in ("end", "start"):
        found = kernel(GuardedMemory(), [given, np.zeros(5, np.float32), 0.5, -3, True], flush)
        assert list(found[1]) == [-3.0, -2.0, -1.0, 0.0, 1.0]
        nothing = np.zeros(0, np.float32)
        assert kernel(GuardedMemory(), [nothing, nothing, 0.5, -3, True], flush)[1].size == 0


def test_a_failed_assertion_is_reported_with_its_message() -> None:
    func = parse('def f(n: i64):\n    assert n > 3, "n is too small"\n')
    image = compile_object(emit([func], target_of(0)), target_of(0))
    with pytest.raises(IRKitError, match="assertion 1 fails: n is too small"):
        GuardedKernel(func, image)(GuardedMemory(), [2], "end")
