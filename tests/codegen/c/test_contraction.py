"""Sums of products in C are rounded once or twice where they may be, and twice where they must."""

import os
import re
import subprocess
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from irkit.codegen import emit_c
from irkit.core import Target
from irkit.debug.execution.executors import exact
from irkit.debug.targets import TargetCall, target_executor
from irkit.ir import PrimFunc, parse

SUMS = {"x * y + z": (1, 1), "z + x * y": (1, 1), "x * y - z": (1, -1), "z - x * y": (-1, 1)}
SIZE = 48


def summed(text: str, kind: str, lanes: int) -> PrimFunc:
    at = "i" if lanes == 1 else f"ramp(i * {lanes}, 1, {lanes})"
    for letter in "xyz":
        text = text.replace(letter, f"{letter.upper()}[{at}]")
    params = ", ".join(f"{name}: {kind}[{SIZE}]" for name in "XYZR")
    return parse(
        f"def f({params}):\n    for i in serial(0, {SIZE // lanes}):\n        R[{at}] = {text}\n"
    )


def arguments(kind: str) -> list[Any]:
    rng = np.random.default_rng(5)
    given = [rng.standard_normal(SIZE).astype(f"f{int(kind[1:]) // 8}") for _ in range(3)]
    return [*given, np.zeros_like(given[0])]


@pytest.mark.parametrize(
    "compiler", ["gcc", "clang", "aarch64-linux-gnu-gcc", "riscv64-linux-gnu-gcc"]
)
def test_a_sum_is_one_of_the_two_that_may_be(compiler: str) -> None:
    executor = target_executor(f"c@{compiler}")
    if executor.missing:
        pytest.skip(executor.missing)
    cases = [
        (text, kind, n) for text in SUMS for kind in ("f32", "f64") for n in (1, 2, 3, 4, 8, 16)
    ]
    calls = [TargetCall(summed(*case), arguments(case[1])) for case in cases]
    found = executor.run([*calls, *(TargetCall(exact(func), args) for func, args in calls)])
    for at, ((text, kind, _), (_, args)) in enumerate(zip(cases, calls, strict=True)):
        (x, y, z, _), (first, second) = args, SUMS[text]
        twice = x.dtype.type(first) * (x * y) + x.dtype.type(second) * z
        exactly = [
            first * Fraction(float(a)) * Fraction(float(b)) + second * Fraction(float(c))
            for a, b, c in zip(x, y, z, strict=True)
        ]
        once = np.array([float_of(each, kind) for each in exactly], x.dtype)
        got, strict = found[at].arrays[3], found[at + len(cases)].arrays[3]
        np.testing.assert_array_equal(strict, twice)
        assert ((got == twice) | (got == once)).all(), cases[at]


def float_of(value: Fraction, kind: str) -> float:
    """Round a number once: the nearest f64 is a tie of two f32 too seldom to be met here."""
    return float(value) if kind == "f64" else float(np.float32(float(value)))


@pytest.mark.parametrize("lanes", [1, 16])
def test_only_where_a_function_allows_it(lanes: int) -> None:
    func = summed("x * y + z", "f32", lanes)
    assert "irkit_muladd" in emit_c([func], Target("c"))
    assert "irkit_muladd" not in emit_c([exact(func)], Target("c"))


@pytest.mark.parametrize("text", ["strict_mul(x, y) + z", "strict_add(x * y, z)", "x + y + z"])
def test_strict_operations_are_not_contracted(text: str) -> None:
    assert "irkit_muladd" not in emit_c([summed(text, "f32", 8)], Target("c"))
    assert "irkit_muladd" not in emit_c([summed("x * y + z", "f16", 1)], Target("c"))


def accumulated(*lines: str, scope: str = "local") -> str:
    """Return the C text of a loop that sums in an array of 32 numbers."""
    func = parse(
        f'def f(A: f32[32], C: f32[32]):\n    S = alloc(f32[32], scope="{scope}")\n'
        "    S[ramp(0, 1, 16)] = A[ramp(0, 1, 16)]\n    S[ramp(16, 1, 16)] = A[ramp(0, 1, 16)]\n"
        "    for i in serial(0, 4):\n"
        "        S[ramp(0, 1, 16)] = S[ramp(16, 1, 16)] + S[ramp(0, 1, 16)]\n"
        + "".join(f"    {line}\n" for line in lines)
        + "    C[ramp(0, 1, 16)] = S[ramp(0, 1, 16)]\n    C[ramp(16, 1, 16)] = S[ramp(16, 1, 16)]\n"
    )
    a = np.random.default_rng(1).integers(-9, 9, 32).astype("f4")
    executors = [target_executor("interpreter"), target_executor("c@gcc")]
    if not executors[1].missing:
        wanted, found = (
            each.run([TargetCall(func, [a, np.zeros_like(a)])])[0] for each in executors
        )
        np.testing.assert_array_equal(found.arrays[1], wanted.arrays[1])
    return emit_c([func], Target("c"))


TWICE = """
def f(A: f32[64], B: f32[64], C: f32[64]):
    for i in serial(0, 4):
        t: f32x16 = A[ramp(i * 16, 1, 16)]
        u: f32x16 = B[ramp(i * 16, 1, 16)]
        C[ramp(i * 16, 1, 16)] = t * t + u
"""


def test_a_vector_that_is_used_twice_is_read_once() -> None:
    """GCC reads it for each use, which takes twice as long in products of plain layouts."""
    source = emit_c([parse(TWICE)], Target("c"))
    assert source.count("irkit_keep_f32x16(") == 3  # Two definitions, and a use.
    assert "irkit_keep_f32x16(t);" in source
    once = parse(TWICE.replace("t * t", "t"))
    assert "irkit_keep" not in emit_c([once], Target("c"))
    masked = parse(TWICE.replace("f32x16 = A", "f32x3 = A").replace("16", "3"))
    assert "irkit_keep" not in emit_c([masked], Target("c"))
    compiler = target_executor("c@gcc")
    if compiler.missing:
        pytest.skip(compiler.missing)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "f.c")
        path.write_text(source)
        flags = ["-std=c11", "-O3", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror"]
        for machine in ("x86-64", "x86-64-v3", "x86-64-v4"):
            command = ["gcc", *flags, f"-march={machine}", "-c", "-o", os.devnull, path]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60)
            assert done.returncode == 0, done.stderr


def test_an_array_of_whole_vectors_becomes_variables() -> None:
    text = accumulated()
    assert re.search(r"f32x16 S = .*\n *f32x16 S_1 = ", text)
    assert "S[" not in text
    # A name of what is read is a value, and not the variable.
    assert "S[" not in accumulated("t: f32x16 = S[ramp(0, 1, 16)]", "S[ramp(0, 1, 16)] = t + t",
                                   "S[ramp(16, 1, 16)] = t")  # fmt: skip


@pytest.mark.parametrize("line", [
    "S[3] = f32(1.0)",
    "S[ramp(8, 1, 16)] = A[ramp(8, 1, 16)]",
    "S[ramp(0, 1, 8)] = A[ramp(8, 1, 8)]",
    "S[ramp(0, 2, 16)] = A[ramp(8, 1, 16)]",
    "V = view(S, f32[4], offset=3)",
    "S[ramp(cast(A[0], i64) * 0, 1, 16)] = A[ramp(0, 1, 16)]",
])  # fmt: skip
def test_other_arrays_stay(line: str) -> None:
    assert "float S[32];" in accumulated(line, *(["V[0] = f32(2.0)"] if "view" in line else []))
