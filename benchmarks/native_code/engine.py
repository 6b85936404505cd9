"""One engine with one model, in a process of its own, which runs it when it is told to.

``python -m benchmarks.native_code.engine ENGINE MODEL THREADS RESULT`` saves its first result to a
file, prints a line when it is ready, and then, for each number it reads, the median seconds of that
many runs.
"""

import os
import statistics
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from benchmarks.timing import once

Feeds = dict[str, NDArray[Any]]
Run = Callable[[], Any]
ENGINES = ("irkit", "onnxruntime", "openvino")


def main() -> None:
    """Serve one engine until the end of the input."""
    name, path, threads, result = sys.argv[1:5]
    run = _MAKERS[name](path, drawn_feeds(path), int(threads))
    np.save(result, _first(run()))
    for _ in range(2):
        run()
    print("ready", flush=True)
    for line in sys.stdin:
        print(statistics.median(once(run) for _ in range(int(line))), flush=True)


def irkit_run(path: str, feeds: Feeds, threads: int, **options: Any) -> Run:
    """Return a call of a model compiled by irkit."""
    os.environ["IRKIT_NUM_THREADS"] = str(threads)
    irkit: Any = import_module("irkit")
    model = irkit.compile(path, **options)
    return lambda: model.run(feeds)


def irkit_direct_run(path: str, feeds: Feeds, threads: int) -> Run:
    """Return a call of a model whose convolutions are sums of products."""
    graph: Any = import_module("irkit.phases").GRAPH
    return irkit_run(path, feeds, threads, graph_pipeline=graph.without("use-winograd"))


def onnxruntime_run(path: str, feeds: Feeds, threads: int) -> Run:
    """Return a call of a model in ONNX Runtime, with all optimisations, which are its default."""
    peer: Any = import_module("onnxruntime")
    options = peer.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = peer.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, feeds)


def openvino_run(path: str, feeds: Feeds, threads: int) -> Run:
    """Return a call of a model in OpenVINO, in f32, which its default may not be."""
    peer: Any = import_module("openvino")
    settings = {
        "INFERENCE_NUM_THREADS": threads,
        "NUM_STREAMS": 1,
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32",
    }
    compiled = peer.Core().compile_model(path, "CPU", settings)
    request = compiled.create_infer_request()
    return lambda: request.infer(feeds)


_MAKERS: dict[str, Callable[[str, Feeds, int], Run]] = {
    "irkit": irkit_run,
    "irkit_direct": irkit_direct_run,
    "irkit_f4": partial(irkit_run, tolerance=1.0),
    "onnxruntime": onnxruntime_run,
    "openvino": openvino_run,
}


def drawn_feeds(path: str) -> Feeds:
    """Draw inputs of a model: random fractions, and integers below 2."""
    graph = onnx.ModelProto.FromString(Path(path).read_bytes()).graph
    rng, weights = np.random.default_rng(0), {each.name for each in graph.initializer}
    feeds: Feeds = {}
    for each in graph.input:
        kind = each.type.tensor_type
        shape = [dim.dim_value for dim in kind.shape.dim]
        if each.name in weights:
            continue
        if kind.elem_type == onnx.TensorProto.FLOAT:
            feeds[each.name] = rng.random(shape, dtype=np.float32)
        else:
            feeds[each.name] = rng.integers(0, 2, shape, dtype=np.int64)
    return feeds


def _first(results: Any) -> NDArray[Any]:
    values = results.values() if hasattr(results, "values") else results
    return np.asarray(next(iter(values)))


if __name__ == "__main__":
    main()
