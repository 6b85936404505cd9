"""Models whose shapes are known at the call only: one program, all sizes."""

import math
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import irkit
from irkit.codegen import ExecutorPlan, TensorPlace, evaluate_sizes
from irkit.core import IRKitError, IRModule, ShapeError
from irkit.graph import Builder, as_dimension
from irkit.ir import Buffer, PrimFunc, Var, evaluate, shape_vars
from irkit.phases import GRAPH
from irkit.phases.executor.planner import make_plan
from irkit.runtime import Model

SIZES = (1, 2, 3, 5, 8, 17, 64)


def weights(*shape: int, seed: int = 0) -> np.ndarray[Any, np.dtype[np.float32]]:
    found = np.random.default_rng(seed + sum(shape)).standard_normal(shape)
    return (found / np.sqrt(shape[-1])).astype(np.float32)


def model(
    nodes: list[onnx.NodeProto],
    inputs: dict[str, list[Any]],
    outputs: dict[str, list[Any]],
    constants: dict[str, Any],
) -> onnx.ModelProto:
    infos = [
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in each.items()]
        for each in (inputs, outputs)
    ]
    tensors = [numpy_helper.from_array(np.asarray(v), n) for n, v in constants.items()]
    graph = helper.make_graph(nodes, "main", infos[0], infos[1], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def mlp() -> onnx.ModelProto:
    return model(
        [
            helper.make_node("Gemm", ["x", "w0", "b0"], ["h"]),
            helper.make_node("Relu", ["h"], ["r"]),
            helper.make_node("Gemm", ["r", "w1", "b1"], ["g"]),
            helper.make_node("Softmax", ["g"], ["y"], axis=-1),
        ],
        {"x": ["N", 20]},
        {"y": ["N", 10]},
        {"w0": weights(20, 32), "b0": weights(32), "w1": weights(32, 10), "b1": weights(10)},
    )


def agree(made: Model, proto: onnx.ModelProto, **shapes: tuple[int, ...]) -> None:
    """Compare a call with onnx.reference, which shares no code with irkit."""
    feeds = {n: weights(*shape, 1).reshape(shape) for n, shape in shapes.items()}
    reference: Any = ReferenceEvaluator(proto)
    wanted: list[Any] = reference.run(None, feeds)
    found = made.run(feeds)
    for array, right in zip(found.values(), wanted, strict=True):
        np.testing.assert_allclose(array, right, rtol=1e-4, atol=1e-5)


@pytest.fixture(scope="module")
def compiled_mlp() -> Model:
    return irkit.compile(mlp(), shapes={"x": ("batch in 1..64", 20)})


def test_one_program_runs_all_sizes(compiled_mlp: Model) -> None:
    for size in SIZES:
        agree(compiled_mlp, mlp(), x=(size, 20))
    assert compiled_mlp.specialisations == ()


def test_a_package_runs_all_sizes(compiled_mlp: Model, tmp_path: Path) -> None:
    compiled_mlp.save(tmp_path / "mlp.irkit")
    loaded = irkit.load(tmp_path / "mlp.irkit")
    for size in (64, 1, 7):
        agree(loaded, mlp(), x=(size, 20))


def test_a_size_outside_its_range_is_refused_and_nothing_is_written(compiled_mlp: Model) -> None:
    out = np.full((65, 10), 7, np.float32)
    for size in (0, 65):
        with pytest.raises(ShapeError, match=rf"of input 'x' is {size}, but 'batch' must be fro"):
            compiled_mlp.run({"x": np.zeros((size, 20), np.float32)}, out={"y": out[:size]})
    assert (out == 7).all()


def test_more_memory_than_the_limit_is_refused_with_the_sizes() -> None:
    made = irkit.compile(mlp(), shapes={"x": ("batch", 20)}, memory_limit=2_000)
    with pytest.raises(ShapeError, match=r"with batch = 64, a call needs \d+ bytes"):
        made.run({"x": np.zeros((64, 20), np.float32)})
    agree(made, mlp(), x=(3, 20))


def cnn() -> onnx.ModelProto:
    return model(
        [
            helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=[1] * 4),
            helper.make_node("Relu", ["c"], ["r"]),
            helper.make_node("MaxPool", ["r"], ["m"], kernel_shape=[2, 2], strides=[2, 2]),
            helper.make_node("Flatten", ["m"], ["f"]),
            helper.make_node("MatMul", ["f", "v"], ["y"]),
        ],
        {"x": ["N", 3, 8, 8]},
        {"y": ["N", 5]},
        {"w": weights(16, 3, 3, 3), "b": weights(16), "v": weights(256, 5)},
    )


def attention(heads: int = 2, width: int = 8) -> onnx.ModelProto:
    """One layer as exporters write it: shapes are computed from those of the inputs."""
    nodes: list[onnx.NodeProto] = []

    def op(kind: str, *inputs: str, name: str = "", **attrs: Any) -> str:
        made = name or f"v{len(nodes)}"
        nodes.append(helper.make_node(kind, list(inputs), [made], **attrs))
        return made

    shape = op("Shape", "x")
    batch, seq = (op("Unsqueeze", op("Gather", shape, at), "a0") for at in ("i0", "i1"))
    split = op("Concat", batch, seq, "heads", "part", axis=0)
    place = op("Slice", "table", "a0", seq, "a0")
    x = op("Add", "x", place)
    q, k, v = (
        op("Transpose", op("Reshape", op("MatMul", x, w), split), perm=perm)
        for w, perm in (("wq", [0, 2, 1, 3]), ("wk", [0, 2, 3, 1]), ("wv", [0, 2, 1, 3]))
    )
    scores = op("Add", op("MatMul", q, k), op("Unsqueeze", "mask", "a12"))
    mixed = op("Transpose", op("MatMul", op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    joined = op("Reshape", mixed, op("Concat", batch, seq, "width", axis=0))
    normal = op("LayerNormalization", op("Add", joined, x), "scale", axis=-1)
    op("Gather", normal, "i0", axis=1, name="first")
    op("Identity", normal, name="hidden")
    numbers = {"a0": [0], "a12": [1, 2], "heads": [heads], "part": [width // heads]}
    return model(
        nodes,
        {"x": ["B", "S", width], "mask": ["B", "S"]},
        {"hidden": ["B", "S", width], "first": ["B", width]},
        {
            **{name: np.array(value, np.int64) for name, value in numbers.items()},
            **{"width": np.array([width], np.int64), "i0": np.int64(0), "i1": np.int64(1)},
            **{name: weights(width, width, seed=at) for at, name in enumerate(("wq", "wk", "wv"))},
            **{"scale": weights(width), "table": weights(32, width)},
        },
    )


@pytest.mark.long
def test_a_convolution_runs_for_any_batch() -> None:
    made = irkit.compile(cnn(), shapes={"x": ("batch in 0..9", 3, 8, 8)})
    for size in range(1, 10):
        agree(made, cnn(), x=(size, 3, 8, 8))
    # The reference cannot flatten nothing.
    assert made.run({"x": np.zeros((0, 3, 8, 8), np.float32)})["y"].shape == (0, 5)


@pytest.mark.long
def test_attention_runs_for_any_batch_and_sequence() -> None:
    shapes = {"x": ("batch", "seq in 1..32", 8), "mask": ("batch", "seq")}
    made = irkit.compile(attention(), shapes=shapes)
    for batch in (1, 2, 3, 7):
        for seq in (1, 2, 3, 8, 17, 32):
            agree(made, attention(), x=(batch, seq, 8), mask=(batch, seq))
    x = np.zeros((2, 3, 8), np.float32)
    with pytest.raises(ShapeError, match="of input 'mask' is 4, but 'seq' is 3, from dimension 1"):
        made.run({"x": x, "mask": np.zeros((2, 4), np.float32)})


def test_what_has_no_range_is_refused_with_the_operator_and_the_remedy() -> None:
    shapes = {"x": ("batch", "seq", 8), "mask": ("batch", "seq")}
    with pytest.raises(ShapeError, match=r"^Add node 'v\d+': .* does not broadcast") as caught:
        irkit.compile(attention(), shapes=shapes)
    assert "or say how large it can be: 'seq in 1..512'" in caught.value.hint


def test_dimensions_are_read_and_printed() -> None:
    assert str(as_dimension(" batch in 1 .. 64")) == "batch in 1..64"
    assert str(as_dimension("batch")) == "batch"
    for text in ("", "2", "a b", "a in 3..", "a in 5..4", f"a in 0..{2**31}", "a in -1..2"):
        with pytest.raises(IRKitError, match="dimension"):
            as_dimension(text)
    with pytest.raises(IRKitError, match=r"two ranges: 'n in 1\.\.4' and 'n in 1\.\.5'"):
        irkit.compile(attention(), shapes={"x": ("n in 1..4", 3, 8), "mask": ("n in 1..5", 3)})


def test_no_call_writes_over_what_is_still_needed_at_any_size() -> None:
    n, m = Var("n"), Var("m")
    b = Builder()
    x = b.param("x", (n, 4))
    y = b.param("y", (m, 4))
    for _ in range(3):
        both = b.op("concat", x, y, axis=0)
        x, y = b.op("exp", b.op("concat", both, x, axis=0)), b.op("relu", both)
    module = GRAPH.without("fuse-ops").run(IRModule({"main": b.finish(x, y)}))
    plan, _ = make_plan(module)
    for sizes in ((0, 0), (0, 9), (1, 1), (3, 100), (100, 3)):
        found = evaluate_sizes(plan.sizes, dict(zip(("n", "m"), sizes, strict=True)))
        assert overlaps(module, plan, found) == []
    moved = [
        msgspec.structs.replace(
            call,
            args=tuple(TensorPlace("arena", 0) if p.kind == "arena" else p for p in call.args),
        )
        for call in plan.calls
    ]
    broken = msgspec.structs.replace(plan, calls=tuple(moved))
    assert overlaps(module, broken, evaluate_sizes(plan.sizes, {"n": 3, "m": 2}))


def overlaps(module: IRModule, plan: ExecutorPlan, sizes: dict[str, int]) -> list[str]:
    """Follow which call wrote each byte of the arena, and list the reads of another's bytes."""
    found: list[str] = []
    arena = np.zeros(sizes[str(plan.arena_bytes)] + 1, np.int64)
    written: dict[TensorPlace, int] = {}
    for number, call in enumerate(plan.calls, 1):
        kernel = module[call.kernel]
        assert isinstance(kernel, PrimFunc)
        known = {
            v: sizes[s] if isinstance(s, str) else s
            for v, s in zip(shape_vars(kernel), call.extents, strict=True)
        }
        buffers = [param for param in kernel.params if isinstance(param, Buffer)]
        scalars = [param for param in kernel.params if isinstance(param, Var)]
        known |= {
            v: sizes[s] if isinstance(s, str) else s
            for v, s in zip(scalars, call.scalars, strict=True)
        }
        outputs = dict(kernel.attrs)["outputs"]
        assert isinstance(outputs, tuple)
        for at, (place, buffer) in enumerate(zip(call.args, buffers, strict=True)):
            if place.kind != "arena":
                continue
            begin = sizes[place.at] if isinstance(place.at, str) else place.at
            count = 4 * math.prod(int(evaluate(dim, known)) for dim in buffer.shape)
            end = begin + count
            if end >= len(arena):
                found.append(f"{call.kernel} leaves the arena")
            elif at + len(scalars) in outputs:
                arena[begin:end] = number
                written[place] = number
            elif count and (arena[begin:end] != written[place]).any():
                found.append(f"call {number} of {call.kernel}")
    return found
