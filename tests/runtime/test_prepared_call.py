"""A call that was prepared reads and writes the same arrays, and computes what run computes."""

import gc
from typing import Any

import numpy as np
import pytest

import irkit
from irkit.core import IRKitError, ShapeError
from irkit.runtime import Model
from tests.runtime.models import mlp, some_input


@pytest.fixture(scope="module")
def model() -> Model:
    return irkit.compile(mlp())


def name_of(model: Model) -> str:
    return model.plan.outputs[0].name


def test_it_reads_what_the_inputs_hold_by_then(model: Model) -> None:
    x, name = some_input(), name_of(model)
    call = model.prepare({"x": x})
    first = call()[name]
    kept = first.copy()
    np.testing.assert_array_equal(kept, model.run({"x": x})[name])
    x *= -2
    again = call()[name]
    assert again is first
    assert not np.array_equal(again, kept)
    np.testing.assert_array_equal(again, model.run({"x": x})[name])
    assert call.inputs["x"] is x
    assert call.outputs[name] is first


def test_it_writes_to_the_arrays_that_are_given_and_outlives_the_name_of_the_model() -> None:
    made = irkit.compile(mlp())
    x, name = some_input(), name_of(made)
    wanted = made.run({"x": x})[name]
    mine = np.zeros_like(wanted)
    call = made.prepare({"x": x}, out={name: mine})
    mine[...] = 0
    del made
    gc.collect()
    assert call()[name] is mine
    np.testing.assert_array_equal(mine, wanted)


REFUSED: list[Any] = [
    lambda x: x.tolist(),
    lambda x: np.asfortranarray(np.stack([x, x], axis=-1))[..., 0],
    lambda x: x.astype(">f4"),
]


@pytest.mark.parametrize("change", REFUSED)
def test_arrays_that_would_be_copied_are_refused(model: Model, change: Any) -> None:
    with pytest.raises((IRKitError, TypeError), match=r"cannot be prepared|must be|expected"):
        model.prepare({"x": change(some_input())})


def test_wrong_arrays_are_refused_as_in_run(model: Model) -> None:
    with pytest.raises(ShapeError):
        model.prepare({"x": some_input()[:1, :1]})
    x, name = some_input(), name_of(model)
    shape = model.plan.outputs[0].extents
    room = np.zeros(max(x.size, int(np.prod(shape))), np.float32)
    inside = room[: x.size].reshape(x.shape)
    with pytest.raises(ValueError, match="memory"):
        model.prepare({"x": inside}, out={name: room[: int(np.prod(shape))].reshape(shape)})
