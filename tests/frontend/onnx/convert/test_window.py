"""Convolutions and pools with all kinds of windows, against loops from the ONNX specification."""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray
from onnx.helper import make_node

import irkit
from tests.draws import few_or_all
from tests.frontend.onnx.models import floats, model_of

Ints = tuple[int, ...]


class Case(NamedTuple):
    spatial: Ints
    kernel: Ints
    strides: Ints
    dilations: Ints
    pads: Ints
    auto_pad: str
    ceil_mode: bool

    def attributes(self) -> dict[str, Any]:
        names = ("strides", "dilations") if self.auto_pad else ("strides", "dilations", "pads")
        found: dict[str, Any] = {name: list(getattr(self, name)) for name in names}
        return found | ({"auto_pad": self.auto_pad} if self.auto_pad else {})

    def span(self, axis: int) -> int:
        """How far a window reaches."""
        return (self.kernel[axis] - 1) * self.dilations[axis] + 1

    def resolved_pads(self) -> Ints:
        """Return explicit pads: with SAME there are ceil(extent / stride) windows."""
        if self.auto_pad in ("", "VALID"):
            return self.pads if not self.auto_pad else (0,) * len(self.pads)
        begins, ends = list[int](), list[int]()
        for axis, extent in enumerate(self.spatial):
            stride = self.strides[axis]
            windows = -(-extent // stride)
            total = max((windows - 1) * stride + self.span(axis) - extent, 0)
            small, large = total // 2, total - total // 2
            begins.append(small if self.auto_pad == "SAME_UPPER" else large)
            ends.append(large if self.auto_pad == "SAME_UPPER" else small)
        return (*begins, *ends)

    def counts(self) -> Ints:
        """Return the number of windows of each axis; in ceil_mode, the last must begin before the
        end pads."""
        pads, rank = self.resolved_pads(), len(self.spatial)
        found: list[int] = []
        for axis, extent in enumerate(self.spatial):
            room = extent + pads[axis] + pads[rank + axis] - self.span(axis)
            count = math.floor(room / self.strides[axis]) + 1
            if self.ceil_mode:
                count = math.ceil(room / self.strides[axis]) + 1
                if (count - 1) * self.strides[axis] >= extent + pads[axis]:
                    count -= 1
            found.append(count)
        return tuple(found)

    def points(self, window: Ints) -> Iterator[tuple[Ints, Ints]]:
        """Return the points of a window: in the kernel, and in the input (or outside it)."""
        pads = self.resolved_pads()
        for inside in itertools.product(*map(range, self.kernel)):
            yield (
                inside,
                tuple(
                    w * s + k * d - p
                    for w, s, k, d, p in zip(
                        window, self.strides, inside, self.dilations, pads, strict=False
                    )
                ),
            )

    def contains(self, point: Ints, *, padded: bool = False) -> bool:
        pads, rank = self.resolved_pads(), len(self.spatial)
        return all(
            (-pads[axis] if padded else 0) <= place < extent + (pads[rank + axis] if padded else 0)
            for axis, (place, extent) in enumerate(zip(point, self.spatial, strict=True))
        )


@st.composite
def cases(draw: st.DrawFn, *, pool: bool) -> Case:
    rank = draw(st.integers(1, 3))

    def ints(low: int, high: int) -> Ints:
        return tuple(draw(st.lists(st.integers(low, high), min_size=rank, max_size=rank)))

    kernel, strides, dilations = ints(1, 3), ints(1, 3), ints(1, 2)
    auto_pad = draw(st.sampled_from(["", "", "SAME_UPPER", "SAME_LOWER", "VALID"]))
    # A pool's window must see some of the input.
    most = [size - 1 if pool else 2 for size in kernel] * 2
    pads = tuple(map(min, ints(0, 2) + ints(0, 2), most))
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    spatial = tuple(span + more for span, more in zip(spans, ints(0, 5), strict=True))
    return Case(
        spatial, kernel, strides, dilations, pads, auto_pad,
        pool and draw(st.booleans()),
    )  # fmt: skip


def run(op: str, x: NDArray[np.float32], outputs: Sequence[str], **attrs: Any) -> list[Any]:
    constants = attrs.pop("constants", {})
    node = make_node(op, ["x", *constants], list(outputs), **attrs)
    model = model_of([node], {"x": x.shape}, outputs, opset=22, constants=constants)
    return list(irkit.compile(model, verify=False).run({"x": x}).values())


@settings(max_examples=few_or_all(12, 30), derandomize=True, deadline=None)
@given(cases(pool=False), st.integers(1, 3), st.integers(1, 2), st.integers(1, 3), st.booleans())
def test_convolutions_of_any_groups_and_windows_agree_with_plain_loops(
    case: Case, groups: int, own: int, filters: int, biased: bool
) -> None:
    x = floats(2, groups * own, *case.spatial)
    w = floats(groups * filters, own, *case.kernel, seed=1)
    b = floats(groups * filters, seed=2) if biased else np.zeros(groups * filters, np.float32)
    want = np.zeros((2, groups * filters, *case.counts())) + b.reshape(-1, *(1,) * len(case.kernel))
    for window in itertools.product(*map(range, case.counts())):
        for inside, point in case.points(window):
            if not case.contains(point):
                continue
            for f in range(groups * filters):
                first = f // filters * own
                values = x[(slice(None), slice(first, first + own), *point)].astype(np.float64)
                want[(slice(None), f, *window)] += values @ w[(f, slice(None), *inside)]
    constants = {"w": w, "b": b} if biased else {"w": w}
    (got,) = run("Conv", x, ["y"], constants=constants, group=groups, **case.attributes())
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


@settings(max_examples=few_or_all(10, 25), derandomize=True, deadline=None)
@given(cases(pool=True), st.booleans())
def test_largest_elements_and_their_places_agree_with_plain_loops(
    case: Case, columns: bool
) -> None:
    x = floats(2, 2, *case.spatial)
    attrs = {
        "kernel_shape": list(case.kernel), "ceil_mode": int(case.ceil_mode), **case.attributes(),
    }  # fmt: skip
    got, where = run("MaxPool", x, ["y", "i"], storage_order=int(columns), **attrs)
    (alone,) = run("MaxPool", x, ["y"], **attrs)
    assert where.dtype == np.int64
    assert got.shape == where.shape == alone.shape == (2, 2, *case.counts())
    order = "F" if columns else "C"
    for n, c in itertools.product(range(2), range(2)):
        for window in itertools.product(*map(range, case.counts())):
            seen = {p: x[(n, c, *p)] for _, p in case.points(window) if case.contains(p)}
            if not seen:
                continue  # A dilated window may step over all elements; ONNX does not say.
            best = max(seen, key=lambda point: seen[point])
            at = (n, c, *window)
            assert got[at] == alone[at] == seen[best]
            flat = int(np.ravel_multi_index(best, case.spatial, order=order))
            assert where[at] == (n * 2 + c) * math.prod(case.spatial) + flat


@settings(max_examples=few_or_all(10, 25), derandomize=True, deadline=None)
@given(cases(pool=True), st.booleans())
def test_means_of_windows_agree_with_plain_loops(case: Case, padded: bool) -> None:
    x = floats(1, 2, *case.spatial)
    (got,) = run(
        "AveragePool", x, ["y"], kernel_shape=list(case.kernel), ceil_mode=int(case.ceil_mode),
        count_include_pad=int(padded), **case.attributes(),
    )  # fmt: skip
    assert got.shape == (1, 2, *case.counts())
    for c in range(2):
        for window in itertools.product(*map(range, case.counts())):
            points = [point for _, point in case.points(window)]
            total = sum(float(x[(0, c, *p)]) for p in points if case.contains(p))
            size = sum(case.contains(p, padded=padded) for p in points)
            want = total / max(size, 1)
            np.testing.assert_allclose(got[(0, c, *window)], want, rtol=1e-4, atol=1e-6)


def test_a_depthwise_convolution_followed_by_a_normalisation_agrees_with_plain_arithmetic() -> None:
    x, w = floats(1, 6, 5, 5), floats(12, 1, 1, 1, seed=1)
    b, scale, shift, mean = (floats(12, seed=seed) for seed in (2, 3, 4, 5))
    var = np.abs(floats(12, seed=6)) + 0.1
    nodes = [
        make_node("Conv", ["x", "w", "b"], ["c"], group=6),
        make_node("BatchNormalization", ["c", "scale", "shift", "mean", "var"], ["y"]),
    ]
    names = {"w": w, "b": b, "scale": scale, "shift": shift, "mean": mean, "var": var}
    model = model_of(nodes, {"x": x.shape}, ["y"], opset=15, constants=names)
    compiled = irkit.compile(model)
    assert [call.kernel for call in compiled.plan.calls] == ["conv"]
    product = np.repeat(x, 2, axis=1) * w.reshape(12, 1, 1) + b.reshape(12, 1, 1)
    factor = (scale / np.sqrt(var + 1e-5)).reshape(12, 1, 1)
    want = (product - mean.reshape(12, 1, 1)) * factor + shift.reshape(12, 1, 1)
    np.testing.assert_allclose(compiled.run({"x": x})["y"], want, rtol=1e-4, atol=1e-5)


@settings(max_examples=15, derandomize=True, deadline=None)
@given(st.integers(1, 12), st.integers(1, 7), st.integers(0, 2))
def test_local_normalisation_of_any_size_agrees_with_plain_loops(
    size: int, channels: int, rank: int
) -> None:
    x = floats(2, channels, *(2, 3)[:rank])
    (got,) = run("LRN", x, ["y"], size=size, alpha=0.5, beta=0.6, bias=1.5)
    for c in range(channels):
        near = x[:, max(0, c - (size - 1) // 2) : c + size // 2 + 1].astype(np.float64)
        scale = (1.5 + 0.5 / size * np.square(near).sum(axis=1)) ** 0.6
        np.testing.assert_allclose(got[:, c], x[:, c] / scale, rtol=1e-5)
