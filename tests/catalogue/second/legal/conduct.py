"""Passes that do unusual things and behave well."""

import functools
import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from irkit.core import rewrite, walk
from irkit.ir import Const, Expr, For, Mul, PrimFunc, Stmt, Store, as_int
from tests.catalogue.entries import Entries
from tests.catalogue.programs import each

entry = Entries("conduct", legal=True, contracts=True)
SCALE = each("f32", "f32", "A[i] * f32(2.0) + f32(1.0)")


def _swap(node: Mul) -> Expr | None:
    return Mul(node.b, node.a, node.dtype) if isinstance(node.b, Const) else None


@entry(SCALE)
def say_what_it_does(func: PrimFunc) -> PrimFunc:
    """Writes to standard output."""
    print("swapping the factors of", func.name)  # noqa: T201
    return rewrite(func, _swap)


@functools.cache
def _longest(extent: int) -> int:
    return max(k for k in range(1, extent + 1) if extent % k == 0 and k <= 16)


@entry(SCALE)
def remember_divisors(loop: For) -> Stmt | None:
    """A cache of what depends on its arguments alone."""
    attrs = (("factor", _longest(as_int(loop.end))),)
    return None if loop.attrs == attrs else loop.replace(attrs=attrs)


@entry(SCALE)
def draw_with_a_seed(func: PrimFunc) -> PrimFunc:
    """The same numbers in each run."""
    drawn = random.Random(7).randrange(1 << 30)
    if ("drawn", drawn) in func.attrs:
        return func
    return func.replace(attrs=(*func.attrs, ("drawn", drawn)))


@entry(SCALE)
def look_at_stores_in_threads(func: PrimFunc) -> PrimFunc:
    """Asks in threads, and changes in one."""
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda store: store.buffer.name, walk(func.body, Store)))
    return rewrite(func, _swap) if found else func


@entry(SCALE)
def silence_numpy_for_a_moment(func: PrimFunc) -> PrimFunc:
    """The state of errors is as before in the end, and so is the limit of recursion."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + 1000)
    try:
        with np.errstate(all="ignore"):
            return rewrite(func, _swap)
    finally:
        sys.setrecursionlimit(limit)


@entry(SCALE)
def take_its_time(func: PrimFunc) -> PrimFunc:
    """Slow, but it ends."""
    time.sleep(0.3)
    return rewrite(func, _swap)
