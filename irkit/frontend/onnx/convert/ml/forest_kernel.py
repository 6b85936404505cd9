"""The kernel of a forest: every row of the input walks down every tree, and the weights of the
leaves it reaches are combined."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from irkit.frontend.onnx.convert.ml.forest import EQUAL, GREATER, LESS, MISSING, Forest
from irkit.frontend.onnx.convert.ml.table_size import in_table, table_size
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value, tensor_type
from irkit.ir import F32, F64, DType, PrimFunc, parse

LANES = 16
"""Rows that walk together: the loads of one row hide those of the others."""

_PARALLEL = 1 << 16
"""Steps from which on threads are worth starting."""

_START = {"SUM": "0.0", "AVERAGE": "0.0", "MIN": '"inf"', "MAX": '"-inf"'}


def aggregated(node: OnnxNode, x: Value, forest: Forest, count: int, how: str) -> Value:
    """Combine the weights of each target over all trees, by SUM, AVERAGE, MIN or MAX.

    A target that no leaf mentions gets 0.
    Shapes: x [N, F] -> [N, ``count``].
    """
    if how not in _START:
        raise node.fail(f"aggregate_function is {how!r}; expected {', '.join(_START)}")
    kind = F64 if forest.weights.dtype == np.float64 or node.dtype(x) == F64 else F32
    wide = F64 if forest.thresholds.dtype == np.float64 or node.dtype(x) == F64 else F32
    (rows, width), arrays = node.shape(x), _arrays(forest, wide, kind)
    func = _kernel(forest, rows, width, count, how, wide, kind)
    values = [node.constant(each) for each in arrays]
    made = tensor_type((rows, count), kind)
    [scores] = node.loops(func, node.cast(x, wide), *values, types=[made])
    return node.op("divide", scores, len(forest.roots)) if how == "AVERAGE" else scores


def _arrays(forest: Forest, wide: DType, kind: DType) -> list[NDArray[Any]]:
    links = np.stack([forest.features, forest.tests, forest.true, forest.false], axis=1)
    trees = np.stack([forest.roots, forest.steps], axis=1)
    nodes, weights = _sizes(forest)
    return [
        in_table(links.astype(np.int32), nodes),
        in_table(forest.thresholds.astype(f"f{wide.bytes}"), nodes),
        trees.astype(np.int32),
        in_table(forest.first.astype(np.int32), nodes + 1),
        in_table(forest.targets.astype(np.int32), weights),
        in_table(forest.weights.astype(f"f{kind.bytes}"), weights),
    ]


def _sizes(forest: Forest) -> tuple[int, int]:
    """Return the sizes of the tables of nodes and of weights, of which only the first are read."""
    return table_size(len(forest.true)), table_size(len(forest.targets))


def _kernel(
    forest: Forest, rows: int, width: int, count: int, how: str, wide: DType, kind: DType
) -> PrimFunc:
    (nodes, weights), trees = _sizes(forest), len(forest.roots)
    steps = rows * int(forest.steps.sum())
    loop = "parallel" if steps >= _PARALLEL else "serial"
    head = (
        f"def trees(x: {wide}[{rows}, {width}], links: i32[{nodes}, 4], "
        f"threshold: {wide}[{nodes}], tree: i32[{trees}, 2], first: i32[{nodes + 1}], "
        f"target: i32[{weights}], weight: {kind}[{weights}], scores: {kind}[{rows}, {count}]):\n"
    )
    test = _test(forest)
    groups, rest = divmod(rows, LANES)
    text = head
    if groups:
        text += f"    for group in {loop}(0, {groups}):\n"
        text += _rows(f"group * {LANES}", LANES, trees, count, how, kind, test, wide)
    if rest:
        text += "    for group in serial(0, 1):\n"
        text += _rows(str(groups * LANES), rest, trees, count, how, kind, test, wide)
    return parse(text if rows else head + "    pass\n")


def _rows(
    start: str, lanes: int, trees: int, count: int, how: str, kind: DType, test: str, wide: DType
) -> str:
    """Return the statements for some rows, from ``start`` on, as text of the loop IR."""
    place = "scores[row, target[k]]"
    new = {
        "SUM": f"{place} + weight[k]",
        "AVERAGE": f"{place} + weight[k]",
        "MIN": f"min({place}, weight[k])",
        "MAX": f"max({place}, weight[k])",
    }[how]
    text = f"""\
        for lane in serial(0, {lanes}):
            for c in serial(0, {count}):
                scores[{start} + lane, c] = {kind}({_START[how]})
        for t in serial(0, {trees}):
            with alloc(i32[{lanes}], scope="local") as at:
                for lane in serial(0, {lanes}):
                    at[lane] = tree[t, 0]
                for step in serial(i32(0), tree[t, 1]):
                    for lane in vectorized(0, {lanes}):
                        v: {wide} = x[{start} + lane, links[at[lane], 0]]
                        s: {wide} = threshold[at[lane]]
                        at[lane] = select({test}, links[at[lane], 2], links[at[lane], 3])
                for lane in serial(0, {lanes}):
                    row: i64 = {start} + lane
                    for k in serial(first[at[lane]], first[at[lane] + i32(1)]):
                        {place} = {new}
"""
    if how in ("MIN", "MAX"):
        text += f"""\
        for lane in serial(0, {lanes}):
            for c in serial(0, {count}):
                with let(scores[{start} + lane, c]) as found:
                    scores[{start} + lane, c] = select(isinf(found), {kind}(0.0), found)
"""
    return text


def _test(forest: Forest) -> str:
    """Return the test of a node as text: one comparison, if all nodes agree, of the value ``v``
    with the threshold ``s``."""
    codes = set(np.unique(forest.tests[~forest.is_leaf]).tolist())
    if len(codes) == 1:
        plain = _PLAIN.get(codes.pop())
        if plain:
            return plain
    return (
        f"(select(v < s, i32({LESS}), select(v == s, i32({EQUAL}), select(v > s, i32({GREATER}), "
        f"i32({MISSING})))) & links[at[lane], 1]) != i32(0)"
    )


_PLAIN = {
    LESS | EQUAL: "v <= s",
    LESS: "v < s",
    GREATER | EQUAL: "v >= s",
    GREATER: "v > s",
    EQUAL: "v == s",
    LESS | EQUAL | MISSING: "not v > s",
    LESS | MISSING: "not v >= s",
}
