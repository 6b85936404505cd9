"""Polynomials of f32 keep their bounds, follow C at special values, and are alike in every lane."""

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from irkit.codegen import assembly, emit, host_target
from irkit.core import Target
from irkit.ir import BF16, F16, F32, INTRINSICS, DType, call, const, evaluate, numpy_dtype
from irkit.ir.math import exponentials, inverse_trigonometry, logarithms, trigonometry
from irkit.ir.math.polynomials import POLYNOMIALS
from tests.codegen.llvm.cases import compiled, elementwise
from tests.draws import sampled

Array = np.ndarray[Any, Any]
NAMES = sorted(name for name, dtype in POLYNOMIALS if dtype == "f32")
UNARY = [name for name in NAMES if INTRINSICS[name].arity == 1]
# All features of this machine, and without fused operations and AVX-512.
PLAIN = ("-fma", "-avx512f") if host_target().triple.startswith("x86") else ()
TARGETS = [Target(opt_level=2), Target(opt_level=2, features=PLAIN)]
STEP = 16_381


def _sigmoid(x: Array) -> Array:
    small = np.exp(-np.abs(x))
    return np.where(x < 0, small, 1.0) / (1.0 + small)


TRUE: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in ("exp", "exp2", "expm1", "tanh", "sin", "cos", "tan")},
    **{name: getattr(np, name) for name in ("log", "log2", "log10", "log1p", "sinh", "cosh")},
    **{"a" + name: getattr(np, "arc" + name) for name in ("sin", "cos", "tan")},
    **{"a" + name: getattr(np, "arc" + name) for name in ("sinh", "cosh", "tanh")},
    "erf": np.frompyfunc(math.erf, 1, 1),
    "sigmoid": _sigmoid,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
}


def true_values(name: str, x: Array) -> Array:
    with np.errstate(all="ignore"):
        return TRUE[name](x.astype("f8")).astype("f8")


def ulps(got: Array, want: Array) -> Array:
    """Measure distances from the true values; infinite if a special value is wrong."""
    with np.errstate(all="ignore"):
        near = want.astype("f4")
        unit = np.maximum(np.abs(np.spacing(near)).astype("f8"), 2.0**-149)
        apart = np.abs(got.astype("f8") - want) / unit
    alike = (got == near) | (np.isnan(got) & np.isnan(near))
    alike &= (near != 0) | (want != 0) | (np.signbit(near) == np.signbit(got))
    special = ~np.isfinite(near) | (want == 0) | ~np.isfinite(got)
    return np.where(special, np.where(alike, 0.0, np.inf), apart)


def samples(step: int = STEP) -> Array:
    """Return floats spread evenly over the bit patterns, more where functions bend, and limits."""
    bits = np.arange(0, 1 << 32, step, dtype="u8").astype("u4").view("f4")
    dense = [np.linspace(-end, end, 40_001, dtype="f4") for end in (0.4, 2.0, 10.0, 110.0)]
    ends = np.array(
        [0.0, np.inf, np.nan, 1e-45, 1.1754942e-38, 1.1754944e-38, 3.4028235e38, 1.0, 88.72284,
         88.72283, 87.33655, 103.97208, 103.27893, 104.0, 128.0, 127.99999, 149.0, 150.0, 151.0,
         9.0, 9.125, 3.9192059, 4.0, 0.9375, 16.635532, 17.328680, 0.70710677, 0.70710684,
         1.4142135, 1.4142137, 2.0**30, 2.0**51, 2.0**77, 2.0**103, 16367173.0 * 2.0**72],
        "f4",
    )  # fmt: skip
    found = np.concatenate([bits, *dense, ends, -ends])
    return np.concatenate([found, found[: -len(found) % 16]])


def ran(name: str, target: Target, lanes: int, *operands: Array, dtype: DType = F32) -> Array:
    size = len(operands[0])
    func = elementwise("f", [dtype] * len(operands), size, lambda *a: call(name, *a), lanes)
    got = np.zeros_like(operands[0])
    compiled([func], target)["f"](*operands, got)
    return got


def same(a: Array, b: Array) -> bool:
    return bool(((a.view("u4") == b.view("u4")) | (np.isnan(a) & np.isnan(b))).all())


def test_every_function_with_an_error_has_a_polynomial() -> None:
    inexact = {(row.name, "f32") for row in INTRINSICS.values() if row.ulps > 0.5}
    assert {(name, "f32") for name in NAMES} == inexact


def test_no_bound_is_above_two_and_a_half_ulps() -> None:
    assert all(0.5 <= INTRINSICS[name].ulps <= 2.5 for name, _ in POLYNOMIALS)


def test_the_semantics_page_lists_the_bounds() -> None:
    page = (Path(__file__).parents[3] / "docs" / "semantics.md").read_text(encoding="utf-8")
    told = {name: float(bound) for name, bound in re.findall(r"\| `(\w+)` \| ([\d.]+) ", page)}
    assert told == {row.name: row.ulps for row in INTRINSICS.values() if row.ulps > 0.5}


@pytest.mark.parametrize("target", TARGETS, ids=["host", "plain"])
@pytest.mark.parametrize("name", UNARY)
def test_it_keeps_its_bound(name: str, target: Target) -> None:
    x = samples()
    error = ulps(ran(name, target, 16, x), true_values(name, x))
    worst = int(error.argmax())
    assert error[worst] <= INTRINSICS[name].ulps, (x[worst], error[worst])


@pytest.mark.parametrize("name", NAMES)
def test_a_scalar_and_every_lane_have_the_same_bits(name: str) -> None:
    x = samples(1_000_003)
    operands = (np.abs(x), np.roll(x, 7)) if name in ("pow", "atan2") else (x,)
    for target in TARGETS:
        alone = ran(name, target, 1, *operands)
        assert same(alone, ran(name, target, 16, *operands))
        assert same(alone, ran(name, Target(features=target.features, opt_level=0), 4, *operands))


@pytest.mark.parametrize("name", UNARY)
def test_a_scalar_loop_over_it_is_vectorised(name: str) -> None:
    target = host_target()
    if not target.triple.startswith("x86"):
        pytest.skip("looks for x86 registers")
    func = elementwise("f", [F32], 4096, lambda a: call(name, a))
    text = assembly(emit([func], target), target)
    assert "call" not in text
    assert "ymm" in text or "zmm" in text


# True values where the fraction of a quarter turn is smallest or largest.
@pytest.mark.parametrize(
    ("x", "sine", "cosine", "tangent"),
    [
        (16367173 * 2.0**72, 0.999999999999999999, -1.61476979824762119e-9, -619283318.950613868),
        (16777215 * 2.0**104, -0.521876523333658541, 0.853021039830304158, -0.611797949834248061),
        (11872265 * 2.0**80, 0.916500164519890772, -0.400034309072375876, -2.29105390146442099),
        (8388611 * 2.0**60, -0.824033493133584406, -0.566541086060016393, 1.4544990882555173),
        (3.14159274101, -8.74227800037247453e-8, -0.999999999999996179, 8.74227800037250793e-8),
        (1.57079637051, 0.999999999999999045, -4.37113900018624144e-8, -22877332.4288564599),
    ],
)
def test_large_angles_are_precise(x: float, sine: float, cosine: float, tangent: float) -> None:
    for name, want in (("sin", sine), ("cos", cosine), ("tan", tangent)):
        got = ran(name, TARGETS[0], 1, np.array([x], "f4"))
        assert ulps(got, np.array([want]))[0] <= 0.6, name


def c_power(x: float, y: float) -> float:
    """Return the result that C (F.10.4.4) defines; Python raises where it is infinite or NaN."""
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if x < 0 and y % 2 == 1 else math.inf
    except ValueError:
        if x == 0:
            return math.copysign(math.inf, x) if y % 2 == 1 else math.inf
        return math.nan


BASES = (0.0, 1.0, 0.5, 2.0, 3.0, 1.5, 2.5, np.inf, np.nan, 1e-45, 3.4028235e38, 16777215.0,
         16777216.0, 33554434.0, 1e30, 0.99999994, 1.0000001)  # fmt: skip


def powers() -> tuple[Array, Array, Array]:
    """Pair special numbers, and bases of all sizes with exponents that keep results in range."""
    rng = np.random.default_rng(5)
    ends = np.array([sign * base for base in BASES for sign in (1.0, -1.0)], "f4")
    x = rng.integers(1, 0x7F800000, 1 << 14).astype("u4").view("f4")
    near = (1 + rng.uniform(-1, 1, 1 << 14) * 2.0 ** -rng.integers(1, 24, 1 << 14)).astype("f4")
    x = np.concatenate([x, near])
    with np.errstate(all="ignore"):
        y = (rng.uniform(-155, 155, len(x)) / np.log2(x.astype("f8"))).astype("f4")
    x = np.concatenate([np.repeat(ends, len(ends)), x])
    y = np.concatenate([np.tile(ends, len(ends)), y])
    short = -len(x) % 16
    x, y = np.concatenate([x, x[:short]]), np.concatenate([y, y[:short]])
    return x, y, np.array([c_power(float(a), float(b)) for a, b in zip(x, y, strict=True)])


@pytest.mark.parametrize("target", TARGETS, ids=["host", "plain"])
def test_power_keeps_its_bound_and_the_cases_of_c(target: Target) -> None:
    x, y, want = powers()
    error = ulps(ran("pow", target, 16, x, y), want)
    worst = int(error.argmax())
    assert error[worst] <= INTRINSICS["pow"].ulps, (x[worst], y[worst], error[worst])


@pytest.mark.parametrize("target", TARGETS, ids=["host", "plain"])
def test_an_angle_keeps_its_bound_and_the_cases_of_c(target: Target) -> None:
    """Python's atan2 follows C at zeros and infinities."""
    y, x, _ = powers()
    y = np.concatenate([y, np.roll(x, 5)])
    x = np.concatenate([x, x])
    want = np.array([math.atan2(float(a), float(b)) for a, b in zip(y, x, strict=True)])
    error = ulps(ran("atan2", target, 16, y, x), want)
    worst = int(error.argmax())
    assert error[worst] <= INTRINSICS["atan2"].ulps, (y[worst], x[worst], error[worst])


def test_the_interpreter_knows_the_cases_of_c() -> None:
    ends = [np.float32(sign * base) for base in BASES for sign in (1.0, -1.0)]
    for x in ends:
        for y in ends:
            got = np.array(
                [evaluate(call("pow", const(float(x), F32), const(float(y), F32)))], "f4"
            )
            assert ulps(got, np.array([c_power(float(x), float(y))]))[0] <= 0.6, (x, y)


@pytest.mark.parametrize("dtype", [F16, BF16], ids=str)
@pytest.mark.parametrize("name", UNARY)
def test_sixteen_bit_floats_are_less_than_an_ulp_off(name: str, dtype: DType) -> None:
    kind = numpy_dtype(dtype)
    x = np.arange(1 << 16, dtype="u4").astype("u2").view(kind)
    got = ran(name, TARGETS[0], 16, x, dtype=dtype)
    want = true_values(name, x.astype("f4"))
    with np.errstate(all="ignore"):
        near = want.astype("f4").astype(kind)
        low, high = np.nextafter(near, kind.type(-np.inf)), np.nextafter(near, kind.type(np.inf))
        fine = ((got >= low) & (got <= high)) | (np.isnan(got) & np.isnan(want))
    assert fine.all(), (x[~fine][:5], got[~fine][:5], want[~fine][:5])


COEFFICIENTS = [
    (exponentials, "_EXP", "exp"),
    (exponentials, "_EXPM1", "expm1"),
    (exponentials, "_ERF_NEAR", "erf"),
    (exponentials, "_ERF_FAR", "erf"),
    (exponentials, "_LN2_PARTS", "exp"),
    (logarithms, "_LOG", "log"),
    (inverse_trigonometry, "_ASIN", "asin"),
    (inverse_trigonometry, "_ATAN", "atan"),
    (trigonometry, "_SIN", "sin"),
    (trigonometry, "_COS", "cos"),
]


@pytest.mark.parametrize(("module", "table", "name"), sampled(COEFFICIENTS, every=3))
def test_a_wrong_coefficient_is_found(
    module: Any, table: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known: Any = getattr(module, table)
    right: tuple[float, ...] = known[23] if isinstance(known, dict) else known
    x = samples(1_000_003)
    want = true_values(name, x)
    for place, coefficient in enumerate(right):
        wrong = (*right[:place], coefficient * 1.1, *right[place + 1 :])
        planted = {**known, 23: wrong} if isinstance(known, dict) else wrong
        monkeypatch.setattr(module, table, planted)
        error = ulps(ran(name, TARGETS[0], 16, x), want).max()
        assert error > INTRINSICS[name].ulps, place


@pytest.mark.long
@pytest.mark.parametrize("name", UNARY)
def test_it_keeps_its_bound_on_every_sixteenth_float(name: str) -> None:
    size = 1 << 20
    func = elementwise("f", [F32], size, lambda a: call(name, a), 16)
    kernel, got = compiled([func], Target())["f"], np.zeros(size, "f4")
    for start in range(0, 1 << 32, size * 16):
        offset = start + (start // (size * 16)) % 16
        x = (np.arange(size, dtype="u4") * np.uint32(16) + np.uint32(offset)).view("f4")
        kernel(x, got)
        assert ulps(got, true_values(name, x)).max() <= INTRINSICS[name].ulps
