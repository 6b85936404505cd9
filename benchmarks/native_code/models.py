"""Whole models against ONNX Runtime and OpenVINO, batch 1, in one process.

All three run on as many threads as ``IRKIT_NUM_THREADS`` says, or on one. A line gives the median
latencies, their ratios, compile time and memory.
"""

import os
import resource
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

import irkit
from benchmarks.timing import Thunk, in_turn
from irkit.runtime import set_num_threads


def light_model(name: str) -> Path:
    """Return the path of a network that ships inside the onnx package."""
    return Path(onnx.__file__).parent / "backend" / "test" / "data" / "light" / f"light_{name}.onnx"


THREADS = int(os.environ.get("IRKIT_NUM_THREADS", "1"))


Feeds = dict[str, NDArray[Any]]


def _onnxruntime(path: Path, feeds: Feeds) -> Thunk:
    """Return a call of a model in ONNX Runtime; imported late, to stay out of our peak memory."""
    peer: Any = import_module("onnxruntime")
    options = peer.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = peer.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, feeds)


def _openvino(path: Path, feeds: Feeds) -> Thunk:
    """Return a call of a model in OpenVINO, in f32: its default may be bf16."""
    peer: Any = import_module("openvino")
    settings = {
        "INFERENCE_NUM_THREADS": THREADS,
        "NUM_STREAMS": 1,
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32",
    }
    request = peer.Core().compile_model(str(path), "CPU", settings).create_infer_request()
    return lambda: request.infer(feeds)


def measure(name: str, repeats: int = 30) -> str:
    """Compile a network, run it beside ONNX Runtime and OpenVINO, and say how they compare."""
    path = light_model(name)
    start = time.perf_counter()
    model = irkit.compile(str(path))
    compile_seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rng = np.random.default_rng(0)
    feeds = {spec.name: rng.random(spec.extents, dtype=np.float32) for spec in model.plan.inputs}
    runs = {
        "ONNX Runtime": _onnxruntime(path, feeds),
        "OpenVINO": _openvino(path, feeds),
    }
    ours, *peers = in_turn(lambda: model.run(feeds), *runs.values(), repeats=repeats)
    beside = ", ".join(
        f"{peer} {median * 1e3:.2f} ms (ratio {ratio:.2f})"
        for peer, (median, ratio) in zip(runs, peers, strict=True)
    )
    return (
        f"{name}: {ours[0] * 1e3:.2f} ms, {beside}; "
        f"compiled in {compile_seconds:.1f} s, peak {peak:.0f} MB"
    )


def main() -> None:
    """Print a line for each network; ``IRKIT_MODELS`` names others than squeezenet."""
    os.environ["IRKIT_CACHE"] = "0"
    set_num_threads(THREADS)
    for name in os.environ.get("IRKIT_MODELS", "squeezenet").split(","):
        print(measure(name))


if __name__ == "__main__":
    main()
