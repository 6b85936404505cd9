"""Whole models against ONNX Runtime: latency ratio, compile time and memory.

Batch 1, both in one process, on ``IRKIT_NUM_THREADS`` threads (default 1).
"""

import os
import resource
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx

import irkit
from benchmarks.timing import paired
from irkit.runtime import set_num_threads


def light_model(name: str) -> Path:
    """Return the path of a network that ships inside the onnx package."""
    return Path(onnx.__file__).parent / "backend" / "test" / "data" / "light" / f"light_{name}.onnx"


THREADS = int(os.environ.get("IRKIT_NUM_THREADS", "1"))


def _onnxruntime(path: Path) -> Any:
    """Open a model in ONNX Runtime; imported late, to stay out of our peak memory."""
    peer: Any = import_module("onnxruntime")
    options = peer.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return peer.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def measure(name: str, repeats: int = 30) -> str:
    """Compile a network, run it in turn with ONNX Runtime, and return a line that compares them."""
    path = light_model(name)
    start = time.perf_counter()
    model = irkit.compile(str(path))
    compile_seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rng = np.random.default_rng(0)
    feeds = {spec.name: rng.random(spec.shape, dtype=np.float32) for spec in model.plan.inputs}
    session = _onnxruntime(path)
    ours, peer, ratio = paired(
        lambda: model.run(feeds), lambda: session.run(None, feeds), repeats=repeats
    )
    return (
        f"{name}: {ours * 1e3:.2f} ms, ONNX Runtime {peer * 1e3:.2f} ms, ratio {ratio:.2f}; "
        f"compiled in {compile_seconds:.1f} s, peak {peak:.0f} MB"
    )


def main() -> None:
    """Print a line for each network: squeezenet, or those in ``IRKIT_MODELS``."""
    os.environ["IRKIT_CACHE"] = "0"
    set_num_threads(THREADS)
    for name in os.environ.get("IRKIT_MODELS", "squeezenet").split(","):
        print(measure(name))


if __name__ == "__main__":
    main()
