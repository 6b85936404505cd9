"""``irkit trace``: the list of steps."""

from pathlib import Path
from typing import Any

import onnx

import irkit
from irkit.frontend.onnx import import_onnx
from irkit.transform import Step, Trace
from tests.cli.command import cpu_time, shell


def test_a_trace_of_hundreds_of_steps_is_listed_quickly(folder: Path) -> None:
    light = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
    module: Any = import_onnx(light / "light_squeezenet.onnx")
    steps: list[Step] = []
    for pipeline in (irkit.GRAPH, irkit.DEFAULT):
        for step in pipeline.steps(module, verify=False):
            steps.append(step)
            module = step.applied_to(module)
    Trace.of(steps).save(folder / "m.trace")
    assert len(steps) > 300
    times: list[float] = []
    for _ in range(2):
        begin = cpu_time()
        done = shell("trace", "m.trace")
        times.append(cpu_time() - begin)
        assert len(done.stdout.splitlines()) == len(steps)
    assert min(times) < 2
