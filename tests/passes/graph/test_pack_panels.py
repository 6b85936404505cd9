"""Constant matrices of products are laid out in panels for a machine, and everything else stays."""

from typing import Any

import numpy as np
import pytest

from irkit.autoschedule import Machine
from irkit.core import Recorder, recording
from irkit.fuzz import check_pass
from irkit.graph import Constant, bindings_of, out_of_panels, parse
from irkit.passes.graph import pack_panels
from irkit.phases import GRAPH, for_machine
from tests.draws import few_or_all
from tests.shared.aimed_graphs import constant_products, packed_products

PROGRAM = """\
def main(x: f32[6, 2]):
    w: f32[2, 40] = constant([{}])
    y: f32[6, 40] = matmul(x, w)
    return y
""".format(", ".join(f"{n}.0" for n in range(80)))


TURNED = """\
def main(x: f32[6, 2]):
    w: f32[40, 2] = constant([{}])
    t: f32[2, 40] = transpose(w, axes=(1, 0))
    y: f32[6, 40] = matmul(x, t)
    return y
""".format(", ".join(f"{n}.0" for n in range(80)))
ARGUMENT = """\
def main(x: f32[6, 2], w: f32[2, 40]):
    y: f32[6, 40] = matmul(x, w)
    return y
"""
INTEGERS = """\
def main(x: i32[6, 2]):
    w: i32[2, 2] = constant([1, 2, 3, 4])
    y: i32[6, 2] = matmul(x, w)
    return y
"""


def test_panels_hold_the_matrix_and_zeros() -> None:
    after = pack_panels(parse(PROGRAM), vector_bytes=16)
    (panels,) = [
        each.step.data.array
        for each in bindings_of(after).values()
        if isinstance(each.step, Constant) and each.var.name == "y_panels"
    ]
    assert panels.shape[2] % 4 == 0
    np.testing.assert_array_equal(out_of_panels(panels, 40), np.arange(80).reshape(2, 40))
    rest = panels.transpose(1, 0, 2).reshape(2, -1)[:, 40:]
    assert not np.any(rest)


def test_a_transposed_matrix_is_packed_as_it_lies() -> None:
    after = pack_panels(parse(TURNED), vector_bytes=64)
    (panels,) = [
        each.step.data.array
        for each in bindings_of(after).values()
        if isinstance(each.step, Constant) and each.var.name == "y_panels"
    ]
    np.testing.assert_array_equal(out_of_panels(panels, 40), np.arange(80).reshape(40, 2).T)


def test_what_was_chosen_is_a_remark_and_keeps_its_place() -> None:
    func = parse(PROGRAM)
    with recording(Recorder()) as recorder:
        after = pack_panels(func, vector_bytes=64)
    assert [each.text for each in recorder.remarks] == [
        "y: 1 panels of 48 columns for 6 rows, 1.20 times the weights"
    ]
    spans = {bind.var.name: bind.span for bind in bindings_of(after).values()}
    before = {bind.var.name: bind.span for bind in bindings_of(func).values()}
    assert spans["y_panels"] == spans["y"] == before["y"]


@pytest.mark.parametrize("vector_bytes", [0, 64])
def test_products_of_other_things_stay(vector_bytes: int) -> None:
    for text in (ARGUMENT, INTEGERS):
        func = parse(text)
        assert pack_panels(func, vector_bytes=vector_bytes) is func


def test_without_a_machine_matrices_stay() -> None:
    func = parse(PROGRAM)
    assert pack_panels(func, vector_bytes=0) is func
    plain, packing = GRAPH.stop_after(0), for_machine(GRAPH, Machine()).stop_after(0)
    assert _operators(plain.run(parse(PROGRAM))) == ["matmul"]
    assert _operators(packing.run(parse(PROGRAM))) == ["matmul_panels"]
    unscheduled = for_machine(GRAPH, Machine(), "none").stop_after(0)
    assert _operators(unscheduled.run(parse(PROGRAM))) == ["matmul"]
    tuned = for_machine(GRAPH, Machine(), kernels="none").stop_after(0)
    assert _operators(tuned.run(parse(PROGRAM))) == ["matmul_panels"]


def _operators(func: Any) -> list[str]:
    return [bind.step.name for bind in bindings_of(func).values() if hasattr(bind.step, "name")]


@pytest.mark.parametrize(
    ("kind", "rows", "features", "packed"),
    [
        ("f16", 64, "avx512bf16", True),
        ("bf16", 64, "", True),
        ("bf16", 4, "avx512bf16", True),
        ("bf16", 64, "avx512bf16", False),
        ("bf16", 64, "amx-bf16", False),
    ],
)
def test_16_bit_floats_lie_in_panels_unless_instructions_read_another_layout(
    kind: str, rows: int, features: str, packed: bool
) -> None:
    text = PROGRAM.replace("f32", kind).replace("[6, ", f"[{rows}, ")
    machine = (("features", features),) if features else ()
    after = pack_panels(parse(text), vector_bytes=64, machine=machine)
    assert ("matmul_panels" in _operators(after)) == packed


QUANTIZED = """\
def main(x: f32[{rows}, 8]):
    w: i8[8, 40] = constant([{numbers}])
    s: f32[2, 40] = constant([{scales}])
    y: f32[{rows}, 40] = matmul_8bit(x, w, s, block={block})
    return y
""".format(
    rows="{rows}",
    block="{block}",
    numbers=", ".join(str(n % 251 - 125) for n in range(320)),
    scales=", ".join(f"{n}.0" for n in range(80)),
)


def test_weights_stay_packed_in_panels_beside_their_scales() -> None:
    func = parse(QUANTIZED.format(rows=1, block=4))
    with recording(Recorder()) as recorder:
        after = pack_panels(func, vector_bytes=16)
    made = {
        each.var.name: each.step.data.array
        for each in bindings_of(after).values()
        if isinstance(each.step, Constant)
    }
    numbers, scales = made["y_panels"], made["y_scales"]
    assert numbers.dtype == np.int8
    expected = (np.arange(320) % 251 - 125).reshape(8, 40)
    np.testing.assert_array_equal(out_of_panels(numbers, 40), expected)
    np.testing.assert_array_equal(out_of_panels(scales, 40), np.arange(80).reshape(2, 40))
    assert numbers.shape[::2] == scales.shape[::2]
    assert [each.text for each in recorder.remarks] == [
        f"y: {len(numbers)} panels of {numbers.shape[2]} columns of 8 bits for 1 rows, scaled by "
        "blocks of 4"
    ]


def test_blocks_that_do_not_divide_the_rows_stay() -> None:
    text = QUANTIZED.format(rows=1, block=7)
    with recording(Recorder()) as recorder:
        func = parse(text)
        assert pack_panels(func, vector_bytes=16) is func
    assert [each.text for each in recorder.remarks] == [
        "y: no panels: 8 rows are no whole blocks of 7 in whole bytes"
    ]


@check_pass(
    pack_panels.using(vector_bytes=64), strategy=packed_products, examples=few_or_all(8, 60)
)
def test_drawn_packed_weights_keep_their_results(case: Any) -> None: ...


@check_pass(
    pack_panels.using(vector_bytes=64), strategy=constant_products, examples=few_or_all(8, 60)
)
def test_drawn_graphs_keep_their_results(case: Any) -> None: ...
