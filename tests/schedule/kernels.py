"""Loop functions to schedule, and comparisons of them on small integers, where floats are exact."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from irkit import te
from irkit.core import walk
from irkit.ir import Block, Buffer, For, PrimFunc, as_int, interpret, script, verify
from irkit.phases import build
from irkit.schedule import LoopRef, Schedule


def matmul(m: int, n: int, k: int) -> PrimFunc:
    a, b = te.placeholder((m, k), name="A"), te.placeholder((k, n), name="B")
    r = te.reduce_axis((0, k), name="r")
    c = te.compute((m, n), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")
    return te.create_prim_func([a, b, c])


def matmul_relu(m: int, n: int, k: int) -> PrimFunc:
    a, b = te.placeholder((m, k), name="A"), te.placeholder((k, n), name="B")
    r = te.reduce_axis((0, k), name="r")
    c = te.compute((m, n), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")
    d = te.compute((m, n), lambda i, j: te.maximum(c[i, j], 0.0), name="D")
    return te.create_prim_func([a, b, d])


def chain(n: int) -> PrimFunc:
    """Three stages, one after the other."""
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] + 1.0, name="B")
    c = te.compute((n,), lambda i: b[i] * 2.0, name="C")
    d = te.compute((n,), lambda i: c[i] - a[i], name="D")
    return te.create_prim_func([a, d])


def block_names(func: PrimFunc) -> list[str]:
    """List the blocks in text order."""
    return [block.name for block in walk(func, on=Block)]


def loop_extents(sch: Schedule, block: str) -> list[str]:
    """Print the end of each loop around a block, outermost first."""
    return [script(sch.loop(loop).end) for loop in sch.get_loops(sch.get_block(block))]


def all_loops(sch: Schedule) -> list[LoopRef]:
    """List the loops in text order."""
    return [LoopRef(loop.var) for loop in walk(sch.func, on=For)]


def inputs(func: PrimFunc, seed: int = 0) -> list[NDArray[Any]]:
    """Draw small integers for all parameters."""
    rng = np.random.default_rng(seed)
    arrays: list[NDArray[Any]] = []
    for param in func.params:
        assert isinstance(param, Buffer)
        shape = tuple(as_int(dim) or 0 for dim in param.shape)
        arrays.append(rng.integers(-4, 5, shape).astype(np.float32))
    return arrays


def outputs(func: PrimFunc, seed: int = 0) -> list[NDArray[Any]]:
    """Interpret a function on small integers and return all its arrays."""
    assert verify(func) == []
    arrays = inputs(func, seed)
    interpret(func, *arrays)
    return arrays


def assert_same_results(before: PrimFunc, after: PrimFunc) -> None:
    for expected, found in zip(outputs(before), outputs(after), strict=True):
        np.testing.assert_array_equal(found, expected)


def assert_same_natively(before: PrimFunc, after: PrimFunc) -> None:
    """Compare one function, interpreted, with the native code of the other."""
    arrays = inputs(before)
    build(after)(*arrays)
    for expected, found in zip(outputs(before), arrays, strict=True):
        np.testing.assert_array_equal(found, expected)
