"""Equal expressions have one number; what was loaded before a store has another than after it."""

from irkit.ir import F32, Buffer, call, index
from irkit.ir.analysis import ValueNumbering

A = Buffer("A", (index(8),), F32)


def test_what_contains_a_load_is_numbered_anew_once_loads_are_forgotten() -> None:
    version = [0]
    numbers = ValueNumbering(lambda load: version[0])
    load = A[index(1) + 2]
    inside = load + load * 2.0
    before = [numbers.of(each) for each in (inside, load, load.indices[0])]
    assert [numbers.of(each) for each in (inside, load, load.indices[0])] == before
    version[0] += 1
    numbers.forget()
    after = [numbers.of(each) for each in (inside, load, load.indices[0])]
    assert after[2] == before[2]  # The index is what it was.
    assert after[0] != before[0]
    assert after[1] != before[1]


def test_loads_of_two_buffers_and_calls_of_two_functions_differ() -> None:
    numbers = ValueNumbering()
    other = Buffer("A", (index(8),), F32)
    x = A[index(0)]
    found = [numbers.of(each) for each in (x, other[index(0)], x + 1.0, x - 1.0, call("sqrt", x))]
    assert len(set(found)) == len(found)
    assert numbers.of(A[index(0)] + 1.0) == found[2]
