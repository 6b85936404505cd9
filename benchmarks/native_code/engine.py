"""One engine with one model, in a process of its own, which runs it when it is told to.

``python -m benchmarks.native_code.engine ENGINE MODEL THREADS`` prints a line when it is ready, and
then, for each number it reads, the median seconds of that many runs.
"""

import os
import statistics
import sys
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Thunk, once

Feeds = dict[str, NDArray[Any]]
ENGINES = ("irkit", "onnxruntime", "openvino")


def main() -> None:
    """Serve one engine until the end of the input."""
    name, path, threads = sys.argv[1:4]
    run = {"irkit": irkit_run, "onnxruntime": onnxruntime_run, "openvino": openvino_run}[name](
        path, int(threads)
    )
    for _ in range(3):
        run()
    print("ready", flush=True)
    for line in sys.stdin:
        print(statistics.median(once(run) for _ in range(int(line))), flush=True)


def irkit_run(path: str, threads: int) -> Thunk:
    """Return a call of a model compiled by irkit."""
    os.environ["IRKIT_NUM_THREADS"] = str(threads)
    irkit: Any = import_module("irkit")
    model = irkit.compile(path)
    feeds = drawn_feeds({spec.name: spec.extents for spec in model.plan.inputs})
    return lambda: model.run(feeds)


def onnxruntime_run(path: str, threads: int) -> Thunk:
    """Return a call of a model in ONNX Runtime, with all optimisations, which are its default."""
    peer: Any = import_module("onnxruntime")
    options = peer.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = peer.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    feeds = drawn_feeds({each.name: each.shape for each in session.get_inputs()})
    return lambda: session.run(None, feeds)


def openvino_run(path: str, threads: int) -> Thunk:
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
    feeds = drawn_feeds({each.any_name: tuple(each.shape) for each in compiled.inputs})
    return lambda: request.infer(feeds)


def drawn_feeds(shapes: dict[str, Any]) -> Feeds:
    """Draw inputs: random fractions."""
    rng = np.random.default_rng(0)
    return {name: rng.random(shape, dtype=np.float32) for name, shape in shapes.items()}


if __name__ == "__main__":
    main()
