"""The test of a pass whose result depends on the hash seed runs it under two seeds."""

import sys
from pathlib import Path

import pytest

from irkit.debug import find_case, seeded_passes, write_case
from irkit.ir import parse
from irkit.passes import installed_passes
from irkit.phases import DEFAULT
from irkit.transform import load_pass
from tests.debug.reduce.test_reduce import written_tests

FUNCTION = """\
def f(A: f32[4], C: f32[4]):
    for i in serial(0, 4):
        C[i] = A[i] + f32(1.0)
"""
SEEDED = '''\
"""Shift what is stored by a number that follows from the hash seed."""

from irkit.core import rewrite
from irkit.ir import PrimFunc, Store, const
from irkit.transform import define_pass


@define_pass
def shift(func: PrimFunc, *, by_hash: bool = True) -> PrimFunc:
    """Add a number to what is stored: another one in each process, or the same in all."""
    by = float(hash("a name") % 1000 + 1) if by_hash else 1.0
    return rewrite(func, lambda s: s.replace(value=s.value + const(by, s.value.dtype)), on=Store)
'''


@pytest.mark.parametrize("by_hash", [True, False])
def test_a_second_test_runs_two_seeds(
    by_hash: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"seeded_in_a_test_{by_hash}.py".lower()).write_text(SEEDED)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    p = load_pass(f"seeded_in_a_test_{by_hash}:shift".lower(), {"by_hash": by_hash})
    known = installed_passes()
    result = find_case(DEFAULT.insert(p, phase=0), parse(FUNCTION))
    assert result is not None
    case, failure = result
    seeded = seeded_passes(case, known)
    assert seeded == [p] * by_hash
    tests = written_tests(write_case(tmp_path, case, failure, known, seeded=seeded))
    assert len(tests) == 1 + by_hash
    for test in tests:
        with pytest.raises(AssertionError):
            test()
