"""``Model.run(..., out=...)``: outputs in memory of the caller."""

import re
from typing import Any

import numpy as np
import pytest

import irkit
from irkit.core import IRKitError
from irkit.graph import Builder
from irkit.runtime import Model
from tests.runtime.models import compiled, mlp, some_input


@pytest.fixture(scope="module")
def model() -> Model:
    return irkit.compile(mlp())


def test_an_output_goes_to_the_array_that_is_given_and_the_others_are_new(model: Model) -> None:
    wanted = model.run({"x": some_input()})
    p = np.full((4, 8), 7, np.float32)
    found = model.run({"x": some_input()}, out={"p": p})
    assert list(found) == ["p", "hidden"]
    assert found["p"] is p
    for name, array in wanted.items():
        assert np.array_equal(found[name], array)


def test_a_part_of_a_larger_array_can_be_written(model: Model) -> None:
    room = np.zeros((3, 4, 8), np.float32)
    for row in range(3):
        model.run({"x": some_input(row)}, out={"p": room[row]})
    for row in range(3):
        assert np.array_equal(room[row], model.run({"x": some_input(row)})["p"])


def test_outputs_that_are_copies_go_to_the_arrays_too() -> None:
    b = Builder()
    x = b.param("x", (2, 3))
    r = b.op("relu", x)
    model = compiled(b.finish(x, b.constant(np.ones(2, np.float32)), r, r, outputs=tuple("abcd")))
    given = np.array([[-1, 2, -3], [4, -5, 6]], np.float32)
    out = {name: np.full((2,) if name == "b" else (2, 3), 9, np.float32) for name in "abcd"}
    model.run({"x": given}, out=out)
    assert np.array_equal(out["a"], given)
    assert out["b"].tolist() == [1, 1]
    assert np.array_equal(out["c"], np.maximum(given, 0))
    assert np.array_equal(out["d"], np.maximum(given, 0))


def frozen() -> np.ndarray[Any, Any]:
    made = np.zeros((4, 8), np.float32)
    made.flags.writeable = False
    return made


def crooked() -> np.ndarray[Any, Any]:
    return np.zeros(4 * 8 * 4 + 1, np.uint8)[1:].view(np.float32).reshape(4, 8)


@pytest.mark.parametrize(
    ("out", "error", "words"),
    [
        ({"q": np.zeros(3)}, ValueError, "'q' is not an output; the outputs are: p, hidden"),
        ({1: np.zeros(3)}, ValueError, "1 is not an output"),
        ([np.zeros((4, 8), "f4")], TypeError, "out must map names to arrays, found list"),
        ({"p": np.zeros((4, 8))}, TypeError, "output 'p' must be of type float32, found float64"),
        ({"p": np.zeros((4, 8), ">f4")}, TypeError, "must be of type float32, found >f4"),
        ({"p": np.zeros((8, 4), "f4")}, ValueError, r"must have shape (4, 8), found (8, 4)"),
        ({"p": np.zeros((8, 4), "f4").T}, ValueError, "found byte strides (4, 16) for shape"),
        ({"p": np.zeros((4, 16), "f4")[:, ::2]}, ValueError, "contiguous in row-major order"),
        ({"p": np.broadcast_to(np.float32(0), (4, 8))}, ValueError, "output 'p' is read-only"),
        ({"p": frozen()}, ValueError, "output 'p' is read-only"),
        ({"p": crooked()}, ValueError, "output 'p' must be aligned to 4 bytes, found address"),
        ({"p": [[0.0] * 8] * 4}, TypeError, "must be a NumPy array to write to, found list"),
        ({"p": None}, TypeError, "must be a NumPy array to write to, found NoneType"),
        ({"p": np.ma.zeros((4, 8), "f4")}, TypeError, "found MaskedArray"),
    ],
)
def test_a_wrong_array_is_named(model: Model, out: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=re.escape(words)) as caught:
        model.run({"x": some_input()}, out=out)
    assert isinstance(caught.value, IRKitError)


def test_nothing_is_written_if_one_array_is_wrong(model: Model) -> None:
    hidden = np.full((4, 32), 5, np.float32)
    with pytest.raises(ValueError, match="must have shape"):
        model.run({"x": some_input()}, out={"hidden": hidden, "p": np.zeros(3, np.float32)})
    assert (hidden == 5).all()


def test_an_output_must_not_overlap_an_input() -> None:
    b = Builder()
    x = b.param("x", (4, 8))
    model = compiled(b.finish(b.op("relu", x), outputs=("y",)))
    room = np.ones(64, np.float32)
    out = room[16:48].reshape(4, 8)
    strided = room[::-1][:32].reshape(4, 8)  # The model reads a copy, yet the input would change.
    seen: Any = out
    for given in (out, room[:32].reshape(4, 8), strided, memoryview(seen)):
        with pytest.raises(ValueError, match="output 'y' is written and overlaps input 'x'"):
            model.run({"x": given}, out={"y": out})
    assert model.run({"x": room[:32].reshape(4, 8)}, out={"y": room[32:].reshape(4, 8)})


def test_two_outputs_must_not_overlap(model: Model) -> None:
    room = np.zeros(4 * 8 + 4 * 32, np.float32)
    p, hidden = room[:32].reshape(4, 8), room[32:].reshape(4, 32)
    model.run({"x": some_input()}, out={"p": p, "hidden": hidden})
    with pytest.raises(ValueError, match="output 'hidden' is written and overlaps output 'p'"):
        model.run({"x": some_input()}, out={"p": p, "hidden": room[31:-1].reshape(4, 32)})


def test_empty_arrays_overlap_nothing() -> None:
    b = Builder()
    model = compiled(b.finish(b.op("relu", b.param("x", (0, 3))), outputs=("y",)))
    empty = np.zeros((0, 3), np.float32)
    assert model.run({"x": empty}, out={"y": empty})["y"] is empty
