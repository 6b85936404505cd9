"""Products of a few rows by large matrices of weights, as decoders have them.

``/path/with/onnxruntime/python -m benchmarks.native_code.weight_products --kinds int4 int8 f32
--threads 1 2``: each matrix is multiplied in irkit and in ONNX Runtime in turn, in one process, by
1, 4 and 8 rows. A model has as many matrices as fill ``--megabytes``, so that they come from memory
as in a network, or one (``--warm``). Gigabytes are those of weights alone, without scales; the
first column is a plain loop of irkit's that reads as many bytes. ``layer`` is one step of a layer
like Llama's, with weights of 4 bits.
"""

import argparse
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto
from onnx.helper import make_graph, make_model, make_node, make_opsetid, make_tensor_value_info
from onnx.numpy_helper import from_array

import irkit
from benchmarks.native_code.llama_layer import llama_layer
from benchmarks.timing import in_turn
from irkit import te
from irkit.runtime import set_num_threads

KINDS = ("int4", "int4-zeros", "int8", "f32", "f16")
SHAPES = ("4096x4096", "4096x11008")
BLOCK = 32
CALLS = 4
"""Calls in a row: threads of the others are asleep by then, and one's own awake."""
_DOMAIN = "com.microsoft"
_BYTES = {"int4": 0.5, "int4-zeros": 0.5, "int8": 1.0, "f32": 4.0, "f16": 2.0}


def product_model(kind: str, rows: int, inner: int, columns: int, count: int) -> onnx.ModelProto:
    """Return a model that multiplies its input by several matrices."""
    rng = np.random.default_rng(0)
    nodes: list[onnx.NodeProto] = []
    constants: dict[str, NDArray[Any]] = {}
    for at in range(count):
        made, given = _product(kind, rng, inner, columns, at)
        nodes += made
        constants |= given
    element = TensorProto.FLOAT16 if kind == "f16" else TensorProto.FLOAT
    graph = make_graph(
        nodes,
        "products",
        [make_tensor_value_info("x", element, [rows, inner])],
        [make_tensor_value_info(f"y{at}", element, [rows, columns]) for at in range(count)],
        [from_array(array, name) for name, array in constants.items()],
    )
    opsets = [make_opsetid("", 21), make_opsetid(_DOMAIN, 1)]
    return make_model(graph, opset_imports=opsets, ir_version=10)


def _product(
    kind: str, rng: np.random.Generator, inner: int, columns: int, at: int
) -> tuple[list[onnx.NodeProto], dict[str, NDArray[Any]]]:
    w, s, z, y = (f"{name}{at}" for name in "wszy")
    if kind in ("f32", "f16"):
        weights = rng.random((inner, columns), dtype=np.float32) - 0.5
        kept = weights.astype(np.float16) if kind == "f16" else weights
        return [make_node("MatMul", ["x", w], [y])], {w: kept}
    if kind == "int8":
        given = {
            w: rng.integers(-128, 128, (inner, columns), dtype=np.int8),
            s: rng.random(columns, dtype=np.float32),
        }
        wide = make_node("DequantizeLinear", [w, s], [f"d{at}"], axis=1)
        return [wide, make_node("MatMul", ["x", f"d{at}"], [y])], given
    blocks = inner // BLOCK
    given = {
        w: rng.integers(0, 256, (columns, blocks, BLOCK // 2), dtype=np.uint8),
        s: rng.random(columns * blocks, dtype=np.float32),
    }
    if kind == "int4-zeros":
        given[z] = rng.integers(0, 256, columns * -(-blocks // 2), dtype=np.uint8)
    sizes: dict[str, Any] = {
        "K": inner,
        "N": columns,
        "bits": 4,
        "block_size": BLOCK,
        "accuracy_level": 1,
    }
    return [make_node("MatMulNBits", ["x", *given], [y], domain=_DOMAIN, **sizes)], given


def reading(size: int) -> Any:
    """Return a call of a loop that adds so many bytes, as integers, on all threads."""
    rows, steps = 64, size // 4 // 64
    words = te.placeholder((rows, steps), name="words", dtype="int32")
    step = te.reduce_axis((0, steps), name="step")
    total = te.compute((rows,), lambda row: te.sum(words[row, step], axis=step), name="total")
    kernel = irkit.build(te.create_prim_func([words, total], name="read"))
    given, found = np.ones((rows, steps), np.int32), np.zeros(rows, np.int32)
    return lambda: kernel(given, found)


def measure(
    name: str, model: onnx.ModelProto, size: float, threads: int, repeats: int
) -> tuple[list[float], float]:
    """Return the medians of the reading loop, irkit and ONNX Runtime, in seconds, and by how much
    of the largest result the two are apart."""
    set_num_threads(threads)
    peer: Any = import_module("onnxruntime")
    options = peer.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = peer.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    ours = irkit.compile(model, keep_trace=False)
    rng = np.random.default_rng(1)
    feeds = {
        each.name: rng.standard_normal([d.dim_value for d in each.type.tensor_type.shape.dim])
        for each in model.graph.input
    }
    kinds = {each.name: each.type.tensor_type.elem_type for each in model.graph.input}
    feeds = {
        key: array.astype(np.float16 if kinds[key] == TensorProto.FLOAT16 else np.float32)
        for key, array in feeds.items()
    }
    results, wanted = ours.run(feeds), session.run(None, feeds)
    out = {key: np.empty_like(each) for key, each in results.items()}
    first = next(iter(results.values())).astype(np.float64)
    apart = float(np.abs(first - wanted[0]).max() / np.abs(wanted[0]).max())
    read = reading(int(size))
    times = in_turn(
        _in_a_row(lambda: ours.run(feeds, out=out)),
        _in_a_row(lambda: session.run(None, feeds)),
        _in_a_row(read),
        repeats=repeats,
        pause=0.05,
    )
    return [times[at][0] / CALLS for at in (2, 0, 1)], apart


def _in_a_row(run: Callable[[], object]) -> Callable[[], object]:
    """Return several calls as one, of which only the first has to wake threads."""

    def several() -> None:
        for _ in range(CALLS):
            run()

    return several


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure products, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", nargs="+", default=["int4", "layer"])
    parser.add_argument("--shapes", nargs="+", default=SHAPES)
    parser.add_argument("--rows", nargs="+", type=int, default=[1, 4, 8])
    parser.add_argument("--threads", nargs="+", type=int, default=[1])
    parser.add_argument("--megabytes", type=float, default=128)
    parser.add_argument("--warm", action="store_true", help="one matrix, that a cache may hold")
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args(arguments)
    print("| weights | rows | threads | read, GB/s | irkit | ONNX Runtime | apart |")
    print("|---|---|---|---|---|---|---|")
    for kind in options.kinds:
        for shape in ["2048"] if kind == "layer" else options.shapes:
            for rows in options.rows:
                if kind == "layer":
                    model, size = llama_layer(rows)
                else:
                    inner, columns = (int(part) for part in shape.split("x"))
                    one = inner * columns * _BYTES[kind]
                    count = 1 if options.warm else max(1, round(options.megabytes * 1e6 / one))
                    model, size = product_model(kind, rows, inner, columns, count), count * one
                for threads in options.threads:
                    times, apart = measure(kind, model, size, threads, options.repeats)
                    shown = " | ".join(f"{size / each * 1e-9:.1f}" for each in times)
                    name = f"{kind} {shape}"
                    print(f"| {name} | {rows} | {threads} | {shown} | {apart:.1e} |", flush=True)


if __name__ == "__main__":
    main()
