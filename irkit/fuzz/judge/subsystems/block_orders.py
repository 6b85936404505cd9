"""Networks of convolutions whose channels are picked, some several times, shuffled and joined.

Blocks of channels keep an order of their own: filters, biases and constants behind a pick are
packed in it. All numbers are small and whole, so they are compared bit for bit with NumPy.
"""

from collections.abc import Callable

import numpy as np

from irkit.fuzz.generators.sample import Array, Unusable
from irkit.fuzz.judge.subsystems.drawn_models import NumpyGraph, judge_model
from irkit.fuzz.judge.subsystems.numpy_windows import convolve, pool
from irkit.fuzz.picks import Picks
from irkit.graph import Value

_CHANNELS = (8, 16, 4, 6, 12, 24, 3, 9)
_MOST_STEPS = 7
_EXACT = 1 << 23


class _Network(NumpyGraph):
    """A network under construction: values with axes [N, C, H, W]."""

    def __init__(self, picks: Picks) -> None:
        super().__init__(picks)
        shape = (picks.pick((1, 2)), picks.pick(_CHANNELS), picks.pick((4, 5)), picks.pick((4, 3)))
        self.held = [self.param(self.whole(shape, 3))]

    def whole(self, shape: tuple[int, ...], most: int = 1) -> Array:
        """Draw small whole numbers."""
        return self.rng.integers(-most, most + 1, shape).astype(np.float32)

    @property
    def last(self) -> Value:
        """Return the value that was made last."""
        return self.held[-1]

    @property
    def channels(self) -> int:
        """Return the channels of the last value."""
        return self.numbers[self.last].shape[1]

    def keep(self, value: Value) -> None:
        """Go on with a value, unless its numbers are too large to be exact."""
        if np.abs(self.numbers[value]).max(initial=0) >= _EXACT:
            raise Unusable("the numbers become too large")
        self.held.append(value)


def block_orders_agree(picks: Picks) -> None:
    """A network computes what NumPy computes, whatever order its channels lie in.

    Raises: WrongSample; Unusable.
    """
    net = _Network(picks)
    _convolution(net)
    for _ in range(1 + picks.below(_MOST_STEPS)):
        picks.pick(_STEPS)(net)
    if picks.below(3):
        _convolution(net)
    results = [net.last]
    if len(net.held) > 2 and picks.one_in(3):
        results.insert(0, net.held[-2])
    judge_model(net, results, [None] * len(results))


def _convolution(net: _Network) -> None:
    picks = net.picks
    groups = picks.pick([each for each in (1, 1, 2, net.channels) if not net.channels % each])
    per_group = picks.pick((1, 2)) if groups > 2 else picks.pick(_CHANNELS)
    kernel = picks.pick(((1, 1), (3, 3), (1, 2), (3, 1)))
    w = net.constant(net.whole((groups * per_group, net.channels // groups, *kernel)))
    pads = (kernel[0] // 2, kernel[1] // 2, kernel[0] - 1, kernel[1] // 2)
    strides = picks.pick(((1, 1), (2, 1)))
    args = [net.last, w]
    bias = net.constant(net.whole((groups * per_group,), 3)) if picks.below(2) else None
    args += [] if bias is None else [bias]

    def meaning(x: Array, w: Array, *bias: Array) -> Array:
        made = convolve(x, w, strides=strides, pads=pads, dilations=(1, 1), groups=groups)
        return made + bias[0].reshape(-1, 1, 1) if bias else made

    attrs = {"strides": strides, "pads": pads, "groups": groups}
    net.keep(net.op("conv", meaning, *args, **attrs))


def _take(net: _Network) -> None:
    """Pick channels, some several times and some never."""
    count = net.picks.pick((net.channels, net.channels // 2 or 1, net.channels * 2, 8, 3))
    numbers = [net.picks.below(net.channels) for _ in range(count)]
    if net.picks.below(2):
        numbers = [each - net.channels if net.picks.one_in(4) else each for each in numbers]
    indices = net.builder.constant(np.array(numbers, np.int64))
    net.numbers[indices] = np.array(numbers)
    net.keep(net.op("take", _picked, net.last, indices, axis=1))


def _picked(x: Array, numbers: Array) -> Array:
    return x[:, numbers.astype(int)]


def _joined(*parts: Array) -> Array:
    return np.concatenate(parts, 1)


def _shuffle(net: _Network) -> None:
    """Exchange the two halves of the numbers of channels, as ShuffleNet does."""
    groups = net.picks.pick([each for each in (2, 3, 4, 1) if not net.channels % each])
    n, c, h, w = net.numbers[net.last].shape
    parts = (n, groups, c // groups, h, w)
    x = net.change("reshape", lambda x: x.reshape(parts), net.last, shape=parts)
    order = (0, 2, 1, 3, 4)
    x = net.change("transpose", lambda x: x.transpose(order), x, axes=order)
    net.keep(net.change("reshape", lambda x: x.reshape(n, c, h, w), x, shape=(n, c, h, w)))


def _slice(net: _Network) -> None:
    begin = net.picks.below(net.channels)
    end, step = net.picks.pick((net.channels, begin + 1, begin + 4)), net.picks.pick((1, 2))
    attrs = {"axes": (1,), "begins": (begin,), "ends": (end,), "strides": (step,)}
    net.keep(net.change("slice", lambda x: x[:, begin:end:step], net.last, **attrs))


def _concat(net: _Network) -> None:
    own = net.numbers[net.last].shape
    fits = [each for each in net.held if net.numbers[each].shape[2:] == own[2:]]
    others = net.picks.some(fits, 2)
    net.keep(net.op("concat", _joined, net.last, *others, axis=1))


def _add(net: _Network) -> None:
    shape = net.numbers[net.last].shape
    fits = [each for each in net.held[:-1] if net.numbers[each].shape == shape]
    if fits and net.picks.below(2):
        other = net.picks.pick(fits)
    else:
        small = net.picks.pick(((net.channels, 1, 1), (1, net.channels, 1, 1), (1,), shape[1:]))
        other = net.constant(net.whole(small, 2))
    name, meaning = net.picks.pick(
        (("add", np.add), ("multiply", np.multiply), ("maximum", np.maximum))
    )
    args = [net.last, other]
    net.keep(net.op(name, meaning, *args))


def _relu(net: _Network) -> None:
    net.keep(net.change("relu", lambda x: np.maximum(x, 0), net.last))


def _max_pool(net: _Network) -> None:
    strides, pads = net.picks.pick(((1, 1), (2, 1))), (0, 0, 1, 1)
    attrs = {"kernel": (2, 2), "strides": strides, "pads": pads}
    net.keep(
        net.change(
            "max_pool",
            lambda x: pool(
                x, average=False, kernel=(2, 2), strides=strides, pads=pads, dilations=(1, 1)
            ),
            net.last,
            **attrs,
        )
    )


def _reduce(net: _Network) -> None:
    axes = net.picks.pick(((2, 3), (1,), (2,)))
    attrs = {"axes": axes, "keepdims": True}
    net.keep(net.change("sum", lambda x: x.sum(axes, keepdims=True), net.last, **attrs))


_STEPS: tuple[Callable[[_Network], None], ...] = (
    *(_take, _convolution, _relu, _take, _concat, _add, _shuffle),
    *(_slice, _convolution, _take, _max_pool, _reduce),
)
