"""Loops of chosen kinds become serial."""

import pytest

from irkit.passes.loop import convert_for_loops_to_serial
from tests.passes.loop.programs import applied_with_remarks


@pytest.mark.parametrize(
    ("options", "kinds"),
    [
        ({}, ["serial", "serial", "unrolled"]),
        ({"vectorized": False}, ["serial", "vectorized", "unrolled"]),
        ({"parallel": False, "unrolled": True}, ["parallel", "serial", "serial"]),
    ],
)
def test_only_the_chosen_kinds_become_serial(options: dict[str, bool], kinds: list[str]) -> None:
    lines = ("for i in parallel(0, 2):", "    C[i] = A[i]", "for j in vectorized(0, 2):")
    rest = ("    C[j] = A[j]", "for k in unrolled(0, 2):", "    C[k] = A[k]")
    made, _ = applied_with_remarks(convert_for_loops_to_serial.using(**options), *lines, *rest)
    assert [line.split()[3].partition("(")[0] for line in made if line.startswith("for")] == kinds
