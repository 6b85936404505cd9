"""Models of ONNX with dimensions that only a call decides: one package of irkit for all sizes,
beside ONNX Runtime, which also takes any size.

``/path/with/onnxruntime/python -m benchmarks.native_code.any_size_models [NAME ...]``: small random
weights, one thread each, least times of interleaved runs; the results are compared.
"""

import statistics
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import msgspec
import numpy as np
import onnx

import irkit
from benchmarks.native_code.onnx_nets import NETS, Net
from irkit.runtime import Model, set_num_threads

SECONDS = 1.0


class Ratio(msgspec.Struct, frozen=True):
    """Times at one size. Units: microseconds."""

    size: dict[str, int]
    ours: float
    peer: float
    apart: float

    def __str__(self) -> str:
        sizes = ", ".join(f"{name} {size}" for name, size in self.size.items())
        return (
            f"{sizes}: {self.ours:.0f} us, ONNX Runtime {self.peer:.0f} us, "
            f"{self.peer / self.ours:.2f} times as fast, results {self.apart:.1e} apart"
        )


def _session(model: onnx.ModelProto) -> Any:
    peer = import_module("onnxruntime")
    options = peer.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return peer.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])


def _timed(run: Callable[[], object]) -> float:
    start = time.perf_counter_ns()
    run()
    return (time.perf_counter_ns() - start) * 1e-3


def _apart(ours: Any, peer: Any) -> float:
    if ours.shape != peer.shape:
        return float("inf")
    if not ours.size:
        return 0.0
    return float(np.max(np.abs(ours.astype(np.float64) - peer)) / max(1.0, np.max(np.abs(peer))))


def compare(net: Net, model: Model, session: Any, size: dict[str, int]) -> Ratio:
    """Run both at one size."""
    feeds = net.feeds(size)
    names = [each.name for each in session.get_outputs()]
    ours, peer = model.run(feeds), session.run(names, feeds)
    apart = max(_apart(ours[name], other) for name, other in zip(names, peer, strict=True))
    rows: list[tuple[float, float]] = []
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(rows) < 5:
        rows.append((_timed(lambda: model.run(feeds)), _timed(lambda: session.run(names, feeds))))
    return Ratio(size, min(row[0] for row in rows), min(row[1] for row in rows), apart)


def main(names: list[str] | None = None) -> None:
    set_num_threads(1)
    for name in names or list(NETS):
        net = NETS[name]()
        start = time.perf_counter()
        model = irkit.compile(net.model(), shapes=net.shapes, keep_trace=False)
        took = time.perf_counter() - start
        session = _session(net.model())
        ratios: list[Ratio] = []
        for size in net.sizes:
            ratios.append(compare(net, model, session, size))
            print(f"{name} {ratios[-1]}", flush=True)
        mean = statistics.geometric_mean(each.peer / each.ours for each in ratios)
        worst = min(each.peer / each.ours for each in ratios)
        print(f"{name}: compiled in {took:.1f} s, {mean:.2f} times as fast, at worst {worst:.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
