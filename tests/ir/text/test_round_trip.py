"""IR text is printed and read back as the same function."""

import math
import struct
from random import Random

import pytest
from hypothesis import given, strategies as st

from irkit.core import ParseError, same, walk
from irkit.ir import (
    BOOL,
    F16,
    F32,
    F64,
    I32,
    I64,
    LOOP_LEVEL,
    LT,
    U64,
    Add,
    Allocate,
    Buffer,
    Const,
    DType,
    Expr,
    FloorDiv,
    FloorMod,
    For,
    Let,
    Max,
    Min,
    Mul,
    Names,
    Neg,
    PrimFunc,
    Select,
    Seq,
    Store,
    Sub,
    Var,
    const,
    parse,
    parse_expr,
    parse_module,
    script,
    seq,
    verify,
)
from irkit.ir.text.printer import listing
from tests.depth import DEEP

EVERYTHING = """\
@attrs(outputs=1, xs=(1, 2.5, "a"), **{"a b": None})
def all_forms(
    A: f32[m, n],
    B: buffer(f32[n, k], strides=(k, 1), scope="shared", align=64),
    C: f32[m, k],
    D: i32[()],
    x: i64,
):
    for i in parallel(0, m):
        for t in thread(0, 32, "threadIdx.x"):
            for q in serial(0, n, hint="x"):
                with block("C", tune=3):
                    vi = axis.spatial(m, i)
                    vj = axis.opaque(k, t)
                    vk = axis.reduce(n, q)
                    where(i < 3 and not vj == 2)
                    reads(A[vi, 0:vk + 1], B[i:i + 4, 2:6])
                    writes()
                    with init():
                        C[vi, vj] = f32(0.0)
                    C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
    T = alloc(f32[16], scope="local", lives="here")
    with view(A, f32[m * n], offset=0) as V:
        V[0] = f32("nan")
    with let(x // 2 % 3) as y:
        D[()] = cast(y, i32)
    z: i32 = i32(3)
    if x < 3:
        pass
    elif x == 4:
        T[0] = (T[1] if x == 7 else -f32(-0.0))
    else:
        store(T, (ramp(0, 1, 8),), broadcast(f32("inf"), 8), mask=broadcast(True, 8))
    assert x == -3 - -2, "odd"
    evaluate(barrier())
    D[()] = ~z & (z | i32(3)) ^ z << i32(1)
    C[0, 0] = select(x < 2 or x >= 5, exp(C[0, 0]), max(C[0, 0], cast(x, f32)))
"""


def test_every_form_prints_as_it_was_read() -> None:
    func = parse(EVERYTHING)
    assert script(func) == func.script() == str(func) == EVERYTHING
    assert same(parse(script(func)), func)


EXPRESSIONS = (
        "x - (x - x)", "x - x - x", "-(x + x)", "--x", "neg(5)", "-5", "x * -5", "(x + 1) * 2",
        "not (x < 1 and (x < 2 or x < 3))", "(x < 1) == (x < 2)", "~x", "x << (x << 1)",
        "(1 if x < 2 else 3) + 1", "min(x, max(x, 1))", "cast(x, f32)", "cast(3, f32)",
        "f32(3.5)", "f32(1e-45)", "f64(0.1)", "f32(-0.0)", 'f32("0x7ff8000000000001")',
        'bf16("-inf")', "i8(-3)", "u64(18446744073709551615)", "-9223372036854775808",
        "x < 1 and (x < 2 and x < 3)", "pow(x, 3)", "cast(ramp(x, 2, 4), i32x4)",
        "isnan(f32(1.0))", "True", "reinterpret(x, f64)", "ldexp(f32(1.0), x)",
        "reinterpret(ramp(x, 2, 4), u64x4)", "x // x % x",
        "x86_vpdpwssd_128(broadcast(i32(1), 4), broadcast(i16(2), 8), broadcast(i16(3), 8))",
    "f32(1.0) / f32(2.0)", "x == 1", "x != 1", "x > 1", "x <= 1", "x | x & x ^ x >> x",
)  # fmt: skip


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_an_expression_keeps_its_form(text: str) -> None:
    printed = script(parse_expr(text, {"x": Var("x")}))
    assert printed == text


def test_the_reader_makes_every_class_of_node() -> None:
    func = parse(EVERYTHING)
    made = {type(node) for node in (func, *walk(func.body), *func.params)}
    for text in EXPRESSIONS:
        made |= {type(node) for node in walk(parse_expr(text, {"x": Var("x")}))}
    assert set(LOOP_LEVEL.nodes) <= made


def test_negating_a_constant_is_not_a_negative_constant() -> None:
    for expr in (Neg(Const(5, I64), I64), Const(-5, I64), Neg(Const(-5, I64), I64)):
        assert parse_expr(script(expr), {}) == expr


def test_every_bit_of_a_float_survives() -> None:
    for bits in (0x7FF8000000000000, 0xFFF8000000000123, 0x7FF0000000000000, 0x8000000000000000, 1):
        expr = Const(struct.unpack("<d", struct.pack("<Q", bits))[0], F32)
        assert parse_expr(script(expr), {}) == expr
    assert math.isnan(parse_expr('f32("nan")', {}).value)  # pyright: ignore


BRIEF = """\
def f(A: f32[64], B: i32[8], x: i32, y: i64, u: u64):
    for i in serial(0, i32(8)):
        for j in serial(i, 8):
            A[i * 8 + j] = 0.5
            B[i32(0)] = 3
            B[x] = (x + 1) * 2 - 3 // x
            A[ramp(i32(0), 1, 8)] = A[ramp(x * 2, 1, 8)] * broadcast(f32(2.0), 8)
            A[0] = max(A[0], 0.0) / -2.0 + min(1.5, A[1])
            A[1] = select(x < 3, f32(1.0), f32("inf"))
            A[2] = A[2] + f32("nan")
            B[x] = (i32(1) if 3 <= x else i32(2)) + 4
            B[y] = 1 + 2
            B[i32(64) - 1] = x - (64 - 1) * 2
            A[y - (2 - 1)] = A[64 // 3 % 5] - 0.5 * 2.0
    t: i32 = 7
    w: f32 = f32("-inf")
    v: u64 = u + u64(18446744073709551615)
    B[t] = -(t + 1)
"""


def test_a_listing_has_bare_constants_that_are_read_as_they_were() -> None:
    func = parse(BRIEF)
    lines = listing(func).lines
    assert lines == BRIEF.splitlines()
    assert same(parse("\n".join(lines)), func)
    assert "i * i32(8) + j" in script(func)


ARITHMETIC = (Add, Sub, Mul, FloorDiv, FloorMod, Min, Max)
XS = {kind: Var("x", kind) for kind in (I32, I64, F16, F64, U64)}


def mixed(rng: Random, kind: DType, depth: int = 3) -> Expr:
    """Draw arithmetic of numbers, variables and choices of one type."""

    def part() -> Expr:
        return mixed(rng, kind, depth - 1)

    drawn = rng.randrange(10)
    if depth == 0 or drawn < 3:
        least = 0 if kind == U64 else -9
        return XS[kind] if drawn == 0 else const(rng.randrange(least, 99), kind)
    if drawn == 3:
        return Neg(part(), kind)
    if drawn == 4:
        return Select(LT(part(), part(), BOOL), part(), part(), kind)
    return rng.choice(ARITHMETIC)(part(), part(), kind)


@given(st.randoms(use_true_random=True), st.sampled_from(tuple(XS)))
def test_whatever_consists_of_numbers_is_listed_so_that_it_is_read_as_it_was(
    rng: Random, kind: DType
) -> None:
    first, *stored = [mixed(rng, kind) for _ in range(12)]
    x, out = XS[kind], Buffer("B", (const(9, I64),), kind)
    index = first if kind.is_integer else const(0, I64)
    func = PrimFunc("f", (out, x), seq(*[Store(out, (index,), value, None) for value in stored]))
    lines = listing(func).lines
    assert same(parse("\n".join(lines)), func), lines


def test_a_bare_number_takes_the_type_of_the_other_side() -> None:
    x = Var("x", I32)
    assert parse_expr("x + 1", {"x": x}) == Add(x, Const(1, I32), I32)


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("C[0] = select(a < b, 1, 0)", "C[0] = select(a < b, i32(1), i32(0))"),
        ("C[0] = 1 if a < b else 0", "C[0] = (i32(1) if a < b else i32(0))"),
        ("C[0] = x + select(a < b, 1, 0)", "C[0] = x + select(a < b, i32(1), i32(0))"),
        ("C[0] = (1 if a < b else 0) * x", "C[0] = (i32(1) if a < b else i32(0)) * x"),
        ("C[0] = select(a < b, 2, -3) * 4", "C[0] = select(a < b, i32(2), i32(-3)) * i32(4)"),
        (
            "C[0] = select(a < b, x, 1 if a < 0.5 else 2)",
            "C[0] = select(a < b, x, (i32(1) if a < f32(0.5) else i32(2)))",
        ),
        ("C[0] = min(x, 1 + 2)", "C[0] = min(x, i32(1) + i32(2))"),
        (
            "C[ramp(0, 1, 2)] = select(E[ramp(0, 1, 2)] < 0.5, 1, 0)",
            "C[ramp(0, 1, 2)] = select(E[ramp(0, 1, 2)] < broadcast(f64(0.5), 2), "
            "broadcast(i32(1), 2), broadcast(i32(0), 2))",
        ),
        (
            "store(C, 0, select(a < b, 1, 0), mask=a < b)",
            "store(C, (0,), select(a < b, i32(1), i32(0)), mask=a < b)",
        ),
        ("y: i32 = select(a < b, 1, 0)", "y: i32 = select(a < b, i32(1), i32(0))"),
        ("E[0] = select(a < b, 0.1, 0)", "E[0] = select(a < b, f64(0.1), f64(0.0))"),
        ("E[0] = pow(E[0], 1 if a < b else 2)",
         "E[0] = pow(E[0], (f64(1.0) if a < b else f64(2.0)))"),
        ("N[0] = select(a < b, 1, 0)", "N[0] = select(a < b, 1, 0)"),
        ("N[0] = n + select(x < select(a < b, 1, 0), 2, 3)",
         "N[0] = n + select(x < select(a < b, i32(1), i32(0)), 2, 3)"),
    ],
)  # fmt: skip
def test_a_choice_of_bare_numbers_takes_the_type_of_what_it_meets(
    written: str, printed: str
) -> None:
    head = "def f(C: i32[2], E: f64[2], N: i64[2], a: f32, b: f32, x: i32, n: i64):\n    "
    end = "\n    C[0] = y\n" if written.startswith("y") else "\n"
    func = parse(head + written + end)
    assert not verify(func)
    assert script(func) == head + printed + end
    assert same(parse(script(func)), func)


def test_a_choice_that_says_its_types_keeps_them() -> None:
    head = "def f(C: i32[1], D: i8[1], a: f32, x: i32):\n    "
    for line in ("C[0] = select(a < a, i64(1), 0)", "C[0] = select(a < a, 1.5, 0)"):
        assert [problem.message for problem in verify(parse(f"{head}{line}\n"))]
    with pytest.raises(ParseError, match=r":2:12: cannot write 300 as i8: expected -128 to 127"):
        parse(f"{head}D[0] = select(a < a, 300, 0)\n")
    x = Var("x", I32)
    wide = parse_expr("x + select(True, i64(1), 0)", {"x": x})
    assert wide.dtype == I64


def test_a_deep_expression_is_printed_and_read() -> None:
    x = Var("x")
    expr = x + 0
    for _ in range(DEEP):
        expr = expr + 1
    text = script(expr)
    assert max(map(len, text.split("\n"))) < 1000
    assert same(parse_expr(text, {"x": x}), expr)


def test_shared_parts_do_not_make_the_text_explode() -> None:
    x = Var("x")
    expr = x + 0
    for _ in range(200):
        expr = expr * expr
    assert len(script(expr)) < 50_000
    assert same(parse_expr(script(expr), {"x": x}), expr)


def test_deep_expressions_are_allowed_anywhere_in_a_function() -> None:
    n, i = Var("n"), Var("i")
    deep = n + 0
    for _ in range(300):
        deep = deep + 1
    out, other = Buffer("A", (n, deep), F32), Buffer("B", (deep * 2,), F32)
    store = Store(out, (deep, i), out[i, deep + 1])
    func = PrimFunc("f", (other, out), For(i, Const(0, I64), deep, store))
    assert same(parse(script(func)), func)


def test_clashing_names_get_a_suffix_and_foreign_ones_are_quoted() -> None:
    n, first, second = Var("n:0"), Var("i"), Var("i")
    out = Buffer("out/é", (n,), I64)
    inner = For(second, Const(0, I64), n, Store(out, (first,), second))
    func = PrimFunc("for", (out,), For(first, Const(0, I64), n, inner))
    text = script(func)
    assert "for i in" in text
    assert "for i_1 in" in text
    again = parse(text)
    assert same(again, func)
    assert again.name == "for"
    assert [param.name for param in again.params] == ["out/é"]
    assert again.params[0].shape[0].name == "n:0"  # pyright: ignore
    assert script(again) == text


def test_a_variable_keeps_its_printed_name_through_a_trace() -> None:
    i, j, out = Var("i"), Var("i"), Buffer("C", (Const(8, I64),), I64)
    inner = For(j, Const(0, I64), Const(2, I64), Store(out, (i,), j))
    names = Names()
    before = PrimFunc("f", (out,), For(i, Const(0, I64), Const(2, I64), inner))
    assert "C[i] = i_1" in script(before, names=names)
    after = PrimFunc("f", (out,), Let(j, Const(0, I64), Let(i, Const(3, I64), inner.body)))
    assert "C[i] = i_1" in script(after, names=names)


def test_a_let_that_does_not_end_its_suite_shows_its_scope() -> None:
    x, y, out = Var("x"), Var("y"), Buffer("C", (Const(8, I64),), I64)
    stores = Store(out, (x,), x), Store(out, (Const(0, I64),), y)
    inner = Let(x, Const(1, I64), stores[0])
    func = PrimFunc("f", (out,), Let(y, Const(2, I64), Seq((inner, stores[1]))))
    text = script(func)
    assert "    y: i64 = 2\n    with let(1) as x:\n        C[x] = x\n    C[0] = y\n" in text
    assert same(parse(text), func)


def test_statements_know_their_line() -> None:
    func = parse(EVERYTHING, file="a.irs")
    assert isinstance(func.body, Seq)
    assert str(func.body.span) == "None"
    assert str(func.body.stmts[0].span) == "a.irs:9"
    assert str(func.span) == "a.irs:2"


def test_a_module_is_read_function_by_function() -> None:
    one = "def f(A: f32[4]):\n    A[0] = f32(1.0)\n"
    module = parse_module(f"{one}\n{one.replace('def f', 'def g')}")
    assert list(module) == ["f", "g"]
    assert parse_module(module.script()).script() == module.script()


def test_a_name_has_its_outer_meaning_after_its_suite() -> None:
    lines = "    i: i64 = 7\n    for i in serial(0, 2):\n        C[i] = i\n    C[0] = i\n"
    func = parse(f"def f(C: i64[8]):\n{lines}")
    assert "for i_1 in" in script(func)
    assert script(func).endswith("    C[0] = i\n")
    with pytest.raises(ParseError, match="4:12: unknown name 'i'"):
        parse("def f(C: i64[8]):\n    for i in serial(0, 2):\n        C[i] = i\n    C[0] = i\n")


def test_a_dimension_keeps_its_type() -> None:
    n, x = Var("n", I32), Var("x", I32)
    func = PrimFunc("f", (Buffer("A", (n,), I32), x), Seq(()))
    assert "@types(n=i32)\n" in script(func)
    assert same(parse(script(func)), func)


def test_two_variables_of_one_name_get_different_names_in_one_function() -> None:
    names, out = Names(), Buffer("C", (Const(8, I64),), I64)
    loops = [For(Var("i"), Const(0, I64), Const(2, I64), Seq(())) for _ in range(2)]
    for loop in loops:
        assert "for i in" in script(PrimFunc("f", (out,), loop), names=names)
    both = script(PrimFunc("f", (out,), Seq(tuple(loops))), names=names)
    assert "for i in" in both
    assert "for i_1 in" in both


def test_attributes_with_unusual_names_and_values_round_trip() -> None:
    attrs = (("a", 1), ("if", True), ("a b", -2.5), ("", None), ("c", ("x", ("y", math.inf))))
    loop = For(Var("i"), Const(0, I64), Const(2, I64), Seq(()), attrs=(*attrs, ("a", '"\\\n')))
    room = Allocate(Buffer("T", (), I64), loop, (("scope", "no scope"), ("align", 3)))
    func = PrimFunc("f", (), room, attrs=attrs)
    assert same(parse(script(func)), func)
