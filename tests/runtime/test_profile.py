"""Profiles: times, operations and bytes of each kernel, and the operators it came from."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import irkit
from irkit.core import IRKitError
from irkit.graph import Builder, tensor_type
from irkit.ir import Work
from irkit.runtime import Model
from tests.runtime.models import compiled, kernel, mlp, some_input

RUNS = 3


@pytest.fixture(scope="module")
def model() -> Model:
    return irkit.compile(mlp())


def test_every_call_is_measured_in_every_run_and_in_order(model: Model) -> None:
    profile = model.profile({"x": some_input()}, runs=RUNS)
    assert [call.kernel for call in profile.calls] == [call.kernel for call in model.plan.calls]
    assert all(len(call.started) == len(call.lasted) == RUNS for call in profile.calls)
    times = [(call.started[run], call.lasted[run]) for run in range(RUNS) for call in profile.calls]
    assert times[0][0] == 0
    assert all(a + time <= b for (a, time), (b, _) in pairwise(times))
    assert profile.seconds > 0


def test_a_kernel_has_the_operators_that_were_fused_into_it(model: Model) -> None:
    profile = model.profile({"x": some_input()}, runs=1)
    assert [call.operators for call in profile.calls] == [
        ("matmul_panels", "relu"),
        ("matmul_panels",),
        ("softmax",),
    ]


def test_work_is_that_of_the_code_that_runs(model: Model) -> None:
    profile = model.profile({"x": some_input()}, runs=1)
    first = profile.calls[0].work
    assert first is not None
    assert first.flops >= 2 * 4 * 16 * 32 + 4 * 32  # Padded lanes of vectors compute too.
    assert first.moved == 4 * (4 * 16 + 16 * 32 + 4 * 32)
    assert first.exact


def twice() -> Model:
    """Return a model that calls one kernel twice."""
    b = Builder()
    x, y = b.param("x", (64, 64)), b.param("y", (64, 64))
    return compiled(b.finish(b.op("matmul", b.op("matmul", x, y), y)))


def test_calls_of_one_kernel_are_one_row() -> None:
    model = twice()
    given = np.ones((64, 64), np.float32)
    profile = model.profile({"x": given, "y": given}, runs=RUNS)
    (row,) = profile.kernels
    assert row.calls == 2
    assert row.operators == (("matmul",), ("matmul",))
    assert row.seconds == pytest.approx(sum(call.seconds for call in profile.calls))
    (one,) = model.plan.work.values()
    assert one.flops == 2 * 64**3
    assert row.work is not None
    assert row.work == Work(2 * one.flops, 2 * one.loaded, 2 * one.stored, 2 * one.moved)
    assert row.gflops == pytest.approx(row.work.flops / row.seconds * 1e-9)
    assert row.gbytes == pytest.approx(row.work.moved / row.seconds * 1e-9)


def test_the_table_lists_kernels_with_the_slowest_first(model: Model) -> None:
    profile = model.profile({"x": some_input()}, runs=RUNS)
    head, *rows, whole, foot = str(profile).splitlines()
    assert head.split() == ["ms", "%", "GFLOP/s", "GB/s", "calls", "kernel", "operators"]
    assert [row.split()[5] for row in rows] == [row.kernel for row in profile.kernels]
    shown = [float(row.split()[0]) for row in rows]
    assert shown == sorted(shown, reverse=True)
    assert any(row.endswith("matmul_panels + relu") for row in rows)
    assert whole.split()[1] == "100.0"
    assert foot.startswith("median of 3 runs on ")


def test_json_has_kernels_and_every_run(model: Model) -> None:
    profile = model.profile({"x": some_input()}, runs=RUNS)
    found: dict[str, Any] = msgspec.json.decode(profile.to_json())
    assert {row["kernel"] for row in found["kernels"]} == set(model.plan.work)
    for row, one in zip(found["kernels"], profile.kernels, strict=True):
        assert row["gflops"] == one.gflops
        assert row["work"]["flops"] == model.plan.work[one.kernel].flops * one.calls
    assert found["calls"][0]["operators"] == ["matmul_panels", "relu"]
    assert all(len(call["seconds"]) == RUNS for call in found["calls"])


def test_the_timeline_has_an_event_for_each_call_and_run(model: Model) -> None:
    profile = model.profile({"x": some_input()}, runs=RUNS)
    events: list[dict[str, Any]] = msgspec.json.decode(profile.chrome_trace())["traceEvents"]
    names = [call.kernel for call in model.plan.calls]
    assert [event["name"] for event in events] == names * RUNS
    assert [event["args"]["run"] for event in events[:: len(names)]] == list(range(RUNS))
    assert all(event["ph"] == "X" and event["dur"] > 0 for event in events)
    ends = [event["ts"] + event["dur"] for event in events]
    starts = [event["ts"] for event in events]
    assert all(end <= start + 1e-6 for end, start in zip(ends, starts[1:], strict=False))


def test_a_slow_kernel_stands_out() -> None:
    slow = kernel(
        "def slow(A: f32[4], B: f32[4]):\n    for i in serial(0, 4):\n        B[i] = A[i]\n"
        "    for j in serial(0, 20000000):\n        B[j % 4] = B[j % 4] * f32(0.99999)\n"
    )
    b = Builder()
    y = b.invoke("slow", b.op("exp", b.param("x", (4,))), type=tensor_type((4,)), name="y")
    profile = compiled(b.finish(y), slow=slow).profile({"x": np.ones(4, np.float32)}, runs=1)
    first, second = profile.kernels
    assert (first.kernel, second.kernel) == ("slow", "exp")
    assert first.seconds > 100 * second.seconds
    assert profile.seconds > 0.5 * first.seconds
    assert first.work is not None
    assert first.work.flops == 20_000_000
    assert first.operators == (("y",),)  # No operator of the graph: the node that calls it.


def test_unknown_work_is_shown_so() -> None:
    until = kernel(
        "def until(A: f32[4], B: f32[4]):\n    for i in serial(0, 4):\n        B[i] = A[i]\n"
        "    for j in serial(0, i64(A[0])):\n        B[0] = B[0] + f32(1.0)\n"
    )
    b = Builder()
    y = b.invoke("until", b.param("x", (4,)), type=tensor_type((4,)), name="y")
    model = compiled(b.finish(y), until=until)
    assert model.plan.work == {}
    profile = model.profile({"x": np.ones(4, np.float32)}, runs=1)
    assert profile.kernels[0].gflops is None
    assert str(profile).splitlines()[1].split()[2:4] == ["?", "?"]
    assert msgspec.json.decode(profile.to_json())["kernels"][0]["work"] is None


def test_a_loaded_package_has_the_same_work_and_operators(model: Model, tmp_path: Path) -> None:
    model.save(tmp_path / "m.irkit")
    loaded = irkit.load(tmp_path / "m.irkit")
    found, wanted = (each.profile({"x": some_input()}, runs=1) for each in (loaded, model))
    assert [(call.operators, call.work) for call in found.calls] == [
        (call.operators, call.work) for call in wanted.calls
    ]


def test_wrong_inputs_and_numbers_of_runs_are_refused(model: Model) -> None:
    with pytest.raises(ValueError, match="input 'x' is missing"):
        model.profile({})
    with pytest.raises(IRKitError, match="at least 1 run, found 0"):
        model.profile({"x": some_input()}, runs=0)


def test_a_kernel_that_fails_is_named() -> None:
    stops = kernel(
        'def stops(A: f32[4], B: f32[4]):\n    assert A[0] > f32(0.0), "positive"\n'
        "    for i in serial(0, 4):\n        B[i] = A[i]\n"
    )
    b = Builder()
    y = b.invoke("stops", b.param("x", (4,)), type=tensor_type((4,)), name="y")
    model = compiled(b.finish(y), stops=stops)
    with pytest.raises(IRKitError, match="kernel 'stops', for 'y', stopped at assertion 1"):
        model.profile({"x": np.zeros(4, np.float32)})
    assert len(model.profile({"x": np.ones(4, np.float32)}, runs=1).calls) == 1


def test_a_model_without_kernels_has_an_empty_profile() -> None:
    b = Builder()
    profile = compiled(b.finish(b.param("x", (3,)))).profile({"x": np.ones(3, np.float32)})
    assert profile.calls == ()
    assert "all kernels" in str(profile)
