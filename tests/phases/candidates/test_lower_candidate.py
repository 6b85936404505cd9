"""Candidates are lowered as what is built for this machine."""

from importlib import import_module

import pytest

from irkit.core import walk
from irkit.ir import Call, PrimFunc, parse
from irkit.phases import target_phases

# The folder offers the function under the name of its module.
module = import_module("irkit.phases.candidates.lower_candidate")
FUNC = parse("def f(A: f32[8]):\n    for i in serial(0, 8):\n        A[i] = exp(A[i])\n")


def functions(func: PrimFunc) -> set[str]:
    return {call.name for call in walk(func.body, Call)}


def test_candidates_are_legalised_as_the_machine_declares(monkeypatch: pytest.MonkeyPatch) -> None:
    module._lowering.cache_clear()
    assert "exp" not in functions(module.lower_candidate(FUNC))
    monkeypatch.setattr(target_phases, "legalisation", lambda target: {})
    module._lowering.cache_clear()
    assert functions(module.lower_candidate(FUNC)) == {"exp"}
    module._lowering.cache_clear()
