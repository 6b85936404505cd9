"""What is stored or combined at indices along an axis, beside NumPy."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import irkit
from irkit.core import IRKitError
from irkit.frontend.torch import TorchProgram, import_program
from irkit.frontend.torch.program import TorchInput, TorchNode, TorchOutput, TorchTensor
from irkit.graph import arrays_of, interpret
from tests.draws import few_or_all

UFUNCS: dict[str, Any] = {
    "add": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum
}  # fmt: skip


def program(axis: int, reduction: str, *, include_self: bool = True) -> TorchProgram:
    """Return a scatter of n rows of four elements to m rows, or along the other axis."""
    shapes = {"x": ("m", 4), "index": ("n", 3), "rows": ("n", 3)}
    inputs = tuple(
        TorchInput(name, "user", name, TorchTensor(shape, "i64" if name == "index" else "f32"))
        for name, shape in shapes.items()
    )
    args: list[Any] = [{"is": "ref", "name": "x"}, axis]
    args += [{"is": "ref", "name": name} for name in ("index", "rows")]
    target = "aten.scatter_reduce.two" if reduction else "aten.scatter.src"
    args += [reduction.replace("add", "sum")] if reduction else []
    kept = {} if include_self else {"include_self": False}
    node = TorchNode("made", target, args, kept, (TorchTensor(("m", 4), "f32"),), "m.py", 3)
    output = TorchOutput("user", {"is": "ref", "name": "made"})
    return TorchProgram(inputs, (node,), (output,))


def scattered(x: Any, index: Any, rows: Any, axis: int, reduction: str) -> Any:
    made = x.copy()
    for place in np.ndindex(index.shape):
        to = tuple(index[place] if at == axis else each for at, each in enumerate(place))
        made[to] = UFUNCS[reduction](made[to], rows[place]) if reduction else rows[place]
    return made


@settings(max_examples=few_or_all(15, 150), deadline=None)
@given(
    st.sampled_from(["", *UFUNCS]), st.integers(0, 1), st.integers(1, 5), st.integers(0, 5),
    st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_elements_are_stored_and_combined(
    reduction: str, axis: int, most: int, count: int, seed: int
) -> None:
    count = min(count, most) if axis else count
    rng = np.random.default_rng(seed)
    x = rng.integers(-9, 10, (most, 4)).astype("f4")
    index = rng.integers(0, 4 if axis else most, (count, 3))
    rows = rng.integers(-9, 10, (count, 3)).astype("f4")
    module = import_program(program(axis, reduction))
    (found,) = arrays_of(interpret(module, [x, index, rows]))
    np.testing.assert_array_equal(found, scattered(x, index, rows, axis, reduction))


@pytest.mark.parametrize("outside", [-1, 4])
def test_an_index_outside_of_the_axis_is_refused(outside: int) -> None:
    model = irkit.compile(import_program(program(1, "add")))
    x, rows = np.zeros((2, 4), np.float32), np.ones((2, 3), np.float32)
    index = np.array([[0, 1, 2], [3, 3, 0]])
    assert model.run({"x": x, "index": index, "rows": rows})["made"].tolist() == [
        [1, 1, 1, 0], [1, 0, 0, 2],
    ]  # fmt: skip
    index[1, 2] = outside
    with pytest.raises(IRKitError, match="an index is outside of the axis"):
        model.run({"x": x, "index": index, "rows": rows})


def test_a_number_of_the_largest_that_dimensions_decide_is_refused() -> None:
    x = TorchInput("x", "user", "x", TorchTensor(("n", 4), "f32"))
    size = TorchNode("n", "aten.sym_size.int", [{"is": "ref", "name": "x"}, 0], {}, ())
    results = (TorchTensor(("n", 4), "f32"), TorchTensor(("n", 4), "i64"))
    args = [{"is": "ref", "name": "x"}, {"is": "ref", "name": "n"}, 1]
    best = TorchNode("best", "aten.topk.default", args, {}, results, "m.py", 3)
    first = TorchNode(
        "first", "builtin.getitem", [{"is": "ref", "name": "best"}, 0], {}, results[:1]
    )
    output = TorchOutput("user", {"is": "ref", "name": "first"})
    with pytest.raises(IRKitError, match="k is computed from dimensions"):
        import_program(TorchProgram((x,), (size, best, first), (output,)))


def test_what_is_not_supported_is_named() -> None:
    with pytest.raises(IRKitError, match="include_self=False"):
        import_program(program(0, "add", include_self=False))
    with pytest.raises(IRKitError, match="reduction 'mean'"):
        import_program(program(0, "mean"))
