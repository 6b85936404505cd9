"""The code of each instruction that this machine has computes what its meaning says."""

import pytest

from irkit.codegen import host_target
from irkit.core import IRKitError
from irkit.debug import check_instruction
from irkit.ir import (
    Instruction,
    define_instruction,
    find_instruction,
    known_instructions,
    parse,
    script,
)
from irkit.ir.instructions.registry import _DEFINED  # pyright: ignore[reportPrivateUsage]
from tests.draws import few_or_all

HOST = host_target()
NATIVE = [row for row in known_instructions() if row.is_native(HOST.triple, HOST.features)]


def draws_for(row: Instruction) -> int:
    """Return how often an instruction is tried: a draw fills a tile with as much as 16 vectors, and
    takes a third of a second to interpret."""
    return few_or_all(min(300, max(4, 1200 // row.dtype.lanes)), 300)


@pytest.mark.parametrize("row", NATIVE, ids=lambda row: row.name)
def test_the_code_computes_the_meaning(row: Instruction) -> None:
    assert check_instruction(row, draws=draws_for(row)) is None


# What could be wrong in a meaning: the sign, a saturation, the order, a rounding, denormals.
FAULTS = [
    ("x86_vpdpbusd_512", "cast(a[i * 4 + k], i32)", "cast(cast(a[i * 4 + k], i8), i32)"),
    ("x86_vpdpbusd_512", "serial(0, 4)", "serial(0, 3)"),
    ("x86_vpdpbusd_128", "a[i * 4 + k]", "a[i + k * 4]"),
    ("x86_vpdpbusd_256_one", "out[i] = acc[i]", "out[i] = max(acc[i], i32(-2147483647))"),
    ("x86_vpdpwssd_512", "out[i] + cast", "out[i] - cast"),
    ("x86_vdpbf16ps_512", "i * 2 + 1", "i * 2"),
    ("x86_vdpbf16ps_128_one", "f32(1.1754943508222875e-38)", "f32(0.0)"),
    ("x86_tdpbusd_16x16x64", "cast(a[", "i32(-1) * cast(a["),
    ("x86_tdpbf16ps_16x16x32", "sums[n]", "sums[0]"),
]


@pytest.mark.parametrize(("name", "right", "wrong"), FAULTS)
def test_a_wrong_meaning_is_found(name: str, right: str, wrong: str) -> None:
    row = find_instruction(name)
    assert row is not None
    text = script(row.meaning)
    assert right in text
    wrong_row = Instruction("test_wrong", parse(text.replace(right, wrong)), row.llvm, row.arch)
    if row not in NATIVE:
        pytest.skip(f"this machine lacks {name}")
    define_instruction(wrong_row)
    try:
        found = check_instruction(wrong_row, draws=draws_for(wrong_row))
    finally:
        del _DEFINED["test_wrong"]
    assert found is not None
    assert found.startswith("test_wrong computes ")


def test_an_instruction_of_another_machine_is_not_checked() -> None:
    row = find_instruction("aarch64_sdot_128" if "x86" in HOST.triple else "x86_vpdpbusd_512")
    assert row is not None
    with pytest.raises(IRKitError, match="lacks"):
        check_instruction(row)
