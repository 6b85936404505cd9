"""If, Loop and Scan: a choice that is known on import is made then, others become choices of the
graph, and loops are unrolled."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import onnx

from irkit.core import equal
from irkit.frontend.onnx.limits import MAX_STEPS
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Builder, TensorType, Value


class GraphRunner(Protocol):
    """What converts the graphs that a node has as attributes; they see the names around them."""

    def run_graph(self, graph: onnx.GraphProto, inputs: Sequence[Value]) -> list[Value]:
        """Convert a graph for these inputs here."""
        ...

    def run_aside(self, graph: onnx.GraphProto) -> tuple[Builder, list[Value]]:
        """Convert a graph without inputs in a body of its own."""
        ...


Convert = Callable[[OnnxNode, GraphRunner], "list[Value]"]


def choice(node: OnnxNode, runner: GraphRunner) -> list[Value]:
    """Convert the branch that a known condition chooses; otherwise both, of which one runs.

    If their results differ in type, the condition decides a shape, and must be known.
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
    taken = node.array(0, "condition")
    if taken is None or taken.size != 1:
        raise node.fail("its condition must be one bool")
    return runner.run_graph(then if bool(taken.reshape(-1)[0]) else otherwise, [])


def loop(node: OnnxNode, runner: GraphRunner) -> list[Value]:
    """Unroll a loop whose number of iterations is known on import.

    Source: Loop-1 to Loop-25.
    """
    count, cond = node.array(0, "number of iterations"), node.array(1, "condition")
    if count is None:
        raise node.fail("it has no number of iterations, so it cannot be unrolled")
    body, states = node.graph("body"), [node.input(at) for at in range(2, len(node.inputs))]
    outputs: list[list[Value]] = []
    wanted = max(int(count.reshape(-1)[0]), 0)
    _check_steps(node, wanted)
    going = cond is None or bool(cond.reshape(-1)[0])
    for at in range(wanted):
        if not going:
            break
        number = node.constant(np.array(at, dtype=np.int64))
        again, *found = runner.run_graph(body, [number, node.constant(np.array(True)), *states])
        states = found[: len(states)]
        outputs.append(found[len(states) :])
        going = bool(node.array_of(again, "condition").reshape(-1)[0])
    if not outputs and len(body.output) > 1 + len(states):
        raise node.fail("it has outputs for each iteration, but runs none")
    return [*states, *(_stacked(node, each, 0, False) for each in zip(*outputs, strict=True))]


def scan(node: OnnxNode, runner: GraphRunner) -> list[Value]:
    """Unroll a loop over the slices of its last inputs.

    Source: Scan-9 to Scan-25.
    """
    if node.version < 9:
        raise node.fail("version 8, which has a batch axis, is not supported")
    count = node.integer("num_scan_inputs")
    given = [node.input(at) for at in range(len(node.inputs))]
    if not 1 <= count <= len(given):
        raise node.fail(f"num_scan_inputs is {count} of {len(given)} inputs")
    body, states, scanned = node.graph("body"), given[:-count], given[-count:]
    made = len(body.output) - len(states)
    axes = node.integers("scan_input_axes", (0,) * count)
    backwards = node.integers("scan_input_directions", (0,) * count)
    out_axes = node.integers("scan_output_axes", (0,) * made)
    turned = node.integers("scan_output_directions", (0,) * made)
    if not (len(axes) == len(backwards) == count and len(out_axes) == len(turned) == made):
        raise node.fail("an attribute does not have one number for each input or output")
    along = [node.axis(axis, node.rank(x)) for axis, x in zip(axes, scanned, strict=True)]
    extents = {node.shape(x)[axis] for x, axis in zip(scanned, along, strict=True)}
    if len(extents) != 1:
        raise node.fail(f"its inputs have {sorted(extents)} slices")
    (steps,) = extents
    _check_steps(node, steps)
    outputs: list[list[Value]] = []
    for step in range(steps):
        slices = [
            _slice(node, x, axis, steps - 1 - step if back else step)
            for x, axis, back in zip(scanned, along, backwards, strict=True)
        ]
        found = runner.run_graph(body, [*states, *slices])
        states = found[: len(states)]
        outputs.append(found[len(states) :])
    if made and not outputs:
        raise node.fail("it has outputs for each slice, but no slices")
    stacked = [
        _stacked(node, each, axis, bool(back))
        for each, axis, back in zip(zip(*outputs, strict=True), out_axes, turned, strict=True)
    ]
    return [*states, *stacked]


def _check_steps(node: OnnxNode, steps: int) -> None:
    if steps > MAX_STEPS:
        raise node.fail(f"{steps} iterations: up to {MAX_STEPS} are unrolled")


def _slice(node: OnnxNode, x: Value, axis: int, at: int) -> Value:
    shape = node.shape(x)
    cut = node.op("slice", x, begins=(at,), ends=(at + 1,), strides=(1,), axes=(axis,))
    return node.op("reshape", cut, shape=(*shape[:axis], *shape[axis + 1 :]))


def _stacked(node: OnnxNode, parts: Sequence[Value], axis: int, backwards: bool) -> Value:
    at = node.axis(axis, node.rank(parts[0]) + 1)
    wide = [
        node.op("reshape", each, shape=(*node.shape(each)[:at], 1, *node.shape(each)[at:]))
        for each in (reversed(parts) if backwards else parts)
    ]
    return node.op("concat", *wide, axis=at)


CONTROL_FLOW: dict[str, Convert] = {"If": choice, "Loop": loop, "Scan": scan}
"""Operators with graphs as attributes, which the converter runs on values."""
