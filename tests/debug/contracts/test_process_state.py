"""A pass leaves its process as it found it: what is changed is named, and set back."""

import os
import random
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from irkit.debug import contracts
from irkit.ir import PrimFunc, parse
from irkit.transform import AnyPass, define_pass

FUNC = "def f(C: f32[4]):\n    for i in serial(0, 4):\n        C[i] = f32(1.0)\n"


def doing(action: Callable[[], object]) -> AnyPass:
    @define_pass
    def act(func: PrimFunc) -> PrimFunc:
        """Do something beside."""
        action()
        return func

    return act


def broken(action: Callable[[], object]) -> list[str]:
    found = contracts(doing(action), [parse(FUNC)], hash_seeds=(), fires=0)
    assert {each.contract for each in found} <= {"process untouched"}
    return [each.message for each in found]


CHANGES: dict[str, Callable[[], object]] = {
    "Python's recursion limit": lambda: sys.setrecursionlimit(4321),
    "NumPy's error state": lambda: np.seterr(all="ignore"),
    "the filters of warnings": lambda: warnings.simplefilter("ignore"),
    "the state of random": lambda: random.seed(3),
    "the state of numpy.random": lambda: np.random.seed(3),
    "the environment": lambda: os.environ.update(IRKIT_TEST_OF_STATE="1"),
    "the current folder": lambda: os.chdir(os.sep),
    "sys.path": lambda: sys.path.append("nowhere"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_a_pass_changes_is_named_and_set_back(name: str) -> None:
    folder, limit, path = Path.cwd(), sys.getrecursionlimit(), list(sys.path)
    (message,) = broken(CHANGES[name])
    assert message.startswith(f"it changes {name}")
    assert (Path.cwd(), sys.getrecursionlimit(), sys.path) == (folder, limit, path)
    assert "IRKIT_TEST_OF_STATE" not in os.environ


def test_what_happens_once_is_due_to_an_import_and_stays() -> None:
    done: list[bool] = []

    def once() -> None:
        if not done:
            os.environ["IRKIT_TEST_OF_STATE"] = "1"
            done.append(True)

    try:
        assert broken(once) == []
        assert os.environ["IRKIT_TEST_OF_STATE"] == "1"
    finally:
        del os.environ["IRKIT_TEST_OF_STATE"]


def test_state_that_is_used_and_left_as_it_was_is_no_fault() -> None:
    def careful() -> None:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("error")
        random.Random(3).random()

    assert broken(careful) == []
