"""Small convolutional networks, drawn at random."""

import numpy as np

from irkit.fuzz.picks import Picks
from irkit.graph import Builder, GraphFunc, Value, extents_of
from irkit.ir import Var

_CHANNELS = (8, 5, 4, 9, 3, 1)


class ConvGraph:
    """A network of convolutions, and of all that may stand between them."""

    def __init__(self, picks: Picks) -> None:
        self.picks = picks
        self.rng = np.random.default_rng(picks.below(1 << 16))
        self.b = Builder("main")
        batch = Var("n") if picks.one_in(4) else picks.pick((1, 2))
        shape = (batch, picks.pick(_CHANNELS), *(picks.pick((6, 5, 7)) for _ in range(2)))
        self.held = [self.b.param("x", shape)]

    def draw(self) -> GraphFunc:
        steps = (self.conv, self.unary, self.vector, self.added, self.pooled, self.joined)
        rare = (self.depthwise, self.padded, self.part, self.reduced, self.gated)
        rare += (self.grouped, self.grouped, self.shuffled, self.shuffled, self.normalised)
        self.held.append(self.conv())
        for _ in range(2 + self.picks.below(5)):
            made = self.picks.pick(rare if self.picks.one_in(3) else steps)()
            if made is not None:
                self.held.append(made)
        others = [self.held[-2]] if self.picks.one_in(4) and len(self.held) > 2 else []
        return self.b.finish(self.held[-1], *others)

    def numbers(self, *shape: int) -> Value:
        return self.b.constant(self.rng.uniform(-1, 1, shape).astype(np.float32))

    def value(self) -> Value:
        return self.held[-1 - (self.picks.below(2) if len(self.held) > 1 else 0)]

    def channels(self, x: Value) -> int:
        found = extents_of(x)[1]
        assert found is not None
        return found

    def window(self) -> dict[str, tuple[int, ...]]:
        made: dict[str, tuple[int, ...]] = {}
        if self.picks.one_in(3):
            made["strides"] = (1 + self.picks.below(2), 1 + self.picks.below(2))
        if self.picks.below(2):
            made["pads"] = tuple(self.picks.below(2) for _ in range(4))
        return made

    def conv(self) -> Value | None:
        x, filters = self.value(), self.picks.pick(_CHANNELS)
        kernel = tuple(1 + self.picks.below(3) for _ in range(2))
        if any((extent or 0) < 3 for extent in extents_of(x)[2:]):
            kernel = (1, 1)
        w = self.numbers(filters, self.channels(x), *kernel)
        bias = [self.numbers(filters)] if self.picks.below(2) else []
        return self.b.op("conv", x, w, *bias, **self.window())

    def depthwise(self) -> Value | None:
        x = self.value()
        channels = self.channels(x)
        if any((extent or 0) < 3 for extent in extents_of(x)[2:]):
            return None
        w = self.numbers(channels, 1, 3, 2)
        bias = [self.numbers(channels)] if self.picks.below(2) else []
        return self.b.op("conv", x, w, *bias, groups=channels, **self.window())

    def unary(self) -> Value:
        return self.b.op(self.picks.pick(("relu", "tanh", "sigmoid", "negative")), self.value())

    def vector(self) -> Value:
        x = self.value()
        shape = self.picks.pick(((self.channels(x), 1, 1), (1,), (1, self.channels(x), 1, 1)))
        name = self.picks.pick(("multiply", "add", "subtract", "maximum"))
        return self.b.op(name, x, self.numbers(*shape))

    def added(self) -> Value:
        x = self.value()
        same = [each for each in self.held if extents_of(each) == extents_of(x)]
        return self.b.op("add", x, self.picks.pick(same))

    def pooled(self) -> Value | None:
        x = self.value()
        if any((extent or 0) < 2 for extent in extents_of(x)[2:]):
            return None
        more = {"ceil_mode": True} if self.picks.one_in(4) else {}
        name = self.picks.pick(("max_pool", "avg_pool"))
        return self.b.op(name, x, kernel=(2, 2), **self.window(), **more)

    def joined(self) -> Value:
        x = self.value()
        same = [each for each in self.held if extents_of(each)[2:] == extents_of(x)[2:]]
        return self.b.op("concat", x, self.picks.pick(same), axis=1)

    def grouped(self) -> Value | None:
        x = self.value()
        channels = self.channels(x)
        groups = self.picks.pick([n for n in (2, 4, 3, 1) if channels % n == 0])
        filters = groups * (1 + self.picks.below(4))
        kernel = self.picks.pick(((1, 1), (3, 2)))
        if any((extent or 0) < 3 for extent in extents_of(x)[2:]):
            kernel = (1, 1)
        w = self.numbers(filters, channels // groups, *kernel)
        bias = [self.numbers(filters)] if self.picks.below(2) else []
        return self.b.op("conv", x, w, *bias, groups=groups, **self.window())

    def shuffled(self) -> Value | None:
        x = self.value()
        batch, channels, *sizes = extents_of(x)
        groups = self.picks.pick([n for n in (2, 4, 3, 1) if self.channels(x) % n == 0])
        if batch is None or channels is None or None in sizes:
            return None
        apart = self.b.op("reshape", x, shape=(batch, groups, channels // groups, *sizes))
        turned = self.b.op("transpose", apart, axes=(0, 2, 1, 3, 4))
        return self.b.op("reshape", turned, shape=(batch, channels, *sizes))

    def normalised(self) -> Value:
        beta, bias = self.picks.pick((0.75, 0.5, 1.0, 0.6)), self.picks.pick((1.0, 2.0))
        size = self.picks.pick((5, 3, 2, 11))
        return self.b.op("lrn", self.value(), size=size, alpha=0.3, beta=beta, bias=bias)

    def padded(self) -> Value:
        return self.b.op("pad", self.value(), pads=(0, 0, 1, 0, 0, 0, 0, 2), value=0.0)

    def part(self) -> Value:
        x = self.value()
        begin, end = self.picks.pick(((0, 4), (4, 8), (0, -1), (2, 5)))
        end = end if self.channels(x) > begin else self.channels(x)
        begin = begin if self.channels(x) > begin + 1 else 0
        return self.b.op(
            "slice", x, begins=(begin,), ends=(max(end, 1) if end > 0 else 1,), axes=(1,)
        )

    def reduced(self) -> Value:
        return self.b.op(self.picks.pick(("mean", "max")), self.value(), axes=(2, 3), keepdims=True)

    def gated(self) -> Value:
        """Scale each channel by a number that is computed from all of it."""
        x = self.value()
        total = self.b.op("mean", x, axes=(2, 3), keepdims=True)
        return self.b.op("multiply", x, self.b.op("sigmoid", total))


def conv_graph(picks: Picks) -> GraphFunc:
    return ConvGraph(picks).draw()


def tiled_graph(picks: Picks) -> GraphFunc:
    """Draw a convolution of few channels that tiles can compute, with what is fused behind it."""
    rng, b = np.random.default_rng(picks.below(1 << 16)), Builder("main")
    blocks, lanes = 1 + picks.below(2), picks.pick((4, 3, 8))
    high, wide = 3 + picks.below(6), 3 + picks.below(6)
    x = b.param("x", (1 + picks.below(2), blocks, high, wide, lanes))
    filters, outputs = 1 + picks.below(4), picks.pick((4, 3, 8))
    pads = tuple(picks.below(3) for _ in range(4))
    w = b.constant(rng.uniform(-1, 1, (filters, blocks, 3, 3, lanes, outputs)).astype("f"))
    bias = b.constant(rng.uniform(-1, 1, (filters, outputs)).astype("f"))
    made = b.op("conv_blocked", x, w, *([bias] if picks.below(2) else []), pads=pads)
    return b.finish(b.op("relu", made) if picks.below(2) else made)
