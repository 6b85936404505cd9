"""Constants that a pass packs are compared with their source: errors of packing are seen."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from irkit.core import IRModule, rewrite
from irkit.debug import CheckOptions, verdicts
from irkit.debug.check.graphs.packed_constants import CHECKED, packed_problems
from irkit.graph import (
    ArrayData,
    Builder,
    Constant,
    GraphFunc,
    Op,
    bindings_of,
    constants_of,
    parse_module,
)
from irkit.passes.graph import block_channels, pack_panels, pack_weights, use_winograd
from irkit.passes.graph.support.blocked import convolutions
from irkit.phases import GRAPH

Pass = Callable[[GraphFunc], GraphFunc]
RNG = np.random.default_rng(3)


def drawn(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


def conv(channels: int, filters: int, groups: int = 1, kernel: int = 1) -> GraphFunc:
    """Return a convolution with a bias whose operand is not a plain image."""
    b = Builder("main")
    x = b.param("x", (1, channels, 28, 28))
    w = b.constant(drawn(filters, channels // groups, kernel, kernel))
    pads = (kernel // 2,) * 4
    made = b.op("conv", x, w, b.constant(drawn(filters)), groups=groups, pads=pads)
    second = b.constant(drawn(64, filters, 3, 3))
    return b.finish(b.op("conv", b.op("relu", made), second, pads=(1, 1, 1, 1)))


def product(turned: bool = False) -> GraphFunc:
    b = Builder("main")
    w = b.constant(drawn(300, 70) if turned else drawn(70, 300))
    right = b.op("transpose", w, axes=(1, 0)) if turned else w
    return b.finish(b.op("matmul", b.param("x", (4, 70)), right))


FOUR_BITS = """
def main(x: f32[1, 4]):
    w: i8[4, 2] = constant([1, -8, 3, 7, -1, 0, 2, 5])
    s: f32[2] = constant([0.5, 0.25])
    a: f32[4, 2] = cast(w, dtype="f32")
    b: f32[4, 2] = multiply(a, s)
    y: f32[1, 2] = matmul(x, b)
    return y
"""


def four_bits() -> GraphFunc:
    found = parse_module(FOUR_BITS).functions["main"]
    assert isinstance(found, GraphFunc)
    return found


def in_blocks(func: GraphFunc) -> GraphFunc:
    return block_channels.using(lanes=16)(func)


def tiles(func: GraphFunc) -> GraphFunc:
    return use_winograd.using(percent=100_000, fewest=1)(func)


CASES: dict[str, tuple[str, GraphFunc, Pass]] = {
    "dense": ("conv_blocked", conv(32, 40), in_blocks),
    "plain image": ("conv_blocked", conv(3, 40, kernel=3), in_blocks),
    "odd channels": ("conv_gathered", conv(21, 40), in_blocks),
    "groups": ("conv_gathered", conv(136, 136, 4), in_blocks),
    "small groups": ("conv_gathered", conv(36, 45, 9, 3), in_blocks),
    "each channel": ("depthwise_blocked", conv(40, 40, 40, 3), in_blocks),
    "tiles": ("conv_winograd", in_blocks(conv(3, 40, kernel=3)), tiles),
    "panels": ("matmul_panels", product(), pack_panels.using(vector_bytes=64)),
    "turned panels": ("matmul_panels", product(True), pack_panels.using(vector_bytes=64)),
    "four bits": ("matmul_4bit", four_bits(), pack_weights),
}


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Convolutions are blocked although conversions cost more, as they do in small graphs."""
    monkeypatch.setattr("irkit.passes.graph.support.blocked.regions._MOVED", 0.0)
    monkeypatch.setattr("irkit.passes.graph.support.blocked.regions._BLOCKED", 1e9)


def test_each_layout_has_a_case() -> None:
    assert {name for name, _, _ in CASES.values()} == CHECKED


@pytest.fixture(params=CASES, name="case")
def _case(request: pytest.FixtureRequest) -> tuple[str, GraphFunc, GraphFunc]:
    name, before, change = CASES[request.param]
    return name, before, change(before)


def test_what_passes_pack_is_their_source(case: tuple[str, GraphFunc, GraphFunc]) -> None:
    name, before, after = case
    assert packed_problems(before, after) == []
    assert any(isinstance(b.step, Op) and b.step.name == name for b in after.body.bindings)


def test_an_error_in_any_packed_constant_is_seen(case: tuple[str, GraphFunc, GraphFunc]) -> None:
    name, before, after = case
    packed = next(
        bind.step
        for bind in bindings_of(after).values()
        if isinstance(bind.step, Op) and bind.step.name == name
    )
    constants = constants_of(after)
    for value in packed.args[1:]:
        array = constants[value].array
        wrongs = [_raised(array, 0), _raised(array, array.size // 2)]
        # In which order channels stand, only results tell.
        wrongs += [] if array.dtype == np.int32 else [np.roll(array, 1)]
        for wrong in wrongs:
            data = ArrayData(np.ascontiguousarray(wrong))
            changed = rewrite(
                after,
                lambda each, of=constants[value], new=data: (
                    Constant(new) if each.data is of else None
                ),
                on=Constant,
            )
            assert packed_problems(before, changed), (value.name, name)


def _raised(array: Any, at: int) -> Any:
    made = array.copy()
    made.reshape(-1)[at] += 1
    return made


def test_check_names_the_pass_that_packs_wrongly(monkeypatch: pytest.MonkeyPatch) -> None:
    def rolled(*args: Any) -> Any:
        return np.roll(right(*args), 1, axis=-1)

    right = convolutions.packed_groups
    monkeypatch.setattr(convolutions, "packed_groups", rolled)
    pipeline = GRAPH.stop_after(0).replace("block-channels", block_channels.using(lanes=16))
    module = IRModule({"main": conv(136, 136, 4)})
    found = [each for each in verdicts(pipeline.steps(module), CheckOptions()) if not each.ok]
    assert [each.name for each in found] == ["block-channels"]
    assert "packed constants are not their source" in found[0].message
    assert "filters at" in found[0].message
