"""Drawn programs of blocks and threads give the same bits everywhere, whatever scope memory has."""

import numpy as np
import pytest

import irkit
from irkit.codegen.device import program
from irkit.debug.targets import target_executor
from irkit.ir import interpret
from tests.runtime.device.test_opencl import needs_opencl
from tests.targets.device_programs import EXECUTORS, arguments, drawn, wrong_cases

HERE = EXECUTORS[:2]


def installed(names: tuple[str, ...]) -> list[str]:
    return [name for name in names if not target_executor(name).missing]


def test_programs_on_this_processor() -> None:
    wrong, counts = wrong_cases(range(24), HERE)
    assert wrong == []
    assert all(counts[f"{name}: ran"] >= 20 for name in HERE)


@needs_opencl
def test_a_few_programs_on_a_device() -> None:
    wrong, counts = wrong_cases(range(6), ["opencl"])
    assert wrong == []
    assert counts["opencl: ran"] >= 4


@needs_opencl
def test_memory_of_a_block_that_each_thread_had_for_itself_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def is_right() -> bool:
        found = [arg.copy() for arg in args]
        irkit.build(func, target="opencl")(*found)
        return all(map(np.array_equal, found, wanted))

    func = drawn(13)
    args = arguments(func, 13)
    wanted = [arg.copy() for arg in args]
    interpret(func, *wanted)
    assert is_right()
    monkeypatch.setattr(program, "with_block_memory", lambda nest: nest)
    assert not is_right()


@pytest.mark.long
def test_five_hundred_programs_everywhere() -> None:
    names = installed(EXECUTORS)
    wrong, counts = wrong_cases(range(1000, 1750), names)
    assert wrong == []
    assert all(counts[f"{name}: ran"] >= 500 for name in names)
