"""Passes that behave badly: exceptions, changed inputs, global state, broken IR, untrue claims."""

import os
import random
import sys

import numpy as np
from msgspec.structs import force_setattr

from irkit.core import rewrite, substitute, walk
from irkit.ir import (
    F32,
    I32,
    Add,
    Buffer,
    Const,
    Expr,
    For,
    Let,
    Load,
    Mul,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    Var,
    as_int,
    const,
    index,
    no_thread_loops,
    seq,
    trip_count,
)
from tests.catalogue.entries import Entries
from tests.catalogue.grids import NEST, OWN
from tests.catalogue.programs import MATMUL, SOFTMAX, deep_sum, each, kernel

entry = Entries("behaviour", legal=False, contracts=True)
SCALE = each("f32", "f32", "A[i] * f32(2.0) + f32(1.0)")
THREE = kernel(
    "A: f32[8], B: f32[8], D: f32[8], C: f32[3, 8]",
    """
    for i in serial(0, 8):
        C[0, i] = A[i]
        C[1, i] = B[i]
        C[2, i] = D[i]
    """,
)


@entry(each("f32", "f32", "A[i] + f32(1.0)", n="n"))
def look_up_a_constant_extent(loop: For) -> Stmt | None:
    """Raises KeyError where the extent is symbolic."""
    limits = {32: "serial", 64: "serial"}
    return loop.replace(kind=limits[as_int(loop.end)])  # pyright: ignore -- None is the fault


@entry(deep_sum)
def fold_by_recursion(func: PrimFunc) -> PrimFunc:
    """Recurses in Python over an expression, which can be 3,000 deep."""

    def fold(node: Expr) -> Expr:
        if isinstance(node, Add):
            return fold(node.b) + fold(node.a)
        return node

    def store(stmt: Store) -> Stmt:
        return stmt.replace(value=fold(stmt.value))

    return rewrite(func, store)


@entry(NEST)
def mark_loops_in_the_input(func: PrimFunc) -> PrimFunc:
    """Writes into the frozen nodes of its input."""
    for loop in walk(func.body, For):
        force_setattr(loop, "kind", "unrolled")
    return func


@entry(SCALE)
def change_a_constant_in_the_input(func: PrimFunc) -> PrimFunc:
    """Changes a number in place and gives back the same function."""
    for node in list(walk(func.body, Const)):
        if node.value == 2.0:
            force_setattr(node, "value", 3.0)
    return func


@entry(SCALE)
def note_the_pass_in_the_input(func: PrimFunc) -> PrimFunc:
    """Adds an attribute to the input, and gives back a copy without it."""
    force_setattr(func, "attrs", (*func.attrs, ("seen", True)))
    return func.replace(attrs=())


@entry(THREE)
def order_stores_by_a_set_of_names(stmt: Seq) -> Stmt | None:
    """The order of a set of strings depends on the hash seed of the process."""
    loads = {s.value.buffer.name: s for s in stmt.stmts if isinstance(s, Store)}
    return seq(*(loads[name] for name in set(loads)))


@entry(THREE)
def rotate_by_a_hash(stmt: Seq) -> Stmt | None:
    """Picks a rotation by the hash of a name."""
    at = 1 + hash("stores" + str(len(stmt.stmts))) % 2
    return seq(*stmt.stmts[at:], *stmt.stmts[:at])


_COUNTER = [0]


@entry(SCALE)
def number_each_run(func: PrimFunc) -> PrimFunc:
    """A counter in the module makes each result another one."""
    _COUNTER[0] += 1
    return func.replace(attrs=(*func.attrs, ("run", _COUNTER[0])))


@entry(THREE)
def shuffle_stores(stmt: Seq) -> Stmt | None:
    """Draws an order without a seed."""
    order = list(stmt.stmts)
    random.SystemRandom().shuffle(order)
    while order == list(stmt.stmts):
        random.SystemRandom().shuffle(order)
    return seq(*order)


_KNOWN: dict[str, PrimFunc] = {}


@entry(SCALE)
def remember_results_by_name(func: PrimFunc) -> PrimFunc:
    """Keeps what it last got under the name of the function, and gives that back the next time."""
    last = _KNOWN.get(func.name)
    made = func.replace(attrs=(*func.attrs, ("calls", 0 if last is None else 1)))
    _KNOWN[func.name] = made
    return made


@entry(SCALE)
def a_new_object_for_nothing(func: PrimFunc) -> PrimFunc:
    """Gives back a copy though nothing has changed."""
    return PrimFunc(func.name, func.params, func.body, func.attrs, func.span)


@entry(NEST)
def loops_without_their_variables(loop: For) -> Stmt | None:
    """Takes the inner loop away and leaves its variable behind."""
    return loop.body if not isinstance(loop.body, For) else None


@entry(NEST)
def copy_a_body_with_its_binders(loop: For) -> Stmt | None:
    """Both copies bind the same variable."""
    return None if isinstance(loop.body, For) else seq(loop, loop)


@entry(each("i32", "i32", "A[i] + 1"))
def add_numbers_of_different_types(node: Add) -> Expr | None:
    """Builds the node without conversion, from an i32 and an i64."""
    return Add(node.a, const(1, "i64"), I32)


@entry(SCALE)
def give_back_the_body(func: PrimFunc) -> PrimFunc:
    """Returns a statement instead of a function."""
    return func.body  # pyright: ignore -- the wrong type is the fault


@entry(SCALE)
def give_back_nothing(func: PrimFunc) -> PrimFunc:
    """Forgets to return."""
    rewrite(func, lambda node: None, on=For)


@entry(SCALE)
def add_a_workspace_parameter(func: PrimFunc) -> PrimFunc:
    """The callers do not pass it."""
    return func.replace(params=(*func.params, Buffer("W", (index(64),), F32)))


@entry(SCALE)
def narrow_the_type_of_a_parameter(func: PrimFunc) -> PrimFunc:
    """The signature says another shape than before."""
    old = func.params[0]
    new = old.replace(shape=(index(65),))
    return func.replace(params=(new, *func.params[1:]), body=substitute(func.body, {old: new}))


@entry(SCALE, idempotent=True)
def swap_operands_each_time(node: Add) -> Expr | None:
    """Claims to leave its own result alone, and turns it back."""
    return node.b + node.a


@entry(OWN, gives=(no_thread_loops,))
def claim_that_threads_are_gone(func: PrimFunc) -> PrimFunc:
    """Gives a fact that does not hold: one thread loop is left."""

    def serial(loop: For) -> Stmt | None:
        return loop.replace(kind="serial", thread="") if "block" in loop.thread else None

    return rewrite(func, serial)


@entry(MATMUL)
def raise_the_limit_of_recursion(node: Mul) -> Expr | None:
    """Changes the interpreter for everything that runs afterwards."""
    sys.setrecursionlimit(sys.getrecursionlimit() + 5000)
    return node.b * node.a


@entry(MATMUL)
def silence_numpy(node: Mul) -> Expr | None:
    """Leaves NumPy's error state changed."""
    np.seterr(all="raise" if np.geterr()["divide"] == "ignore" else "ignore")
    return node.b * node.a


@entry(SCALE)
def ask_the_environment(func: PrimFunc) -> PrimFunc:
    """Unrolls by a factor that depends on the number of the process."""

    def mark(loop: For) -> Stmt | None:
        return loop.replace(attrs=(("factor", os.getpid()),))

    return rewrite(func, mark)


@entry(SOFTMAX)
def warn_about_every_loop(loop: For) -> Stmt | None:
    """Ends with an exception after it has changed half of the loops."""
    count = trip_count(loop)
    if count == 4:
        raise ValueError(f"no rule for {count} iterations")
    return loop.replace(kind="unrolled")


@entry(SCALE)
def lose_the_lines_of_the_source(func: PrimFunc) -> PrimFunc:
    """Builds the loop anew, without its span."""
    loop = func.body
    assert isinstance(loop, For)
    store = loop.body
    assert isinstance(store, Store)
    new = Store(store.buffer, store.indices, store.value)
    return func.replace(body=For(loop.var, loop.begin, loop.end, new, "unrolled"))


@entry(SCALE)
def change_what_nobody_can_switch_off(func: PrimFunc) -> PrimFunc:
    """Changes the loop outside of any rewrite, half in a rewrite and half not."""
    loop = func.body
    assert isinstance(loop, For)

    def turn(node: Mul) -> Expr | None:
        return node.b * node.a

    return rewrite(func.replace(body=loop.replace(kind="unrolled")), turn)


@entry(each("f32", "f32", "A[i] + f32(1.0)"))
def a_let_that_nothing_is_in(loop: For) -> Stmt | None:
    """The name is used outside of the statement that binds it."""
    store = loop.body
    assert isinstance(store, Store)
    name = Var("late", F32)
    load = next(iter(walk(store.value, Load)))
    return loop.replace(body=seq(Let(name, load, Seq(())), store.replace(value=name + 1.0)))
