"""Who wrote one element: the statement, the iteration, and the value."""

import numpy as np

from irkit.ir import element_writes, interpret, parse
from irkit.phases import DEFAULT
from tests.inspector_web.pages import MATMUL

SUM = MATMUL.replace("64", "3")
THROUGH_A_VIEW = """\
def f(A: f32[16]):
    V = view(A, f32[8], offset=8)
    for i in serial(0, 8):
        V[i] = f32(1.0)
        if i < 4:
            A[i * 2 + 9] = f32(2.0)
"""
VECTOR = """\
def f(A: f32[16]):
    for i in parallel(0, 2):
        A[ramp(i * 8, 1, 8)] = broadcast(f32(3.0), 8)
    for i in serial(0, 16):
        store(A, (ramp(i, 1, 2),), broadcast(cast(i, f32), 2), mask=ramp(i, 1, 2) < broadcast(5, 2))
"""


def test_the_last_write_of_every_element_left_its_value_at_every_stage() -> None:
    for step in DEFAULT.steps(parse(SUM)):
        if not step.changed:
            continue
        rng = np.random.default_rng(0)
        given = [rng.random((3, 3), dtype=np.float32) for _ in range(3)]
        result = [each.copy() for each in given]
        interpret(step.after, *result)
        for at in ((0, 0), (1, 2), (2, 2)):
            found = element_writes(step.after, [each.copy() for each in given], 2, at)
            assert found.error == ""
            assert found.last is not None
            assert found.last.value == result[2][at]
            assert found.last.stmt.buffer.name.startswith("C")
            assert dict(found.last.iteration)["k"] == 2
            assert element_writes(step.after, [each.copy() for each in given], 0, at).count == 0


def test_writes_through_a_view_are_writes_of_the_element() -> None:
    found = element_writes(parse(THROUGH_A_VIEW), [np.zeros(16, np.float32)], 0, (11,))
    assert found.count == 2
    assert found.last is not None
    assert found.last.value == 1.0
    assert found.last.iteration == (("i", 3),)


def test_each_lane_of_a_vector_is_a_write_unless_it_is_masked_out() -> None:
    found = element_writes(parse(VECTOR), [np.zeros(16, np.float32)], 0, (4,))
    assert found.count == 3
    assert found.last is not None
    assert (found.last.value, found.last.iteration) == (4.0, (("i", 4),))
    last = element_writes(parse(VECTOR), [np.zeros(16, np.float32)], 0, (5,))
    assert last.count == 1


def test_an_array_with_strides_of_its_own_is_followed_in_its_memory() -> None:
    array = np.zeros((8, 2), np.float32).T[:1]
    func = parse("def f(A: buffer(f32[1, 8], strides=(1, 2))):\n    A[0, 3] = f32(1.0)\n")
    assert element_writes(func, [array], 0, (0, 3)).count == 1
    assert element_writes(func, [array], 0, (0, 4)).count == 0


def test_a_run_that_does_not_end_in_time_says_so() -> None:
    found = element_writes(parse(SUM), [*np.zeros((3, 3, 3), np.float32)], 2, (2, 2), max_steps=50)
    assert "50 steps" in found.error
