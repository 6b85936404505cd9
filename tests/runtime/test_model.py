"""The interface of a compiled model: names, types, shapes, memory, threads."""

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import irkit
from irkit.core import IRKitError, Target
from irkit.graph import GRAPH_LEVEL, Builder, TupleType, tensor_type
from irkit.ir import LOOP_LEVEL
from irkit.runtime import Model
from irkit.transform import Trace
from tests.runtime.models import compiled, expected, kernel, mlp, module, some_input

ROOT = Path(irkit.__file__).parent.parent


@pytest.fixture(scope="module")
def model() -> Model:
    return irkit.compile(mlp())


def test_a_model_computes_what_its_graph_says(model: Model) -> None:
    x = some_input()
    found = model.run({"x": x})
    assert list(found) == ["p", "hidden"]
    np.testing.assert_allclose(found["p"], expected(x), rtol=1e-5, atol=1e-6)
    assert found["hidden"].shape == (4, 32)


@pytest.mark.parametrize(
    ("feeds", "error", "words"),
    [
        ({}, ValueError, "input 'x' is missing; the inputs are: x"),
        ({"x": some_input(), "y": 1}, ValueError, "'y' is not an input; the inputs are: x"),
        ({"X": some_input()}, ValueError, "input 'x' is missing and 'X' is not an input"),
        ({"x": some_input(), 3: 1, None: 2}, ValueError, "3 is not an input"),
        ({"x": some_input().astype(np.float64)}, TypeError, "'x' must be of type float32, found"),
        ({"x": some_input().astype(">f4")}, TypeError, "'x' must be of type float32, found >f4"),
        ({"x": some_input().tolist()}, TypeError, "found float64"),
        ({"x": "text"}, TypeError, "'x' must be of type float32, found <U4"),
        ({"x": None}, TypeError, "found object"),
        ({"x": [[1.0], [1.0, 2.0]]}, ValueError, "input 'x' is not an array"),
        ({"x": some_input()[:3]}, ValueError, r"'x' must have shape \(4, 16\), found \(3, 16\)"),
        ({"x": some_input().ravel()}, ValueError, r"must have shape \(4, 16\), found \(64,\)"),
        ({"x": np.float32(1)}, ValueError, r"found \(\)"),
        ([some_input()], TypeError, "inputs must map names to arrays, found list"),
    ],
)
def test_a_wrong_input_is_named_with_what_was_expected_and_found(
    model: Model, feeds: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words) as caught:
        model.run(feeds)
    assert isinstance(caught.value, IRKitError)


def test_inputs_may_be_read_only_and_of_any_layout(model: Model) -> None:
    x = some_input()
    wanted = model.run({"x": x})["p"]
    frozen = x.copy()
    frozen.flags.writeable = False
    wide = np.zeros((8, 48), np.float32)
    wide[::2, ::3] = x
    raw = np.zeros(x.nbytes + 1, np.uint8)
    raw[1:] = np.frombuffer(x.tobytes(), np.uint8)
    crooked = raw[1:].view(np.float32).reshape(x.shape)
    for given in (frozen, np.asfortranarray(x), wide[::2, ::3], x[::-1].copy()[::-1], crooked):
        assert np.array_equal(model.run({"x": given})["p"], wanted)


def test_inputs_are_not_changed(model: Model) -> None:
    x = some_input()
    model.run({"x": x})
    assert np.array_equal(x, some_input())


def test_outputs_are_fresh_at_each_call(model: Model) -> None:
    first = model.run({"x": some_input(1)})
    kept = {name: array.copy() for name, array in first.items()}
    second = model.run({"x": some_input(2)})
    for name, array in first.items():
        assert np.array_equal(array, kept[name])
        assert not np.may_share_memory(array, second[name])
        assert array.flags.writeable
        assert array.flags.owndata


def test_calls_from_several_threads_do_not_disturb_each_other() -> None:
    b = Builder()
    x = b.param("x", (256, 256))
    value = x
    for _ in range(6):  # Every product lies in the arena between two calls.
        value = b.op("tanh", b.op("matmul", value, x))
    model = compiled(b.finish(value, outputs=("y",)))
    inputs = [
        np.random.default_rng(seed).standard_normal((256, 256)).astype(np.float32) / 16
        for seed in range(6)
    ]
    wanted = [model.run({"x": each})["y"].copy() for each in inputs]
    wrong: list[int] = []
    start = threading.Barrier(len(inputs))

    def work(number: int) -> None:
        start.wait()
        results = [model.run({"x": inputs[number]})["y"] for _ in range(8)]
        if not all(np.array_equal(result, wanted[number]) for result in results):
            wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(inputs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_an_output_may_be_an_input_a_constant_or_another_output() -> None:
    b = Builder()
    x = b.param("x", (2, 3))
    c = b.constant(np.arange(4, dtype=np.int64), name="c")
    r = b.op("relu", x)
    model = compiled(b.finish(x, c, r, r, x, outputs=("in", "const", "one", "two", "again")))
    given = np.array([[-1, 2, -3], [4, -5, 6]], np.float32)
    found = model.run({"x": given})
    assert np.array_equal(found["in"], given)
    assert np.array_equal(found["again"], given)
    assert np.array_equal(found["const"], np.arange(4))
    assert found["const"].dtype == np.int64
    for name in ("one", "two"):
        assert np.array_equal(found[name], np.maximum(given, 0))
    arrays = [given, *found.values()]
    assert not any(
        np.may_share_memory(a, b) for at, a in enumerate(arrays) for b in arrays[at + 1 :]
    )


def test_results_without_names_get_their_own_names() -> None:
    b = Builder()
    x = b.param("x", (3,))
    r = b.op("relu", x)
    found = compiled(b.finish(r, r, x)).run({"x": np.ones(3, np.float32)})
    assert list(found) == ["relu", "relu_1", "x"]


@pytest.mark.parametrize("attrs", [{"outputs": ("a", "a")}, {"outputs": ("a",)}, {"inputs": 3}])
def test_names_that_do_not_fit_are_rejected(attrs: dict[str, Any]) -> None:
    b = Builder()
    x = b.param("x", (3,))
    with pytest.raises(IRKitError, match=r"must hold \d different names"):
        compiled(b.finish(b.op("relu", x), b.op("exp", x), **attrs))


def pooled(*items: int) -> Model:
    b = Builder()
    both = b.op("max_pool_with_indices", b.param("x", (1, 1, 4, 4)), kernel=(2, 2), strides=(2, 2))
    return compiled(b.finish(*[b.item(both, item) for item in items]))


@pytest.mark.parametrize("items", [(0, 1), (1, 0), (0,), (1,), (1, 1, 0)])
def test_a_kernel_may_have_several_outputs_and_unused_ones(items: tuple[int, ...]) -> None:
    x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    found = list(pooled(*items).run({"x": x}).values())
    wanted = np.array([[5, 7], [13, 15]]).reshape(1, 1, 2, 2)
    for item, array in zip(items, found, strict=True):
        assert array.dtype == (np.int64 if item else np.float32)
        assert np.array_equal(array, wanted)


def test_a_pair_that_is_the_result_has_an_output_for_each_item() -> None:
    b = Builder()
    both = b.op("max_pool_with_indices", b.param("x", (1, 1, 2, 2)), kernel=(2, 2), name="top")
    found = compiled(b.finish(both)).run({"x": np.ones((1, 1, 2, 2), np.float32)})
    assert {name: array.item() for name, array in found.items()} == {"top_0": 1, "top_1": 0}


@pytest.mark.parametrize("shape", [(0, 3), (2, 0, 3), (0,)])
def test_empty_tensors_work(shape: tuple[int, ...]) -> None:
    b = Builder()
    x = b.param("x", shape)
    e = b.op("exp", x)
    found = compiled(b.finish(b.op("relu", e), b.op("sum", e, axes=(0,)), e)).run(
        {"x": np.zeros(shape, np.float32)}
    )
    assert [array.shape for array in found.values()] == [shape, shape[1:], shape]
    assert not found["sum"].any()


def test_scalars_have_no_dimensions() -> None:
    b = Builder()
    x = b.param("x", ())
    model = compiled(b.finish(b.op("exp", b.op("add", x, b.constant(np.float32(1))))))
    (found,) = model.run({"x": np.float32(1)}).values()
    assert found.shape == ()
    np.testing.assert_allclose(found, np.exp(2), rtol=1e-6)


def test_a_model_may_have_no_inputs_and_no_parameters() -> None:
    b = Builder()
    (found,) = compiled(b.finish(b.op("exp", b.constant(np.zeros(3, np.float32))))).run({}).values()
    assert found.tolist() == [1, 1, 1]


STOPS = kernel(
    'def stops(A: f32[4], B: f32[4]):\n    assert A[0] > f32(0.0), "first is positive"\n'
    "    for i in serial(0, 4):\n        B[i] = A[i]\n"
)


def test_a_kernel_that_fails_is_named_and_the_model_still_works() -> None:
    b = Builder()
    x = b.param("x", (4,))
    y = b.invoke("stops", b.op("exp2", b.op("relu", x)), type=tensor_type((4,)), name="y")
    z = b.invoke("stops", x, type=tensor_type((4,)), name="z")
    model = compiled(b.finish(y, z), stops=STOPS)
    assert len(model.plan.calls) == 3
    for _ in range(2):
        with pytest.raises(IRKitError, match="kernel 'stops', for 'z', stopped at assertion 1"):
            model.run({"x": np.zeros(4, np.float32)})
        assert model.run({"x": np.ones(4, np.float32)})["z"].tolist() == [1, 1, 1, 1]


def test_a_kernel_without_memory_is_named() -> None:
    huge = kernel(
        "def huge(A: f32[4], B: f32[4]):\n"
        "    with alloc(f32[1099511627776, 1024]) as T:\n"
        "        for i in serial(0, 4):\n            T[i64(A[i]), 0] = A[i]\n"
        "        for i in serial(0, 4):\n            B[i] = T[i64(A[3 - i]), 0]\n"
    )
    b = Builder()
    y = b.invoke("huge", b.param("x", (4,)), type=tensor_type((4,)), name="y")
    model = irkit.compile(module(b.finish(y), huge=huge), pipeline=irkit.DEFAULT.stop_after(0))
    with pytest.raises(MemoryError, match="kernel 'huge', for 'y', could not allocate its buffers"):
        model.run({"x": np.ones(4, np.float32)})


def test_a_user_function_may_fill_several_results() -> None:
    func = kernel(
        "def parts(A: f32[4], S: f32[2], B: i32[4]):\n"
        "    for i in serial(0, 2):\n        S[i] = A[i] + A[i + 2]\n"
        "    for j in serial(0, 4):\n        B[j] = i32(j)\n"
    )
    b = Builder()
    kind = TupleType((tensor_type((2,)), tensor_type((4,), "i32")))
    pair = b.invoke("parts", b.param("x", (4,)), type=kind, name="pair")
    model = compiled(b.finish(b.op("relu", b.item(pair, 0)), b.item(pair, 1)), parts=func)
    found = list(model.run({"x": np.array([1, 2, 3, -9], np.float32)}).values())
    assert [array.tolist() for array in found] == [[4, 0], [0, 1, 2, 3]]


def test_a_model_for_another_machine_can_be_saved_but_not_run(tmp_path: Path) -> None:
    other = "aarch64-unknown-linux-gnu"
    model = irkit.compile(mlp(), target=Target("llvm", triple=other))
    with pytest.raises(IRKitError, match=f"it was made for {other}"):
        model.run({"x": some_input()})
    model.save(tmp_path / "m.irkit")
    with pytest.raises(IRKitError, match=f"it was made for {other}"):
        irkit.load(tmp_path / "m.irkit")


def test_a_process_that_compiles_nothing_can_load_and_run(model: Model, tmp_path: Path) -> None:
    model.save(tmp_path / "m.irkit")
    code = (
        "import irkit, numpy as np\n"
        f"found = irkit.load({str(tmp_path / 'm.irkit')!r}).run({{'x': np.ones((4, 16), 'f4')}})\n"
        f"np.save({str(tmp_path / 'p.npy')!r}, found['p'])\n"
    )
    subprocess.run(
        [sys.executable, "-c", code], check=True, env={"PYTHONPATH": str(ROOT)}, timeout=60
    )
    wanted = model.run({"x": np.ones((4, 16), np.float32)})["p"]
    assert np.array_equal(np.load(tmp_path / "p.npy"), wanted)


def test_the_trace_has_the_graph_first_and_then_each_function(model: Model) -> None:
    trace = model.trace
    levels = [step.level.name for step in trace]
    assert levels == sorted(levels, key="graph".__ne__)
    assert [step.index for step in trace] == list(range(len(trace)))
    kernels = list(dict.fromkeys(call.kernel for call in model.plan.calls))
    assert [name for name in trace.functions if name not in ("", "main")] == kernels
    for name in kernels:
        phases = [step.phase for step in trace if step.function == name]
        assert phases == sorted(phases)


def test_a_saved_trace_has_the_same_steps(model: Model, tmp_path: Path) -> None:
    model.trace.save(tmp_path / "m.trace")
    loaded = Trace.load(tmp_path / "m.trace", (LOOP_LEVEL, GRAPH_LEVEL))
    assert [(s.pass_text, s.function, s.changed) for s in loaded] == [
        (s.pass_text, s.function, s.changed) for s in model.trace
    ]
    assert [step.scripts() for step in loaded] == [step.scripts() for step in model.trace]


def test_a_loaded_model_says_that_it_has_no_trace(model: Model, tmp_path: Path) -> None:
    model.save(tmp_path / "m.irkit")
    with pytest.raises(IRKitError, match="this model has no trace: it was loaded"):
        _ = irkit.load(tmp_path / "m.irkit").trace
