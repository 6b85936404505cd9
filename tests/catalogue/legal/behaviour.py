"""Passes that look as if they behaved badly, and do not."""

import random
import sys
from weakref import WeakKeyDictionary

import numpy as np

from irkit.core import Rules, deep_recursion, fixpoint, remark, rewrite, walk, with_span_of
from irkit.ir import (
    Add,
    Const,
    Expr,
    For,
    If,
    Load,
    Mul,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    Var,
    as_int,
    no_unrolled_loops,
    no_vectorized_loops,
    seq,
    trip_count,
)
from tests.catalogue.entries import Entries
from tests.catalogue.grids import NEST
from tests.catalogue.programs import MATMUL, SOFTMAX, deep_sum, each, kernel

entry = Entries("behaviour", legal=True, contracts=True)
SCALE = each("f32", "f32", "A[i] * f32(2.0) + f32(1.0)")
THREE = kernel(
    "A: f32[8], B: f32[8], D: f32[8], C: f32[3, 8]",
    """
    for i in serial(0, 8):
        C[2, i] = A[i]
        C[0, i] = B[i]
        C[1, i] = D[i]
    """,
)


@entry(THREE)
def order_stores_by_a_sorted_set(stmt: Seq) -> Stmt | None:
    """A set is used, but its order is not."""
    rows = {as_int(s.indices[0]): s for s in stmt.stmts if isinstance(s, Store)}
    made = [rows[row] for row in sorted(set(rows))]
    return None if list(stmt.stmts) == made else seq(*made)


@entry(SOFTMAX, idempotent=True)
def mark_loops_once(loop: For) -> Stmt | None:
    """Does nothing the second time."""
    return loop.replace(kind="unrolled") if loop.kind == "serial" else None


@entry(SCALE)
def note_the_pass_once(func: PrimFunc) -> PrimFunc:
    """Adds an attribute, which is data for other passes; nothing computes from it."""

    def mark(loop: For) -> Stmt | None:
        if any(key == "seen" for key, _ in loop.attrs):
            return None
        return loop.replace(attrs=(*loop.attrs, ("seen", True)))

    return rewrite(func, mark)


@entry(MATMUL)
def say_what_it_does(node: Mul) -> Expr | None:
    """Remarks are for people."""
    remark(node, "turned around")
    return node.b * node.a


_SEEN: WeakKeyDictionary[PrimFunc, int] = WeakKeyDictionary()


@entry(SCALE)
def remember_by_identity(func: PrimFunc) -> PrimFunc:
    """A cache by the function itself: the result is that of a pass without it."""
    count = _SEEN.get(func)
    if count is None:
        count = _SEEN[func] = sum(1 for _ in walk(func.body, For))

    def turn(node: Add) -> Expr | None:
        return node.b + node.a if count == 1 else None

    return rewrite(func, turn)


@entry(NEST)
def silence_numpy_for_a_while(node: Mul) -> Expr | None:
    """The error state is back as it was at the end."""
    with np.errstate(all="ignore"):
        half = float(np.float32(1.0) / np.float32(2.0))
    return node.b * node.a if half == 0.5 else None


@entry(MATMUL)
def raise_the_limit_of_recursion_for_a_while(func: PrimFunc) -> PrimFunc:
    """The limit is back at the end."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(before + 1000)
    try:
        return rewrite(func, lambda node: node.b * node.a, on=Mul)
    finally:
        sys.setrecursionlimit(before)


@entry(THREE)
def shuffle_by_a_fixed_seed(stmt: Seq) -> Stmt | None:
    """The stores are independent, and the order is the same in each run."""
    order = list(stmt.stmts)
    random.Random(7).shuffle(order)
    return None if order == list(stmt.stmts) else seq(*order)


@entry(deep_sum)
def swap_operands_of_a_deep_sum(func: PrimFunc) -> PrimFunc:
    """Goes down 3,000 levels without recursion."""
    return rewrite(func, lambda node: node.b + node.a, on=Add)


@entry(
    kernel(
        "A: f32[8], C: f32[8]",
        """
        for i in serial(0, 8):
            if i < 8:
                C[i] = A[i]
        """,
    )
)
def drop_a_condition_of_the_range(stmt: If) -> Stmt | None:
    """The condition is what the loop says."""
    match stmt.cond:
        case Expr(a=Var(), b=Const(8)) if stmt.otherwise is None:
            return stmt.then
        case _:
            return None


@entry(NEST, gives=(no_unrolled_loops,))
def claim_what_holds(node: Mul) -> Expr | None:
    """Gives a fact that is true of the result."""
    return node.b * node.a


@entry(SCALE, atomic=True)
def two_changes_that_go_together(func: PrimFunc) -> PrimFunc:
    """Turns the product and the sum around, all or none."""
    made = rewrite(func, lambda node: node.b * node.a, on=Mul)
    return rewrite(made, lambda node: node.b + node.a, on=Add)


@entry(SCALE, declared=True)
def declare_and_change_nothing_of_rounding(node: Mul) -> Expr | None:
    """A declaration is a permission, not a duty."""
    return node.a + node.a if isinstance(node.b, Const) and node.b.value == 2.0 else None


@entry(SCALE)
def try_and_give_up(loop: For) -> Stmt | None:
    """An exception of its own, caught inside."""
    try:
        count = {64: 8}[trip_count(loop) or 0]
    except KeyError:
        return None
    return loop.replace(attrs=(("tile", count),)) if not loop.attrs else None


@entry(NEST)
def keep_lines_by_hand(loop: For) -> Stmt | None:
    """Builds loops anew and gives them the spans of the old ones."""
    made = For(loop.var, loop.begin, loop.end, loop.body, "unrolled")
    return with_span_of(made, loop)


@entry(MATMUL)
def with_a_stack_of_its_own(func: PrimFunc) -> PrimFunc:
    """Plain recursion, inside the guard that makes it deep enough."""

    def turned(node: Expr) -> Expr | None:
        return node.b * node.a if isinstance(node, Mul) else None

    with deep_recursion:
        return rewrite(func, turned, on=Mul)


@entry(NEST)
def a_hint_for_the_code_generator(loop: For) -> Stmt | None:
    """Attributes of loops are hints."""
    if loop.attrs or isinstance(loop.body, For):
        return None
    return loop.replace(attrs=(("unroll_explicit", True),))


@entry(NEST, gives=(no_vectorized_loops,))
def a_pass_with_an_option(func: PrimFunc, *, most: int = 6) -> PrimFunc:
    """The default of the option decides."""

    def mark(loop: For) -> Stmt | None:
        count = trip_count(loop)
        return loop.replace(kind="unrolled") if count and count <= most else None

    return rewrite(func, mark)


def _drop_one(node: Mul) -> Expr | None:
    return node.a if isinstance(node.b, Const) and node.b.value == 1.0 else None


_ONES = Rules("ones", _drop_one)


@entry(each("f32", "f32", "A[i] * f32(1.0) * f32(1.0) + f32(2.0)"))
def rules_that_end(func: PrimFunc) -> PrimFunc:
    """A set of rules, repeated until nothing changes."""
    return rewrite(func, fixpoint(_ONES, bound=4))


@entry(SCALE)
def a_default_argument_that_is_a_list(func: PrimFunc) -> PrimFunc:
    """The list is new in each call."""
    found: list[Load] = []

    def note(node: Load) -> Expr | None:
        found.append(node)
        return None

    rewrite(func, note)

    def turn(node: Add) -> Expr | None:
        return node.b + node.a if found else None

    return rewrite(func, turn)
