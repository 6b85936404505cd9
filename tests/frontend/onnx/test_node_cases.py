"""Every node case of ONNX's own back-end suite whose operators irkit has: compiled natively and
compared.

Inputs that decide a shape are graph inputs there; they are specialised with ``values=``.
"""

import re
import warnings
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import onnx
import onnx.backend.test.loader
import pytest
from numpy.typing import NDArray
from onnx.backend.test.case.test_case import TestCase as NodeCase

import irkit
from irkit.core import IRKitError
from irkit.frontend.onnx import CONVERTERS, ImportFailed
from irkit.ir import from_numpy

# Inputs that must be known on import, by operator.
SPECIALISED = {
    "ConstantOfShape": (0,),
    "Dropout": (1, 2),
    "Reshape": (1,),
    "Squeeze": (1,),
    "Unsqueeze": (1,),
}

# Cases that cannot pass, each with the error it must give.
RANDOM = (ImportFailed, "training mode draws random numbers")
REFUSED = {
    "test_training_dropout": RANDOM,
    "test_training_dropout_default": RANDOM,
    "test_training_dropout_default_mask": RANDOM,
    "test_training_dropout_mask": RANDOM,
}


@cache
def cases() -> tuple[NodeCase, ...]:
    """Return the cases with known operators and tensors of supported types."""
    with warnings.catch_warnings():  # The suite divides by zero while it makes other cases.
        warnings.simplefilter("ignore")
        found = onnx.backend.test.loader.load_model_tests(kind="node")
    return tuple(case for case in found if has_known_operators(case) and has_known_types(case))


def has_known_operators(case: NodeCase) -> bool:
    return all(
        node.domain in ("", "ai.onnx") and node.op_type in CONVERTERS
        for node in case.model.graph.node
    )


def has_known_types(case: NodeCase) -> bool:
    for info in (*case.model.graph.input, *case.model.graph.output):
        if not info.type.HasField("tensor_type"):
            return False
        try:
            from_numpy(onnx.helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type))
        except (IRKitError, KeyError):
            return False
    return True


def feeds_of(case: NodeCase, inputs: list[Any]) -> dict[str, NDArray[Any]]:
    return dict(zip((info.name for info in case.model.graph.input), inputs, strict=True))


def values_of(case: NodeCase, feeds: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Pick the inputs that decide a shape."""
    names = {
        node.input[at]
        for node in case.model.graph.node
        for at in SPECIALISED.get(node.op_type, ())
        if at < len(node.input)
    }
    return {name: array for name, array in feeds.items() if name in names}


def check(case: NodeCase) -> None:
    """Compile and run a case; raise where it differs from what the suite expects."""
    for inputs, expected in case.data_sets:
        feeds = feeds_of(case, inputs)
        values = values_of(case, feeds)
        model = irkit.compile(case.model, values=values, verify=True)
        got = model.run({name: array for name, array in feeds.items() if name not in values})
        assert list(got) == [info.name for info in case.model.graph.output]
        for array, want in zip(got.values(), expected, strict=True):
            assert array.shape == want.shape
            assert array.dtype == want.dtype
            np.testing.assert_allclose(array, want, rtol=case.rtol, atol=case.atol)


@pytest.mark.parametrize("operator", sorted(CONVERTERS))
def test_every_case_of_an_operator_gives_what_the_suite_expects(operator: str) -> None:
    own = [case for case in cases() if case.model.graph.node[-1].op_type == operator]
    assert own
    for case in own:
        if case.name not in REFUSED:
            try:
                check(case)
            except Exception as error:
                raise AssertionError(f"{case.name}: {error}") from error


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_a_refused_case_fails_for_the_reason_given(name: str) -> None:
    kind, reason = REFUSED[name]
    (case,) = [case for case in cases() if case.name == name]
    with pytest.raises(kind, match=re.escape(reason)):
        check(case)


def test_the_suite_is_there() -> None:
    found = cases()
    assert len(found) >= 200
    assert len({case.name for case in found}) == len(found)
    kinds = {info.type.tensor_type.elem_type for case in found for info in case.model.graph.input}
    assert len(kinds) >= 10
    specialised = [case for case in found if values_of(case, feeds_of(case, case.data_sets[0][0]))]
    assert len(specialised) >= 25
