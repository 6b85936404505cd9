"""Native arithmetic gives what the interpreter gives, bit for bit, also at the edges of types."""

from collections.abc import Callable

import numpy as np
import pytest

from irkit import phases
from irkit.codegen import emit, host_target
from irkit.ir import (
    INTRINSICS,
    NE,
    DType,
    Expr,
    FloorDiv,
    FloorMod,
    Neg,
    Not,
    binary,
    call,
    cast,
    const,
    dtype,
    if_then_else,
    interpret,
    lt,
    parse,
    select,
)
from tests.codegen.llvm.cases import both, compiled, crossed, elementwise, same_bits, special
from tests.draws import sampled
from tests.ir.classes import operations_on

INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
FLOATS = ("f16", "bf16", "f32", "f64")
# Results of the C library are close, not equal.
INEXACT = [row.name for row in INTRINSICS.values() if row.ulps > 0.5]


def operations(kind: DType) -> dict[str, tuple[int, Callable[..., Expr]]]:
    """Return the operations on a type: name, number of operands, and builder."""
    found: dict[str, tuple[int, Callable[..., Expr]]] = {}
    for cls in operations_on(kind):
        found[cls.__name__] = 2, lambda a, b, cls=cls: binary(cls, a, b)
    if not kind.is_bool:
        found["Neg"] = 1, lambda a: Neg(a, a.dtype)
        for name, row in INTRINSICS.items():
            exact = row.ulps_in(kind) <= 0.5
            if row.on != "effect" and row.accepts(kind) and exact:
                found[name] = row.arity, lambda *args, name=name: call(name, *args)
    if not kind.is_float:
        found["Not"] = 1, lambda a: Not(a, a.dtype)
    found["Select"] = 2, lambda a, b: select(binary(NE, a, b), a, b)
    return found


@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize("name", sampled(["bool", *INTEGERS, *FLOATS], every=2))
def test_every_operation_gives_what_the_interpreter_gives(name: str, lanes: int) -> None:
    kind = dtype(name)
    cases = {}
    for op, (arity, build) in operations(kind).items():
        values = special(kind)[:: 2 if arity == 3 else 1]
        inputs = crossed(values, arity, lanes)
        func = elementwise(op, [kind] * arity, len(inputs[0]), build, lanes)
        cases[op] = func, inputs
    kernels = compiled([func for func, _ in cases.values()])
    for op, (func, inputs) in cases.items():
        with np.errstate(all="ignore"):
            native, expected = both(func, inputs, kernels[op])
        wrong = ~same_bits(native, expected)
        if op in ("Min", "Max"):  # Can give either zero.
            wrong &= (native != 0) | (expected != 0)
        shown = (
            [(*(x[wrong][0] for x in inputs), native[wrong][0], expected[wrong][0])]
            if any(wrong)
            else []
        )
        assert not shown, f"{op} on {name}: operands, native, interpreted: {shown}"


@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize("source", ["bool", *INTEGERS, *FLOATS])
def test_every_cast_gives_what_the_interpreter_gives(source: str, lanes: int) -> None:
    inputs = crossed(special(dtype(source)), 1, lanes)
    funcs = [
        elementwise(target, [dtype(source)], len(inputs[0]), lambda a, t=target: cast(a, t), lanes)
        for target in ("bool", *INTEGERS, *FLOATS)
    ]
    kernels = compiled(funcs)
    for func in funcs:
        with np.errstate(all="ignore"):
            native, expected = both(func, inputs, kernels[func.name])
        assert same_bits(native, expected).all(), (source, func.name, native, expected)


@pytest.mark.parametrize("name", ["i8", "i32", "i64", "u8", "u64"])
def test_division_by_each_constant_is_floor_division(name: str) -> None:
    kind = dtype(name)
    inputs = crossed(special(kind), 1)
    funcs = []
    for divisor in (n for n in (-128, -3, -2, -1, 0, 1, 2, 3, 4, 7, 64, 100) if n >= kind.low):
        for cls in (FloorDiv, FloorMod):
            by = const(divisor, kind)
            build = lambda a, cls=cls, by=by: binary(cls, a, by)  # noqa: E731
            funcs.append(elementwise(f"{cls.__name__}{divisor}", [kind], len(inputs[0]), build))
        for how in ("truncdiv", "truncmod"):
            build = lambda a, how=how, by=by: call(how, a, by)  # noqa: E731
            funcs.append(elementwise(f"{how}{divisor}", [kind], len(inputs[0]), build))
    kernels = compiled(funcs)
    for func in funcs:
        with np.errstate(all="ignore"):
            native, expected = both(func, inputs, kernels[func.name])
        assert same_bits(native, expected).all(), (func.name, inputs, native, expected)


@pytest.mark.parametrize("lanes", [1, 8, 32])
@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64"])
def test_functions_of_the_library_are_close(name: str, lanes: int) -> None:
    kind = dtype(name)
    cases = {}
    for op in INEXACT:
        inputs = crossed(special(kind), INTRINSICS[op].arity, lanes)
        cases[op] = (
            elementwise(
                op, [kind] * len(inputs), len(inputs[0]), lambda *a, op=op: call(op, *a), lanes
            ),
            inputs,
        )
    kernels = compiled([func for func, _ in cases.values()])
    near = {"f16": 2e-3, "bf16": 1.6e-2, "f32": 1e-5, "f64": 1e-13}[name]
    for op, (func, inputs) in cases.items():
        with np.errstate(all="ignore"):
            native, expected = (x.astype("f8") for x in both(func, inputs, kernels[op]))
        tiny = 1e-6 if name == "f16" else 1e-38
        np.testing.assert_allclose(native, expected, rtol=near, atol=tiny, err_msg=op)


@pytest.mark.parametrize("lanes", [1, 4])
def test_a_conditional_selects_by_lane(lanes: int) -> None:
    kind = dtype("i32")
    inputs = crossed(special(kind), 2, lanes)
    func = elementwise(
        "choose", [kind, kind], len(inputs[0]), lambda a, b: if_then_else(lt(a, b), a, b), lanes
    )
    native, expected = both(func, inputs, compiled([func])["choose"])
    assert same_bits(native, expected).all()


def test_a_number_of_an_iteration_becomes_f16() -> None:
    func = parse(
        "def f(C: f16[40]):\n    for i in serial(i32(0), i32(40)):\n        C[i] = cast(i, f16)\n"
    )
    found = np.zeros(40, np.float16)
    phases.build(func)(found)
    np.testing.assert_array_equal(found, np.arange(40))


@pytest.mark.parametrize(
    "value", ["abs(atan(A[i]))", "-asinh(A[i])", "abs(pow(A[i], f16(0.5)))", "abs(cast(B[i], f16))"]
)
def test_a_number_from_f64_is_rounded_to_f32_before_f16(value: str) -> None:
    """LLVM would merge the two roundings into a call of a library that is not there."""
    func = parse(
        "def f(A: f16[40], B: f64[40], C: f16[40]):\n"
        f"    for i in serial(0, 40):\n        C[i] = {value}\n"
    )
    rng = np.random.default_rng(3)
    given = rng.uniform(0.1, 3, 40).astype(np.float16), rng.uniform(-3, 3, 40)
    found, wanted = np.zeros(40, np.float16), np.zeros(40, np.float16)
    phases.build(func)(*given, found)
    interpret(func, *given, wanted)
    assert found.tobytes() == wanted.tobytes()


def test_the_remainder_of_a_finite_number_is_nan_if_the_divisor_is() -> None:
    func = parse("""
def f(B: f64[4], C: f64[4], D: f64[4]):
    for i in serial(0, 4):
        C[i] = fmod(cast(i, f64), f64("nan"))
        D[i] = cast(i, f64) % (abs(B[i]) + f64(1.0))
""")
    divisors, found = np.array([np.nan, 1.0, np.nan, -0.5]), [np.zeros(4), np.zeros(4)]
    phases.build(func)(divisors, *found)
    assert np.isnan(found[0]).all()
    assert np.isnan(found[1]).tolist() == [True, False, True, False]


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("A[i] // B[i]", True),
        ("truncmod(A[i], B[i])", True),
        ("A[i] // i32(4)", False),
        ("A[i] * B[i]", False),
    ],
)
def test_a_loop_that_divides_by_an_unknown_number_stays_scalar(value: str, wanted: bool) -> None:
    func = parse(f"""
def f(A: i32[9], B: i32[9], C: i32[9]):
    for i in serial(0, 9):
        C[i] = {value}
""")
    assert (", !llvm.loop" in emit([func], host_target())) is wanted
