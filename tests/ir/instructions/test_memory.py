"""An instruction may name the memory that its operands and its result lie in."""

from collections.abc import Iterator

import numpy as np
import pytest

from irkit import build
from irkit.core import IRKitError, ScheduleError
from irkit.ir import (
    Instruction,
    MemoryScope,
    PrimFunc,
    define_instruction,
    define_scope,
    instruction_text,
    interpret,
    parse,
    parse_instruction,
    script,
    verify,
)
from irkit.ir.instructions import registry
from irkit.ir.scopes import registry as scopes
from irkit.schedule import Schedule, TensorIntrin, builtin_intrinsics

LOOPS = """def add(A: i8[16], B: i8[16], C: i8[16]):
    for i in serial(0, 16):
        C[i] = A[i] + B[i]
"""
CODE = "add <16 x i8> {A}, {B}"
AT_ONCE = """def add(A: i8[16], B: i8[16], C: i8[16]):
    C[ramp(0, 1, 16)] = test_add_16(A[ramp(0, 1, 16)], B[ramp(0, 1, 16)])
"""
BLOCK = """def f(A: i8[64], B: i8[64], C: i8[64]):
    for n in serial(0, 64):
        with block("C"):
            i = axis.spatial(64, n)
            C[i] = A[i] + B[i]
"""
MOVED = """def f(A: i8[16], B: i8[16], C: i8[16]):
    P = alloc(i8[16], scope="test.pad")
    for i in serial(0, 16):
        P[i] = A[i]
    {line}
"""
LANES = "[ramp(0, 1, 16)]"


@pytest.fixture(autouse=True)
def pad() -> Iterator[None]:
    define_scope(MemoryScope("test.pad", "a scratchpad", align=64))
    yield
    registry._DEFINED.clear()  # pyright: ignore[reportPrivateUsage]
    scopes._DEFINED.clear()  # pyright: ignore[reportPrivateUsage]


def defined(*wanted: str) -> Instruction:
    return define_instruction(Instruction("test_add_16", parse(LOOPS), CODE, "", (), "", wanted))


def tensorized(sch: Schedule, *, scope: str = "") -> PrimFunc:
    block = sch.get_block("C")
    if scope:
        sch.cache_read(block, "A", scope)
    _, lanes = sch.split(sch.get_loops(block)[0], [None, 16])
    sch.tensorize(lanes, "add")
    return sch.func


def schedule() -> Schedule:
    mine = TensorIntrin("add", desc=parse(LOOPS), impl=parse(AT_ONCE))
    return Schedule(parse(BLOCK), intrinsics=builtin_intrinsics().having(mine))


def test_tensorize_refuses_an_operand_in_other_memory_and_names_the_remedy() -> None:
    defined("test.pad", "", "")
    sch = schedule()
    with pytest.raises(ScheduleError, match="buffer 'A', which is in scope 'global'") as found:
        tensorized(sch)
    assert "expected 'test.pad'" in str(found.value)
    assert "cache_read" in str(found.value)
    assert "test_add_16" not in script(sch.func)


def test_an_operand_that_is_staged_there_is_accepted_and_computes_the_same() -> None:
    defined("test.pad", "global", "global")
    func = tensorized(schedule(), scope="test.pad")
    assert verify(func) == []
    a, b = (np.random.default_rng(seed).integers(-60, 60, 64).astype(np.int8) for seed in (1, 2))
    native, meant = np.zeros(64, np.int8), np.zeros(64, np.int8)
    build(func)(a, b, native)
    interpret(func, a, b, meant)
    np.testing.assert_array_equal(native, a + b)
    np.testing.assert_array_equal(meant, a + b)


def test_a_later_step_may_not_move_an_operand_elsewhere() -> None:
    defined("test.pad", "", "")
    sch = schedule()
    tensorized(sch, scope="test.pad")
    with pytest.raises(ScheduleError, match=r"in scope 'local'; expected 'test\.pad'"):
        sch.set_scope(sch.get_block("C_A"), "local")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (f"C{LANES} = test_add_16(A{LANES}, B{LANES})", "'A' of test_add_16 is loaded from"),
        (f"P{LANES} = test_add_16(P{LANES}, B{LANES})", "the result of test_add_16 is stored in"),
        (f"C{LANES} = test_add_16(P{LANES}, P{LANES})", "'B' of test_add_16 is loaded from"),
        (f"C{LANES} = test_add_16(P{LANES}, B{LANES})", ""),
    ],
)
def test_the_verifier_finds_operands_and_results_in_other_memory(line: str, problem: str) -> None:
    defined("test.pad", "global", "global")
    found = verify(parse(MOVED.format(line=line)))
    assert (problem in str(found[0])) if problem else found == []


def test_any_memory_will_do_without_scopes() -> None:
    defined()
    assert verify(tensorized(schedule())) == []


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [(("test.pad",), "1 memory scopes for 3 parameters"), (("vtcm", "", ""), "no memory scope")],
)
def test_scopes_that_do_not_fit_are_refused(wanted: tuple[str, ...], reason: str) -> None:
    with pytest.raises(IRKitError, match=reason):
        defined(*wanted)


def test_the_text_of_an_instruction_keeps_its_scopes() -> None:
    row = defined("test.pad", "", "global")
    assert parse_instruction(instruction_text(row)).scopes == row.scopes
