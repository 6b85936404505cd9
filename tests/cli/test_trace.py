"""``irkit trace``: the list of steps."""

import json
from pathlib import Path
from typing import Any

import onnx
import pytest

import irkit
from irkit.frontend.onnx import import_onnx
from irkit.graph import GRAPH_LEVEL
from irkit.ir import LOOP_LEVEL
from irkit.transform import Step, Trace
from tests.cli.command import cpu_time, shell
from tests.draws import sampled


@pytest.mark.long
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
    begin = cpu_time()
    done = shell("trace", "m.trace")
    assert len(done.stdout.splitlines()) == len(steps)
    if cpu_time() - begin >= 2:  # A busy machine, perhaps: only what takes long twice is slow.
        begin = cpu_time()
        shell("trace", "m.trace")
        assert cpu_time() - begin < 2


KERNEL = """
def f(A: f32[8], B: f32[8]):
    for i in serial(0, 8):
        B[i] = A[i] + f32(1.0)
"""


def test_json_has_a_versioned_schema_and_every_step(folder: Path) -> None:
    trace = irkit.trace(irkit.ir.parse(KERNEL))
    trace.save(folder / "f.trace")
    made = json.loads(shell("trace", "f.trace", "--json").stdout)
    assert made["schema"] == "irkit.trace/1"
    assert (made["title"], made["damage"]) == ("f", "")
    assert [(each["index"], each["name"], each["changed"]) for each in made["steps"]] == [
        (step.index, step.name, step.changed) for step in trace
    ]


def test_a_damaged_trace_is_listed_up_to_the_damage(folder: Path) -> None:
    trace = irkit.trace(irkit.ir.parse(KERNEL))
    trace.save(folder / "f.trace")
    data = (folder / "f.trace").read_bytes()
    (folder / "f.trace").write_bytes(data[: len(data) // 2])
    done = shell("trace", "f.trace")
    assert 0 < len(done.stdout.splitlines()) < len(trace)
    assert "f.trace is damaged at byte" in done.stderr
    assert json.loads(shell("trace", "f.trace", "--json").stdout)["damage"] in done.stderr


@pytest.mark.long
def test_the_time_of_each_loop_is_printed(folder: Path) -> None:
    text = "def f(B: f32[1]):\n    for slow in serial(0, 40000):\n        B[0] = B[0] * f32(0.5)\n"
    irkit.trace(irkit.ir.parse(text)).save(folder / "f.trace")
    done = shell("trace", "f.trace", "--loop-times", "f")
    assert done.returncode == 0, done.stderr
    assert "slow (line " in done.stdout
    assert "us a call on one thread" in done.stdout
    wrong = shell("trace", "f.trace", "--loop-times", "f", "--json")
    assert wrong.returncode == 2
    assert "--loop-times cannot be given with" in wrong.stderr


@pytest.mark.parametrize("verb", sampled(["opt", "check"], every=2))
def test_what_a_verb_runs_is_recorded(verb: str, folder: Path) -> None:
    (folder / "f.irs").write_text(KERNEL)
    done = shell(verb, "f.irs", "--schedule", "none", env={"IRKIT_TRACE": str(folder / "all")})
    assert done.returncode == 0, done.stderr
    (file,) = (folder / "all").glob("*.trace")
    trace = Trace.load(file, (LOOP_LEVEL, GRAPH_LEVEL))
    assert trace.damage == ""
    expected = irkit.trace(irkit.ir.parse(KERNEL))
    assert [step.name for step in trace] == [step.name for step in expected]
