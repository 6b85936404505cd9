"""Steps without effect go, and nested lets become flat."""

import time

import pytest

from irkit.core import Recorder, recording
from irkit.graph import parse
from irkit.passes.graph import eliminate_dead_nodes, simplify_graph

SIMPLE = [
    "y = relu(x)",
    "y = reshape(x, shape=(3, 2))",
    "y = transpose(x, axes=(1, 0))",
    "y = slice(x, begins=(-1,), ends=(-100,), strides=(-1,))",
    "y = pad(x, pads=(1, 0, -1, 0))",
    "y = cast(x, dtype='f64')",
]


@pytest.mark.parametrize("line", SIMPLE)
def test_steps_that_change_something_stay(line: str) -> None:
    func = parse(f"def main(x: f32[2, 3]):\n    {line}\n    return y\n")
    assert simplify_graph(func) is func


def test_a_transposition_of_a_square_stays() -> None:
    func = parse("def main(x: f32[2, 2]):\n    y = transpose(x)\n    return y\n")
    assert simplify_graph(func) is func


def test_nested_lets_become_flat_and_keep_the_outer_names() -> None:
    func = parse("""\
def main(x: f32[2]):
    with let():
        a = exp(x)
        with let():
            b = relu(a)
            c: f32[2] = b
        d: f32[2] = c
    e = tanh(d)
    with let():
        r: f32[2] = e
    return r
""")
    after = simplify_graph(func)
    assert (
        after.script()
        == """\
def main(x: f32[2]):
    a: f32[2] = exp(x)
    d: f32[2] = relu(a)
    e: f32[2] = tanh(d)
    return e
"""
    )


LET = """\
def main(x: f32[2]):
    with let():
        a = relu(x)
        r: f32[2] = a
    return r
"""


def test_a_let_that_is_switched_off_stays() -> None:
    func = parse(LET)
    with recording(Recorder(frozenset({0}))) as recorder:
        assert simplify_graph(func) is func
    assert recorder.count == 1


def test_an_item_of_an_item_of_a_tuple_is_known_at_once() -> None:
    func = parse("""\
def main(x: f32[2], y: f32[2]):
    t: (f32[2], f32[2]) = (x, y)
    u: (f32[2], (f32[2], f32[2])) = (y, t)
    v: (f32[2], f32[2]) = u[1]
    w: f32[2] = v[0]
    z = relu(w)
    return z
""")
    after = eliminate_dead_nodes(simplify_graph(func))
    assert (
        after.script() == "def main(x: f32[2], y: f32[2]):\n    z: f32[2] = relu(x)\n    return z\n"
    )


def test_items_of_items_are_found_at_once_however_deep() -> None:
    depth = 300
    made = [f"    t{at} = ({f't{at - 1}' if at else 'x'},)" for at in range(depth)]
    taken = [f"    i{at} = {f'i{at - 1}' if at else f't{depth - 1}'}[0]" for at in range(depth)]
    last = [f"    y = relu(i{depth - 1})", "    return y"]
    func = parse("\n".join(["def main(x: f32[4]):", *made, *taken, *last]) + "\n")
    started = time.process_time()
    after = simplify_graph(func)
    assert time.process_time() - started < 3.0  # Item by item it is 15 seconds.
    assert "y: f32[4] = relu(x)" in eliminate_dead_nodes(after).script()
