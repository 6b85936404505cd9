"""Tensors of other libraries, by DLPack: in as inputs and as memory for outputs, and back."""

from typing import Any

import numpy as np
import pytest

import irkit
from irkit.core import IRKitError
from irkit.ir import parse
from irkit.runtime import Model
from tests.runtime.models import mlp, some_input


@pytest.fixture(scope="module")
def model() -> Model:
    return irkit.compile(mlp())


class Tensor:
    """A tensor that has nothing but DLPack, on a device."""

    def __init__(self, array: np.ndarray[Any, Any], device: tuple[int, int] = (1, 0)) -> None:
        self.array, self.device = array, device

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, **options: Any) -> object:
        if self.device[0] != 1:
            raise AssertionError("memory of a device must not be asked for")
        return self.array.__dlpack__(**options)


def test_an_input_is_read_without_a_copy_or_a_change(model: Model) -> None:
    x = some_input()
    found = model.run({"x": Tensor(x)})  # pyright: ignore[reportArgumentType]
    assert np.array_equal(found["p"], model.run({"x": x})["p"])
    assert np.array_equal(x, some_input())


def test_a_tensor_with_strides_is_an_input(model: Model) -> None:
    wide = np.zeros((8, 48), np.float32)
    wide[::2, ::3] = some_input()
    found = model.run({"x": Tensor(wide[::2, ::3])})  # pyright: ignore[reportArgumentType]
    assert np.array_equal(found["p"], model.run({"x": some_input()})["p"])


def test_an_output_is_written_to_the_memory_of_a_tensor(model: Model) -> None:
    out = Tensor(np.zeros((4, 8), np.float32))
    found = model.run({"x": some_input()}, out={"p": out})
    assert found["p"] is out
    assert np.array_equal(out.array, model.run({"x": some_input()})["p"])


def test_an_output_that_overlaps_an_input_is_found_through_tensors(model: Model) -> None:
    room = np.zeros(64 + 32, np.float32)
    x, p = Tensor(room[:64].reshape(4, 16)), Tensor(room[48:80].reshape(4, 8))
    with pytest.raises(ValueError, match="output 'p' is written and overlaps input 'x'"):
        model.run({"x": x}, out={"p": p})  # pyright: ignore[reportArgumentType]


def test_outputs_go_to_other_libraries_without_a_copy(model: Model) -> None:
    found = model.run({"x": some_input()})["p"]
    seen = np.from_dlpack(found)
    assert np.shares_memory(seen, found)
    assert np.array_equal(seen, found)


@pytest.mark.parametrize(
    ("device", "words"),
    [((2, 1), "device CUDA 1"), ((8, 0), "device Metal 0"), ((99, 3), "DLPack's kind 99 3")],
)
def test_memory_of_a_device_is_refused(model: Model, device: tuple[int, int], words: str) -> None:
    tensor: Any = Tensor(some_input(), device)
    with pytest.raises(TypeError, match=f"input 'x' is on .*{words}; expected memory of the CPU"):
        model.run({"x": tensor})
    with pytest.raises(TypeError, match=f"output 'p' is on .*{words}; expected memory of the CPU"):
        model.run({"x": some_input()}, out={"p": tensor})


class Broken(Tensor):
    def __dlpack__(self, **options: Any) -> object:
        raise BufferError("the tensor needs a gradient")


def test_a_tensor_that_does_not_give_its_memory_is_named(model: Model) -> None:
    tensor: Any = Broken(some_input())
    words = "input 'x' cannot be read through DLPack: the tensor needs a gradient"
    with pytest.raises(TypeError, match=words) as caught:
        model.run({"x": tensor})
    assert isinstance(caught.value, IRKitError)


def test_a_tensor_of_another_type_or_shape_is_named(model: Model) -> None:
    doubles: Any = Tensor(some_input().astype(np.float64))
    with pytest.raises(TypeError, match="'x' must be of type float32, found float64"):
        model.run({"x": doubles})
    short: Any = Tensor(some_input()[:2])
    with pytest.raises(ValueError, match=r"'x' must have shape \(4, 16\), found \(2, 16\)"):
        model.run({"x": short})


ADD = parse("""def add(A: f32[n], C: f32[n]):
    for i in serial(0, n):
        C[i] = A[i] + f32(1.0)
""")


def test_a_kernel_takes_tensors_too() -> None:
    run = irkit.build(ADD)
    given, out = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    run(Tensor(given), out)
    assert out.tolist() == [1, 2, 3, 4]
    run(out, Tensor(given))
    assert given.tolist() == [2, 3, 4, 5]


def test_a_tensor_that_does_not_fit_a_kernel_is_named() -> None:
    run, out = irkit.build(ADD), np.zeros(4, np.float32)
    with pytest.raises(TypeError, match=r"argument 1 \('A'\) of add is on device CUDA 0"):
        run(Tensor(out, (2, 0)), out)
    with pytest.raises(TypeError, match=r"\('A'\) of add must hold float32, found float64"):
        run(Tensor(np.zeros(4)), out)
    with pytest.raises(ValueError, match=r"dimension 0 of .*'C'.* must be 3"):
        run(Tensor(np.zeros(3, np.float32)), Tensor(out))
    with pytest.raises(ValueError, match=r"'C'.*is written and overlaps .*'A'"):
        run(Tensor(out), Tensor(out))
