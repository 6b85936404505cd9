"""Overheads of irkit: a tiny kernel end to end, a call from Python, a rewrite that matches
nothing."""

import os
from collections.abc import Callable

import numpy as np

import irkit
from benchmarks.timing import median_of, per_call
from irkit import te
from irkit.core import count_nodes, rewrite
from irkit.ir import Expr, Mul, Var


def _multiply() -> irkit.PrimFunc:
    m, n = te.var("m"), te.var("n")
    a = te.placeholder((m, n), name="A")
    b = te.placeholder((m, n), name="B")
    c = te.compute((m, n), lambda i, j: a[i, j] * b[i, j], name="C")
    return te.create_prim_func([a, b, c])


def _add_one() -> irkit.PrimFunc:
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: a[i] + 1.0, name="B")
    return te.create_prim_func([a, b])


def tiny_kernel() -> str:
    """Time the way from ``create_prim_func`` to a kernel, without the cache of object files."""

    def milliseconds(make: Callable[[], irkit.PrimFunc]) -> float:
        return median_of(lambda: irkit.build(make(), target="llvm", name="tiny")) * 1e3

    fixed, symbolic = milliseconds(_add_one), milliseconds(_multiply)
    return (
        f"tiny kernel, create_prim_func to callable: {fixed:.2f} ms for 8 elements, "
        f"{symbolic:.2f} ms for any m x n (at most 12)"
    )


def call() -> str:
    """Time a call with three small arrays."""
    mult = irkit.build(_multiply(), target="llvm", name="mult")
    x, y, out = (np.ones((2, 3), dtype=np.float32) for _ in range(3))
    micros = per_call(lambda: mult(x, y, out)) * 1e6
    return f"call with three small arrays: {micros:.2f} us (at most 1.5)"


def no_match() -> str:
    """Time a rule that matches none of 100,000 nodes."""
    tree: Expr = Var("x")
    for number in range(50_000):
        tree = tree + (number + 2)
    nodes = count_nodes(tree)

    def leave_alone(node: Expr) -> Expr | None:
        return None

    by_class = median_of(lambda: rewrite(tree, leave_alone, on=Mul), repeats=9)
    by_rule = median_of(lambda: rewrite(tree, leave_alone), repeats=9)
    return (
        f"rewrite of {nodes} nodes without a match: {nodes / by_class / 1e6:.2f} M nodes/s "
        f"by class, {nodes / by_rule / 1e6:.2f} by rule (at least 1)"
    )


def main() -> None:
    """Print the figures."""
    os.environ["IRKIT_CACHE"] = "0"
    for measure in (tiny_kernel, call, no_match):
        print(measure())


if __name__ == "__main__":
    main()
