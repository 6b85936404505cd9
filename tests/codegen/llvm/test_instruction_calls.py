"""Code of instructions: their own where the target has them, else what they mean."""

import re

import numpy as np
import pytest

from irkit.codegen import assembly, complete_target, emit, host_target
from irkit.core import Target
from irkit.ir import Instruction, interpret, known_instructions, numpy_dtype, parse
from irkit.runtime import build_kernels

LACKING = ("avx512vnni", "avxvnni", "avx512bf16", "avx512fp16", "amx-int8", "amx-bf16")
WITHOUT = Target("llvm", features=tuple(f"-{name}" for name in LACKING))
SERVER = Target("llvm", cpu="sapphirerapids", triple="x86_64-unknown-linux-gnu")
ARM = Target("llvm", "generic", ("+dotprod", "+i8mm"), "aarch64-unknown-linux-gnu")


ROWS = [row for row in known_instructions() if row.arch]
OF_PROCESSORS = [row for row in ROWS if row.threads == 1]


def function_of(row: Instruction) -> str:
    kinds = [*row.types, row.dtype]
    params = list(zip(row.meaning.params, kinds, strict=True))
    head = ", ".join(f"{param.name}: {kind.element}[{kind.lanes}]" for param, kind in params)
    places = [f"ramp(0, 1, {kind.lanes})" if kind.lanes > 1 else "0" for kind in kinds]
    *given, out = [
        f"{param.name}[{place}]" for (param, _), place in zip(params, places, strict=True)
    ]
    return f"def f({head}):\n    {out} = {row.name}({', '.join(given)})\n"


def mnemonic(row: Instruction) -> str:
    """Return the pattern of an instruction in assembly: LLVM chooses which operand is the sum."""
    return row.name.split("_")[1].replace("fmadd", r"fmadd\d+")


@pytest.mark.parametrize("row", OF_PROCESSORS, ids=lambda row: row.name)
def test_a_processor_that_has_an_instruction_runs_it(row: Instruction) -> None:
    target = complete_target(SERVER if row.arch == "x86_64" else ARM)
    text = assembly(emit([parse(function_of(row))], target), target)
    assert re.search(rf"\t{mnemonic(row)}\t", text)
    assert "call" not in text
    assert "\tbl\t" not in text


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_processor_without_it_computes_what_it_means(row: Instruction) -> None:
    func = parse(function_of(row))
    random = np.random.default_rng(1)
    given = [
        random.integers(-100 if d.kind != "u" else 0, 100, d.lanes).astype(numpy_dtype(d.element))
        for d in (*row.types, row.dtype)
    ]
    wanted = [each.copy() for each in given]
    target = complete_target(WITHOUT)
    assert not re.search(mnemonic(row), assembly(emit([func], target), target))
    build_kernels([func], WITHOUT)[0](*given)
    interpret(func, *wanted)
    assert (given[-1] == wanted[-1]).all()


def test_a_narrow_form_needs_one_of_two_features() -> None:
    (row,) = [each for each in known_instructions() if each.name == "x86_vpdpbusd_256"]
    triple = SERVER.triple
    assert row.is_native(triple, ("+avxvnni",))
    assert row.is_native(triple, ("+avx512vnni", "+avx512vl"))
    assert not row.is_native(triple, ("+avx512vnni",))
    assert not row.is_native(triple, ("+avx512vl", "-avxvnni"))
    assert not row.is_native(ARM.triple, ("+avxvnni",))


def test_a_module_holds_a_meaning_once() -> None:
    (row,) = [each for each in known_instructions() if each.name == "aarch64_sdot_128"]
    first = function_of(row)
    funcs = [parse(first), parse(first.replace("def f", "def g"))]
    text = emit(funcs, host_target())
    assert text.count("define internal i32 @irkit.meaning.aarch64_sdot_128(") == 1


def test_loaded_16_bit_floats_are_not_widened_and_rounded() -> None:
    (row,) = [each for each in known_instructions() if each.name == "x86_vdpbf16ps_512"]
    target = complete_target(SERVER)
    text = assembly(emit([parse(function_of(row))], target), target)
    assert "vpslld" not in text
    assert "vpsrld" not in text


def test_contraction_leaves_the_meaning_of_a_fused_product() -> None:
    (row,) = [each for each in known_instructions() if each.name == "x86_vfmaddph_512"]
    func = parse(function_of(row))
    kernel = build_kernels([func], WITHOUT)[0]
    random = np.random.default_rng(0)
    for _ in range(50):
        given = [np.frombuffer(random.bytes(64), np.float16).copy() for _ in range(4)]
        wanted = [each.copy() for each in given]
        kernel(*given)
        interpret(func, *wanted)
        assert np.array_equal(given[-1], wanted[-1], equal_nan=True)
