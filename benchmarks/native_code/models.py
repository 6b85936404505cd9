"""Whole models against ONNX Runtime and OpenVINO, batch 1, in one process.

All three run on as many threads as ``IRKIT_NUM_THREADS`` says, or on one. A line gives the median
latencies, their ratios, compile time and memory.
"""

import os
import resource
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

import irkit
from benchmarks.native_code.onnx_nets import Net, bert, mlp
from benchmarks.timing import Thunk, in_turn
from irkit.runtime import set_num_threads


def light_model(name: str) -> Path:
    """Return the path of a network that ships inside the onnx package."""
    return Path(onnx.__file__).parent / "backend" / "test" / "data" / "light" / f"light_{name}.onnx"


NETS: dict[str, Callable[[], Net]] = {
    "mlp": lambda: mlp(784, 256, 10).at(batch=1),
    "alexnet_layers": lambda: mlp(9216, 4096, 4096, 1000).at(batch=1),
    "vgg19_layers": lambda: mlp(25088, 4096, 4096, 1000).at(batch=1),
    "bert": lambda: bert(layers=1, width=768, heads=12).at(batch=1, seq=128),
}
"""Networks of random weights: a small one, the fully connected layers of two, and a layer of an
encoder."""

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


def _check(found: dict[str, NDArray[Any]], wanted: Any) -> None:
    """Raise AssertionError if two results differ by more than f32 may."""
    for ours, theirs in zip(found.values(), wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4 * np.abs(theirs).max())


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


def _drawn(name: str, folder: Path) -> tuple[Path, Feeds]:
    """Write a network of random weights to a file; return its path, and inputs."""
    net, path = NETS[name](), folder / f"{name}.onnx"
    path.write_bytes(net.model().SerializeToString())
    return path, net.feeds({})


def _repeated(run: Thunk, calls: int) -> Thunk:
    """Return a row of calls."""
    return run if calls == 1 else lambda: [run() for _ in range(calls)]


def measure(name: str, folder: Path) -> str:
    """Compile a network, run it beside ONNX Runtime and OpenVINO, and say how they compare.

    A round of a network of microseconds is a row of calls, lest each finds the caches of another.
    """
    calls = 200 if name == "mlp" else 1
    path, feeds = _drawn(name, folder) if name in NETS else (light_model(name), {})
    start = time.perf_counter()
    model = irkit.compile(str(path))
    compile_seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rng = np.random.default_rng(0)
    feeds = feeds or {
        spec.name: rng.random(spec.extents, dtype=np.float32) for spec in model.plan.inputs
    }
    runs = {
        "ONNX Runtime": _onnxruntime(path, feeds),
        "OpenVINO": _openvino(path, feeds),
    }
    contestants = [_repeated(run, calls) for run in (lambda: model.run(feeds), *runs.values())]
    times = in_turn(*contestants, repeats=30, pause=0.02 if THREADS > 1 else 0.0)
    ours, *peers = ((median / calls, ratio) for median, ratio in times)
    _check(model.run(feeds), runs["ONNX Runtime"]())
    beside = ", ".join(
        f"{peer} {median * 1e3:.4g} ms (ratio {ratio:.2f})"
        for peer, (median, ratio) in zip(runs, peers, strict=True)
    )
    return (
        f"{name}: {ours[0] * 1e3:.4g} ms, {beside}; "
        f"compiled in {compile_seconds:.1f} s, peak {peak:.0f} MB"
    )


def main() -> None:
    """Print a line for each network; ``IRKIT_MODELS`` names others than squeezenet."""
    os.environ["IRKIT_CACHE"] = "0"
    set_num_threads(THREADS)
    for name in os.environ.get("IRKIT_MODELS", "squeezenet").split(","):
        with tempfile.TemporaryDirectory() as folder:
            print(measure(name, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
