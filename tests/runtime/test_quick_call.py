"""The quick check of a call accepts nothing that the full check refuses, and computes the same; so
does a call that was prepared, on the same arrays each time."""

import gc
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import irkit
from irkit.core import IRKitError, ShapeError
from irkit.runtime import Model
from tests.draws import few_or_all
from tests.runtime.models import mlp, some_input


@pytest.fixture(scope="module")
def model() -> Model:
    made = irkit.compile(mlp())
    made.run({"x": some_input()})  # Shapes that were fully checked once.
    return made


def quick_call(model: Model, inputs: Any, out: Any) -> dict[str, Any] | None:
    """Call a model by the quick check alone."""
    return model._quick(inputs, out)  # pyright: ignore[reportPrivateUsage] -- what is tested


def checked_call(model: Model, inputs: Any, out: Any) -> dict[str, Any]:
    """Call a model by the full check alone, the reference."""
    return model.run_in_full(inputs, out)


def _at_odd_address(array: Any) -> Any:
    room = np.zeros(array.nbytes + 1, np.uint8)[1:]
    made = room.view(array.dtype).reshape(array.shape)
    made[...] = array
    return made


def _frozen(array: Any) -> Any:
    made = array.copy()
    made.flags.writeable = False
    return made


class Sub(np.ndarray[Any, Any]):
    """A class of arrays of a user's own."""


CHANGES: dict[str, Callable[[Any], Any]] = {
    "nothing": lambda array: array,
    "type": lambda array: array.astype(np.float64),
    "byte order": lambda array: array.astype(">f4"),
    "more rows": lambda array: np.concatenate([array, array]),
    "rank": lambda array: array[None],
    "flat": lambda array: array.reshape(-1),
    "transposed": lambda array: np.asfortranarray(array),
    "strided": lambda array: np.repeat(array, 2, axis=-1)[..., ::2],
    "reversed": lambda array: array[::-1],
    "address": _at_odd_address,
    "read-only": _frozen,
    "list": lambda array: array.tolist(),
    "subclass": lambda array: array.view(Sub),
    "none": lambda array: None,
    "scalar": lambda array: np.float32(1),
    "bytes": lambda array: array.tobytes(),
    "empty": lambda array: array[:0],
}
OUTS = ("p", "hidden", "other")


@settings(max_examples=few_or_all(150, 1500), deadline=None)
@given(
    change=st.sampled_from(sorted(CHANGES)),
    names=st.sampled_from(["x", "y", "xy", ""]),
    given_out=st.none() | st.dictionaries(st.sampled_from(OUTS), st.sampled_from(sorted(CHANGES))),
    overlap=st.sampled_from(["", "", "input", "output", "near"]),
)
def test_what_is_accepted_quickly_is_accepted_in_full(
    model: Model, change: str, names: str, given_out: dict[str, str] | None, overlap: str
) -> None:
    room = np.zeros(4 * 16 + 4 * 8 + 4 * 32, np.float32)
    room[: 4 * 16] = some_input().reshape(-1)
    x = room[: 4 * 16].reshape(4, 16)
    starts = {"": (64, 96), "input": (60, 96), "output": (64, 80), "near": (64, 96)}[overlap]
    places = {
        "p": room[starts[0] : starts[0] + 32].reshape(4, 8),
        "hidden": room[starts[1] : starts[1] + 128].reshape(4, 32),
        "other": np.zeros(3, np.float32),
    }
    inputs = dict.fromkeys(names, CHANGES[change](x))
    out = None if given_out is None else {n: CHANGES[c](places[n]) for n, c in given_out.items()}
    quick: Any = quick_call(model, inputs, out)
    found = None if quick is None else {name: np.array(array) for name, array in quick.items()}
    try:
        wanted = checked_call(model, inputs, out)
    except (IRKitError, ValueError, TypeError):
        assert found is None
        return
    if found is None:
        return
    assert quick.keys() == wanted.keys()
    for name, array in wanted.items():
        np.testing.assert_array_equal(found[name], array)
        assert (out is None or name not in out) or quick[name] is out[name]


@pytest.mark.parametrize("change", sorted(CHANGES))
@pytest.mark.parametrize("changed", ["x", "p", "hidden"])
def test_one_array_that_is_not_as_expected_is_left_to_the_full_check(
    model: Model, changed: str, change: str
) -> None:
    arrays = {"x": some_input(), "p": np.zeros((4, 8), "f"), "hidden": np.zeros((4, 32), "f")}
    arrays[changed] = CHANGES[change](arrays[changed])
    inputs, out = {"x": arrays["x"]}, {name: arrays[name] for name in ("p", "hidden")}
    quick = quick_call(model, inputs, out)
    assert (quick is not None) == (change == "nothing")


def test_usual_calls_are_quick_and_errors_are_those_of_the_full_check(model: Model) -> None:
    x, out = some_input(), {"p": np.empty((4, 8), "f"), "hidden": np.empty((4, 32), "f")}
    assert quick_call(model, {"x": x}, None) is not None
    assert quick_call(model, {"x": x}, out) is not None
    with pytest.raises(IRKitError, match=r"input 'x' must have shape \(4, 16\)"):
        model.run({"x": x[:3]})
    with pytest.raises(IRKitError, match="output 'p' is written and overlaps"):
        model.run({"x": x}, out={"p": x.reshape(-1)[:32].reshape(4, 8), "hidden": out["hidden"]})


def test_calls_leave_no_garbage(model: Model) -> None:
    x = some_input()
    for _ in range(10):
        model.run({"x": x})
    gc.collect()
    before = len(gc.get_objects())
    gc.disable()
    try:
        for _ in range(100):
            model.run({"x": x})
        assert len(gc.get_objects()) <= before + 2
    finally:
        gc.enable()


def test_calls_at_the_same_time_have_memory_of_their_own(model: Model) -> None:
    wrong: list[int] = []

    def work(seed: int) -> None:
        x = some_input(seed)
        wanted = checked_call(model, {"x": x}, None)
        for _ in range(200):
            found = model.run({"x": x})
            if not all(np.array_equal(found[name], wanted[name]) for name in wanted):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


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


COPIED: list[Any] = [
    lambda x: x.tolist(),
    lambda x: np.asfortranarray(np.stack([x, x], axis=-1))[..., 0],
    lambda x: x.astype(">f4"),
]


@pytest.mark.parametrize("change", COPIED)
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
