"""Functions of f64 keep their bound, follow C at special values, and need no C library."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from irkit.codegen import emit
from irkit.codegen.llvm.compiler.host import complete_target
from irkit.codegen.llvm.compiler.object_file import compile_object
from irkit.core import Target
from irkit.ir import F64, INTRINSICS, PrimFunc, call
from irkit.ir.math import (
    POLYNOMIALS,
    exponentials,
    inverse_trigonometry,
    logarithms,
)
from irkit.ir.math.doubles import arcs, powers
from tests.codegen.llvm.cases import compiled, elementwise
from tests.ir.math.test_polynomials import TARGETS, TRUE

Array = Any
NAMES = sorted(name for name, dtype in POLYNOMIALS if dtype == "f64")
BINARY: dict[str, Callable[..., Any]] = {"pow": np.power, "atan2": np.arctan2}
ENDS = np.array(
    [0.0, 1.0, np.inf, np.nan, 5e-324, 2.2250738585072014e-308, 1e-310, 1.7976931348623157e308,
     709.782712893384, 709.79, 745.13, 745.2, 710.4758600739439, 710.48, 1023.9999, 1024.0, 1074.0,
     1075.0, 0.5, 2.0, 3.0, 0.7071067811865475, 0.7071067811865477, 1.4142135623730951,
     0.41421356237309505, 2.414213562373095, 0.9375, 0.9375000000000001, 5.92, 6.0, 19.06, 1e300,
     2.0**27, 2.0**28, 2.0**52, 2.0**53 - 1, 2.0**53, 0.9999999999999999, 1.0000000000000002]
)  # fmt: skip
BOUND = 5.0
"""What docs/semantics.md promises."""


def samples(count: int = 256) -> Array:
    """Return numbers of all sizes, and many where functions bend."""
    rng = np.random.default_rng(11)
    wild = rng.integers(0, 1 << 64, count, dtype="u8").view("f8")
    near = [rng.standard_normal(count) * size for size in (0.1, 1.0, 10.0, 300.0)]
    found = np.concatenate(
        [wild, *near, 1 + near[0] * 1e-3, rng.uniform(-1, 1, count), ENDS, -ENDS]
    )
    return np.concatenate([found, found[: -len(found) % 8]])


def operands(name: str) -> list[Array]:
    x = samples()
    if name not in BINARY:
        return [x]
    rng = np.random.default_rng(12)
    base = np.exp(rng.uniform(-700, 700, 1024))
    power = rng.uniform(-745, 709, 1024) / np.log(base)
    a, b = np.meshgrid(np.concatenate([ENDS, -ENDS]), np.concatenate([ENDS, -ENDS]))
    a, b = np.concatenate([base, x, a.ravel()]), np.concatenate([power, np.roll(x, 7), b.ravel()])
    return [a[: len(a) // 8 * 8], b[: len(b) // 8 * 8]]


def true_values(name: str, args: list[Array]) -> Array:
    """Compute in more digits, where the machine has such a type."""
    function = BINARY.get(name) or TRUE[name]
    with np.errstate(all="ignore"):
        if name == "erf":  # Of Python's, in f64.
            return function(*args).astype("f8")
        return function(*(arg.astype(np.longdouble) for arg in args))


def ulps(got: Array, want: Array) -> Array:
    """Measure distances from the true values; infinite if a special value is wrong."""
    with np.errstate(all="ignore"):
        near = want.astype("f8")
        apart = np.abs(got - want) / np.maximum(np.abs(np.spacing(near)), 5e-324)
    alike = (got == near) | (np.isnan(got) & np.isnan(near))
    alike &= (near != 0) | (want != 0) | (np.signbit(near) == np.signbit(got))
    special = ~np.isfinite(near) | (want == 0) | ~np.isfinite(got)
    return np.where(special, np.where(alike, 0.0, np.inf), apart).astype("f8")


def of_name(name: str, size: int, lanes: int = 8) -> PrimFunc:
    kinds = [F64] * INTRINSICS[name].arity
    return elementwise(name, kinds, size, lambda *args: call(name, *args), lanes)


def ran(name: str, args: list[Array], target: Target, lanes: int = 8) -> Array:
    got = np.zeros(len(args[0]))
    compiled([of_name(name, len(got), lanes)], target)[name](*args, got)
    return got


def test_every_function_with_an_error_has_an_expansion() -> None:
    inexact = {row.name for row in INTRINSICS.values() if row.ulps > 0.5}
    assert set(NAMES) == inexact


@pytest.mark.parametrize("target", TARGETS, ids=["host", "plain"])
@pytest.mark.parametrize("name", NAMES)
def test_it_keeps_the_bound(name: str, target: Target) -> None:
    args = operands(name)
    error = ulps(ran(name, args, target), true_values(name, args))
    worst = int(error.argmax())
    assert error[worst] <= BOUND, ([arg[worst] for arg in args], error[worst])


def test_a_scalar_and_every_lane_have_the_same_bits() -> None:
    args = [arg[:64] for arg in operands("pow")]
    for name in ("pow", "erf", "tanh"):
        given = args[: INTRINSICS[name].arity]
        alone, together = ran(name, given, TARGETS[0], 1), ran(name, given, TARGETS[0])
        assert (alone.view("u8") == together.view("u8"))[~np.isnan(alone)].all(), name


@pytest.mark.skipif(shutil.which("nm") is None, reason="needs nm: apt install binutils")
@pytest.mark.parametrize("target", TARGETS, ids=["host", "plain"])
def test_no_function_is_left_to_the_c_library(target: Target, tmp_path: Path) -> None:
    names = [row.name for row in INTRINSICS.values() if row.accepts(F64) and row.gives == "same"]
    assert {"sin", "fmod", *NAMES} <= set(names)
    funcs = [of_name(name, 8, 2) for name in names]
    funcs += [elementwise("rest", [F64, F64], 8, lambda a, b: a % b, 1)]
    text = emit(funcs, target)
    declared = [line for line in text.splitlines() if line.startswith("declare")]
    assert all("@llvm." in line for line in declared if "double" in line)
    # Of fma itself: where the target has no instruction for it, it is a call.
    path = tmp_path / "functions.o"
    path.write_bytes(compile_object(text, complete_target(target)))
    listed = subprocess.run(["nm", "-u", path], capture_output=True, text=True, check=True)
    assert set(listed.stdout.split()) <= {"U", *(["fma"] if target is TARGETS[1] else [])}


TABLES = [
    (exponentials, "_EXP", "exp"),
    (exponentials, "_EXPM1", "expm1"),
    (exponentials, "_ERF_NEAR", "erf"),
    (exponentials, "_ERF_FAR", "erf"),
    (exponentials, "_LN2_PARTS", "exp"),
    (logarithms, "_LOG_DOUBLE", "log"),
    (inverse_trigonometry, "_ASIN", "asin"),
    (arcs, "_ATAN", "atan"),
    (powers, "_ATANH", "pow"),
    (powers, "_THIRD", "pow"),
    (powers, "_TWO_LOG2E", "pow"),
]


@pytest.mark.long
@pytest.mark.parametrize(("module", "table", "name"), TABLES)
def test_a_wrong_coefficient_is_found(
    module: Any, table: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known: Any = getattr(module, table)
    right: tuple[float, ...] = known[52] if isinstance(known, dict) else known
    args = operands(name)
    want = true_values(name, args)
    for place, coefficient in enumerate(right):
        wrong = (*right[:place], coefficient * 1.5, *right[place + 1 :])
        planted = {**known, 52: wrong} if isinstance(known, dict) else wrong
        monkeypatch.setattr(module, table, planted)
        assert ulps(ran(name, args, TARGETS[0]), want).max() > BOUND, place
