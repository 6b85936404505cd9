"""Every layout pass under check, on blocks of networks and on those of the onnx package.

The layouts are those that a machine chooses. Each pass of the graph is compared with the step
before it, and what rounds differently is held to the bound of its rounding.
"""

from pathlib import Path

import onnx
import pytest

from irkit.autoschedule import Machine
from irkit.core import IRModule
from irkit.debug import CheckOptions, verdicts
from irkit.frontend.onnx import import_onnx
from irkit.fuzz.generators.reference.onnx_reference import with_random_weights
from irkit.phases import GRAPH, for_machine
from tests.frontend.onnx.test_networks import NETWORKS, light
from tests.networks.test_blocks import TEXTS, block
from tests.networks.test_threads import image_network, token_network

LAYOUTS = ("pack-panels", "block-channels", "use-winograd", "pack-weights")
RIGHT = ("same", "rounds differently")
OFTEN = ("resnet.dynamo", "bert.dynamo", "unet.torchscript")


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
    model: onnx.ModelProto = with_random_weights(light(name))
    assert changed(import_onnx(model), 64) & set(LAYOUTS)
