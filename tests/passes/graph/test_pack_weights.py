"""Weights of 4 bits stay packed, or are left alone if they do not fit."""

from typing import Any

import numpy as np
import pytest

from irkit.core import Recorder, recording
from irkit.fuzz import check_pass
from irkit.fuzz.picks import Picks
from irkit.graph import Builder, GraphFunc, bindings_of, parse
from irkit.passes.graph import pack_weights
from irkit.phases import GRAPH

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


LEFT = [
    ("constant([1, -8", "constant([1, -9"),
    ("constant([1, -8", "constant([8, -8"),
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


def packed_products(picks: Picks) -> GraphFunc:
    rng, b = np.random.default_rng(picks.below(1 << 16)), Builder("main")
    rows, columns, turned = picks.pick((4, 3, 6)), picks.pick((4, 1)), bool(picks.below(2))
    x = b.param("x", (picks.pick((1, 3)), rows), picks.pick(("f32", "f16")))
    kind = picks.pick((np.int8, np.uint8))
    w = rng.integers(-8 if kind is np.int8 else 0, 8, (rows, columns)).astype(kind)
    scale = 2.0 ** rng.integers(-1, 2, picks.pick(((), (1, columns), (rows, columns))))
    wide = b.op("cast", b.constant(w.T if turned else w), dtype="i32")
    if picks.below(2):
        wide = b.op("subtract", wide, b.constant(np.array(picks.below(12), np.int32)))
    scales = scale.T if turned else scale
    product = b.op("multiply", b.op("cast", wide, dtype="f32"), b.constant(scales.astype("f")))
    product = b.op("cast", product, dtype=x.type.dtype)
    product = b.op("transpose", product, axes=(1, 0)) if turned else product
    return b.finish(b.op("matmul", x, product))


@check_pass(pack_weights, strategy=packed_products, examples=40)
def test_drawn_graphs_keep_their_results(case: Any) -> None: ...
