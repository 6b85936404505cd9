"""Probabilities of classes from those of pairs of classes."""

from collections.abc import Sequence

import numpy as np

from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value, tensor_type
from irkit.ir import F32, PrimFunc, parse

_ROUNDS = 100


def coupled(node: OnnxNode, chances: Value, pairs: Sequence[tuple[int, int]], count: int) -> Value:
    """Find the probabilities of classes that agree best with those of pairs, by the second
    algorithm of Wu, Lin and Weng, in at most 100 rounds, until no error is above 0.005 / classes.

    Shapes: chances [N, pairs] (of the first class in each) -> [N, ``count``].
    Source: Wu, Lin and Weng, Probability estimates for multi-class classification by pairwise
    coupling, 2004, as LIBSVM and ONNX Runtime compute it.
    """
    rows = node.shape(chances)[0]
    columns = [chances, node.op("subtract", 1, chances)]
    both = node.op("concat", *columns, axis=1)
    zero = node.op("concat", both, node.op("full", shape=(rows, 1), value=0.0, dtype=F32), axis=1)
    place = {pair: at for at, pair in enumerate(pairs)}
    place |= {(j, i): at + len(pairs) for (i, j), at in place.items()}
    order = [place.get((i, j), 2 * len(pairs)) for i in range(count) for j in range(count)]
    table = node.op("take", zero, node.constant(np.array(order)), axis=1)
    table = node.op("reshape", table, shape=(rows, count, count))
    [made] = node.loops(_kernel(rows, count), table, types=[tensor_type((rows, count), F32)])
    return made


def _kernel(rows: int, count: int) -> PrimFunc:
    """Return the kernel: ``q`` is the matrix of the errors, ``product`` that of q and p."""
    return parse(f"""\
def coupling(r: f32[{rows}, {count}, {count}], p: f32[{rows}, {count}]):
    for n in parallel(0, {rows}):
        q = alloc(f32[{count}, {count}], scope="local")
        product = alloc(f32[{count}], scope="local")
        state = alloc(f32[2], scope="local")
        for i in serial(0, {count}):
            p[n, i] = f32({1 / count!r})
            q[i, i] = f32(0.0)
            for j in serial(0, {count}):
                if i != j:
                    q[i, i] = q[i, i] + r[n, j, i] * r[n, j, i]
                    q[i, j] = -(r[n, j, i] * r[n, i, j])
        state[1] = f32(0.0)
        for round in serial(0, {_ROUNDS}):
            if state[1] == f32(0.0):
                state[0] = f32(0.0)
                for i in serial(0, {count}):
                    product[i] = f32(0.0)
                    for j in serial(0, {count}):
                        product[i] = product[i] + q[i, j] * p[n, j]
                    state[0] = state[0] + p[n, i] * product[i]
                state[1] = f32(1.0)
                for i in serial(0, {count}):
                    if not abs(product[i] - state[0]) < f32({0.005 / count!r}):
                        state[1] = f32(0.0)
                if state[1] == f32(0.0):
                    for i in serial(0, {count}):
                        diff: f32 = (state[0] - product[i]) / q[i, i]
                        p[n, i] = p[n, i] + diff
                        grown: f32 = f32(1.0) + diff
                        twice: f32 = diff * q[i, i] + f32(2.0) * product[i]
                        state[0] = (state[0] + diff * twice) / grown / grown
                        for j in serial(0, {count}):
                            product[j] = (product[j] + diff * q[i, j]) / grown
                            p[n, j] = p[n, j] / grown
""")
