"""Choices and loops of PyTorch: ``cond``, ``while_loop``, ``scan`` and ``map`` with the graphs that
they run, as choices and loops of the graph IR."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast

import numpy as np

from irkit.core import Span, equal
from irkit.frontend.torch.aten_node import AtenNode
from irkit.frontend.torch.program import TorchGraph
from irkit.graph import (
    Body,
    Builder,
    TensorExpr,
    TensorType,
    Value,
    operator,
    outlined,
    tensor_of,
    written_type,
)
from irkit.ir import as_int

_MOST = np.array((1 << 63) - 1)
"""The iterations of a loop that only its condition ends."""


class GraphImporter(Protocol):
    """What imports the graphs inside of a program."""

    builder: Builder

    def value(self, tensor: TensorExpr) -> Value:
        """Return the value of an expression, bound here."""
        ...

    def run_graph(
        self, graph: TorchGraph, given: Sequence[Any], builder: Builder, span: Span
    ) -> list[Value]:
        """Import a graph for these inputs in a body; return its results."""
        ...


def cond(node: AtenNode, importer: GraphImporter, span: Span) -> tuple[TensorExpr, ...]:
    """Run one of two graphs. Source: torch.cond."""
    flag = operator("reshape", node.tensor(0), shape=())
    given = _bound(node.given(3, default=[]), importer)
    sides: list[Body] = []
    kinds: list[list[TensorType]] = []
    for at in (1, 2):
        builder = importer.builder.inner()
        results = importer.run_graph(node.graph(at), given, builder, span)
        kinds.append([cast("TensorType", each.type) for each in results])
        whole = results[0] if len(results) == 1 else builder.tuple(*results, span=span)
        sides.append(builder.body(whole))
    for one, other in zip(*kinds, strict=True):
        if not equal(one, other):
            raise node.fail(
                f"its sides return {written_type(one)} and {written_type(other)}; expected one type"
            )
    made = importer.builder.branch(importer.value(flag), *sides, name=node.node.name, span=span)
    return _items(made, len(kinds[0]), importer, span)


def while_loop(node: AtenNode, importer: GraphImporter, span: Span) -> tuple[TensorExpr, ...]:
    """Run a graph while another one says so. Source: torch.while_loop."""
    going, body = node.graph(0), node.graph(1)
    state = [importer.value(each) for each in node.tensors(2)]
    others = _bound(node.given(3, default=[]), importer)
    (first,) = importer.run_graph(going, [*map(tensor_of, state), *others], importer.builder, span)

    def iteration(builder: Builder, number: Value, state: list[Value]) -> list[Value]:
        after = importer.run_graph(body, [*map(tensor_of, state), *others], builder, span)
        (again,) = importer.run_graph(going, [*map(tensor_of, after), *others], builder, span)
        return [builder.op("reshape", again, shape=(), span=span), *after]

    first = importer.builder.op("reshape", first, shape=(), span=span)
    return _loop(node, importer, span, (_MOST, first), state, iteration)


def scan(node: AtenNode, importer: GraphImporter, span: Span) -> tuple[TensorExpr, ...]:
    """Run a graph over the rows of tensors, with a state. Source: torch scan."""
    return _over_rows(node, importer, span, node.tensors(1), node.tensors(2))


def over_rows(node: AtenNode, importer: GraphImporter, span: Span) -> tuple[TensorExpr, ...]:
    """Run a graph on each row of tensors. Source: torch map."""
    return _over_rows(node, importer, span, [], node.tensors(1), 2)


def _over_rows(
    node: AtenNode,
    importer: GraphImporter,
    span: Span,
    initial: Sequence[TensorExpr],
    scanned: Sequence[TensorExpr],
    rest: int = 3,
) -> tuple[TensorExpr, ...]:
    graph = node.graph(0)
    state = [importer.value(each) for each in initial]
    tables = [importer.value(each) for each in scanned]
    others = _bound(node.given(rest, default=[]), importer)
    steps = scanned[0].dims[0]
    count = as_int(steps)
    if count is None and len(graph.outputs) == len(state):
        raise node.fail("how many rows it runs over is not known, and it makes none")

    def iteration(builder: Builder, number: Value, state: list[Value]) -> list[Value]:
        rows = [builder.op("take", each, number, axis=0, span=span) for each in tables]
        given = [tensor_of(each) for each in (*state, *rows)]
        found = importer.run_graph(graph, [*given, *others], builder, span)
        return [builder.constant(np.array(True)), *found]

    # Where there are rows, no more iterations are made than they have room for.
    limit = (_MOST if count is None else np.array(count), np.array(True))
    return _loop(node, importer, span, limit, state, iteration, steps)


def _loop(
    node: AtenNode,
    importer: GraphImporter,
    span: Span,
    limit: "tuple[Any, Any]",
    state: list[Value],
    iteration: Callable[[Builder, Value, list[Value]], list[Value]],
    steps: Any = None,
) -> tuple[TensorExpr, ...]:
    """Emit a loop over a function of the number of the iteration and the state, that returns
    whether to go on, the next state, and rows; return the last state and the rows."""
    outer, inner = importer.builder, importer.builder.inner()
    number = inner.param(f"{node.node.name}_number", (), "i64")
    own = [inner.param(f"{node.node.name}_state", cast("TensorType", each.type)) for each in state]
    found = iteration(inner, number, own)
    after = found[1 : 1 + len(state)]
    for before, each in zip(state, after, strict=True):
        if not equal(before.type, each.type):
            raise node.fail(
                f"its state is {written_type(before.type)}, and {written_type(each.type)} after an "
                "iteration"
            )
    result = inner.tuple(*found, span=span)
    func, others = outlined(
        f"{node.node.name}_body",
        (number, *own),
        Body(tuple(inner.bindings), result),
        span=span,
    )
    rows = [
        TensorType((steps, *kind.shape), kind.dtype)
        for kind in (cast("TensorType", each.type) for each in found[1 + len(state) :])
    ]
    count, going = (
        each if isinstance(each, Value) else outer.constant(each, span=span) for each in limit
    )
    made = outer.loop(
        outer.define(func), count, going, state, others,
        rows=rows, name=node.node.name, span=span,
    )  # fmt: skip
    return _items(made, len(state) + len(rows), importer, span, begin=1)


def _bound(given: Any, importer: GraphImporter) -> list[Any]:
    """Return operands, of which tensors are bound here, and not where they are used."""
    return [
        tensor_of(importer.value(each)) if isinstance(each, TensorExpr) else each
        for each in cast("list[Any]", given)
    ]


def _items(
    made: Value, count: int, importer: GraphImporter, span: Span, begin: int = 0
) -> tuple[TensorExpr, ...]:
    if count == 1 and not begin:
        return (tensor_of(made),)
    return tuple(
        tensor_of(importer.builder.item(made, begin + at, span=span)) for at in range(count)
    )


CONTROL_FLOW: dict[str, Callable[[AtenNode, GraphImporter, Span], tuple[TensorExpr, ...]]] = {
    "cond": cond,
    "while_loop": while_loop,
    "scan": scan,
    "map_impl": over_rows,
}
"""Operators with graphs as arguments, by their names."""
