"""Wrong calls are refused with the words of the interpreter, and a bug in the checks is found."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from irkit.codegen.llvm.module import stub
from irkit.core import ShapeError
from irkit.fuzz.generators import Kind
from irkit.fuzz.generators.draw_sample import draw_sample
from irkit.fuzz.generators.sample import Unusable
from irkit.fuzz.judge import Outcome, judge
from irkit.fuzz.judge.calls import say_the_same
from irkit.fuzz.picks import picks_of
from irkit.ir import as_dtype, numpy_dtype
from irkit.runtime import call, kernel, model, model_calls
from irkit.runtime.call import Explanation
from irkit.runtime.model_arrays import check_input
from tests.draws import sampled


def found_in(kind: Kind, count: int, *invariants: str) -> Outcome | None:
    """Return the first finding of invariants in some samples."""
    for number in range(count):
        try:
            sample = draw_sample(kind, picks_of(100 + number))
        except Unusable:
            continue
        outcome = judge(sample, invariants=invariants, number=number)
        if outcome.is_finding:
            return outcome
    return None


@pytest.mark.parametrize("kind", sampled(["programs", "schedules", "graphs", "onnx"], every=2))
def test_calls_and_packages_are_right(kind: Kind) -> None:
    assert found_in(kind, 6, "checks arguments", "package reads back") is None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("dimension 1 of argument 2 must be 10; found 9", "dimension 1 of argument 3 must be 6", 1),
        ("dimension 1 of argument 2 must be 10; found 9", "dimension 1 of argument 2 must be 6", 0),
        (
            "argument 1 is written and overlaps argument 2",
            "argument 2 is written and overlaps 1",
            0,
        ),
        ("dimension 1 of argument 2 must be 10; found 9", "", 0),
        ("", "", 1),
    ],
)
def test_any_dimension_that_does_not_fit_may_be_named(one: str, other: str, same: int) -> None:
    assert say_the_same(one, other) == say_the_same(other, one) == bool(same)


def _nothing(*args: Any) -> None:
    """Check nothing."""


@pytest.mark.parametrize(
    ("where", "name", "bug"),
    sampled(
        [
            (Explanation, "_check_overlap", _nothing),
            (Explanation, "_check_shape", _nothing),
            (kernel, "as_scalar", lambda func, place, value: value),
            (kernel, "check_count", _nothing),
            (call, "plain_array", np.asarray),
        ],
        every=3,
    ),
)
def test_a_bug_in_the_checks_of_a_call_is_found(
    where: Any, name: str, bug: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(where, name, bug)
    found = found_in("programs", 60, "checks arguments")
    assert found is not None
    assert found.tier == "invariants"


def _reversed(path: Any, contents: Any) -> None:
    params = bytes(reversed(bytes(contents.params)))
    WRITE(path, type(contents)(contents.plan, contents.objects, params, contents.target, ""))


WRITE = model.write_package


@pytest.mark.long
def test_a_stub_that_refuses_arrays_that_touch_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def strict(text: Any, arrays: Any) -> None:
        # Compares the ends by <, where the right check compares by <=.
        plain = text.op
        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(text, "op", lambda code: plain(code.replace("icmp ule", "icmp ult")))
            right(text, arrays)

    right = stub._check_overlap  # pyright: ignore[reportPrivateUsage] -- plants a bug
    monkeypatch.setattr(stub, "_check_overlap", strict)
    found = found_in("programs", 6, "checks arguments")
    assert found is not None
    assert "overlaps" in found.message


def test_a_package_with_other_weights_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "write_package", _reversed)
    found = found_in("graphs", 30, "package reads back")
    assert found is not None
    assert "the loaded model computes something else" in found.message


def _unchecked(spec: Any, given: Any) -> Any:
    return np.resize(np.asarray(given).astype(numpy_dtype(as_dtype(spec.dtype))), spec.shape)


def test_inputs_of_a_model_that_are_not_checked_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_calls, "check_input", _unchecked)
    found = found_in("graphs", 10, "checks arguments")
    assert found is not None
    assert "wrong inputs raise nothing, expected" in found.message


def test_an_error_that_does_not_name_the_wrong_input_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = check_input

    def check(spec: Any, given: Any) -> Any:
        try:
            return right(spec, given)
        except ShapeError:
            raise ShapeError("an input is wrong") from None

    monkeypatch.setattr(model_calls, "check_input", check)
    found = found_in("graphs", 10, "checks arguments")
    assert found is not None
    assert "expected ShapeError for 'x" in found.message


def test_kernels_with_other_names_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = kernel.build_kernels
    monkeypatch.setattr(
        kernel,
        "build_kernels",
        lambda funcs, target: right([f.replace(name=f"{f.name}_") for f in funcs], target),
    )
    found = found_in("programs", 1, "checks arguments")
    assert found is not None
    assert "have other names" in found.message
