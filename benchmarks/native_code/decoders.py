"""Decoders of PyTorch that write into caches, one token at a time, in irkit and in PyTorch.

``/path/with/torch/python -m benchmarks.native_code.decoders [gpt_decoder llama_decoder]``: width
256, 4 layers, 4 heads, one thread each; 32 tokens into caches of each capacity. Results are
compared with PyTorch's. Bytes are those that a token writes to the caches, and the largest result
of a kernel that only moves what is in them.
"""

import statistics
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

import irkit
from irkit.core import IRModule
from irkit.frontend.torch import import_torch
from irkit.graph import GraphFunc
from irkit.runtime import Model, set_num_threads

TOKENS = 32
CAPACITIES = (64, 256, 1024, 4096)
NAMES = ("gpt_decoder", "llama_decoder")
HOW = {"size": 256, "layers": 4, "heads": 4}


def _caches(module: IRModule) -> Sequence[str]:
    main = module["main"]
    assert isinstance(main, GraphFunc)
    found = dict(main.attrs)["mutations"]
    assert isinstance(found, tuple)
    return [str(name) for name in found]


def _state_bytes(model: Model) -> int:
    """Return the bytes that a token writes to the caches."""
    rows = [call.kernel for call in model.plan.calls if call.kernel.startswith("store_rows")]
    return sum(model.plan.work[kernel].stored for kernel in rows)


def decode(name: str, capacity: int) -> None:
    torch: Any = import_module("torch")
    decoders: Any = import_module("tests.frontend.torch.torch_decoders")
    torch.set_num_threads(1)
    peer = decoders.decoder(name, capacity=capacity, **HOW)
    exported = decoders.exported_decoder(name, capacity=capacity, **HOW)
    module = import_torch(exported)
    names = _caches(module)
    model = irkit.compile(module, state={each: each for each in names}, keep_trace=False)
    specs = {spec.name: spec for spec in model.plan.inputs}
    caches = {each: np.zeros(specs[each].extents, np.float32) for each in names}
    ours: list[float] = []
    others: list[float] = []
    apart = 0.0
    with torch.no_grad():
        for place in range(TOKENS):
            at = capacity - TOKENS + place  # The caches are as good as full.
            token, position = np.array([[place % 16]]), np.array([at])
            start = time.perf_counter_ns()
            found = model.run({"token": token, "position": position, **caches})
            ours.append((time.perf_counter_ns() - start) * 1e-3)
            start = time.perf_counter_ns()
            wanted = peer(torch.from_numpy(token), torch.from_numpy(position))
            others.append((time.perf_counter_ns() - start) * 1e-3)
            apart = max(apart, float(np.max(np.abs(next(iter(found.values())) - wanted.numpy()))))
    size = sum(cache.nbytes for cache in caches.values())
    mine, other = statistics.median(ours), statistics.median(others)
    print(
        f"{name}, capacity {capacity}: {mine:.0f} us a token, PyTorch {other:.0f} us, "
        f"{other / mine:.1f} times as fast, {apart:.1e} apart; caches of {size / 1e6:.1f} MB, "
        f"{_state_bytes(model)} bytes written a token, {len(model.plan.copies)} copies",
        flush=True,
    )


def main(names: list[str] | None = None) -> None:
    set_num_threads(1)
    for name in names or NAMES:
        for capacity in CAPACITIES:
            decode(name, capacity)


if __name__ == "__main__":
    main(sys.argv[1:])
