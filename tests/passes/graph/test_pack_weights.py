"""Weights of 4 bits stay packed, or are left alone if they do not fit."""

from typing import Any

import pytest

from irkit.core import Recorder, recording
from irkit.fuzz import check_pass
from irkit.graph import bindings_of, parse
from irkit.passes.graph import pack_weights
from irkit.phases import GRAPH
from tests.draws import few_or_all
from tests.shared.aimed_graphs import packed_products

PROGRAM = """\
def main(x: f32[3, 4]):
    w: i8[4, 2] = constant([1, -8, 3, 7, -1, 0, 2, 5])
    s: f32[4, 2] = constant([0.5, 0.25, 0.5, 0.25, 2.0, 0.5, 2.0, 0.5])
    a = cast(w, dtype="f32")
    b = multiply(a, s)
    y = matmul(x, b)
    return y
"""


def test_the_largest_block_of_equal_scales_is_found() -> None:
    after = pack_weights(parse(PROGRAM))
    (product,) = [b.step for b in bindings_of(after).values() if b.var.name == "y"]
    assert dict(product.attrs) == {"block": 2}


def test_weights_are_not_computed_in_floats_before() -> None:
    lowered = GRAPH.stop_after(0).run(parse(PROGRAM))
    assert sorted(str(bind.var.type.dtype) for bind in bindings_of(lowered).values()) == [
        "f32",
        "f32",
        "u8",
    ]


@pytest.mark.parametrize("numbers", ["constant([1, -9", "constant([8, -8", "constant([1, -128"])
def test_numbers_of_more_bits_take_a_byte_each(numbers: str) -> None:
    after = pack_weights(parse(PROGRAM.replace("constant([1, -8", numbers)))
    (product,) = [b.step for b in bindings_of(after).values() if b.var.name == "y"]
    assert product.name == "matmul_8bit"
    assert dict(product.attrs) == {"block": 2}


LEFT = [
    ("x: f32[3, 4]):", "x: f32[3, 4], s: f32[4, 2]):\n    t: f32[1] = constant([2.0])"),
    ("[0.5, 0.25, 0.5, 0.25", "[0.5, 0.25, 0.75, 0.25"),
]


@pytest.mark.parametrize(("old", "new"), LEFT)
def test_other_weights_stay(old: str, new: str) -> None:
    text = PROGRAM.replace(old, new)
    if "s: f32[4, 2]):" in text:
        text = "\n".join(line for line in text.split("\n") if not line.startswith("    s:"))
    func = parse(text)
    with recording(Recorder()) as recorder:
        assert pack_weights(func) is func
    said = ["y: each row of the weights has scales of its own"]
    assert [each.text for each in recorder.remarks] == (said if "0.75" in new else [])


@check_pass(pack_weights, strategy=packed_products, examples=few_or_all(12, 40))
def test_drawn_graphs_keep_their_results(case: Any) -> None: ...
