"""Legal passes about minimum, maximum, choice, NaN, infinities and zeros."""

from irkit.core import any_node, equal, substitute
from irkit.ir import (
    EQ,
    F32,
    I32,
    LE,
    LT,
    And,
    BitAnd,
    Call,
    Conditional,
    Const,
    Expr,
    For,
    If,
    Load,
    Max,
    Min,
    Neg,
    Not,
    Select,
    Seq,
    Stmt,
    Store,
    call,
    const,
    eq,
    gt,
    hole,
    logical_or,
    lt,
    maximum,
    minimum,
    ne,
    select,
    seq,
    trip_count,
)
from tests.catalogue.entries import Entries
from tests.catalogue.programs import SOFTMAX, each, kernel, reduce

entry = Entries("choice", legal=True)
a, b, c = (hole(name, F32) for name in "abc")

entry.rule(
    "swap the operands of a maximum",
    "The maximum commutes; of two zeros either may be given.",
    each("f32 f32", "f32", "max(A[i] * 2.0, B[i])"),
    maximum(a * 2.0, b),
    maximum(b, a * 2.0),
)


@entry(reduce("f32", 'f32("inf")', "min(C[i], A[i, k])"))
def swap_the_operands_of_a_minimum(node: Min) -> Expr | None:
    """The minimum commutes."""
    return minimum(node.b, node.a)


entry.rule(
    "reassociate maxima",
    "The maximum is exact, so it is associative; NaN spreads either way.",
    each("f32 f32 f32", "f32", "max(max(A[i], B[i]), D[i])"),
    maximum(maximum(a, b), c),
    maximum(a, maximum(b, c)),
)
entry.rule(
    "minimum of a number and itself",
    "min(x, x) is x.",
    each("f32", "f32", "min(A[i], A[i]) + 1.0"),
    minimum(a, a),
    a,
)


@entry(each("f32", "f32", "max(A[i], 0.0)"))
def relu_as_a_choice(node: Max) -> Expr | None:
    """NaN < 0 is false, so NaN stays; of the two zeros either may be given."""
    return select(lt(node.a, node.b), node.b, node.a)


@entry(each("f32 f32", "f32", "max(A[i], B[i])"))
def maximum_by_its_definition(node: Max) -> Expr | None:
    """a if a > b or a is NaN, else b."""
    return select(logical_or(gt(node.a, node.b), call("isnan", node.a)), node.a, node.b)


@entry(each("f32", "f32", "select(isnan(A[i]), f32(0.0), A[i])"))
def nan_is_what_differs_from_itself(node: Call) -> Expr | None:
    """Only NaN differs from itself."""
    return ne(node.args[0], node.args[0]) if node.name == "isnan" else None


@entry(each("f64", "bool", "isfinite(A[i])"))
def finite_is_below_infinity(node: Call) -> Expr | None:
    """abs(x) < inf is false for infinities and NaN."""
    if node.name != "isfinite":
        return None
    return lt(call("abs", node.args[0]), float("inf"))


@entry(each("f32", "bool", "isinf(A[i])"))
def infinite_by_the_magnitude(node: Call) -> Expr | None:
    """Only the infinities have an infinite magnitude."""
    return eq(call("abs", node.args[0]), float("inf")) if node.name == "isinf" else None


@entry(each("f32 f32", "f32", "max(A[i], B[i])"))
def maximum_as_a_negated_minimum(node: Max) -> Expr | None:
    """Negation turns the order around and keeps NaN."""
    return -minimum(-node.a, -node.b)


@entry(each("f32 f32 bool", "f32", "select(not D[i], A[i], B[i])"))
def choose_by_the_negated_condition(node: Select) -> Expr | None:
    """The sides swap with the condition."""
    if isinstance(node.cond, Not):
        return select(node.cond.a, node.otherwise, node.then)
    return None


@entry(each("f32 bool", "f32", "select(B[i], A[i] * 2.0, A[i] * 2.0)"))
def choose_between_equal_values(node: Select) -> Expr | None:
    """Both sides are the same expression."""
    return node.then if equal(node.then, node.otherwise) else None


@entry(each("f32 f32 bool", "f32", "select(D[i], select(D[i], A[i], B[i]), B[i] * 2.0)"))
def drop_a_choice_that_is_made_already(node: Select) -> Expr | None:
    """Under a true condition the inner choice is known."""
    if isinstance(node.then, Select) and equal(node.cond, node.then.cond):
        return select(node.cond, node.then.then, node.otherwise)
    return None


@entry(
    kernel(
        "A: f32[16], n: i64, C: i64[16]",
        """
        for i in serial(0, 16):
            C[i] = (i * 3 if i < n else n - i)
        """,
    )
)
def choose_after_evaluating_both(node: Conditional) -> Expr | None:
    """Nothing but a load can fail, and there is none."""
    return None if any_node(node, Load) else select(node.cond, node.then, node.otherwise)


@entry(
    kernel(
        "A: f32[16], C: f32[16]",
        """
        for i in serial(0, 16):
            if i > 2 and i % 3 == 0:
                C[i] = A[i]
            else:
                C[i] = f32(0.0)
        """,
    )
)
def evaluate_both_conditions(node: And) -> Expr | None:
    """Without loads it does not matter which sides are evaluated."""
    return None if any_node(node, Load) else BitAnd(node.a, node.b, node.dtype)


@entry(reduce("f32", 'f32("-inf")', "max(C[i], A[i, k])"))
def maximum_from_the_end(loop: For) -> Stmt | None:
    """A maximum in reverse order, undeclared: it is exact."""
    count = trip_count(loop)
    if count is None or loop.var.name != "k":
        return None
    return loop.replace(body=substitute(loop.body, {loop.var: count - 1 - loop.var}))


@entry(reduce("f32", 'f32("-inf")', "max(C[i], A[i, k])"))
def begin_a_maximum_with_the_first_element(stmt: Seq) -> Stmt | None:
    """There are 24 elements, and max(-inf, x) is x."""
    match stmt.stmts:
        case (Store(value=Const(value)) as first, For() as loop) if value == -float("inf"):
            if trip_count(loop):
                element = substitute(loop.body.value.b, {loop.var: loop.begin})
                begin = const(1, loop.begin.dtype)
                return seq(first.replace(value=element), loop.replace(begin=begin))
        case _:
            pass
    return None


@entry(each("f32", "f32", "min(max(A[i], 0.0), 6.0)"))
def clamp_from_above_first(node: Min) -> Expr | None:
    """For constants in order, the two limits commute."""
    match node:
        case Min(Max(x, Const(low)), Const(high)) if low <= high:
            return maximum(minimum(x, high), low)
        case _:
            return None


@entry(each("f32", "f32", "abs(-A[i]) * 2.0"))
def magnitude_of_the_negative(node: Call) -> Expr | None:
    """abs clears the sign that the negation flips."""
    match node:
        case Call("abs", (Neg(x),)):
            return call("abs", x)
        case _:
            return None


@entry(each("f32 f32", "i32", "select(A[i] < B[i], 3, 4)"))
def turn_a_float_comparison_around(node: LT) -> Expr | None:
    """a < b is b > a, both false for NaN."""
    return gt(node.b, node.a)


@entry(each("f32 f32", "bool", "not A[i] == B[i]"))
def not_equal(node: Not) -> Expr | None:
    """!= is true for NaN, as the negation of == is."""
    return ne(node.a.a, node.a.b) if isinstance(node.a, EQ) else None


@entry(SOFTMAX)
def maximum_with_minus_infinity(stmt: Seq) -> Stmt | None:
    """Writes a pointless max with -inf around the initial value."""
    first = stmt.stmts[0]
    if isinstance(first, Store) and isinstance(first.value, Const):
        low = const(-float("inf"), F32)
        if first.value.value == -float("inf"):
            return seq(first.replace(value=maximum(low, low)), *stmt.stmts[1:])
    return None


@entry(each("f32", "f32", "sign(A[i])"))
def sign_with_nan(node: Call) -> Expr | None:
    """Two comparisons and NaN by itself; either zero gives 0.0."""
    if node.name != "sign":
        return None
    x = node.args[0]
    whole = select(gt(x, 0.0), const(1.0, F32), select(lt(x, 0.0), const(-1.0, F32), 0.0))
    return select(call("isnan", x), x, whole)


@entry(
    kernel(
        "A: i32[20], C: i32[20]",
        """
        for i in serial(0, 20):
            if A[i] > 4:
                C[i] = 1
            else:
                C[i] = A[i]
        """,
    )
)
def branch_as_a_choice(stmt: If) -> Stmt | None:
    """Both branches store to the same element, and their values can be computed either way."""
    one, two = stmt.then, stmt.otherwise
    if isinstance(one, Store) and isinstance(two, Store) and equal(one.indices[0], two.indices[0]):
        return one.replace(value=select(stmt.cond, one.value, two.value))
    return None


@entry(each("i32 i32", "i32", "max(A[i], B[i])"))
def maximum_of_integers_as_a_choice(node: Max) -> Expr | None:
    """Integers have no NaN."""
    return select(gt(node.a, node.b), node.a, node.b) if node.dtype == I32 else None


@entry(each("f64 f64", "bool", "A[i] <= B[i] and B[i] <= A[i]"))
def equal_by_two_comparisons(node: And) -> Expr | None:
    """Both hold exactly if they are equal: of zeros too, never of NaN."""
    if isinstance(node.a, LE) and equal(node.a.a, node.b.b):
        return eq(node.a.a, node.a.b)
    return None
