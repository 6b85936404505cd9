"""A decoder with the layout of GPT-2, in ONNX with its caches joined by Concat: irkit, which
appends rows in place, beside ONNX Runtime, which returns the longer caches.

``/path/with/onnxruntime/python -m benchmarks.native_code.concat_decoder [CAPACITY ...]``: width
256, 4 layers, 4 heads, small random weights, one thread each; 32 tokens at the end of caches of
each capacity. Medians; the logits are compared.
"""

import statistics
import sys
import time
from importlib import import_module
from typing import Any

import numpy as np

import irkit
from benchmarks.native_code.onnx_nets import INT, Net
from irkit.runtime import set_num_threads

TOKENS = 32
CAPACITIES = (64, 256, 1024, 4096)
WIDTH, LAYERS, HEADS, WORDS = 256, 4, 4, 1000
HEAD = WIDTH // HEADS


def decoder(capacity: int) -> tuple[Net, dict[str, str]]:
    """Return the network of one token, and the output that each cache grows to."""
    net, grown = Net(), dict[str, str]()
    token = net.input("token", 1, 1, kind=INT, below=WORDS)
    place = net.input("place", 1, 1, kind=INT, below=capacity)

    def norm(x: str) -> str:
        return net.op("LayerNormalization", x, net.weight(WIDTH), net.weight(WIDTH), axis=-1)

    def dense(x: str, before: int, after: int) -> str:
        return net.op("Add", net.op("MatMul", x, net.weight(before, after)), net.weight(after))

    def heads(x: str, perm: list[int]) -> str:
        shape = net.constant(np.array([1, 1, HEADS, HEAD]))
        return net.op("Transpose", net.op("Reshape", x, shape), perm=perm)

    def cache(name: str, rows: str) -> str:
        past = net.input(name, 1, HEADS, f"past in 0..{capacity}", HEAD)
        grown[past] = net.op("Concat", past, rows, axis=2)
        return grown[past]

    words = net.weight(WORDS, WIDTH)
    x = net.op(
        "Add", net.op("Gather", words, token), net.op("Gather", net.weight(capacity, WIDTH), place)
    )
    for layer in range(LAYERS):
        h = norm(x)
        q, k, v = (heads(dense(h, WIDTH, WIDTH), [0, 2, 1, 3]) for _ in range(3))
        keys, values = cache(f"keys{layer}", k), cache(f"values{layer}", v)
        scores = net.op("MatMul", q, net.op("Transpose", keys, perm=[0, 1, 3, 2]))
        scale = net.constant(np.float32(HEAD**-0.5))
        mixed = net.op("MatMul", net.op("Softmax", net.op("Mul", scores, scale), axis=-1), values)
        joined = net.op("Transpose", mixed, perm=[0, 2, 1, 3])
        joined = net.op("Reshape", joined, net.constant(np.array([1, 1, WIDTH])))
        x = net.op("Add", x, dense(joined, WIDTH, WIDTH))
        inner = net.op("Gelu", dense(norm(x), WIDTH, 4 * WIDTH), approximate="tanh")
        x = net.op("Add", x, dense(inner, 4 * WIDTH, WIDTH))
    logits = net.op("MatMul", norm(x), net.op("Transpose", words, perm=[1, 0]))
    net.outputs = [logits, *grown.values()]
    return net, grown


def decode(capacity: int) -> None:
    net, grown = decoder(capacity)
    proto = net.model()
    state = {past: (present, 2, capacity) for past, present in grown.items()}
    model = irkit.compile(proto, shapes=net.shapes, state=state, keep_trace=False)
    peer: Any = import_module("onnxruntime")
    options = peer.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = peer.InferenceSession(proto.SerializeToString(), options, ["CPUExecutionProvider"])
    length, rng = capacity - TOKENS, np.random.default_rng(0)
    others = {n: rng.standard_normal((1, HEADS, length, HEAD)).astype("f4") for n in grown}
    caches: dict[str, Any] = {}
    for name, rows in others.items():
        room = np.zeros((1, HEADS, capacity, HEAD), np.float32)
        room[:, :, :length] = rows
        caches[name] = irkit.Cache(room, length)
    times: list[tuple[float, float]] = []
    apart = 0.0
    for place in range(length, capacity):
        feeds = {"token": rng.integers(0, WORDS, (1, 1)), "place": np.array([[place]])}
        start = time.perf_counter_ns()
        ours = model.run({**feeds, **caches})[net.outputs[0]]
        middle = time.perf_counter_ns()
        wanted, *longer = session.run(net.outputs, {**feeds, **others})
        times.append((middle - start, time.perf_counter_ns() - middle))
        others = dict(zip(grown, longer, strict=True))
        apart = max(apart, float(np.max(np.abs(ours - wanted)) / np.max(np.abs(wanted))))
    mine, theirs = (statistics.median(row[at] for row in times) * 1e-3 for at in (0, 1))
    print(
        f"capacity {capacity}: {mine:.0f} us a token, ONNX Runtime {theirs:.0f} us, "
        f"{theirs / mine:.2f} times as fast, results {apart:.1e} apart",
        flush=True,
    )


if __name__ == "__main__":
    set_num_threads(1)
    for each in [int(text) for text in sys.argv[1:]] or CAPACITIES:
        decode(each)
