"""Rearranging elements, against NumPy and as loops."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from irkit import te, topi
from irkit.core import ShapeError
from tests.draws import few_or_all
from tests.te.agree import agree

RNG = np.random.default_rng(5)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((2, 3, 4), (6, 4)),
        ((2, 3, 4), (2, 12)),
        ((2, 12), (2, 3, 4)),
        ((2, 3, 4), (4, 3, 2)),
        ((2, 3, 4), (-1,)),
        ((24,), (1, 2, 1, 12)),
        ((1,), ()),
        ((), (1, 1)),
        ((0, 3), (3, 0)),
        ((2, 3, 4), (2, -1, 2)),
    ],
)
def test_reshape_keeps_row_major_order(before: tuple[int, ...], after: tuple[int, ...]) -> None:
    x = te.placeholder(before, name="x")
    value = RNG.random(before, np.float32)
    agree(topi.reshape(x, after), {x: value}, value.reshape(after))


def test_reshape_of_symbolic_extents() -> None:
    n = te.var("n")
    x = te.placeholder((n, 3, 4), name="x")
    value = RNG.random((5, 3, 4), np.float32)
    agree(topi.reshape(x, (n, 12)), {x: value}, value.reshape(5, 12))
    agree(topi.reshape(x, (12, n)), {x: value}, value.reshape(12, 5))
    agree(topi.flatten(x), {x: value}, value.reshape(5, 12))
    agree(topi.reshape(x, (-1, 4)), {x: value}, value.reshape(-1, 4))


def test_shapes_with_other_numbers_of_elements_are_refused() -> None:
    x = te.placeholder((2, 3), name="x")
    with pytest.raises(ShapeError, match=r"shape \[2, 3\] has 6 elements; the new shape has 4"):
        topi.reshape(x, (4,))
    with pytest.raises(ShapeError, match="6 elements, which 4 does not divide"):
        topi.reshape(x, (4, -1))
    with pytest.raises(ShapeError, match="only one extent can be -1"):
        topi.reshape(x, (-1, -1))


@pytest.mark.parametrize("axis", [0, 1, 2, 3, -1])
def test_flatten_splits_at_an_axis(axis: int) -> None:
    x = te.placeholder((2, 3, 4), name="x")
    value = RNG.random((2, 3, 4), np.float32)
    rows = int(np.prod((2, 3, 4)[:axis]))
    agree(topi.flatten(x, axis), {x: value}, value.reshape(rows, -1))


@settings(max_examples=few_or_all(8, 20), deadline=None, derandomize=True)
@given(st.permutations(range(4)))
def test_transpose_agrees_with_numpy(order: list[int]) -> None:
    x = te.placeholder((1, 2, 3, 4), name="x")
    value = RNG.random((1, 2, 3, 4), np.float32)
    agree(topi.transpose(x, order), {x: value}, value.transpose(order))


def test_transpose_reverses_without_an_order() -> None:
    x = te.placeholder((2, 3), name="x")
    value = RNG.random((2, 3), np.float32)
    agree(topi.transpose(x), {x: value}, value.T)
    with pytest.raises(ShapeError, match="does not name each of the 2 axes of 'x'"):
        topi.transpose(x, (0,))


def test_axes_of_extent_one_come_and_go() -> None:
    x = te.placeholder((2, 1, 3, 1), name="x")
    value = RNG.random((2, 1, 3, 1), np.float32)
    agree(topi.squeeze(x), {x: value}, value.squeeze())
    agree(topi.squeeze(x, (-1,)), {x: value}, value.squeeze(-1))
    agree(topi.expand_dims(x, (0, -1)), {x: value}, value[None, ..., None])
    agree(topi.expand_dims(x, 2), {x: value}, np.expand_dims(value, 2))
    with pytest.raises(ShapeError, match="squeeze: axis 0 of 'x' must be 1: 2 != 1"):
        topi.squeeze(x, 0)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_concatenate_agrees_with_numpy(axis: int) -> None:
    shapes = []
    for extent in (2, 0, 3, 1):
        shape = [2, 2]
        shape[axis] = extent
        shapes.append(tuple(shape))
    tensors = [te.placeholder(shape, name=f"x{at}") for at, shape in enumerate(shapes)]
    values = [RNG.random(shape, np.float32) for shape in shapes]
    inputs = dict(zip(tensors, values, strict=True))
    agree(topi.concatenate(tensors, axis), inputs, np.concatenate(values, axis))


def test_concatenate_of_symbolic_extents() -> None:
    m, n = te.var("m"), te.var("n")
    a, b = te.placeholder((m, 2), name="a"), te.placeholder((n, 2), name="b")
    x, y = RNG.random((3, 2), np.float32), RNG.random((2, 2), np.float32)
    agree(topi.concatenate([a, b]), {a: x, b: y}, np.concatenate([x, y]))
    with pytest.raises(ShapeError, match="'a' and 'b' must agree about axis 0: m != n") as caught:
        topi.concatenate([a, b], axis=1)
    assert caught.value.span is not None
    assert caught.value.span.name == "concatenate"


@settings(max_examples=few_or_all(8, 20), deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, 2)), min_size=2, max_size=2))
def test_padding_surrounds_and_negative_padding_cuts(widths: list[tuple[int, int]]) -> None:
    x = te.placeholder((3, 4), name="x")
    value = RNG.random((3, 4), np.float32)
    right = np.pad(value, [(max(b, 0), max(a, 0)) for b, a in widths], constant_values=7)
    cut = tuple(slice(max(-b, 0), min(a, 0) or None) for b, a in widths)
    made = topi.pad(x, [b for b, _ in widths], [a for _, a in widths], 7)
    agree(made, {x: value}, right[cut])
