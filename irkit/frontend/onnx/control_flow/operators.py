"""If, Loop and Scan: a choice that is known on import is made then, and a loop of few known
iterations is unrolled; others become choices and loops of the graph."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import onnx

from irkit.core import ShapeError, equal
from irkit.frontend.onnx.control_flow.growing_state import LoopState
from irkit.frontend.onnx.control_flow.loop_body import LoopBody, ScannedInputs
from irkit.frontend.onnx.control_flow.open_choice import can_join, open_choice
from irkit.frontend.onnx.convert.shapes.size_kernels import reversed_rows
from irkit.frontend.onnx.limits import INT64_MAX, MAX_STEPS, UNROLLED
from irkit.frontend.onnx.onnx_node import Counted, OnnxNode, UnknownShape
from irkit.frontend.sizes import Dim
from irkit.graph import Builder, TensorType, Value, written_type
from irkit.ir import as_int


class GraphRunner(Protocol):
    """What converts the graphs that a node has as attributes; they see the names around them."""

    def run_graph(self, graph: onnx.GraphProto, inputs: Sequence[Value]) -> list[Value]:
        """Convert a graph for these inputs here."""
        ...

    def run_aside(self, graph: onnx.GraphProto) -> tuple[Builder, list[Value]]:
        """Convert a graph without inputs in a body of its own."""
        ...

    def run_inside(
        self, graph: onnx.GraphProto, inputs: Sequence[Value], builder: Builder
    ) -> list[Value]:
        """Convert a graph in a body that has these inputs."""
        ...


Convert = Callable[[OnnxNode, GraphRunner], "list[Value] | Counted"]


def choice(node: OnnxNode, runner: GraphRunner) -> list[Value]:
    """Convert the branch that a known condition chooses; otherwise both, of which one runs.

    If their results differ in extents, these are dimensions that the run finds; if they differ in
    rank or element type, or the model is not to be one program, the condition must be known.
    Source: If-1 to If-25.
    """
    cond = node.input(0)
    then, otherwise = node.graph("then_branch"), node.graph("else_branch")
    if not node.is_known(0):
        both = [runner.run_aside(then), runner.run_aside(otherwise)]
        pairs = list(zip(both[0][1], both[1][1], strict=True))
        same = [isinstance(a.type, TensorType) and equal(a.type, b.type) for a, b in pairs]
        if pairs and all(same):
            return node.branch(node.op("reshape", cond, shape=()), *both)
        if pairs and can_join(both):
            if node.is_one_program:
                return open_choice(node, node.op("reshape", cond, shape=()), both)
            raise node.countable(0, "condition")
    taken = node.array(0, "condition")
    if taken is None or taken.size != 1:
        raise node.fail("its condition must be one bool")
    return runner.run_graph(then if bool(taken.reshape(-1)[0]) else otherwise, [])


def loop(node: OnnxNode, runner: GraphRunner) -> list[Value] | Counted:
    """Unroll a loop of few iterations, or make it a loop of the graph.

    Source: Loop-1 to Loop-25.
    """
    number, cond = node.optional(0), node.optional(1)
    known = node.array(0, "number of iterations") if node.is_known(0) else None
    count = None if known is None else max(int(known.reshape(-1)[0]), 0)
    stops = cond is not None and not node.is_known(1)
    if count is not None and count <= UNROLLED and not stops:
        return _unrolled(node, runner, count)
    try:
        return _kept(node, runner, number, cond, count)
    except (UnknownShape, ShapeError):
        # What depends on the number of the iteration, or grows, is known once it is unrolled.
        if number is None:
            raise
        known = node.array(0, "number of iterations")
        assert known is not None
        return _unrolled(node, runner, max(int(known.reshape(-1)[0]), 0))


def _unrolled(node: OnnxNode, runner: GraphRunner, count: int) -> list[Value]:
    cond = node.array(1, "condition")
    body, states = node.graph("body"), [node.input(at) for at in range(2, len(node.inputs))]
    outputs: list[list[Value]] = []
    _check_steps(node, count)
    going = cond is None or bool(cond.reshape(-1)[0])
    for at in range(count):
        if not going:
            break
        number = node.constant(np.array(at, dtype=np.int64))
        again, *found = runner.run_graph(body, [number, node.constant(np.array(True)), *states])
        states = found[: len(states)]
        outputs.append(found[len(states) :])
        going = bool(node.array_of(again, "condition").reshape(-1)[0])
    if not outputs and len(body.output) > 1 + len(states):
        return [*states, *_no_rows(node, runner, states)]
    rows = list(zip(*outputs, strict=True))
    for name, each in zip(node.outputs[len(states) :], rows, strict=False):
        _check_rows(node, name, each)
    return [*states, *(_stacked(node, each, 0, False) for each in rows)]


def _no_rows(node: OnnxNode, runner: GraphRunner, states: Sequence[Value]) -> list[Value]:
    """Return what the outputs for each iteration of a loop are that runs none: of shape (0, ...).

    The body is converted once for the types of its outputs; what it computes is cut away.
    """
    start = [node.constant(np.array(0, dtype=np.int64)), node.constant(np.array(True))]
    _, *found = runner.run_graph(node.graph("body"), [*start, *states])
    whole = [_stacked(node, [row], 0, False) for row in found[len(states) :]]
    cut = {"begins": (0,), "ends": (0,), "strides": (1,), "axes": (0,)}
    return [node.op("slice", each, **cut) for each in whole]


def _check_rows(node: OnnxNode, name: str, rows: Sequence[Value]) -> None:
    """Raise ImportFailed unless what each iteration adds to an output is of one type, which ONNX
    demands."""
    for at, row in enumerate(rows):
        if not equal(row.type, rows[0].type):
            raise node.fail(
                f"its output {name!r} collects {written_type(rows[0].type)} in iteration 0 and "
                f"{written_type(row.type)} in iteration {at}; expected one type in all iterations"
            )


def _kept(
    node: OnnxNode,
    runner: GraphRunner,
    number: Value | None,
    cond: Value | None,
    count: int | None,
) -> list[Value] | Counted:
    """Make a loop of the graph. Outputs of each iteration have room for all, and are cut where the
    condition can stop it before."""
    states = [LoopState(node, node.input(at)) for at in range(2, len(node.inputs))]
    most: Dim | None = count
    if number is not None and count is None and node.is_of_dimensions(0):
        (size,) = node.sizes(0, "number of iterations") or (0,)
        most = node.at_least_0(size)
    made, again, after, rows = _body(node, runner, states, most)
    is_open = any(state.steps for state in states) and most is None
    if is_open and number is not None and not node.is_one_program:
        raise node.countable(0, "number of iterations")
    if rows and number is None:
        raise node.fail(
            "it has outputs for each iteration, and how many it makes at most is not known; its "
            "first input can say so"
        )
    if rows and most is None:
        node.sizes(0, "number of iterations")
    most_rows: Dim = 0 if most is None else most
    if number is None and node.is_true(again) and (cond is None or node.is_true(cond)):
        raise node.fail("it never ends: it has no number of iterations, and its condition holds")
    limit = node.constant(np.array(INT64_MAX)) if number is None else number
    stops = not node.is_true(again) or (cond is not None and not node.is_known(1))
    results = made.finish(
        node.op("reshape", limit, shape=()),
        made.outer_true if cond is None else node.op("reshape", cond, shape=()),
        again,
        after,
        [(row, most_rows) for row in rows],
    )
    last, made_rows = list[Value](), results[1 + len(after) :]
    for state in states:
        parts = [results.pop(1) for _ in range(state.count)]
        is_full = not stops and state.is_full(most)
        last.append(parts[0] if is_full else state.opened(node, parts))
    if not rows or not stops:
        return [*last, *made_rows]
    axes = (*[None] * len(states), *[0] * len(rows))
    return Counted((*last, *made_rows), axes, results[0])


def _body(
    node: OnnxNode, runner: GraphRunner, states: Sequence[LoopState], most: Dim | None
) -> tuple[LoopBody, Value, list[Value], list[Value]]:
    """Convert a body; return it, whether it goes on, the parts of the next state, and the rows.

    It is converted again, in a builder of its own, each time that an axis of the state turns out to
    grow.
    """
    while True:
        made = LoopBody(node, [part for state in states for part in state.parts(most)])
        inner, parts = node.inside(made.builder), list(made.state)
        before = [
            state.opened(inner, [parts.pop(0) for _ in range(state.count)]) for state in states
        ]
        found = runner.run_inside(
            node.graph("body"), [made.number, made.true, *before], made.builder
        )
        if len(found) < 1 + len(states):
            raise node.fail(f"its body has {len(found)} outputs for {len(states)} states")
        again, *found = found
        after, rows = found[: len(states)], found[len(states) :]
        changes = [s.grows(*pair) for s, *pair in zip(states, before, after, strict=False)]
        if not any(changes):
            closed = [s.closed(inner, a, b) for s, a, b in zip(states, before, after, strict=True)]
            return made, again, [part for parts in closed for part in parts], rows


def scan(node: OnnxNode, runner: GraphRunner) -> list[Value]:
    """Loop over the slices of the last inputs: unrolled if there are few.

    Source: Scan-9 to Scan-25.
    """
    if node.version < 9:
        raise node.fail("version 8, which has a batch axis, is not supported")
    scanned = ScannedInputs(node)
    count = as_int(scanned.steps)
    if count is not None and count <= UNROLLED:
        return _unrolled_scan(node, runner, scanned, count)
    try:
        return _kept_scan(node, runner, scanned)
    except (UnknownShape, ShapeError):
        if count is None:
            raise
        return _unrolled_scan(node, runner, scanned, count)


def _unrolled_scan(
    node: OnnxNode, runner: GraphRunner, scanned: ScannedInputs, steps: int
) -> list[Value]:
    _check_steps(node, steps)
    states, outputs = scanned.states, list[list[Value]]()
    for step in range(steps):
        found = runner.run_graph(scanned.body, [*states, *scanned.slices(step)])
        states = found[: len(states)]
        outputs.append(found[len(states) :])
    if scanned.made and not outputs:
        raise node.fail("it has outputs for each slice, but no slices")
    rows = list(zip(*outputs, strict=True))
    for name, each in zip(node.outputs[len(states) :], rows, strict=False):
        _check_rows(node, name, each)
    stacked = [
        _stacked(node, each, axis, bool(back))
        for each, axis, back in zip(rows, scanned.out_axes, scanned.turned, strict=True)
    ]
    return [*states, *stacked]


def _kept_scan(node: OnnxNode, runner: GraphRunner, scanned: ScannedInputs) -> list[Value]:
    states = scanned.states
    made = LoopBody(node, states)
    slices = scanned.slices_in(made)
    found = runner.run_inside(scanned.body, [*made.state, *slices], made.builder)
    rows = [(row, scanned.steps) for row in found[len(states) :]]
    _, *results = made.finish(
        scanned.count(), made.outer_true, made.true, found[: len(states)], rows
    )
    stacked = [
        _placed(node, each, axis, bool(back))
        for each, axis, back in zip(
            results[len(states) :], scanned.out_axes, scanned.turned, strict=True
        )
    ]
    return [*results[: len(states)], *stacked]


def _placed(node: OnnxNode, rows: Value, axis: int, backwards: bool) -> Value:
    """Return rows along the first axis in the order and along the axis that are wanted."""
    if backwards:
        rows = reversed_rows(node, rows)
    at = node.axis(axis, node.rank(rows))
    order = list(range(1, node.rank(rows)))
    order.insert(at, 0)
    return rows if at == 0 else node.op("transpose", rows, axes=tuple(order))


def _check_steps(node: OnnxNode, steps: int) -> None:
    if steps > MAX_STEPS:
        raise node.fail(f"{steps} iterations: up to {MAX_STEPS} are unrolled")


def _stacked(node: OnnxNode, parts: Sequence[Value], axis: int, backwards: bool) -> Value:
    at = node.axis(axis, node.rank(parts[0]) + 1)
    wide = [
        node.op("reshape", each, shape=(*node.shape(each)[:at], 1, *node.shape(each)[at:]))
        for each in (reversed(parts) if backwards else parts)
    ]
    return node.op("concat", *wide, axis=at)


CONTROL_FLOW: dict[str, Convert] = {"If": choice, "Loop": loop, "Scan": scan}
"""Operators with graphs as attributes, which the converter runs on values."""
