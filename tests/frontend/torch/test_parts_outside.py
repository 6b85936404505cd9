"""Parts of a tensor that may lie outside of it at some sizes: such a call is refused."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import irkit
from irkit.core import IRKitError, ShapeError
from irkit.frontend.torch import TorchProgram, import_program
from irkit.frontend.torch.program import TorchInput, TorchNode, TorchOutput, TorchTensor
from irkit.graph import arrays_of, interpret


def ref(name: str) -> dict[str, str]:
    return {"is": "ref", "name": name}


def program(target: str, argument: Any, *rows: int | str | None) -> TorchProgram:
    """Return a program of one operator on n rows, whose results have these rows; None for one that
    has no such axis."""
    results = tuple(TorchTensor((4,) if n is None else (n, 4), "f32") for n in rows)
    args = [ref("x"), argument, 0] if "split" in target else [ref("x"), 0, argument]
    nodes = [TorchNode("part", target, args, {}, results, "model.py", 3)]
    names = ["part"]
    if len(rows) > 1:
        names = [f"part_{at}" for at in range(len(rows))]
        nodes += [
            TorchNode(name, "builtin.getitem", [ref("part"), at], {}, (results[at],))
            for at, name in enumerate(names)
        ]
    x = TorchInput("x", "user", "x", TorchTensor(("n", 4), "f32"))
    outputs = tuple(TorchOutput("user", ref(name)) for name in names)
    return TorchProgram((x,), tuple(nodes), outputs)


def rows(n: int) -> Any:
    return np.arange(4 * n, dtype="f4").reshape(n, 4) + 1


def row_5(x: Any) -> list[Any]:
    return [x[5]]


def third_last(x: Any) -> list[Any]:
    return [x[-3]]


def parts_at_2(x: Any) -> list[Any]:
    return [x[:2], x[2:]]


def parts_at_4(x: Any) -> list[Any]:
    return [x[:4], x[4:]]


SELECTED = r"takes elements from \S.* of dimension 0, which has "
SPLIT = r"has parts for \d+ to \d+ elements of dimension 0, which has "


@pytest.mark.parametrize(
    ("given", "sizes", "outside", "message", "want"),
    [
        (program("aten.select.int", 5, None), (6, 8), (5,), SELECTED, row_5),
        (program("aten.select.int", -3, None), (3, 8), (2,), SELECTED, third_last),
        (
            program("aten.split_with_sizes.default", [2, 3], 2, 3),
            (5,),
            (4, 6),
            SPLIT,
            parts_at_2,
        ),
        (
            program("aten.split.Tensor", 4, 4, "n - 4"),
            (5, 8),
            (4, 9),
            SPLIT,
            parts_at_4,
        ),
    ],
    ids=["select", "select from the end", "split by sizes", "split"],
)
def test_a_part_outside_is_refused_before_anything_is_written(
    given: TorchProgram,
    sizes: Sequence[int],
    outside: Sequence[int],
    message: str,
    want: Callable[[Any], list[Any]],
) -> None:
    module = import_program(given)
    message = rf"'part', a aten\.\S+, {message}"
    compiled = irkit.compile(module, schedule="none", keep_trace=False)
    for n in sizes:
        for found in (
            compiled.run({"x": rows(n)}).values(),
            arrays_of(interpret(module, [rows(n)])),
        ):
            for one, other in zip(found, want(rows(n)), strict=True):
                np.testing.assert_array_equal(one, other)
    for n in outside:
        out = {each.name: rows(4) for each in compiled.plan.outputs if each.shape == (4,)}
        with pytest.raises(ShapeError, match=f"with n = {n}, {message}n"):
            compiled.run({"x": rows(n)}, out={name: array[0] for name, array in out.items()})
        assert all(np.array_equal(array, rows(4)) for array in out.values())
        with pytest.raises(IRKitError, match=f"{message}{n}"):
            interpret(module, [rows(n)])
