"""The four meanings of each intrinsic function agree at the edges of types, and an error in one is
found. The rows of ``INTRINSICS`` drive these tests: a new function needs no new one."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest

from irkit import te, topi
from irkit.codegen.llvm.arithmetic.integer_ops import choose, constant
from irkit.codegen.llvm.builder.types import number, value_type
from irkit.codegen.llvm.math import intrinsics as native_code
from irkit.debug.check.rounding_error.precision import ULPS
from irkit.fuzz.generators import functions as drawn
from irkit.graph import OPS
from irkit.ir import (
    BF16,
    BOOL,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    INTRINSICS,
    U8,
    U16,
    U32,
    U64,
    Call,
    Const,
    DType,
    Expr,
    Intrinsic,
    call,
    fold,
    interpret,
    numpy_dtype,
)
from irkit.ir.arith.fold import _FLOAT_CALLS, _INTEGER_CALLS, KEPT_CALLS
from irkit.ir.interp import values as interpreter
from irkit.ir.math import POLYNOMIALS, LaneArithmetic
from irkit.ir.reference import call as refer, functions as reference
from tests.codegen.llvm.cases import compiled, crossed, elementwise, same_bits

Array = Any
DTYPES = (BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64)
ROWS = [row for row in INTRINSICS.values() if row.on != "effect"]
LANES = 4
# Digits of the mantissa, and exponent of the smallest number.
PRECISION = {F16: (11, -24), BF16: (8, -133), F32: (24, -149), F64: (53, -1074)}


def rows_on(dtype: DType) -> list[Intrinsic]:
    return [row for row in ROWS if row.accepts(dtype)]


def edges(dtype: DType) -> Array:
    """Return the values at which functions tend to go wrong; the first is 1."""
    kind = numpy_dtype(dtype)
    if dtype.is_bool:
        return np.array([False, True])
    if dtype.is_float:
        info = ml_dtypes.finfo(kind)
        ends = (info.max, info.smallest_normal, info.smallest_subnormal)
        sizes = (0.0, 1.0, 0.5, 1.5, 2.5, 0.1, 0.75, 2.0, 3.0, 7.25, 60.5, 1e-3, np.inf)
        found = [float(size) for size in (*sizes, *ends)]
        return np.array([1.0, np.nan, *found, *(-size for size in found)]).astype(kind)
    bits = dtype.bits
    near = (1, dtype.low, dtype.low + 1, -100, -7, -2, -1, 0, 1, 2, 3, 7, bits - 1, bits, bits + 1)
    found = [n for n in (*near, dtype.high - 1, dtype.high) if dtype.low <= n <= dtype.high]
    return np.array(list(dict.fromkeys(found)), kind)


def operands(row: Intrinsic, dtype: DType) -> list[Array]:
    return crossed(edges(dtype)[:: 3 if row.arity == 3 else 1], row.arity, LANES)


class Meaning(NamedTuple):
    """What one of the four computes: results, and where it has one."""

    found: Array
    known: Array


def interpreted(row: Intrinsic, dtype: DType) -> Meaning:
    args = operands(row, dtype)
    out = np.zeros(len(args[0]), numpy_dtype(row.result(dtype)))
    with np.errstate(all="ignore"):
        interpret(function_of(row, dtype), *args, out)
    return Meaning(out, np.ones(len(out), bool))


def function_of(row: Intrinsic, dtype: DType) -> Any:
    def build(*args: Any) -> Any:
        return call(row.name, *args)

    return elementwise(row.name, [dtype] * row.arity, len(operands(row, dtype)[0]), build, LANES)


def referred(row: Intrinsic, dtype: DType) -> Meaning:
    with np.errstate(all="ignore"):
        found = refer(row.name, operands(row, dtype), dtype)
    return Meaning(found, np.ones(len(found), bool))


def folded(row: Intrinsic, dtype: DType) -> Meaning:
    args = operands(row, dtype)
    out = np.zeros(len(args[0]), numpy_dtype(row.result(dtype)))
    known = np.zeros(len(out), bool)
    for at, given in enumerate(zip(*(arg.tolist() for arg in args), strict=True)):
        exprs = tuple(Const(value, dtype) for value in given)
        result = fold(Call(row.name, exprs, row.result(dtype)))
        if isinstance(result, Const):
            out[at], known[at] = result.value, True
    return Meaning(out, known)


def native(rows: Iterable[Intrinsic], dtype: DType) -> dict[str, Meaning]:
    """Run generated code, of all functions at once."""
    rows = list(rows)
    kernels = compiled([function_of(row, dtype) for row in rows]) if rows else {}
    made: dict[str, Meaning] = {}
    for row in rows:
        args = operands(row, dtype)
        out = np.zeros(len(args[0]), numpy_dtype(row.result(dtype)))
        kernels[row.name](*args, out)
        made[row.name] = Meaning(out, np.ones(len(out), bool))
    return made


def apart(found: Array, expected: Array, dtype: DType, units: float) -> Array:
    """Return where results differ by more than some units in the last place."""
    if not dtype.is_float or units <= 0:
        return ~same_bits(found, expected)
    digits, least = PRECISION[dtype]
    a, b = found.astype(np.float64), expected.astype(np.float64)
    with np.errstate(all="ignore"):
        unit = np.ldexp(1.0, np.maximum(np.frexp(b)[1] - digits, least))
        near = np.abs(a - b) <= units * unit
    near &= np.isfinite(a) & np.isfinite(b)
    near &= ((a != 0) & (b != 0)) | (np.signbit(a) == np.signbit(b))
    return ~(near | same_bits(found, expected))


def differences(dtype: DType) -> dict[tuple[str, str], str]:
    """Compare the other meanings with the interpreter; return the first difference of each function
    and meaning."""
    rows = rows_on(dtype)
    compiled_code = native(rows, dtype)
    different: dict[tuple[str, str], str] = {}
    for row in rows:
        expected, error = interpreted(row, dtype).found, row.ulps_in(dtype)
        # The f64 of NumPy is as far from the true value as generated code; others round it once.
        own = 0.0 if error <= 0.5 else error if dtype.bits == 64 else 0.5
        others = {
            "folder": (folded(row, dtype), 0.0),
            "reference": (referred(row, dtype), 2 * own),
            "native": (compiled_code[row.name], error + own if own else 0.0),
        }
        for name, (meaning, units) in others.items():
            wrong = apart(meaning.found, expected, row.result(dtype), units) & meaning.known
            if wrong.any():
                given = [arg[wrong][0] for arg in operands(row, dtype)]
                shown = f"{given} gives {meaning.found[wrong][0]}, not {expected[wrong][0]}"
                different[row.name, name] = shown
    return different


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_all_meanings_agree_within_the_bound_of_the_row(dtype: DType) -> None:
    assert differences(dtype) == {}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_what_is_not_folded_has_no_single_right_value(dtype: DType) -> None:
    for row in rows_on(dtype):
        meaning, expected = folded(row, dtype), interpreted(row, dtype).found
        if row.ulps_in(dtype) > 0.5 or row.name in KEPT_CALLS:
            assert not meaning.known.any(), row.name
        else:
            with np.errstate(all="ignore"):
                assert (meaning.known | np.isnan(expected.astype("f8"))).all(), row.name


# Errors planted: each function of a meaning is wrong where its first argument is 1.


def wrong_on_arrays(right: Callable[..., Array]) -> Callable[..., Array]:
    def wrong(*args: Array) -> Array:
        result = np.asarray(right(*args))
        other = ~result if result.dtype == np.bool_ else 42
        return np.where(args[0] == 1, other, result).astype(result.dtype)

    return wrong


def wrong_on_numbers(right: Callable[..., Any]) -> Callable[..., Any]:
    def wrong(*args: Any) -> Any:
        result = right(*args)
        other = not result if isinstance(result, bool) else 42
        return other if args[0] == 1 else result

    return wrong


def wrong_in_code(right: Callable[..., Any]) -> Callable[..., Any]:
    if right in POLYNOMIALS.values():
        return wrong_in_expansion(right)

    def wrong(text: Any, dtype: DType, args: list[str], flags: str) -> str:
        result, kind = right(text, dtype, args, flags), value_type(dtype)
        of = number if dtype.is_float else constant
        compare = "fcmp oeq" if dtype.is_float else "icmp eq"
        at_one = text.op(f"{compare} {kind} {args[0]}, {of(1, dtype)}")
        if right in TESTS_IN_CODE:
            return text.op(f"xor {value_type(BOOL.with_lanes(dtype.lanes))} {result}, {at_one}")
        return choose(text, dtype, at_one, of(42, dtype), result)

    return wrong


def wrong_in_expansion(right: Callable[..., Any]) -> Callable[..., Any]:
    def wrong(f: LaneArithmetic, *args: Expr) -> Expr:
        return f.choose(f.compare("oeq", args[0], 1.0), 42.0, right(f, *args))

    return wrong


TESTS_IN_CODE = [native_code._FLOAT[row.name] for row in ROWS if row.gives == "bool"]
Tables = list[dict[Any, Any]]


def tables_of(meaning: str, dtype: DType) -> tuple[Tables, Callable[..., Any]]:
    """Return the tables of a meaning for a type, and what makes an entry wrong."""
    whole = not dtype.is_float
    match meaning:
        case "interpreter":
            floats = [interpreter._TRANSCENDENTAL, interpreter._EXACT, interpreter._TESTS]
            return [interpreter._INTEGER] if whole else floats, wrong_on_arrays
        case "folder":
            calls = _INTEGER_CALLS if whole else _FLOAT_CALLS
            return [calls], wrong_on_numbers
        case "reference":
            calls = reference._ON_INTEGERS if whole else reference._ON_FLOATS
            return [calls], wrong_on_arrays
        case _:
            floats = [POLYNOMIALS, native_code._FLOAT]
            return [native_code._INTEGER] if whole else floats, wrong_in_code


def _key(table: dict[Any, Any], row: Intrinsic, dtype: DType) -> Any:
    working = "f64" if dtype.bits == 64 else "f32"
    return (row.name, working) if table is POLYNOMIALS else row.name


def plant(meaning: str, dtype: DType, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Plant an error into every function of a meaning; return their names."""
    planted: set[str] = set()
    tables, wrong = tables_of(meaning, dtype)
    for row in rows_on(dtype):
        for table in tables:
            key = _key(table, row, dtype)
            if key in table:
                monkeypatch.setitem(table, key, wrong(table[key]))
                planted.add(row.name)
    if dtype.is_float and meaning == "interpreter":  # It rounds by itself, and is in no table.
        monkeypatch.setattr(interpreter, "_fma_in_f64", wrong_on_arrays(interpreter._fma_in_f64))
        planted |= {"fma", "muladd"}
    if dtype.is_float and meaning == "reference":
        monkeypatch.setattr(reference, "_fma", wrong_on_numbers(reference._fma))
        planted |= {"fma", "muladd"}
    return planted


@pytest.mark.parametrize("dtype", [I32, U8, F32], ids=str)
@pytest.mark.parametrize("meaning", ["interpreter", "folder", "reference", "native"])
def test_an_error_in_one_meaning_is_found(
    meaning: str, dtype: DType, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = plant(meaning, dtype, monkeypatch)
    kept = {row.name for row in rows_on(dtype) if row.name in KEPT_CALLS}
    inexact = {row.name for row in rows_on(dtype) if row.ulps_in(dtype) > 0.5}
    unfolded = kept | inexact if meaning == "folder" else set[str]()
    assert planted == {row.name for row in rows_on(dtype)} - unfolded
    found = differences(dtype)
    if meaning == "interpreter":  # The others are compared with it.
        agree = {(name, other) for name in planted for other in ("reference", "native")}
        assert agree <= set(found)
    else:
        assert set(found) == {(name, meaning) for name in planted}


def test_an_error_beyond_the_bound_of_the_row_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    inexact = [row.name for row in rows_on(F32) if row.ulps > 0.5]
    for name in inexact:
        right = reference._ON_FLOATS[name]

        def wrong(*args: Array, right: Callable[..., Array] = right) -> Array:
            return right(*args) * (1 + 2.0**-21)

        monkeypatch.setitem(reference._ON_FLOATS, name, wrong)
    assert set(differences(F32)) == {(name, "reference") for name in inexact}


@pytest.mark.parametrize("dtype", [F16, BF16, F32, F64], ids=str)
def test_the_reference_takes_numbers_beside_arrays(dtype: DType) -> None:
    """NumPy treats some scalar exponents in ways of their own."""
    for row in rows_on(dtype):
        if row.arity != 2:
            continue
        for scalar in edges(dtype):
            x = edges(dtype)
            with np.errstate(all="ignore"):
                among = refer(row.name, [x, np.full_like(x, scalar)], dtype)
                beside = refer(row.name, [x, np.asarray(scalar)], dtype)
            assert not apart(beside, among, dtype, 2 * row.ulps_in(dtype)).any(), row.name


# Ranges.


def test_a_function_of_integers_has_a_range_unless_it_can_be_anything() -> None:
    without = {row.name for row in rows_on(I32) if row.bounds is None}
    assert without == {"pow"}


@pytest.mark.parametrize("dtype", [I8, U8], ids=str)
def test_a_range_contains_every_result(dtype: DType) -> None:
    some = [n for n in (dtype.low, -7, -1, 0, 1, 7, dtype.high) if n >= dtype.low]
    ranges = [(low, high) for low in some for high in some if low <= high]
    for row in rows_on(dtype):
        if row.bounds is None:
            continue
        compute = _INTEGER_CALLS[row.name]
        for pairs in [[p] for p in ranges] if row.arity == 1 else crossed_pairs(ranges):
            low, high = row.bounds(tuple(pairs), dtype.bits)
            if row.saturates:
                low, high = (min(max(end, dtype.low), dtype.high) for end in (low, high))
            inside = [[n for n in some if p[0] <= n <= p[1]] for p in pairs]
            for a in inside[0]:
                for b in inside[-1]:
                    assert low <= compute(a, b, dtype) <= high, (row.name, pairs, a, b)


def crossed_pairs(ranges: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    return [[a, b] for a in ranges for b in ranges]


# Nothing is missing.


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_te_has_the_function_with_its_signature_and_help(row: Intrinsic) -> None:
    function = getattr(te, row.name, None)
    assert isinstance(function, te.ElementwiseFunction), f"irkit/te lacks {row.name}"
    assert function.name == row.name
    assert f"Return {row.summary}." in (function.__doc__ or "")
    assert f"{row.name}({', '.join(row.params)})" in (function.__doc__ or "")


@pytest.mark.parametrize("row", [row for row in ROWS if row.accepts(F32) and row.arity == 1])
def test_a_function_of_one_float_is_an_operator_of_graphs_and_topi(row: Intrinsic) -> None:
    assert row.name in OPS
    assert getattr(topi, row.name, None) is getattr(te, row.name), f"irkit/topi lacks {row.name}"


def test_a_check_allows_what_both_sides_may_be_off() -> None:
    for row in ROWS:
        assert 2 * max(row.ulps_in(F32), row.ulps_in(F64)) <= ULPS, row.name


def test_the_generators_draw_every_function() -> None:
    known = {*drawn.ON_FLOATS, *drawn.OF_ONE_INTEGER, *drawn.OF_TWO_INTEGERS}
    assert known == {row.name for row in ROWS}


@pytest.mark.parametrize("name", INTRINSICS)
def test_the_semantics_page_defines_it(name: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "semantics.md").read_text(encoding="utf-8")
    assert f"`{name}`" in page or f"`{name}(" in page, f"docs/semantics.md lacks {name}"


def test_the_meanings_have_an_entry_for_every_function() -> None:
    missing: list[str] = []
    for dtype in DTYPES:
        for row in rows_on(dtype):
            for meaning in ("interpreter", "reference", "native", "folder"):
                tables, _ = tables_of(meaning, dtype)
                known = [_key(table, row, dtype) in table for table in tables]
                kept = meaning == "folder" and row.name in KEPT_CALLS
                kept |= row.name in ("fma", "muladd")
                kept |= meaning == "folder" and row.ulps_in(dtype) > 0.5
                if not any(known) and not kept:
                    missing.append(f"{meaning}: {row.name} on {dtype}")
    assert missing == []
