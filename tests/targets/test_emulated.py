"""AArch64 and RISC-V: what LLVM and C make for them computes what the interpreter computes."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import irkit
from irkit.core import IRKitError
from irkit.fuzz import arguments
from irkit.ir import F32, INTRINSICS, PrimFunc, call, interpret
from irkit.ir.math.polynomials import POLYNOMIALS
from irkit.phases import DEFAULT
from tests.codegen.c.test_c_source import cases, drawn
from tests.codegen.llvm.cases import elementwise, special
from tests.targets.emulated import (
    Call,
    EmulatorFailed,
    Machine,
    machines,
    run_c,
    run_native,
)

EXAMPLES = int(os.environ.get("IRKIT_EXAMPLES", "20"))
pytestmark = pytest.mark.long
ways = pytest.mark.parametrize("run", [run_native, run_c], ids=["llvm", "c"])
Run = Callable[[Machine, list[Call], Path], list[Any]]


def contiguous(args: list[Any]) -> bool:
    return all(arg.flags.c_contiguous for arg in args if isinstance(arg, np.ndarray))


def exact(func: PrimFunc) -> PrimFunc:
    return func.replace(attrs=(*(a for a in func.attrs if a[0] != "contract"), ("contract", False)))


def run_parts(run: Run, machine: Machine, calls: list[Call], folder: Path) -> list[Any]:
    """Return what each call gives; None for those on which the emulator itself fails."""
    try:
        return run(machine, calls, folder)
    except EmulatorFailed:
        if len(calls) == 1:
            return [None]
        middle = len(calls) // 2
        return [
            found
            for part in (calls[:middle], calls[middle:])
            for found in run_parts(run, machine, part, folder)
        ]


def check(run: Run, machine: Machine, calls: list[Call], folder: Path) -> None:
    assert calls
    results = run_parts(run, machine, calls, folder)
    # qemu 7.2 stops at 17 of 274 operations of RISC-V vectors.
    assert results.count(None) <= len(calls) // 10
    for (func, args), found in zip(calls, results, strict=True):
        if found is None:
            continue
        expected = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
        try:
            with np.errstate(all="ignore"):
                interpret(func, *expected)
        except IRKitError:
            assert isinstance(found, int), func.script()
            continue
        arrays = [arg for arg in expected if isinstance(arg, np.ndarray)]
        for got, want in zip(found, arrays, strict=True):
            if want.dtype.kind not in "biu":
                got, want = got.astype("f8"), want.astype("f8")
            np.testing.assert_array_equal(got, want, func.script())


@machines
@ways
def test_random_programs(run: Run, machine: Machine, tmp_path: Path) -> None:
    funcs = [exact(func) for func in drawn(EXAMPLES, 5)]
    funcs += [DEFAULT.run(func).replace(name=f"{func.name}_low") for func in funcs]
    calls = [(func, arguments(func, seed=4)) for func in funcs]
    check(run, machine, [pair for pair in calls if contiguous(pair[1])], tmp_path)


@machines
@ways
@pytest.mark.parametrize("lanes", [1, 4])
def test_every_operation_at_special_values(
    run: Run, machine: Machine, lanes: int, tmp_path: Path
) -> None:
    types = [irkit.ir.dtype(name) for name in ("bool", "i8", "u32", "i64", "f16", "bf16", "f32")]
    calls: list[Call] = []
    for _, func, inputs in cases(lanes, types):
        out = func.params[-1]
        kind = irkit.ir.numpy_dtype(out.dtype)
        calls.append((func, [*inputs, np.zeros(len(inputs[0]), kind)]))
    check(run, machine, calls, tmp_path)


@machines
def test_math_functions_keep_their_bounds(machine: Machine, tmp_path: Path) -> None:
    bits = np.arange(0, 1 << 32, 25_165_813, dtype="u8").astype("u4").view("f4")
    values = np.concatenate([bits, np.linspace(-20, 20, 201, dtype="f4"), special(F32)])
    values = values[: len(values) // 8 * 8].astype("f4")
    calls: list[Call] = []
    names = [name for name, _ in POLYNOMIALS]
    for number, name in enumerate(names):
        kinds = [F32] * INTRINSICS[name].arity
        func = elementwise(f"f{number}", kinds, len(values), lambda *a, n=name: call(n, *a), 8)
        args = [values, values[::-1].copy()][: len(kinds)]
        calls.append((func, [*args, np.zeros_like(values)]))
    for name, (func, args), found in zip(
        names, calls, run_native(machine, calls, tmp_path), strict=True
    ):
        want = np.zeros_like(values)
        with np.errstate(all="ignore"):
            interpret(func, *args[:-1], want)
            unit = np.maximum(np.abs(np.spacing(want)), np.float32(2.0**-149)).astype("f8")
            apart = np.abs(found[-1].astype("f8") - want.astype("f8")) / unit
        same = (found[-1] == want) | (np.isnan(found[-1]) & np.isnan(want))
        assert (same | (apart <= INTRINSICS[name].ulps + 0.51)).all(), name
