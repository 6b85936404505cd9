"""Single layers against ONNX Runtime and OpenVINO, in processes that run in turn.

``python -m benchmarks.native_code.layers`` with names, or parts of names, of layers; without any,
all of them; ``--list`` prints the names. A layer is measured in a chain of several, each with
weights of its own, between two conversions of layouts at most, as it stands in a network. With
``--cold``, so many layers that their weights do not stay in a cache. Times are of one layer, in us;
the ratio is that of irkit to the faster peer. ``direct`` and ``F4`` are irkit without Winograd's
tiles, and with those of 4 x 4.
"""

import argparse
import statistics
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.native_code.onnx_nets import Net
from benchmarks.native_code.peer_rounds import Engine, rounds_of

COUNT, FEWEST = 8, 3
"""Layers of a chain; of layers that take long, fewer."""
COLD = 96 << 20
"""Bytes of weights that no cache keeps."""
Layer = Callable[[Net, str], str]


class Chain:
    """A layer between tensors of one shape, with the weights that one has, in bytes."""

    def __init__(self, shape: tuple[int, ...], layer: Layer, weights: int = 0) -> None:
        self.shape, self.layer, self.weights = shape, layer, weights

    def net(self, count: int) -> Net:
        """Return some of the layers, one after the other."""
        net = Net()
        x = net.input("x", *self.shape)
        for _ in range(count):
            x = self.layer(net, x)
        net.outputs = [x]
        return net

    def count(self, cold: bool) -> int:
        """Return how many layers are measured together."""
        if cold and self.weights:
            return max(COUNT, -(-COLD // self.weights))
        return COUNT if np.prod(self.shape) < 1 << 20 else FEWEST


def conv(net: Net, x: str, shape: tuple[int, ...], groups: int = 1) -> str:
    """Convolve, with as much padding as keeps the size."""
    pads = [extent // 2 for extent in shape[2:]] * 2
    return net.op("Conv", x, net.weight(*shape), net.weight(shape[0]), group=groups, pads=pads)


def relu_conv(net: Net, x: str, shape: tuple[int, ...], groups: int) -> str:
    return net.op("Relu", conv(net, x, shape, groups))


def bottleneck(net: Net, x: str, many: int, few: int) -> str:
    """Convolve to few channels and back, by filters of one element."""
    return conv(net, conv(net, x, (few, many, 1, 1)), (many, few, 1, 1))


def shuffled(net: Net, x: str, channels: int, size: int, groups: int) -> str:
    """Convolve in groups, and shuffle the channels of groups."""
    made = conv(net, x, (channels, channels // groups, 1, 1), groups)
    apart = net.constant(np.array([1, groups, channels // groups, size, size]))
    whole = net.constant(np.array([1, channels, size, size]))
    turned = net.op("Transpose", net.op("Reshape", made, apart), perm=[0, 2, 1, 3, 4])
    return net.op("Reshape", turned, whole)


def pool(net: Net, x: str, kind: str) -> str:
    return net.op(kind, x, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])


def lrn(net: Net, x: str) -> str:
    return net.op("LRN", x, size=5, alpha=1e-4, beta=0.75)


def _convolutions(kernel: int, groups: int, *sizes: tuple[int, int]) -> dict[str, Chain]:
    """Return chains of convolutions, by channels and size; with 0 groups, of each channel alone."""
    made: dict[str, Chain] = {}
    for channels, size in sizes:
        count = groups or channels
        shape = (channels, channels // count, kernel, kernel)
        name = f"{kernel}x{kernel}" + (
            f"/{groups}" if groups > 1 else "" if groups else "-depthwise"
        )
        layer = partial(relu_conv, shape=shape, groups=count)
        weights = 4 * int(np.prod(shape))
        made[f"{name} {channels}@{size}"] = Chain((1, channels, size, size), layer, weights)
    return made


LAYERS: dict[str, Chain] = {
    **_convolutions(
        3, 1, (64, 56), (128, 28), (256, 14), (512, 7), (64, 224), (256, 56), (512, 14)
    ),
    **{
        f"1x1 {many}-{few}@{size}": Chain(
            (1, many, size, size), partial(bottleneck, many=many, few=few), 8 * many * few
        )
        for many, few, size in ((256, 64, 56), (512, 128, 28), (1024, 256, 14), (2048, 512, 7))
    },
    **_convolutions(3, 0, (144, 56), (192, 28), (384, 14), (960, 7)),
    **_convolutions(5, 0, (240, 14)),
    **_convolutions(3, 32, (128, 56), (256, 28), (512, 14), (1024, 7)),
    **_convolutions(1, 4, (136, 28), (272, 14), (544, 7)),
    **{
        f"shuffle/4 {channels}@{size}": Chain(
            (1, channels, size, size),
            partial(shuffled, channels=channels, size=size, groups=4),
            channels * channels,
        )
        for channels, size in ((136, 28), (272, 14))
    },
    **{
        f"{kind} {channels}@{size}": Chain((1, channels, size, size), partial(pool, kind=kind))
        for kind in ("MaxPool", "AveragePool")
        for channels, size in ((64, 112), (192, 28))
    },
    **{f"LRN {channels}@56": Chain((1, channels, 56, 56), lrn) for channels in (64, 192)},
}
ENGINES = ("irkit", "onnxruntime", "openvino")
VARIANTS = ("irkit_direct", "irkit_f4")


def measure(name: str, chain: Chain, threads: int, rounds: int, cold: bool) -> str:
    """Run a chain in all engines in turn, and return a row of the table."""
    count = chain.count(cold)
    names = (*ENGINES, *(VARIANTS if name.startswith("3x3 ") else ()))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "layer.onnx"
        path.write_bytes(chain.net(count).model().SerializeToString())
        engines = [Engine(each, path, threads, Path(folder)) for each in names]
        results = [np.load(engine.result) for engine in engines[:2]]
        times = rounds_of(engines, rounds)
        for engine in engines:
            engine.close()
    apart = float(np.abs(results[0] - results[1]).max() / max(np.abs(results[1]).max(), 1e-30))
    ratio = statistics.median(found[0] / min(found[1:3]) for found in times)
    medians = [statistics.median(each) * 1e6 / count for each in zip(*times, strict=True)]
    shown = [f"{each:.1f}" for each in medians] + [""] * (5 - len(medians))
    row = f"| {name} | {threads} | {' | '.join(shown)} | {ratio:.2f} |"
    print(f"{row} results differ by {apart:.2g}", flush=True)
    return row


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure layers, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--threads", nargs="+", type=int, default=[1])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    chosen = {
        name: chain
        for name, chain in LAYERS.items()
        if not options.names or any(each in name for each in options.names)
    }
    if options.list or not chosen:
        print("\n".join(LAYERS))
        return
    rows = [
        measure(name, chain, threads, options.rounds, options.cold)
        for name, chain in chosen.items()
        for threads in options.threads
    ]
    print("| layer | threads | irkit, us | ONNX Runtime | OpenVINO | direct | F4 | ratio |")
    print("|---|---|---|---|---|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
