"""Expanded functions compute what native code does, bit for bit, and stay behind their guards."""

from typing import Any

import numpy as np
import pytest

from irkit.codegen import complete_target, host_target, legalisation
from irkit.core import Target, any_node, same, walk
from irkit.ir import (
    INTRINSICS,
    Call,
    Conditional,
    DType,
    Ldexp,
    Let,
    Load,
    PrimFunc,
    as_dtype,
    call,
    interpret,
    ldexp,
    numpy_dtype,
    parse,
    script,
    verify,
)
from irkit.ir.math import POLYNOMIALS, MathFeatures, has_expansion, math_features
from irkit.passes.loop import expand_functions
from irkit.phases import LEGALIZE, phases_of
from tests.codegen.llvm.cases import compiled, elementwise, same_bits
from tests.ir.math.test_polynomials import TARGETS

FEATURES = math_features(complete_target(host_target()))
PLAIN = TARGETS[1]
SIZE = 480


def inputs(dtype: DType, seed: int) -> Any:
    """Return numbers of all sizes, and many near 0."""
    rng, kind = np.random.default_rng(seed), numpy_dtype(dtype)
    whole = {16: np.uint16, 32: np.uint32, 64: np.uint64}[dtype.bits]
    wild = rng.integers(0, np.iinfo(whole).max, SIZE // 2, whole, endpoint=True).view(kind)
    near = (rng.standard_normal(SIZE // 2) * rng.choice([0.1, 1.0, 20.0], SIZE // 2)).astype(kind)
    return np.concatenate([wild, near])


def results(func: PrimFunc, args: list[Any], dtype: DType) -> Any:
    out = np.zeros(SIZE, numpy_dtype(dtype))
    with np.errstate(all="ignore"):
        interpret(func, *args, out)
    return out


@pytest.mark.skipif(not FEATURES.fuses, reason="the interpreter rounds a sum of a product once")
@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize(("name", "dtype"), [*POLYNOMIALS, ("tan", "f16"), ("exp", "bf16")])
def test_the_interpreter_gives_the_bits_of_native_code(name: str, dtype: str, lanes: int) -> None:
    kind = as_dtype(dtype)
    arity = INTRINSICS[name].arity
    func = elementwise("f", [kind] * arity, SIZE, lambda *args: call(name, *args), lanes)
    args = [inputs(kind, seed) for seed in range(arity)]
    found = results(expand_functions(func, scales=FEATURES.scales), args, kind)
    native = np.zeros_like(found)
    compiled([func], Target())["f"](*args, native)
    assert same_bits(found, native).all()


@pytest.mark.parametrize(("name", "dtype"), [("exp", "f32"), ("pow", "f64"), ("muladd", "f16")])
def test_nor_do_they_differ_where_nothing_is_fused(name: str, dtype: str) -> None:
    kind = as_dtype(dtype)
    arity = INTRINSICS[name].arity
    func = elementwise("f", [kind] * arity, SIZE, lambda *args: call(name, *args), 4)
    args = [inputs(kind, seed) for seed in range(arity)]
    plain = expand_functions(func, fuses=False)
    assert {"fma", "muladd"}.isdisjoint(node.name for node in walk(plain.body, Call))
    found = results(plain, args, kind)
    native = np.zeros_like(found)
    compiled([func], PLAIN)["f"](*args, native)
    assert same_bits(found, native).all()


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("whole", ["i8", "u8", "u16", "i32", "u32", "i64", "u64"])
def test_a_product_by_a_power_of_two_is_rounded_once(dtype: str, whole: str) -> None:
    kind, exponents = as_dtype(dtype), as_dtype(whole)
    func = elementwise("f", [kind, exponents], SIZE, ldexp, 4)
    rng = np.random.default_rng(7)
    near = rng.integers(max(exponents.low, -1200), min(exponents.high, 1200), SIZE)
    near = near.astype(numpy_dtype(exponents))
    near[:2] = exponents.low, exponents.high
    args = [inputs(kind, 3), near]
    expected = results(func, args, kind)
    expanded = expand_functions(func)
    assert not any_node(expanded.body, Ldexp)
    assert same_bits(results(expanded, args, kind), expected).all()
    native = np.zeros_like(expected)
    compiled([func], Target())["f"](*args, native)
    assert same_bits(native, expected).all()


def expanded(*lines: str, **options: bool) -> PrimFunc:
    head = "def f(A: f32[8], B: f32[8], C: f32[8], n: i64):\n    "
    func = expand_functions(parse(head + "\n    ".join(lines) + "\n"), **options)
    assert verify(func) == []
    assert same(parse(script(func)), func)
    assert not any(has_expansion(node, MathFeatures(**options)) for node in walk(func.body, Call))
    return func


def test_what_is_shared_gets_a_name_in_front_of_any_statement() -> None:
    func = expanded(
        "x: f32 = tanh(A[0])",
        "if exp(x) < f32(2.0):",
        "    C[1] = exp(exp(x) + pow(B[1], x))",
        'assert sin(B[2]) < x, "sine"',
    )
    names = [let.value for let in walk(func.body, Let)]
    assert len(names) > 20
    assert any(isinstance(value, Load) for value in names)


def test_a_load_stays_behind_the_condition_that_guards_it() -> None:
    func = expanded(
        "for i in serial(0, 10):",
        "    C[n] = (exp(A[i]) if i < 8 else f32(0.0)) + exp(B[n])",
    )
    (choice,) = walk(func.body, Conditional)
    assert any_node(choice.then, Load)
    assert not any(load.buffer.name == "A" for let in walk(func.body, Let) for load in
                   walk(let.value, Load))  # fmt: skip
    a = np.linspace(-1, 1, 8, dtype="f4")
    out = np.zeros(8, "f4")
    interpret(func, a, a, out, 2)
    assert out[2] == np.exp(a[2])


def test_a_target_that_scales_keeps_its_instruction() -> None:
    func = expanded("C[0] = exp(A[0])", scales=True)
    assert len(list(walk(func.body, Ldexp))) == 1
    assert not any_node(expanded("C[0] = exp(A[0])").body, Ldexp)


def test_a_backend_declares_what_it_wants() -> None:
    assert "expand-functions" not in legalisation(Target("c"))
    old = legalisation(Target("x86-64-v2"))["expand-functions"]
    new = legalisation(Target("x86-64-v4"))["expand-functions"]
    assert old == {"fuses": False, "scales": False}
    assert new == {"fuses": True, "scales": True}
    passes = phases_of(Target("x86-64-v4"), LEGALIZE)
    assert str(passes) == "4:widen-floats,expand-functions{fuses=true,scales=true}"
    wanted = ("widen-floats", "expand-conversions", "split-vectors")
    assert phases_of(Target("c"), LEGALIZE).names == wanted


def test_options_that_a_user_has_set_stay() -> None:
    chosen = LEGALIZE.replace("expand-functions", expand_functions.using(scales=True))
    for name in ("expand-conversions", "split-vectors", "widen-shifts", "narrow-addresses"):
        chosen = chosen.without(name)
    assert phases_of(Target("x86-64-v2"), chosen) == chosen
