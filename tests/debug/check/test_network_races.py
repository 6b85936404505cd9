"""The default schedules of networks give no alarm, at any step of any kernel."""

from pathlib import Path

import onnx
import pytest

from irkit.debug import RaceSearch, input_sets
from irkit.ir import PrimFunc
from irkit.phases import compile
from irkit.transform import Step

LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
NETWORKS = ("squeezenet", "resnet50", "shufflenet", "bvlc_alexnet", "inception_v1", "densenet121")


@pytest.mark.long
@pytest.mark.parametrize("name", NETWORKS)
def test_the_kernels_of_a_network_give_no_alarm(name: str) -> None:
    kernels: dict[str, list[Step]] = {}
    for step in compile(str(LIGHT / f"light_{name}.onnx")).trace:
        if step.changed and isinstance(step.before, PrimFunc):
            kernels.setdefault(step.function, []).append(step)
    assert len(kernels) > 10
    for steps in kernels.values():
        given = steps[0].before
        assert isinstance(given, PrimFunc)
        search = RaceSearch(input_sets(given, samples=1))
        assert search.given_race(given) is None
        for step in steps:
            assert isinstance(step.before, PrimFunc)
            assert isinstance(step.after, PrimFunc)
            assert search.new_race(step.before, step.after) is None, step
