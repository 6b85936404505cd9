"""The node cases of ONNX's own back-end suite: for nearly every operator some models of one node,
with inputs and outputs."""

import random
import warnings
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnx
import onnx.backend.test.loader
from onnx import numpy_helper

from irkit.frontend.onnx import DATA_DEPENDENT
from irkit.fuzz.generators.sample import Array

REFUSED_CASES = Path(__file__).with_name("refused_node_cases.txt")
"""The cases that irkit refuses, each with the reason; a test of the importer writes and checks
it."""
_MOST_NODES = 4
_MOST_ELEMENTS = 20_000
_EXPANDED = "_expanded"


class SuiteCase(msgspec.Struct, frozen=True, eq=False):
    """A case of the suite; ``inputs`` by name, ``outputs`` in order."""

    name: str
    model: onnx.ModelProto
    inputs: dict[str, Array]
    outputs: tuple[Array, ...]

    @property
    def operator(self) -> str:
        return self.model.graph.node[-1].op_type


@cache
def suite_cases() -> dict[str, tuple[SuiteCase, ...]]:
    """Return the small cases that irkit imports as one graph, by operator."""
    refused = refused_cases()
    found = defaultdict[str, list[SuiteCase]](list)
    for each in shipped_cases():
        if each.name not in refused and _EXPANDED not in each.name:
            case = _case_of(each)
            if case is not None and case.operator not in DATA_DEPENDENT:
                found[case.operator].append(case)
    return {name: tuple(found[name]) for name in sorted(found)}


@cache
def attribute_values() -> dict[tuple[str, str], tuple[onnx.AttributeProto, ...]]:
    """Return the values that each attribute of each operator has in the suite."""
    found = defaultdict[tuple[str, str], dict[bytes, onnx.AttributeProto]](dict)
    for name, cases in suite_cases().items():
        for case in cases:
            for attr in case.model.graph.node[-1].attribute:
                found[name, attr.name][attr.SerializeToString(deterministic=True)] = attr
    return {key: tuple(values.values()) for key, values in found.items()}


def refused_cases() -> dict[str, str]:
    """Read the list of cases that irkit refuses, each with its reason."""
    found: dict[str, str] = {}
    reason = ""
    for line in REFUSED_CASES.read_text("utf-8").splitlines():
        if line.startswith("    "):
            found[line.strip()] = reason
        elif line and not line.startswith("#"):
            reason = line
    return found


@cache
def shipped_cases() -> tuple[Any, ...]:
    """Load the suite, whose numbers are drawn from NumPy's global generator; the first call takes
    seconds."""
    kept = np.random.get_state()
    own = random.getstate()
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # The suite divides by zero while it makes some cases.
            np.random.seed(0)
            random.seed(0)
            return tuple(onnx.backend.test.loader.load_model_tests(kind="node"))
    finally:
        np.random.set_state(kept)
        random.setstate(own)


def _case_of(shipped: Any) -> SuiteCase | None:
    """Return a case that has tensors only, and is small."""
    model: onnx.ModelProto = shipped.model
    inputs, outputs = shipped.data_sets[0]
    try:
        arrays = [_array(value) for value in (*inputs, *outputs)]
    except TypeError:
        return None
    if len(model.graph.node) > _MOST_NODES or sum(a.size for a in arrays) > _MOST_ELEMENTS:
        return None
    names = [info.name for info in model.graph.input]
    named = dict(zip(names, arrays[: len(names)], strict=True))
    return SuiteCase(shipped.name, model, named, tuple(arrays[len(names) :]))


def _array(value: Any) -> Array:
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    if isinstance(value, (list, dict)) or value is None:
        raise TypeError("not a tensor")
    return np.asarray(value)
