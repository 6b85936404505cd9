"""Instructions: what is declared, their text, types and meaning, and what may name them."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from irkit.core import DTypeError, IRKitError, ParseError, same, walk
from irkit.ir import (
    BF16,
    F32,
    I8,
    I32,
    U8,
    Allocate,
    Instruction,
    InstructionCall,
    Load,
    Store,
    broadcast,
    const,
    define_instruction,
    expand_instructions,
    find_instruction,
    interpret,
    known_instructions,
    numpy_dtype,
    parse,
    script,
    simplify,
    verify,
)
from irkit.ir.instructions.registry import _DEFINED  # pyright: ignore[reportPrivateUsage]

DOT = """def f(a: u8[4], b: i8[64], c: i32[16]):
    c[ramp(0, 1, 16)] = x86_vpdpbusd_512_one(c[ramp(0, 1, 16)], a[ramp(0, 1, 4)], b[ramp(0, 1, 64)])
"""
TWICE = (
    "def twice(a: i32[4], out: i32[4]):\n    for i in serial(0, 4):\n        out[i] = a[i] + a[i]\n"
)


def operands() -> list[NDArray[Any]]:
    random = np.random.default_rng(0)
    return [
        random.integers(0, 256, 4).astype(np.uint8),
        random.integers(-128, 128, 64).astype(np.int8),
        random.integers(-99, 99, 16).astype(np.int32),
    ]


@pytest.mark.parametrize("row", known_instructions(), ids=lambda row: row.name)
def test_each_meaning_is_valid_and_writes_the_result_only(row: Instruction) -> None:
    assert verify(row.meaning) == []
    own = [stmt.buffer for stmt in walk(row.meaning, Allocate)]
    stores = [stmt.buffer for stmt in walk(row.meaning, Store) if stmt.buffer not in own]
    assert stores
    assert all(buffer is row.meaning.params[-1] for buffer in stores)


def test_a_call_reads_back() -> None:
    func = parse(DOT)
    assert verify(func) == []
    assert script(func) == DOT
    assert same(parse(script(func)), func)


def test_the_interpreter_runs_the_meaning() -> None:
    a, b, c = operands()
    wanted = c + (a.astype(np.int32) * b.reshape(16, 4).astype(np.int32)).sum(1)
    interpret(parse(DOT), a, b, c)
    assert (c == wanted).all()


def test_a_bf16_product_takes_the_odd_neighbour_first_and_no_denormals() -> None:
    row = find_instruction("x86_vdpbf16ps_128")
    assert row is not None
    big = np.float32(2**30)
    bf16 = numpy_dtype(BF16)
    acc = np.array([big, 0, 0, 1e-40], np.float32)
    a = np.array([1, 1, 0, 0, 0, 0, 0, 0]).astype(bf16)
    b = np.array([1, -(2.0**30), 0, 0, 0, 0, 0, 0]).astype(bf16)
    out = np.empty(4, np.float32)
    interpret(row.meaning, acc, a, b, out)
    assert out.tolist() == [1.0, 0.0, 0.0, 0.0]  # 2**30 + 1 would round the 1 away.


@pytest.mark.parametrize(
    "text",
    [
        "x86_vpdpbusd_512_two(c, a, b)",
        "llvm_x86_avx512_vpdpbusd_512(c, a, b)",
        "x86_vpdpbusd_512_one",
        "x86_vpdpbusd_512_one(1)",
        "x86_vpdpbusd_512_one(*c)",
        "x86_vpdpbusd_512_one(acc=1, a=2, b=3)",
        "x86_vpdpbusd_512_one(c[ramp(0, 1, 16)], a[ramp(0, 1, 4)], a[ramp(0, 1, 64)])",
        "x86_vpdpbusd_512_one.llvm(c)",
    ],
)
def test_text_names_only_known_instructions_of_the_right_types(text: str) -> None:
    with pytest.raises(ParseError):
        parse(f"def f(a: u8[4], b: i8[64], c: i32[16]):\n    c[ramp(0, 1, 16)] = {text}\n")


def test_the_verifier_names_wrong_operands_and_results() -> None:
    func = parse(DOT)
    assert isinstance(func.body, Store)
    assert isinstance(func.body.value, InstructionCall)
    call = func.body.value
    for wrong, reason in (
        (call.replace(name="x86_none_1"), "no instruction"),
        (call.replace(args=call.args[:2]), "takes 3 arguments"),
        (call.replace(args=(call.args[0],) * 3), "expected u8x4"),
        (call.replace(dtype=F32.with_lanes(16)), "expected i32x16"),
    ):
        found = verify(func.replace(body=func.body.replace(value=wrong)))
        assert any(reason in str(each) for each in found)


def test_calling_a_row_checks_types() -> None:
    row = find_instruction("x86_vpdpbusd_128")
    assert row is not None
    args = (broadcast(const(1, I32), 4), broadcast(const(1, U8), 16), broadcast(const(1, I8), 16))
    assert row(*args).dtype == I32.with_lanes(4)
    with pytest.raises(DTypeError, match="'b' of x86_vpdpbusd_128 has type u8x16"):
        row(args[0], args[1], args[1])


def test_loops_of_the_meaning_take_the_place_of_a_call() -> None:
    func = parse(DOT)
    loops = expand_instructions(func)
    assert verify(loops) == []
    assert "x86" not in script(loops)
    given, wanted = operands(), operands()
    interpret(loops, *given)
    interpret(func, *wanted)
    assert (given[2] == wanted[2]).all()


def test_a_call_that_a_condition_guards_stays() -> None:
    text = DOT.replace("= x86", "= (x86").rstrip() + " if n > 0 else broadcast(i32(0), 16))\n"
    func = parse(text.replace("c: i32[16]", "c: i32[16], n: i64"))
    assert expand_instructions(func) is func


def test_a_function_without_calls_stays() -> None:
    func = parse(TWICE)
    assert expand_instructions(func) is func


def test_simplifying_reaches_the_operands_of_a_call() -> None:
    func = parse(DOT.replace("a[ramp(0, 1, 4)]", "a[ramp(1 - 1, 1, 4)]"))
    assert isinstance(func.body, Store)
    made = simplify(func.body.value)
    assert isinstance(made, InstructionCall)
    assert isinstance(made.args[1], Load)
    assert script(made.args[1]).endswith("[ramp(0, 1, 4)]")


def test_a_program_defines_its_own_instruction() -> None:
    row = Instruction("test_twice", parse(TWICE), "add <4 x i32> {a}, {a}", "x86_64")
    try:
        for _ in range(2):
            assert define_instruction(row) is row
        assert find_instruction("test_twice") is row
        assert row in known_instructions()
        with pytest.raises(IRKitError, match="already is an instruction"):
            define_instruction(Instruction("test_twice", parse(TWICE), "{a}", "x86_64"))
        head = "def f(A: i32[4]):\n    A[ramp(0, 1, 4)] = "
        func = parse(head + "test_twice(A[ramp(0, 1, 4)])\n")
        values = np.arange(4, dtype=np.int32)
        interpret(func, values)
        assert values.tolist() == [0, 2, 4, 6]
    finally:
        del _DEFINED["test_twice"]


@pytest.mark.parametrize(
    ("name", "meaning", "llvm", "reason"),
    [
        ("twice", TWICE, "{a}", "underscore"),
        ("Test_Twice", TWICE, "{a}", "lower case"),
        ("test_twice", TWICE, "", "no code"),
        ("test_twice", TWICE, "add <4 x i32> {a}, {b}", "uses 'b'"),
        ("test_twice", TWICE.replace("a: i32[4]", "a: i32[n]"), "{a}", "no constant number"),
        ("test_twice", TWICE.replace("out: i32[4]", "out: i32[1, 4]"), "{a}", "one dimension"),
        ("test_twice", "def f(out: i32[1]):\n    out[0] = i32(1)\n", "{a}", "an operand"),
        ("test_twice", "def f(a: i32[1], out: i32[1]):\n    out[0] = a[0]\n", "{a}", "a vector"),
        (
            "test_twice",
            TWICE.replace("    for", '    assert a[0] > i32(0), "positive"\n    for'),
            "{a}",
            "can fail",
        ),
    ],
)
def test_what_is_no_instruction_is_refused(name: str, meaning: str, llvm: str, reason: str) -> None:
    with pytest.raises(IRKitError, match=reason):
        Instruction(name, parse(meaning), llvm, "x86_64")
