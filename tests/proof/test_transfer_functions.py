"""The range of each operation, proved from the code that computes it: whatever the ranges of the
operands are, and whatever the operands are within them, the result is in the range.

At 8 bits the operations are bit vectors. At 32 and 64 bits they are z3's integers: a range that is
not the whole type holds the exact result, so that nothing has wrapped around.
"""

from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest

from irkit.ir import (
    BOOL,
    I8,
    I16,
    I32,
    I64,
    INTRINSICS,
    U8,
    U16,
    U32,
    U64,
    Binary,
    BitAnd,
    Broadcast,
    Call,
    Cast,
    DType,
    Expr,
    Not,
    Ramp,
    Select,
    Var,
)
from irkit.ir.arith import transfer as code
from irkit.ir.arith.interval import limits
from irkit.proof import has_z3
from irkit.proof.bit_vectors import BitVectors
from irkit.proof.translate import Translation
from tests.draws import sampled
from tests.proof.symbolic import Paths, SymbolicInt

pytestmark = pytest.mark.skipif(not has_z3(), reason="z3 is not installed: extra prove")
WIDTH, WIDE = 11, 18
"""Bits enough for all numbers that occur with operands of 8 bits; for products and shifts."""
SLOW = {
    ("i8", "Mul"),
    ("u8", "Mul"),
    ("i8", "mul_sat"),
    ("u8", "mul_sat"),
    ("i8", "FloorDiv"),
    ("i8", "FloorMod"),
    ("u8", "FloorDiv"),
    ("u8", "FloorMod"),
    ("i8", "truncdiv"),
    ("u8", "truncdiv"),
}
"""Proofs that take z3 up to a minute or, of products, more: those are proved at any width."""
UNITS = 20_000_000
"""Work of z3 for one question at 32 and 64 bits, in its own units: at most 5 seconds."""
LANES = 4
Rule = Callable[..., Any]
Refutation = dict[str, int] | str
"""Values for which a result is outside its range; "unknown"; empty if there are none."""


def operations(dtype: DType) -> Iterator[tuple[str, Expr]]:
    """Yield each operation on unknown operands of a type whose range has a rule."""
    a, b, flag = Var("a", dtype), Var("b", dtype), Var("flag", BOOL)
    for cls in code.RULES:
        bools = cls in _COMPARISONS or cls in _OF_BOOLS
        if issubclass(cls, Binary) and (bools if dtype.is_bool else cls not in _LOGIC):
            yield cls.__name__, cls(a, b, BOOL if cls in _COMPARISONS else dtype)
    yield "Not", Not(a, dtype)
    yield "Select", Select(flag, a, b, dtype)
    if dtype.is_bool:
        return
    yield "Neg", code.Neg(a, dtype)
    yield "Broadcast", Broadcast(a, dtype.with_lanes(LANES))
    yield "Ramp", Ramp(a, b, dtype.with_lanes(LANES))
    for target in (I8, U8, I16, U16, BOOL):
        yield f"Cast to {target}", Cast(a, target)
    for row in INTRINSICS.values():
        if row.bounds is not None:
            yield row.name, Call(row.name, (a, b)[: row.arity], dtype)


_COMPARISONS = (code.EQ, code.NE, code.LT, code.LE, code.GT, code.GE)
_LOGIC = (code.And, code.Or)
_OF_BOOLS = (*_LOGIC, BitAnd, code.BitOr, code.BitXor)


def refutation(node: Expr, rule: Rule | None = None) -> Refutation:
    """Look for operands of 8 bits, and ranges of them, for which the result is outside its
    range."""
    top = max(abs(end) for end in limits(node.dtype))
    products = isinstance(node, (code.Mul, code.Shl)) or getattr(node, "name", "") == "mul_sat"
    width = WIDE if products or top > 255 else WIDTH
    paths = Paths(width)
    context = paths.z3.main_ctx()
    translation = Translation(BitVectors(context), context, {}, node.dtype.lanes)
    value = _extended(paths, translation.term(node), node.dtype)
    operands = {
        var: _extended(paths, term, var.dtype) for var, term in translation.variables.items()
    }
    paths.solver.add(*translation.conditions)
    return _outside(paths, node, operands, value, rule)


def refutation_of_exact(node: Expr, rule: Rule | None = None) -> Refutation:
    """The same at any width, by unbounded integers: the exact result is looked at."""
    paths = Paths(0)
    paths.solver.set("rlimit", UNITS)
    names = [node.a, node.b] if isinstance(node, Binary) else list(_operands(node))
    operands: dict[Var, Any] = {}
    for var in names:
        assert isinstance(var, Var)
        operands.setdefault(var, paths.z3.Int(var.name))
    value = _exact(paths, node, list(operands.values()))
    return _outside(paths, node, operands, value, rule)


def _operands(node: Expr) -> tuple[Expr, ...]:
    if isinstance(node, Call):
        return node.args
    if isinstance(node, Select):
        return (node.cond, node.then, node.otherwise)
    if isinstance(node, Ramp):
        return (node.base, node.stride)
    return (node.value if isinstance(node, (Cast, Broadcast)) else node.a,)  # type: ignore[attr-defined]


def _outside(
    paths: Paths, node: Expr, operands: dict[Var, Any], value: Any, rule: Rule | None
) -> Refutation:
    """Ask, on each path through the rule, for a value outside the range it returns."""
    z3, rule = paths.z3, code.RULES[node.__class__] if rule is None else rule
    pairs: dict[Expr, tuple[SymbolicInt, SymbolicInt]] = {}
    for var, term in operands.items():
        inside = limits(var.dtype)
        low, high = (paths.fresh(f"{end} of {var.name}", inside) for end in _ENDS)
        paths.solver.add(low.term <= term, term <= high.term)
        pairs[var] = low, high
    answer = ""
    for found in paths.explore(lambda: rule(node, pairs.__getitem__)):
        if found == limits(node.dtype) and not any(isinstance(end, SymbolicInt) for end in found):
            continue  # Every value of the type.
        low, high = (paths.number(int(end) if isinstance(end, bool) else end) for end in found)
        least, most = (paths.number(end) for end in limits(node.dtype))
        beyond = z3.Or(low < least, high > most)  # Then the exact result may have wrapped around.
        told = paths.solver.check(z3.Or(value < low, value > high, beyond))
        if told == z3.sat:
            model = paths.solver.model()
            return {str(each): int(str(model[each])) for each in model.decls()}
        answer = answer if told == z3.unsat else "unknown"
    return answer or {}


_ENDS = ("low", "high")


def _extended(paths: Paths, term: Any, dtype: DType) -> Any:
    z3 = paths.z3
    if dtype.is_bool:
        return z3.If(term, paths.number(1), paths.number(0))
    extend = z3.SignExt if dtype.kind == "i" else z3.ZeroExt
    return extend(paths.bits - term.size(), term)


def _exact(paths: Paths, node: Expr, operands: list[Any]) -> Any:
    """Return the result before it wraps around."""
    z3, (a, *rest) = paths.z3, operands
    b = rest[0] if rest else a
    if isinstance(node, _COMPARISONS):
        return z3.If(_COMPARED[node.__class__](a, b), 1, 0)
    if isinstance(node, (Cast, Broadcast)):
        return z3.If(a != 0, 1, 0) if node.dtype.is_bool else a
    if isinstance(node, Select):
        return z3.If(a != 0, b, rest[1])
    if isinstance(node, Ramp):
        lane = z3.Int("lane")
        paths.solver.add(lane >= 0, lane < LANES)
        return a + lane * b
    if isinstance(node, (code.FloorDiv, code.FloorMod)):
        quotient, left = z3.Ints("quotient left")
        inside = z3.If(b > 0, z3.And(left >= 0, left < b), z3.And(b < left, left <= 0))
        paths.solver.add(z3.Implies(b != 0, z3.And(a == quotient * b + left, inside)))
        return z3.If(b == 0, 0, quotient if isinstance(node, code.FloorDiv) else left)
    name = node.name if isinstance(node, Call) else node.__class__.__name__
    return _EXACT[name](z3, a, b)


_COMPARED: dict[type[Expr], Callable[[Any, Any], Any]] = {
    code.EQ: lambda a, b: a == b,
    code.NE: lambda a, b: a != b,
    code.LT: lambda a, b: a < b,
    code.LE: lambda a, b: a <= b,
    code.GT: lambda a, b: a > b,
    code.GE: lambda a, b: a >= b,
}
_EXACT: dict[str, Callable[[Any, Any, Any], Any]] = {
    "Add": lambda z3, a, b: a + b,
    "Sub": lambda z3, a, b: a - b,
    "Mul": lambda z3, a, b: a * b,
    "Neg": lambda z3, a, b: -a,
    "Min": lambda z3, a, b: z3.If(a < b, a, b),
    "Max": lambda z3, a, b: z3.If(a > b, a, b),
    "abs": lambda z3, a, b: z3.If(a < 0, -a, a),
    "sign": lambda z3, a, b: z3.If(a < 0, -1, z3.If(a > 0, 1, 0)),
}


@pytest.mark.parametrize("dtype", sampled([I8, U8, BOOL], every=2), ids=str)
def test_every_range_holds_at_8_bits(dtype: DType) -> None:
    found = {
        name: refutation(node) for name, node in operations(dtype) if (str(dtype), name) not in SLOW
    }
    assert {name: each for name, each in found.items() if each} == {}
    assert len(found) > (10 if dtype.is_bool else 25)


@pytest.mark.long
@pytest.mark.parametrize("dtype", [I8, U8], ids=str)
def test_ranges_of_divisions_hold_at_8_bits(dtype: DType) -> None:
    nodes = dict(operations(dtype))
    divisions = ("FloorDiv", "FloorMod", "truncdiv")
    assert [refutation(nodes[name]) for name in divisions] == [{}, {}, {}]


WIDE_TYPES = (I32, U32, I64, U64)
NOT_AT_32 = {
    **dict.fromkeys(("Shl", "Shr", "BitAnd", "BitOr", "BitXor", "Not"), "bits are not integers"),
    **dict.fromkeys(("popcount", "clz"), "bits are not integers"),
    **dict.fromkeys(("truncdiv", "truncmod", "mul_sat"), "not stated over integers"),
    **dict.fromkeys(("FloorDiv", "FloorMod"), "z3 finds no proof of some paths in 5 s"),
    "Mul": "it is proved by itself",
}
"""What is proved at 8 bits only, and why."""


def test_products_hold_at_any_width() -> None:
    """The exact range of a product, and the steps from an exact range to that of the type: where
    it may wrap around, and where it saturates."""
    paths = Paths(0)
    z3 = paths.z3
    a, b, c, d = (paths.fresh(name, None) for name in "abcd")
    x, y = z3.Ints("x y")
    paths.solver.add(a.term <= x, x <= b.term, c.term <= y, y <= d.term)
    asked = 0
    for found in paths.explore(lambda: code.times(_pair(a, b), _pair(c, d))):
        low, high = map(paths.number, found)
        assert paths.solver.check(z3.Or(x * y < low, x * y > high)) == z3.unsat
        asked += 1
    assert asked >= 4
    limit = limits(I64)
    for found in paths.explore(lambda: code.fitted(cast(int, a), cast(int, b), limit)):
        low, high = map(paths.number, found)
        inside = z3.And(a.term == low, b.term == high, low >= limit[0], high <= limit[1])
        whole = z3.And(low == limit[0], high == limit[1])
        assert paths.solver.check(z3.Not(z3.Or(inside, whole))) == z3.unsat
    nearest = z3.If(x < limit[0], limit[0], z3.If(x > limit[1], limit[1], x))
    for found in paths.explore(lambda: code.clamped(cast(int, a), cast(int, b), limit)):
        low, high = map(paths.number, found)
        assert paths.solver.check(z3.Or(nearest < low, nearest > high)) == z3.unsat


def _pair(low: SymbolicInt, high: SymbolicInt) -> tuple[int, int]:
    return cast(int, low), cast(int, high)


@pytest.mark.parametrize("dtype", WIDE_TYPES, ids=str)
def test_ranges_hold_at_any_width(dtype: DType) -> None:
    nodes = {name: node for name, node in operations(dtype) if name not in NOT_AT_32}
    found = {name: refutation_of_exact(node) for name, node in nodes.items()}
    assert {name: each for name, each in found.items() if each} == {}
    assert len(found) > 15


def _one_off(node: Any, of: Any) -> Any:
    low, high = code.RULES[node.__class__](node, of)
    return low, high - 1


def _corner_lost(node: Any, of: Any) -> Any:
    a, b = of(node.a), of(node.b)
    corners = (a[0] * b[0], a[1] * b[1])
    low, high = min(corners), max(corners)
    least, most = limits(node.dtype)
    return (low, high) if least <= low and high <= most else (least, most)


def _sign_forgotten(node: Any, of: Any) -> Any:
    return 0, min(of(node.a)[1], of(node.b)[1])


def test_a_wrong_range_is_refuted_by_values() -> None:
    a, b = Var("a", I8), Var("b", I8)
    for node, rule in (
        (code.Add(a, b, I8), _one_off),
        (code.Mul(a, b, I8), _corner_lost),
        (BitAnd(a, b, I8), _sign_forgotten),
    ):
        found = refutation(node, rule)
        assert isinstance(found, dict)
        assert {"low of a", "high of a", "low of b", "high of b"} <= found.keys()
    wide = Var("a", I64), Var("b", I64)
    found = refutation_of_exact(code.Sub(*wide, I64), _one_off)
    assert isinstance(found, dict)
    assert found
