"""Convolutions by tiles compute the same, and are chosen by a table of costs."""

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from irkit.autoschedule import Machine
from irkit.core import IRKitError, Recorder, Target, recording
from irkit.fuzz import check_pass
from irkit.graph import Builder, GraphFunc, Op, attributes, bindings_of
from irkit.ir import Var
from irkit.passes.graph import use_winograd
from irkit.passes.graph.support.convolution_cycles import (
    ConvolutionSize,
    direct_cycles,
    winograd_plan,
)
from irkit.phases import GRAPH, for_machine, machine_of
from irkit.tune import MEASURED, MachineTable, fingerprint, write_table
from irkit.tune.machine_table import FORMAT
from tests.draws import few_or_all
from tests.passes.graph.conv_graphs import tiled_graph

HERE = Machine(l1=48 << 10, l2=2 << 20, l3=256 << 20)


def convolution(
    channels: int = 64, filters: int = 64, size: int = 28, dtype: str = "f32", **attrs: Any
) -> GraphFunc:
    """Return a function of one convolution in blocks of 16, with a bias."""
    rng, b = np.random.default_rng(0), Builder("main")
    kernel = attrs.pop("kernel", (3, 3))
    blocks, outputs = -(-channels // 16), -(-filters // 16)
    x = b.param("x", (attrs.pop("images", 1), blocks, size, size, 16), dtype)
    w = rng.standard_normal((outputs, blocks, *kernel, 16, 16))
    w[:, -1, ..., channels - 16 * (blocks - 1) :, :] = 0.0
    kind = np.float32 if dtype == "f32" else np.float64
    packed, bias = b.constant(w.astype(kind)), b.constant(np.ones((outputs, 16), kind))
    return b.finish(b.op("conv_blocked", x, packed, bias, **attrs))


def steps(func: GraphFunc) -> list[Op]:
    return [bind.step for bind in bindings_of(func).values() if isinstance(bind.step, Op)]


def choice(func: GraphFunc, **options: Any) -> tuple[Op, str]:
    """Return what a convolution becomes, and the remark about it."""
    with recording(Recorder()) as recorder:
        after = use_winograd(func, machine=HERE.settings, **options)
    (step,) = steps(after)
    return step, "; ".join(each.text for each in recorder.remarks)


def test_tiles_replace_a_convolution_that_they_compute_faster() -> None:
    step, said = choice(convolution(pads=(1, 1, 1, 1)))
    assert step.name == "conv_winograd"
    assert attributes(step).int("tile") == 2
    assert attributes(step).ints("pads") == (1, 1, 1, 1)
    assert len(step.args) == 3
    assert "Winograd F2: 0." in said
    assert said.endswith("of direct by the table, weights 1.8 times")


@pytest.mark.parametrize(("channels", "filters", "size"), [(64, 16, 7), (512, 16, 7), (16, 16, 14)])
def test_few_filters_do_not_pay_for_transforms(channels: int, filters: int, size: int) -> None:
    step, said = choice(convolution(channels, filters, size, pads=(1, 1, 1, 1)))
    assert step.name == "conv_blocked"
    assert said.endswith("left as it is")


LEFT: list[dict[str, Any]] = [
    {"strides": (2, 1)},
    {"dilations": (1, 2)},
    {"kernel": (1, 3)},
    {"dtype": "f64"},
    {"size": Var("m")},
    {"channels": 7},
]


@pytest.mark.parametrize("attrs", LEFT, ids=str)
def test_other_convolutions_stay(attrs: dict[str, Any]) -> None:
    func = convolution(**attrs)
    assert use_winograd(func, percent=10_000) is func


def test_what_was_measured_of_memory_changes_the_choice_and_the_remark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """512 channels on 7 x 7 wait for their weights, which Winograd has more of."""
    monkeypatch.setenv("IRKIT_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("IRKIT_CACHE", raising=False)
    tmp_path.chmod(0o700)
    func = convolution(512, 512, 7, pads=(1, 1, 1, 1))
    common = {name: getattr(Machine(), name) for name in MEASURED}
    found: list[tuple[str, str]] = []
    for streamed in (3.0, 16.0):
        write_table(MachineTable(FORMAT, fingerprint(), **{**common, "streamed": streamed}))
        here = msgspec.structs.replace(machine_of("host", Target()), vector_bytes=64)
        (chosen,) = [p for _, p in for_machine(GRAPH, here).placed if p.name == "use-winograd"]
        with recording(Recorder()) as recorder:
            (step,) = steps(chosen(func))
        found.append((step.name, "; ".join(each.text for each in recorder.remarks)))
    (near, near_text), (far, far_text) = found
    assert (near, far) == ("conv_winograd", "conv_blocked")
    assert near_text.endswith("of direct by the table, weights 1.8 times")
    assert far_text.endswith("left as it is")
    assert near_text.split(":")[2] < far_text.split(":")[2]


@pytest.mark.parametrize("vector_bytes", [16, 32])
@pytest.mark.parametrize(("channels", "size"), [(64, 56), (128, 28), (256, 14)])
def test_narrow_vectors_take_their_part_of_the_cycles(
    vector_bytes: int, channels: int, size: int
) -> None:
    """By counts: as many times the cycles of arithmetic as a vector has fewer lanes. Measured on
    vectors of 16, 32 and 64 bytes, Winograd took 0.44 to 0.53 of the direct form."""
    times = 64 // vector_bytes
    wide, machine = Machine(), Machine(vector_bytes=vector_bytes)
    lanes = vector_bytes // 4
    whole = ConvolutionSize(1, size, size, channels // 16, 16, channels // 16, 16)
    parts = ConvolutionSize(1, size, size, channels // lanes, lanes, channels // lanes, lanes)
    memory = parts.weights(9) / 64 * machine.streamed
    grown = direct_cycles(parts, machine) / direct_cycles(whole, wide)
    assert times * 0.7 <= grown <= times * 1.05, memory
    ratio = winograd_plan(parts, 2, machine).cycles / direct_cycles(parts, machine)
    assert 0.4 < ratio < 0.75
    measured = Machine(vector_bytes=vector_bytes, near=1 / 32, multiplied=1.5, loaded=1.0)
    nearer = winograd_plan(parts, 2, measured).cycles / direct_cycles(parts, measured)
    assert 0.4 < nearer < 0.6


def test_any_number_of_images_will_do() -> None:
    step, _ = choice(convolution(images=Var("n")))
    assert step.name == "conv_winograd"


def test_tiles_of_4x4_need_a_tolerance() -> None:
    func = convolution(64, 64, 56, pads=(1, 1, 1, 1))
    tiles = [
        attributes(choice(func, tolerance=tolerance)[0]).int("tile")
        for tolerance in (0.0, 1e-5, 1e-4)
    ]
    assert tiles == [2, 2, 4]
    (step,) = [
        step for step in steps(_lowered(func, tolerance=1e-4)) if step.name == "conv_winograd"
    ]
    assert attributes(step).int("tile") == 4


def _lowered(func: GraphFunc, **options: Any) -> Any:
    return for_machine(GRAPH, HERE, **options).stop_after(0).run(func)


@pytest.mark.parametrize("tolerance", [-1e-5, float("nan"), float("inf")])
def test_a_tolerance_is_a_number_of_at_least_0(tolerance: float) -> None:
    with pytest.raises(IRKitError, match=r"tolerance is .*; expected a number of at least 0"):
        for_machine(GRAPH, HERE, tolerance=tolerance)


def test_what_no_result_needs_is_left_alone() -> None:
    b = Builder("main")
    x = b.param("x", (1, 4, 28, 28, 16))
    b.op("conv_blocked", x, b.constant(np.ones((4, 4, 3, 3, 16, 16), np.float32)))
    func = b.finish(x)
    assert use_winograd(func) is func


def test_transformed_filters_come_from_the_convolution() -> None:
    func = convolution()
    (before,) = [bind for bind in bindings_of(func).values() if isinstance(bind.step, Op)]
    after = bindings_of(use_winograd(func))
    made = [bind for var, bind in after.items() if var.name.endswith("_filters")]
    assert [bind.span for bind in made] == [before.span]


SIZE = ConvolutionSize(1, 56, 56, 4, 16, 4, 16)


def test_cold_weights_decide_late_layers() -> None:
    """512 channels at 7 x 7 wait for memory; with weights in the cache, tiles would win."""
    late = ConvolutionSize(1, 7, 7, 32, 16, 32, 16)
    warm = msgspec.structs.replace(HERE, streamed=0.01)
    cold, here = (
        winograd_plan(late, 2, machine).cycles / direct_cycles(late, machine)
        for machine in (HERE, warm)
    )
    assert here < 0.7
    assert cold > 0.95
    assert winograd_plan(late, 4, HERE).cycles > direct_cycles(late, HERE)


def test_a_plan_divides_the_filters_and_leaves_work_for_threads() -> None:
    for filters in (1, 2, 3, 4, 5, 6, 7, 8, 12, 32):
        size = msgspec.structs.replace(SIZE, filters=filters)
        plan = winograd_plan(size, 2, HERE)
        assert filters % (plan.panels * plan.vectors) == 0
        assert -(-28 // plan.rows) >= 4


@check_pass(
    use_winograd.using(percent=100_000, fewest=1), strategy=tiled_graph, examples=few_or_all(4, 60)
)
def test_drawn_convolutions_keep_their_results(case: Any) -> None: ...


@check_pass(
    use_winograd.using(percent=100_000, fewest=1, tolerance=1.0),
    strategy=tiled_graph,
    examples=few_or_all(2, 60),
)
def test_tiles_of_4x4_keep_results_within_their_tolerance(case: Any) -> None: ...
