"""Products of narrow numbers use the tile registers of AMX where a machine has them.

No processor with AMX is needed: the meaning of the instruction runs anywhere, and the assembly for
one that has it is looked at.
"""

import pytest

from irkit import build, lower
from irkit.autoschedule import Machine, auto_schedule
from irkit.codegen import assembly, complete_target, emit
from irkit.core import Target
from irkit.ir import interpret, verify
from tests.autoschedule.instructions.test_instructions import FEATURES, arrays, product
from tests.draws import sampled

MACHINE = Machine(features=(*FEATURES, "amx-int8", "amx-bf16"))
SERVER = Target("llvm", cpu="sapphirerapids", triple="x86_64-unknown-linux-gnu")
KINDS = [
    ("u8", "i8", "i32", "x86_tdpbusd_16x16x64"),
    ("i8", "i8", "i32", "x86_tdpbssd_16x16x64"),
    ("bf16", "bf16", "f32", "x86_tdpbf16ps_16x16x32"),
]


@pytest.mark.parametrize(("a", "b", "out", "instruction"), sampled(KINDS, every=3))
def test_a_product_of_ragged_sizes_is_exact(a: str, b: str, out: str, instruction: str) -> None:
    func = product(33, 120, 41, a, b, out)
    scheduled = auto_schedule(func, MACHINE)
    assert verify(scheduled) == []
    assert f"{instruction}(" in scheduled.script()
    given = arrays(func)
    wanted = [each.copy() for each in given]
    build(scheduled)(*given)
    build(func, schedule="none")(*wanted)
    assert (given[2] == wanted[2]).all()


@pytest.mark.parametrize(("flip_a", "flip_b"), sampled([(True, False), (False, True)], every=2))
def test_transposed_operands_are_packed_into_tiles(flip_a: bool, flip_b: bool) -> None:
    func = product(16, 64, 16, "i8", "i8", "i32", flip_a=flip_a, flip_b=flip_b)
    scheduled = auto_schedule(func, MACHINE)
    assert "x86_tdpbssd_16x16x64(" in scheduled.script()
    given = arrays(func)
    wanted = given[2].copy()
    interpret(func, *given[:2], wanted)
    build(scheduled)(*given)
    assert (given[2] == wanted).all()


def test_sums_stay_in_tile_registers_during_the_reduction() -> None:
    func = product(32, 8192, 32, "u8", "i8", "i32")
    target = complete_target(SERVER)
    scheduled = auto_schedule(func, Machine.of_target(target))
    text = assembly(emit([lower(scheduled)], target), target)
    assert text.count("\ttilezero\t") >= 4
    # Four products load two tiles of each operand, and no tile of sums.
    assert text.count("\ttdpbusd\t") >= text.count("\ttileloadd\t") > 0


@pytest.mark.parametrize(
    ("shape", "features"),
    [((8, 512, 64), MACHINE.features), ((64, 32, 64), MACHINE.features), ((64, 64, 64), FEATURES)],
)
def test_small_sizes_and_other_machines_keep_vectors(
    shape: tuple[int, int, int], features: tuple[str, ...]
) -> None:
    scheduled = auto_schedule(product(*shape, "u8", "i8", "i32"), Machine(features=features))
    assert "x86_tdp" not in scheduled.script()
    assert "x86_vpdpbusd_512_one" in scheduled.script()
