"""Kernels of a model as unit tests: what they are given and must return, and what is found."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import irkit
from irkit.autoschedule import Machine
from irkit.core import IRModule, rewrite
from irkit.debug import KernelCase, check_kernel, kernel_cases, write_kernel_tests
from irkit.graph import Builder, Value, tensor_type
from irkit.ir import Add, Const, Expr, Max, PrimFunc, as_dtype, numpy_dtype, parse
from irkit.phases import GRAPH, for_machine
from irkit.transform import Pipeline
from tests.runtime.models import kernel, mlp, module, some_input


def cases_of(
    start: IRModule, feeds: dict[str, Any], pipeline: Pipeline = GRAPH
) -> dict[str, KernelCase]:
    modules = [start]
    for step in pipeline.steps(start):
        after = step.applied_to(modules[-1])
        assert isinstance(after, IRModule)
        modules.append(after)
    return {case.name: case for case in kernel_cases(modules, feeds)}


def written(folder: Path, start: IRModule, feeds: dict[str, Any]) -> list[str]:
    return list(write_kernel_tests(folder, cases_of(start, feeds).values(), "m").values())


def test_a_kernel_has_the_values_that_a_run_gives_it() -> None:
    x = some_input()
    cases = cases_of(mlp(), {"x": x})
    assert list(cases) == ["matmul_relu", "matmul", "softmax"]
    first, second, last = cases.values()
    weights = np.random.default_rng(7).standard_normal((16, 32)).astype(np.float32)
    hidden = np.maximum(x @ weights, 0)
    assert np.array_equal(first.inputs["p0"], x)
    assert np.array_equal(first.inputs["p1"], weights)
    (found,) = first.outputs.values()
    np.testing.assert_allclose(found, hidden, rtol=1e-5)
    assert np.array_equal(second.inputs["p0"], found)
    (scores,) = second.outputs.values()
    assert np.array_equal(last.inputs["p0"], scores)


def test_every_kernel_passes_its_test(tmp_path: Path) -> None:
    for name in written(tmp_path, mlp(), {"x": some_input()}):
        check_kernel(tmp_path / name, irkit.build)


def unary(operator: str, dtype: str, **attrs: Any) -> IRModule:
    b = Builder()
    return module(b.finish(b.op(operator, b.param("x", (3, 4), dtype), **attrs)))


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64", "i8", "i64"])
def test_every_type_comes_back_from_the_files(tmp_path: Path, dtype: str) -> None:
    x = (np.arange(12).reshape(3, 4) - 5).astype(numpy_dtype(as_dtype(dtype)))
    (name,) = written(tmp_path, unary("abs", dtype), {"x": x})
    check_kernel(tmp_path / name, irkit.build)


def test_scalars_and_empty_arrays_are_inputs_too(tmp_path: Path) -> None:
    for shape in ((), (0, 3)):
        b = Builder()
        start = module(b.finish(b.op("exp", b.param("x", shape))))
        folder = tmp_path / str(len(shape))
        (name,) = written(folder, start, {"x": np.ones(shape, np.float32)})
        check_kernel(folder / name, irkit.build)


def test_a_kernel_with_two_results_has_two_outputs(tmp_path: Path) -> None:
    b = Builder()
    both = b.op("max_pool_with_indices", b.param("x", (1, 1, 4, 4)), kernel=(2, 2), strides=(2, 2))
    start = module(b.finish(b.op("exp", b.item(both, 0)), b.item(both, 1)))
    x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    cases = cases_of(start, {"x": x})
    pool = cases["max_pool_with_indices"]
    assert [array.ravel().tolist() for array in pool.outputs.values()] == [
        [5, 7, 13, 15],
        [5, 7, 13, 15],
    ]
    assert cases["exp"].inputs["p0"].ravel().tolist() == [5, 7, 13, 15]
    for name in write_kernel_tests(tmp_path, cases.values(), "m").values():
        check_kernel(tmp_path / name, irkit.build)


def test_a_kernel_of_the_user_is_a_kernel_too(tmp_path: Path) -> None:
    own = kernel(
        "def own(A: f32[4], B: f32[4]):\n    for i in serial(0, 4):\n        B[i] = A[3 - i]\n"
    )
    b = Builder()
    y = b.invoke("own", b.op("relu", b.param("x", (4,))), type=tensor_type((4,)), name="y")
    cases = cases_of(module(b.finish(b.op("exp", y)), own=own), {"x": np.arange(4) - np.float32(1)})
    assert cases["own"].inputs["A"].tolist() == [0, 0, 1, 2]
    assert cases["own"].outputs["B"].tolist() == [2, 1, 0, 0]
    for name in write_kernel_tests(tmp_path, cases.values(), "m").values():
        check_kernel(tmp_path / name, irkit.build)


def test_a_kernel_that_runs_twice_is_tried_once() -> None:
    b = Builder()
    x, y = b.param("x", (8, 8)), b.param("y", (8, 8))
    start = module(b.finish(b.op("matmul", b.op("matmul", x, y), y)))
    ones = np.ones((8, 8), np.float32)
    (case,) = cases_of(start, {"x": ones, "y": 2 * ones}).values()
    (found,) = case.outputs.values()
    assert (found == 16).all()


def quantized(b: Builder) -> Value:
    return b.op("cast", b.op("round", b.op("multiply", b.param("x", (64,)), _half(b))), dtype="i8")


def _half(b: Builder) -> Value:
    return b.constant(np.array(0.5, np.float32))


def test_a_rounded_integer_may_be_one_step_off_and_no_more(tmp_path: Path) -> None:
    b = Builder()
    start = module(b.finish(quantized(b)))
    (name,) = written(tmp_path, start, {"x": np.arange(64, dtype=np.float32)})
    path = tmp_path / name / "outputs.npz"
    with np.load(path) as file:
        (key,) = file.files
        right = file[key]
    for off in (0, 1, 2):
        np.savez(path, **{key: right + np.int8(off)})
        if off < 2:
            check_kernel(tmp_path / name, irkit.build)
            continue
        with pytest.raises(AssertionError, match="64 of 64 elements are wrong"):
            check_kernel(tmp_path / name, irkit.build)


def test_a_long_sum_may_be_off_by_a_rounding_for_each_term(tmp_path: Path) -> None:
    b = Builder()
    start = module(b.finish(b.op("sum", b.param("x", (2, 1000)), axes=(1,))))
    (name,) = written(tmp_path, start, {"x": np.full((2, 1000), 0.1, np.float32)})
    check_kernel(tmp_path / name, irkit.build)
    path = tmp_path / name / "outputs.npz"
    with np.load(path) as file:
        (key,) = file.files
        right = file[key]
    for share, is_right in ((1e-5, True), (1e-3, False)):  # A term that is missing is 1e-3.
        np.savez(path, **{key: right * np.float32(1 + share)})
        if is_right:
            check_kernel(tmp_path / name, irkit.build)
            continue
        with pytest.raises(AssertionError, match="2 of 2 elements are wrong"):
            check_kernel(tmp_path / name, irkit.build)


def changed(before: str, after: str) -> Callable[[str], str]:
    return lambda text: text.replace(before, after)


@pytest.mark.parametrize(
    ("kernel_name", "plant"),
    [
        ("matmul_relu", changed("max(", "min(")),
        ("matmul_relu", changed("axis.reduce(16, ", "axis.reduce(15, 0 * ")),
        ("softmax", changed("exp(", "exp2(")),
    ],
)
def test_a_bug_in_the_text_of_a_kernel_is_found(
    tmp_path: Path, kernel_name: str, plant: Callable[[str], str]
) -> None:
    written(tmp_path, mlp(), {"x": some_input()})
    path = tmp_path / kernel_name / "kernel.irs"
    text = path.read_text()
    assert plant(text) != text
    path.write_text(plant(text))
    with pytest.raises(
        AssertionError, match=r"\] = .*, expected .*; \d+ of \d+ elements are wrong"
    ):
        check_kernel(tmp_path / kernel_name, irkit.build)


def test_a_bug_of_the_compiler_is_found(tmp_path: Path) -> None:
    def wrong(func: PrimFunc) -> Callable[..., object]:
        def less(node: Max) -> Expr:
            return Add(node.a, Const(0.0, node.dtype.element), node.dtype)

        return irkit.build(rewrite(func, less, on=Max))

    written(tmp_path, mlp(), {"x": some_input()})
    check_kernel(tmp_path / "matmul", wrong)
    with pytest.raises(AssertionError, match="elements are wrong"):
        check_kernel(tmp_path / "matmul_relu", wrong)


def test_the_text_of_a_kernel_is_the_function_that_the_model_compiles(tmp_path: Path) -> None:
    cases = cases_of(mlp(), {"x": some_input()}, for_machine(GRAPH, Machine()))
    trace = irkit.compile(mlp(), machine="generic").trace
    for name, case in cases.items():
        first = next(step for step in trace if step.function == name)
        assert parse(case.text).script() == first.scripts()[0]
