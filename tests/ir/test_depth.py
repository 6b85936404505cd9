"""Functions nested 100,000 deep pass every door of the loop IR; 20,000 in the short run."""

import numpy as np
import pytest

from irkit.core import same
from irkit.ir import (
    I64,
    Buffer,
    Const,
    Evaluate,
    For,
    If,
    Let,
    PrimFunc,
    Stmt,
    Store,
    Var,
    call,
    interpret,
    listing,
    lt,
    parse,
    script,
    seq,
    verify,
)
from irkit.ir.threads import split_threads
from tests.depth import DEEP

ZERO = Const(0, I64)


@pytest.fixture(scope="module")
def names() -> PrimFunc:
    """Return a function of nested lets, which are the only nests without indentation."""
    c = Buffer("C", (Const(1, I64),), I64)
    body: Stmt = Store(c, (ZERO,), c[0] + 1)
    for _ in range(DEEP):
        body = Let(Var("t"), c[0], body)
    return PrimFunc("f", (c,), body)


def test_it_is_printed_and_read(names: PrimFunc) -> None:
    text = script(names)
    assert same(parse(text), names)
    assert len(listing(names).lines) == DEEP + 2


def test_it_is_verified_and_runs(names: PrimFunc) -> None:
    assert verify(names) == []
    array = np.zeros(1, np.int64)
    interpret(names, array)
    assert array[0] == 1


def test_a_nest_of_threads_is_split() -> None:
    c, n, i = Buffer("C", (Const(4, I64),), I64), Var("n"), Var("i")
    barrier = Evaluate(call("barrier"))
    body: Stmt = seq(Store(c, (i,), n), barrier, Store(c, (i,), n + 1))
    for _ in range(DEEP):
        body = If(lt(n, 5), body)
    loop = For(i, ZERO, Const(4, I64), body, "thread", "threadIdx.x")
    stmt = split_threads(PrimFunc("f", (c, n), loop)).body
    depth = 0
    while isinstance(stmt, If):
        stmt, depth = stmt.then, depth + 1
    assert depth == DEEP
    assert not isinstance(stmt, For)
