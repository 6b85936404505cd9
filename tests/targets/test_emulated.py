"""AArch64, RISC-V and WebAssembly: every operation and function computes what the interpreter
computes. ``test_pairs`` runs random programs there."""

import os
from typing import Any

import numpy as np
import pytest

import irkit
from irkit.debug.targets import TargetCall, TargetExecutor, target_executor
from irkit.ir import F32, INTRINSICS, call, interpret
from irkit.ir.math.polynomials import POLYNOMIALS
from irkit.phases import LEGALIZE, phases_of
from tests.codegen.c.test_c_source import cases
from tests.codegen.llvm.cases import elementwise, special

EXAMPLES = int(os.environ.get("IRKIT_EXAMPLES", "20"))
pytestmark = pytest.mark.long
LLVM = ("raspberry-pi-4", "neoverse-v1", "rv64gc", "rv64gcv", "wasm32")
C = ("c@aarch64-linux-gnu-gcc", "c@riscv64-linux-gnu-gcc")


def executor(name: str) -> TargetExecutor:
    text = name if "@" in name else f"{name} -opt-level=2"
    found = target_executor(text, lambda func, target: phases_of(target, LEGALIZE).run(func))
    if found.missing:
        pytest.skip(found.missing)
    return found


def outcomes(name: str, calls: list[TargetCall]) -> list[list[Any] | None]:
    """Return the arrays after each call; None for those on which the emulator itself fails."""
    made = list[list[Any] | None]()
    for each in executor(name).run(calls):
        away = each.end == "failed" and "qemu" in each.message
        assert away or each.end == "ran", each.message
        made.append(None if away else list(each.arrays))
    # qemu 7.2 stops at 17 of 274 operations of RISC-V vectors.
    assert made.count(None) <= len(calls) // 10
    return made


@pytest.mark.parametrize("name", [*LLVM, *C])
@pytest.mark.parametrize("lanes", [1, 4])
def test_every_operation_at_special_values(name: str, lanes: int) -> None:
    types = [irkit.ir.dtype(name) for name in ("bool", "i8", "u32", "i64", "f16", "bf16", "f32")]
    calls: list[TargetCall] = []
    for _, func, inputs in cases(lanes, types):
        kind = irkit.ir.numpy_dtype(func.params[-1].dtype)
        calls.append(TargetCall(func, [*inputs, np.zeros(len(inputs[0]), kind)]))
    for (func, args), found in zip(calls, outcomes(name, calls), strict=True):
        if found is None:
            continue
        expected = [arg.copy() for arg in args]
        with np.errstate(all="ignore"):
            interpret(func, *expected)
        for got, want in zip(found, expected, strict=True):
            if want.dtype.kind not in "biu":
                got, want = got.astype("f8"), want.astype("f8")
            np.testing.assert_array_equal(got, want, func.script())


@pytest.mark.parametrize("name", LLVM)
def test_math_functions_keep_their_bounds(name: str) -> None:
    bits = np.arange(0, 1 << 32, 25_165_813, dtype="u8").astype("u4").view("f4")
    values = np.concatenate([bits, np.linspace(-20, 20, 201, dtype="f4"), special(F32)])
    values = values[: len(values) // 8 * 8].astype("f4")
    calls: list[TargetCall] = []
    names = [name for name, _ in POLYNOMIALS]
    for number, function in enumerate(names):
        kinds = [F32] * INTRINSICS[function].arity
        func = elementwise(f"f{number}", kinds, len(values), lambda *a, n=function: call(n, *a), 8)
        args = [values, values[::-1].copy()][: len(kinds)]
        calls.append(TargetCall(func, [*args, np.zeros_like(values)]))
    for function, (func, args), found in zip(names, calls, outcomes(name, calls), strict=True):
        assert found is not None
        want = np.zeros_like(values)
        with np.errstate(all="ignore"):
            interpret(func, *args[:-1], want)
            unit = np.maximum(np.abs(np.spacing(want)), np.float32(2.0**-149)).astype("f8")
            apart = np.abs(found[-1].astype("f8") - want.astype("f8")) / unit
        same = (found[-1] == want) | (np.isnan(found[-1]) & np.isnan(want))
        assert (same | (apart <= INTRINSICS[function].ulps + 0.51)).all(), function


def test_shifts_of_constant_vectors_by_amounts_of_each_lane() -> None:
    """LLVM 22 shifts in ones for WebAssembly where irkit does not widen the shift."""
    text = "def f(A: u16[17]):\n    for t in serial(0, 17):\n        A[t] = -cast(t, u16) >> A[t]\n"
    func, a = irkit.ir.parse(text), np.arange(17, dtype="u2")[::-1].copy()
    (found,) = outcomes("wasm32", [TargetCall(irkit.lower(func), [a])])
    assert found is not None
    interpret(func, a)
    np.testing.assert_array_equal(found[0], a)


AXPY = """\
def axpy(x: f32[8, 16], y: f32[8, 16]):
    for i in parallel(0, 8):
        for j in vectorized(0, 16):
            y[i, j] = x[i, j] * f32(3.0) + y[i, j]
"""


def test_a_kernel_of_webassembly_has_vectors_of_128_bits() -> None:
    kernel = irkit.build(irkit.ir.parse(AXPY), target="wasm32")
    assert "f32x4.mul" in kernel.source("asm")
    x, y = np.random.default_rng(0).random((2, 8, 16), "f4")
    (found,) = outcomes("wasm32", [TargetCall(kernel.func, [x, y])])
    assert found is not None
    np.testing.assert_array_equal(found[1], x * np.float32(3) + y)
