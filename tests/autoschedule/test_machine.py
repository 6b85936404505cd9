"""Machines as data: those of targets, and their text in the options of a pass."""

import pytest

from irkit.autoschedule import GENERIC, Machine
from irkit.core import IRKitError, Target


def test_the_machine_of_a_target_has_its_vectors_and_instructions_and_common_caches() -> None:
    wide = Machine.of_target(Target(features=("+avx2", "+avx512f", "+avx512vnni", "+sse2")))
    assert (wide.vector_bytes, wide.vector_registers) == (64, 32)
    assert wide.features == ("avx512vnni",)
    narrow = Machine.of_target(Target(features=("+avx2", "-avx512f")))
    assert (narrow.vector_bytes, narrow.vector_registers, narrow.features) == (32, 16, ())
    assert Machine.of_target(Target(features=("+neon",))).vector_registers == 32
    assert Machine.of_target(Target()).vector_bytes == 16
    assert (narrow.l1, narrow.l2, narrow.l3) == (GENERIC.l1, GENERIC.l2, GENERIC.l3)


def test_settings_are_what_differs_from_the_generic_machine() -> None:
    assert GENERIC.settings == ()
    machine = Machine(vector_bytes=32, features=("avxvnni",))
    assert machine.settings == (("vector_bytes", 32), ("features", "avxvnni"))
    assert Machine.of_settings(machine.settings) == machine


def test_settings_of_no_machine_are_refused() -> None:
    with pytest.raises(IRKitError, match="has no 'l4'; it has: vector_bytes"):
        Machine.of_settings((("l4", 1),))
    with pytest.raises(IRKitError, match="not a machine: Expected `int`"):
        Machine.of_settings((("l1", "big"),))
