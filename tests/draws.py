"""How much `make test` tries of what `make test-long` tries in full."""

import os
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import pytest

LONG = bool(os.environ.get("IRKIT_LONG"))
_T = TypeVar("_T")


def few_or_all(few: int, everything: int) -> int:
    """Return how many cases a test draws: ``everything`` in the long run, else ``few``."""
    return everything if LONG else few


def part_of(cases: Sequence[_T], every: int) -> Sequence[_T]:
    """Return the cases that a test goes through: all in the long run, else each ``every``-th."""
    return cases if LONG else cases[::every]


def sampled(cases: Iterable[Any], every: int, first: int = 0) -> list[Any]:
    """Return the cases of a parametrized test: all but each ``every``-th are marked as long."""
    return [
        case if at % every == first else pytest.param(*_values(case), marks=pytest.mark.long)
        for at, case in enumerate(cases)
    ]


def _values(case: Any) -> tuple[Any, ...]:
    return case if isinstance(case, tuple) else (case,)
