"""Hypothesis, which watches the limit of recursion, has nothing to say about a user's tests."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.draws import sampled

TESTS = """
import sys
from hypothesis import given, settings, strategies as st
import irkit
import numpy as np
from irkit.ir import If, interpret, lt, parse, script

@settings(max_examples=5, deadline=None, database=None)
@given(st.integers(1, 40))
def test_a_function_is_lowered_built_and_interpreted(depth):
    func = parse("def f(C: i64[1], n: i64):\\n    C[0] = n\\n")
    body = func.body
    for _ in range(depth):
        body = If(lt(func.params[1], 100), body)
    func = parse(script(func.replace(body=body)))
    array = np.zeros(1, "i8")
    interpret(irkit.lower(func), array, depth)
    irkit.build(func)(array, depth + array[0])
    assert array[0] == 2 * depth
    CHANGE
"""
CHANGES = {"pass": 0, "sys.setrecursionlimit(sys.getrecursionlimit() + 7)": 1}


@pytest.mark.parametrize("change", sampled(CHANGES, every=2))
def test_only_a_limit_that_stays_changed_is_warned_of(tmp_path: Path, change: str) -> None:
    (tmp_path / "test_own.py").write_text(TESTS.replace("CHANGE", change))
    command = [sys.executable, "-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "-W", "error", "test_own.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == CHANGES[change], done.stdout + done.stderr
    assert ("recursion limit" in done.stdout) == bool(CHANGES[change])
