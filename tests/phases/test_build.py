"""Functions become kernels that can be called."""

import numpy as np
import pytest

import irkit
from irkit import te
from irkit.core import IRKitError, IRModule, Target
from irkit.ir import PrimFunc
from irkit.phases import DEFAULT, build
from irkit.runtime import Kernel, Module
from tests.passes.loop.kernels import KERNELS, arguments, kernel, results


def product() -> PrimFunc:
    m, n = te.var("m"), te.var("n")
    a = te.placeholder((m, n), name="A")
    b = te.placeholder((m, n), name="B")
    c = te.compute((m, n), lambda i, j: a[i, j] * b[i, j], name="C")
    return te.create_prim_func([a, b, c])


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_native_code_gives_the_bits_of_the_interpreter(name: str) -> None:
    func = kernel(name)
    arrays = arguments(func)
    build(func, pipeline=DEFAULT)(*arrays)
    for array, expected in zip(arrays, results(func), strict=True):
        wanted = np.frombuffer(expected, array.dtype).reshape(array.shape)
        np.testing.assert_allclose(array, wanted, rtol=1e-5, atol=1e-5)


def test_a_function_gives_a_kernel_that_can_be_called_and_shown() -> None:
    mult = irkit.build(product(), target="llvm", name="mult")
    assert isinstance(mult, Kernel)
    x, y = np.full((3, 4), 2.0, np.float32), np.full((3, 4), 5.0, np.float32)
    out = np.empty_like(x)
    mult(x, y, out)
    assert (out == 10).all()
    assert "mult" in mult.source("llvm")


def test_a_module_gives_its_kernels_by_name() -> None:
    module = build(IRModule({"f": product(), "g": kernel("CARRIED")}), target=Target())
    assert isinstance(module, Module)
    assert list(module) == ["f", "g"]


def test_a_mapping_has_a_module_for_each_target() -> None:
    made = build({"cpu": IRModule({"f": product()})})
    assert list(made) == ["f"]
    with pytest.raises(IRKitError, match="more than one target"):
        build({"cpu": IRModule({"f": product()}), "llvm": IRModule({"f": product()})})


def test_a_name_is_for_one_function() -> None:
    two = IRModule({"f": product(), "g": kernel("CARRIED")})
    with pytest.raises(IRKitError, match="cannot name 2 functions 'h'"):
        build(two, name="h")
    assert list(build(IRModule({"f": product()}), name="h")) == ["h"]


def test_an_empty_module_is_refused() -> None:
    with pytest.raises(IRKitError, match="no function to build"):
        build(IRModule({}))
