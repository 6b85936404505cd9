"""Models become native code; failures name the pass."""

import re
from typing import Any

import numpy as np
import pytest

import irkit
from irkit.autoschedule import Machine
from irkit.codegen import assembly, emit, host_target
from irkit.core import IRKitError, IRModule, Target
from irkit.graph import Builder, tensor_type
from irkit.ir import LOOP_LEVEL, PrimFunc
from irkit.passes.graph import block_channels, lower_to_loops
from irkit.phases import DEFAULT, GRAPH, for_target
from irkit.te import var
from irkit.transform import PassFailed, define_pass
from tests.runtime.models import expected, kernel, mlp, module, some_input

x86 = pytest.mark.skipif(
    not host_target().triple.startswith("x86_64"), reason="features of x86-64 processors"
)


@define_pass
def stamp(func: PrimFunc, *, number: int = 0) -> PrimFunc:
    """Leave a mark."""
    return func.replace(attrs=(*func.attrs, (f"stamp_{number}", number)))


@define_pass
def drop_the_body(func: PrimFunc) -> PrimFunc:
    """Break the signature of functions called matmul."""
    return func.replace(params=func.params[:1]) if "matmul" in func.name else func


@define_pass
def explode(func: PrimFunc) -> PrimFunc:
    """Fail."""
    raise ZeroDivisionError("for the test")


def test_groups_that_compute_the_same_share_a_kernel() -> None:
    b = Builder()
    x, y = b.param("x", (8, 8)), b.param("y", (8, 8))
    one = b.op("relu", b.op("add", x, y))
    two = b.op("relu", b.op("add", b.op("matmul", one, y), x))
    three = b.op("relu", b.op("add", b.op("matmul", two, x), y))
    found = irkit.compile(module(b.finish(two, three, outputs=("two", "three"))))
    kernels = [call.kernel for call in found.plan.calls]
    assert len(kernels) == 3
    assert kernels[1] == kernels[2] != kernels[0]
    assert len(found.contents.objects) == 2 + 1
    rng = np.random.default_rng(0)
    p, q = (rng.standard_normal((8, 8)).astype(np.float32) for _ in "xy")
    got = found.run({"x": p, "y": q})
    wanted = np.maximum(np.maximum(p + q, 0) @ q + p, 0)
    np.testing.assert_allclose(got["two"], wanted, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(got["three"], np.maximum(wanted @ p + q, 0), rtol=1e-4, atol=1e-4)


def test_passes_of_the_users_own_run_on_every_kernel() -> None:
    pipeline = DEFAULT.with_passes([(1, stamp.using(number=1)), (3, stamp.using(number=3))])
    found = irkit.compile(mlp(), pipeline=pipeline)
    kernels = {call.kernel for call in found.plan.calls}
    for number in (1, 3):
        text = f"stamp{{number={number}}}"
        steps = [step for step in found.trace if step.pass_text == text]
        assert {step.function for step in steps} == kernels
        assert {step.phase for step in steps} == {number}
        assert all(step.changed for step in steps)
    np.testing.assert_allclose(
        found.run({"x": some_input()})["p"], expected(some_input()), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize(
    ("bad", "words"),
    [(drop_the_body, "it changed the signature"), (explode, "ZeroDivisionError: for the test")],
)
def test_a_pass_that_breaks_a_kernel_is_named(bad: Any, words: str) -> None:
    with pytest.raises(PassFailed, match=words) as caught:
        irkit.compile(mlp(), pipeline=DEFAULT.with_passes([(2, bad)]))
    failed = caught.value
    assert (failed.name, failed.phase) == (bad.name, 2)
    assert failed.function.startswith("matmul")
    assert f"phase 2: pass '{bad.name}' on function '{failed.function}'" in str(failed)


def test_a_graph_pass_that_breaks_the_graph_is_named() -> None:
    @define_pass
    def lose_kernels(mod: IRModule) -> IRModule:
        """Break the module."""
        return mod.with_functions({name: None for name in mod if name != "main"})

    with pytest.raises(IRKitError, match="no function 'matmul"):
        irkit.compile(mlp(), graph_pipeline=GRAPH.insert(lose_kernels, after="lower-to-loops"))


def test_progress_reports_the_last_step_and_the_number_of_kernels() -> None:
    told: list[tuple[str, int, int]] = []
    found = irkit.compile(mlp(), progress=lambda *args: told.append(args))
    assert [what for what, _, _ in told[: 1 + len(GRAPH.names)]] == ["import", *GRAPH.names]
    kernels = list(dict.fromkeys(call.kernel for call in found.plan.calls))
    assert told[1 + len(GRAPH.names) :] == [
        (name, done, len(kernels)) for done, name in enumerate(kernels, 1)
    ]


def test_progress_can_stop_the_work() -> None:
    def stop(what: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        irkit.compile(mlp(), progress=stop)


@x86
@pytest.mark.parametrize(
    ("target", "wide", "registers"),
    [
        (Target(features=("-avx512f",)), 32, "xy"),
        (Target(features=("-avx2",)), 16, "xy"),
        (Target(cpu="x86-64"), 16, "x"),
        (Target(cpu="x86-64-v3"), 32, "xy"),
    ],
)
def test_another_target_has_vectors_of_its_own_width(
    target: Target, wide: int, registers: str
) -> None:
    found = irkit.compile(mlp(), target=target)
    assert Machine.of_target(found.target).vector_bytes == wide
    (lowering,) = [step for step in found.trace if step.name == "lower-to-loops"]
    assert lowering.options["vector_bytes"] == wide
    for name in {call.kernel for call in found.plan.calls}:
        last = [step.after for step in found.trace if step.function == name][-1]
        text = assembly(emit([last], found.target), found.target)
        assert set(re.findall(r"%([xyz])mm\d", text)) <= set(registers)
    np.testing.assert_allclose(
        found.run({"x": some_input()})["p"], expected(some_input()), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize(
    ("features", "wide"),
    [(("+avx2", "+avx512f"), 64), (("+avx2", "-avx512f"), 32), (("+sse2",), 16), ((), 16)],
)
def test_vectors_are_as_wide_as_the_features_say(features: tuple[str, ...], wide: int) -> None:
    target = Target(features=features)
    chosen = for_target(GRAPH, target)
    assert chosen.names == GRAPH.names
    assert lower_to_loops.using(vector_bytes=wide) in [p for _, p in chosen.placed]


def test_a_width_set_in_the_pipeline_stays() -> None:
    asked = GRAPH.replace("lower-to-loops", lower_to_loops.using(vector_bytes=8))
    chosen = [p for _, p in for_target(asked, Target(features=("+avx512f",))).placed]
    assert lower_to_loops.using(vector_bytes=8) in chosen
    assert block_channels.using(lanes=2) in chosen
    found = irkit.compile(mlp(), graph_pipeline=asked)
    np.testing.assert_allclose(
        found.run({"x": some_input()})["p"], expected(some_input()), rtol=1e-5, atol=1e-6
    )


def test_an_input_that_no_dimension_decides_is_refused_before_the_work_begins() -> None:
    b = Builder()
    x = b.param("image", (var("n") + 1, 3))
    told: list[str] = []
    with pytest.raises(IRKitError, match=r"dimension 0 of 'image' depends on 'n', which is no"):
        irkit.compile(module(b.finish(b.op("relu", x))), progress=lambda w, *_: told.append(w))
    assert not told


def test_a_module_without_a_graph_called_main_is_refused() -> None:
    loops = kernel("def main(A: f32[4]):\n    A[0] = f32(1.0)\n")
    with pytest.raises(IRKitError, match="no function 'main'"):
        irkit.compile(IRModule({}))
    with pytest.raises(IRKitError, match="'main' is a PrimFunc; expected a graph function"):
        irkit.compile(IRModule({"main": loops}))
    with pytest.raises(IRKitError, match="shapes and values are for ONNX models"):
        irkit.compile(mlp(), shapes={"x": (4, 16)})


def test_functions_without_calls_are_not_compiled() -> None:
    spare = kernel("def spare(A: f32[4]):\n    A[0] = f32(1.0)\n")
    b = Builder()
    found = irkit.compile(module(b.finish(b.op("relu", b.param("x", (4,)))), spare=spare))
    assert "spare" not in found.trace.functions
    assert len(found.contents.objects) == 2


def test_a_function_is_called_by_its_key() -> None:
    half = kernel(
        "def g(A: f32[4], B: f32[4]):\n    for i in serial(0, 4):\n        B[i] = A[i] / f32(2.0)\n"
    )
    b = Builder()
    y = b.invoke("f", b.param("x", (4,)), type=tensor_type((4,)))
    z = b.invoke("g", y, type=tensor_type((4,)))
    found = irkit.compile(module(b.finish(y, z), f=half, g=half))
    got = [array[0] for array in found.run({"x": np.ones(4, np.float32)}).values()]
    assert got == [0.5, 0.25]


def test_every_level_may_be_left_unverified() -> None:
    found = irkit.compile(mlp(), verify=False)
    assert np.array_equal(
        found.run({"x": some_input()})["p"],
        irkit.compile(mlp()).run({"x": some_input()})["p"],
    )


def test_the_levels_of_the_trace_are_those_of_the_pipelines() -> None:
    trace = irkit.compile(mlp()).trace
    assert trace.title == "model"
    assert {step.level for step in trace} == {GRAPH.level, LOOP_LEVEL}


def test_a_model_compiled_without_a_trace_holds_none_and_computes_the_same() -> None:
    bare = irkit.compile(mlp(), keep_trace=False)
    with pytest.raises(IRKitError, match="compiled without one"):
        _ = bare.trace
    got = bare.run({"x": some_input()})["p"]
    assert np.array_equal(got, irkit.compile(mlp()).run({"x": some_input()})["p"])
