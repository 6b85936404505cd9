"""Products of dequantised tensors become integer products, or stay if they cannot."""

from typing import Any

import numpy as np
import pytest

from irkit.core import IRModule, Recorder, recording
from irkit.debug import check
from irkit.fuzz import check_pass
from irkit.graph import arrays_of, bindings_of, interpret, parse
from irkit.passes.graph import multiply_dequantized
from irkit.phases import GRAPH
from tests.draws import few_or_all
from tests.passes.graph.programs import ops
from tests.shared.aimed_graphs import quantized_graph

QDQ = """\
def main(x: u8[3, 40]):
    s: f32[1] = constant([0.1])
    z: i32[1] = constant([7])
    w: i8[40, 4] = constant(zeros)
    t: f32[4] = constant([0.1, 0.2, 0.3, 0.7])
    xi = cast(x, dtype="i32")
    xc = subtract(xi, z)
    xf = cast(xc, dtype="f32")
    xd = multiply(xf, s)
    wf = cast(w, dtype="f32")
    wd = multiply(wf, t)
    y = matmul(xd, wd)
    q = divide(y, s)
    r = round(q)
    b = cast(r, dtype="u8")
    return b
"""
WEIGHTS = str([(7 * at) % 255 - 127 for at in range(160)])


def program(old: str = "", new: str = "") -> Any:
    return parse(QDQ.replace("zeros", WEIGHTS).replace(old, new))


def test_the_sum_is_exact_and_a_result_moves_by_one_step_at_most() -> None:
    before = program()
    after = multiply_dequantized(before)
    assert "matmul_integer" in ops(after)
    x = np.random.default_rng(0).integers(0, 256, (3, 40)).astype(np.uint8)
    (old,), (new,) = (list(arrays_of(interpret(func, [x]))) for func in (before, after))
    assert np.abs(old.astype(int) - new.astype(int)).max() <= 1
    w = np.array(eval(WEIGHTS)).reshape(40, 4)
    total = (x.astype(np.int64) - 7) @ w
    scale = np.float32(0.1).astype(float) * np.array([0.1, 0.2, 0.3, 0.7], "f").astype(float)
    exact = np.rint(total.astype("f") * scale.astype("f") / np.float32(0.1))
    np.testing.assert_array_equal(new, np.clip(exact, 0, 255).astype(np.uint8))


def test_a_check_says_that_it_rounds_differently() -> None:
    found = check(GRAPH.steps(IRModule({"main": program()})))
    assert not any(each.is_wrong for each in found)
    verdicts = [each for each in found if each.name == "multiply-dequantized"]
    assert [each.status for each in verdicts] == ["rounds differently"]


LEFT = [
    ("xd = multiply(xf, s)", "xd = add(xf, s)", ""),
    ("[0.1, 0.2, 0.3, 0.7]", "[0.1, 0.2, 0.3, -0.7]", ""),
    ("z: i32[1] = constant([7])", "z: i32[1] = constant([700])", ""),
    ("x: u8[3, 40]", "x: u16[3, 40]", ""),
    ("s: f32[1] = constant([0.1])", "s: f32[3, 1] = constant([0.1, 0.2, 0.3])", "scales must be"),
]


@pytest.mark.parametrize(("old", "new", "said"), LEFT)
def test_a_product_stays_where_integers_would_not_do(old: str, new: str, said: str) -> None:
    func = program(old, new)
    with recording(Recorder()) as recorder:
        assert multiply_dequantized(func) is func
    assert any(said in each.text for each in recorder.remarks) == bool(said)


def test_a_pool_between_the_same_scales_runs_on_bytes() -> None:
    func = parse("""\
def main(x: i8[1, 1, 4, 4]):
    s: f32[1] = constant([0.3])
    z: f32[1] = constant([5.0])
    zi = cast(z, dtype="i32")
    i = cast(x, dtype="i32")
    c = subtract(i, zi)
    f = cast(c, dtype="f32")
    d = multiply(f, s)
    p = max_pool(d, kernel=(2, 2))
    q = divide(p, s)
    r = round(q)
    t = add(r, z)
    y = cast(t, dtype="i8")
    return y
""")
    after = GRAPH.stop_after(0).run(func)
    assert [bind.step.name for bind in bindings_of(after).values()] == ["max_pool"]
    x = np.arange(-128, 128, dtype=np.int8).reshape(16, 1, 4, 4)
    for image in x:
        np.testing.assert_array_equal(
            np.asarray(interpret(after, [image[None]])), np.asarray(interpret(func, [image[None]]))
        )


@check_pass(multiply_dequantized, strategy=quantized_graph, examples=few_or_all(12, 40))
def test_drawn_graphs_keep_their_results(case: Any) -> None: ...
