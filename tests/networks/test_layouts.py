"""Networks with all layouts on: the same bits on any number of threads, and passes under check.

The layouts are those that a machine chooses. Each pass of the graph is compared with the step
before it, and what rounds differently is held to the bound of its rounding.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import irkit
from irkit.autoschedule import Machine
from irkit.core import IRModule, walk
from irkit.debug import CheckOptions, verdicts
from irkit.frontend.onnx import import_onnx
from irkit.fuzz.generators.reference.onnx_reference import with_random_weights
from irkit.graph import Builder, GraphFunc
from irkit.ir import For
from irkit.phases import GRAPH, for_machine
from irkit.runtime import Model, num_threads, set_num_threads
from tests.frontend.onnx.test_networks import NETWORKS, input_of, light
from tests.networks.test_blocks import TEXTS, block

LAYOUTS = ("pack-panels", "block-channels", "use-winograd", "pack-weights")
RIGHT = ("same", "rounds differently")
OFTEN = ("resnet.dynamo", "bert.dynamo", "unet.torchscript")
COUNTS = (1, 2, 4)
RUNS = 2


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    before = num_threads()
    yield
    set_num_threads(before)


def different_results(model: Model, feeds: dict[str, NDArray[Any]]) -> int:
    """Return how many different results some runs on each number of threads give."""
    found: set[tuple[bytes, ...]] = set()
    for count in COUNTS:
        set_num_threads(count)
        for _ in range(RUNS):
            found.add(tuple(each.tobytes() for each in model.run(feeds).values()))
    return len(found)


def image_network() -> GraphFunc:
    """Return convolutions of 3 x 3 and 1 x 1, a residual, a pool and a fully connected layer."""
    rng, b = np.random.default_rng(0), Builder("main")

    def weights(*shape: int) -> Any:
        return b.constant((rng.standard_normal(shape) * 0.1).astype(np.float32))

    x = b.param("x", (1, 32, 28, 28))
    first = b.op("relu", b.op("conv", x, weights(64, 32, 3, 3), pads=(1, 1, 1, 1)))
    second = b.op("relu", b.op("conv", first, weights(64, 64, 1, 1)))
    third = b.op("conv", second, weights(64, 64, 3, 3), pads=(1, 1, 1, 1))
    pooled = b.op("max_pool", b.op("add", third, first), kernel=(2, 2), strides=(2, 2))
    flat = b.op("reshape", pooled, shape=(1, 64 * 14 * 14))
    return b.finish(b.op("softmax", b.op("matmul", flat, weights(64 * 14 * 14, 40)), axis=1))


def token_network() -> GraphFunc:
    """Return a product, a softmax, and one with packed weights, of some tokens."""
    rng, b = np.random.default_rng(0), Builder("main")
    x = b.param("x", (48, 256))
    w = b.constant((rng.standard_normal((256, 512)) * 0.1).astype(np.float32))
    inner = b.op("softmax", b.op("matmul", x, w), axis=1)
    packed = b.constant(rng.integers(0, 256, (256, 768)).astype(np.uint8))
    scales = b.constant(rng.random((16, 768)).astype(np.float32))
    return b.finish(b.op("matmul_4bit", inner, packed, scales, block=32))


@pytest.mark.parametrize(
    ("make", "layouts"),
    [
        (image_network, {"conv_winograd", "conv_blocked", "matmul_panels"}),
        (token_network, {"matmul_panels", "matmul_quantized_panels"}),
    ],
)
def test_small_networks(make: Any, layouts: set[str]) -> None:
    model = irkit.compile(IRModule({"main": make()}), machine=Machine())
    kernels = {name for call in model.plan.calls for name in layouts if name in call.kernel}
    assert kernels == layouts
    parallel = [func for func in model.functions if any(_is_parallel(func))]
    assert len(parallel) >= len(layouts)
    (spec,) = model.plan.inputs
    x = np.random.default_rng(1).standard_normal(spec.extents).astype(np.float32)
    assert different_results(model, {"x": x}) == 1


def _is_parallel(func: Any) -> Iterator[bool]:
    return (loop.kind == "parallel" for loop in walk(func, on=For))


@pytest.mark.long
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_a_block_of_each_kind_of_network(path: Any) -> None:
    model, feeds = block(path)
    assert different_results(irkit.compile(model), feeds) == 1


@pytest.mark.long
@pytest.mark.parametrize("name", NETWORKS)
def test_networks_of_the_onnx_package(name: str) -> None:
    model = with_random_weights(light(name))
    image = np.random.default_rng(0).standard_normal((1, 3, 224, 224)).astype(np.float32)
    compiled = irkit.compile(import_onnx(model), keep_trace=False)
    assert different_results(compiled, {input_of(model): image}) == 1


def changed(module: IRModule, vector_bytes: int) -> set[str]:
    """Check all passes of the graph; return the names of those that change it."""
    machine = Machine.with_vectors(vector_bytes)
    found: set[str] = set()
    for verdict in verdicts(
        for_machine(GRAPH, machine).stop_after(0).steps(module), CheckOptions(samples=1)
    ):
        assert verdict.status in RIGHT, verdict
        if verdict.changed:
            found.add(verdict.name)
    return found


def test_blocks_of_networks_with_layouts() -> None:
    modules = [import_onnx(block(path)[0]) for path in TEXTS if path.stem in OFTEN]
    modules += [IRModule({"main": make()}) for make in (image_network, token_network)]
    used = {name for module in modules for name in changed(module, 32)}
    assert used >= {"pack-panels", "block-channels", "use-winograd"}


@pytest.mark.long
@pytest.mark.parametrize("vector_bytes", [16, 64])
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_every_block_with_layouts(path: Path, vector_bytes: int) -> None:
    changed(import_onnx(block(path)[0]), vector_bytes)


@pytest.mark.long
@pytest.mark.parametrize("name", NETWORKS)
def test_networks_of_the_onnx_package_with_layouts(name: str) -> None:
    model = with_random_weights(light(name))
    assert changed(import_onnx(model), 64) & set(LAYOUTS)
