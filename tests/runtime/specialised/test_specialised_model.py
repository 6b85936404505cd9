"""A model that is compiled at the call: what it keeps, when it compiles, and what it says."""

import logging
import pickle
import threading
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import irkit
from irkit.core import IRKitError
from irkit.graph import Builder, InputSpec
from irkit.runtime import Model, Specialisation, SpecialisedModel
from tests.runtime.models import module

INPUTS = (InputSpec("x", "f32", ("N",)), InputSpec("k", "i64", (1,)))


class Doubling:
    """Compiles ``x + x`` for the shape of ``x``, and the value of ``k``; counts its calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, int]] = []

    def __call__(self, feeds: Mapping[str, NDArray[Any]]) -> tuple[Specialisation, Model]:
        self.calls.append((feeds["x"].size, int(feeds["k"][0])))
        b = Builder()
        x = b.param("x", feeds["x"].shape)
        made = b.op("multiply", x, b.constant(feeds["k"].astype(np.float32)))
        model = irkit.compile(module(b.finish(made, outputs=("y",))), keep_trace=False)
        return Specialisation({"x": feeds["x"].shape}, {"k": feeds["k"]}), model


def feeds(size: int, k: int) -> dict[str, NDArray[Any]]:
    return {"x": np.ones(size, np.float32), "k": np.array([k])}


def test_each_shape_and_value_is_compiled_once() -> None:
    compiler = Doubling()
    model = SpecialisedModel(INPUTS, compiler)
    for size, k in [(2, 3), (4, 3), (2, 5), (2, 3), (4, 3)]:
        assert model.run(feeds(size, k))["y"].tolist() == [k] * size
    assert compiler.calls == [(2, 3), (4, 3), (2, 5)]


def test_specialisations_are_listed_with_the_last_used_first() -> None:
    model = SpecialisedModel(INPUTS, Doubling())
    for size, k in [(2, 3), (4, 3), (2, 3)]:
        model.run(feeds(size, k))
    assert [str(each) for each in model.specialisations] == ["x: [2]; k = [3]", "x: [4]; k = [3]"]


def test_the_last_eight_are_kept() -> None:
    compiler = Doubling()
    model = SpecialisedModel(INPUTS, compiler)
    for k in range(8):
        model.run(feeds(1, k))
    model.run(feeds(1, 0))  # Used again, so 1 is now the oldest.
    model.run(feeds(1, 8))
    assert len(model.specialisations) == 8
    compiler.calls.clear()
    model.run(feeds(1, 0))
    assert compiler.calls == []
    model.run(feeds(1, 1))
    assert compiler.calls == [(1, 1)]


def test_a_value_that_the_caller_changes_is_not_taken_for_the_old_one() -> None:
    model = SpecialisedModel(INPUTS, Doubling())
    given = feeds(2, 3)
    model.run(given)
    given["k"][0] = 7
    assert model.run(given)["y"].tolist() == [7, 7]


def test_threads_that_meet_the_same_inputs_compile_once() -> None:
    compiler = Doubling()
    model = SpecialisedModel(INPUTS, compiler)
    start = threading.Barrier(6)
    wrong: list[object] = []

    def work(number: int) -> None:
        start.wait()
        k = number % 2
        if model.run(feeds(3, k))["y"].tolist() != [k] * 3:
            wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert sorted(compiler.calls) == [(3, 0), (3, 1)]


def test_it_says_once_that_it_compiles_at_the_call(caplog: pytest.LogCaptureFixture) -> None:
    model = SpecialisedModel(INPUTS, Doubling(), why="the model leaves N open")
    with caplog.at_level(logging.WARNING, "irkit"):
        model.run(feeds(1, 1))
        model.run(feeds(2, 1))
    (record,) = caplog.records
    assert record.getMessage() == (
        "the model leaves N open; so it is compiled at the call for the inputs it meets, and the "
        "last 8 specialisations are kept"
    )


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"x": np.ones(2, np.float32)}, ValueError, "input 'k' is missing; the inputs are: x, k"),
        ({**feeds(2, 1), "q": 1}, ValueError, "'q' is not an input; the inputs are: x, k"),
        ({**feeds(2, 1), "k": [1.5]}, TypeError, "input 'k' must be of type int64, found float64"),
        ({**feeds(2, 1), "k": [1, 2]}, ValueError, r"must be k: i64\[1\], found shape \[2\]"),
        ({**feeds(2, 1), "k": [[1], [2, 3]]}, ValueError, "input 'k' is not an array"),
        (
            {**feeds(2, 1), "x": np.ones((2, 2), np.float32)},
            ValueError,
            r"input 'x' must be x: f32\[N\], found shape \[2, 2\]",
        ),
        ([1], TypeError, "inputs must map names to arrays, found list; the names are: x, k"),
    ],
)
def test_inputs_are_checked_before_anything_is_compiled(
    given: Any, error: type[Exception], said: str
) -> None:
    compiler = Doubling()
    with pytest.raises(error, match=said) as caught:
        SpecialisedModel(INPUTS, compiler).run(given)
    assert isinstance(caught.value, IRKitError)
    assert compiler.calls == []


def test_a_dimension_that_two_inputs_share_has_one_size() -> None:
    inputs = (InputSpec("x", "f32", ("N",)), InputSpec("y", "f32", (2, "N")))
    given = {"x": np.ones(3, np.float32), "y": np.ones((2, 4), np.float32)}
    with pytest.raises(ValueError, match="has size 4 where the model says 'N', but 'N' is 3 in"):
        SpecialisedModel(inputs, Doubling()).run(given)


def test_a_pickled_model_compiles_and_runs() -> None:
    model = SpecialisedModel(INPUTS, Doubling())
    restored: SpecialisedModel = pickle.loads(pickle.dumps(model))
    assert restored.run(feeds(2, 3))["y"].tolist() == [3, 3]
    assert restored.run(feeds(2, 4))["y"].tolist() == [4, 4]


def test_what_only_its_parts_have_is_refused_by_name() -> None:
    model = SpecialisedModel(INPUTS, Doubling())
    with pytest.raises(IRKitError, match="compiled at the call, so it has no plan of its own"):
        _ = model.plan
    with pytest.raises(IRKitError, match="has no trace yet"):
        _ = model.trace
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        model.nonsense  # noqa: B018
