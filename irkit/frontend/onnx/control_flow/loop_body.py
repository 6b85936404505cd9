"""The body of a loop that stays one: a graph function with the number of the iteration, the state,
and what it uses from around."""

from collections.abc import Sequence

import numpy as np

from irkit.core import ShapeError, equal
from irkit.frontend.onnx.convert.shapes.size_kernels import shape_values
from irkit.frontend.onnx.onnx_node import ImportFailed, OnnxNode
from irkit.frontend.sizes import Dim, subtract
from irkit.graph import Body, Builder, TensorType, Value, outlined, written_type
from irkit.ir import as_int, index


class ChangingRows(ImportFailed, ShapeError):
    """What iterations add to an output has sizes that each finds itself."""


class LoopBody:
    """A body under construction: ``number`` of the iteration and ``state`` are its parameters."""

    def __init__(
        self, node: OnnxNode, initial: Sequence[Value], builder: Builder | None = None
    ) -> None:
        self.node, self.initial = node, initial
        self.builder = node.builder.inner() if builder is None else builder
        self.outer_true = node.constant(np.array(True))
        self.true = node.constant_in(self.builder, np.array(True))
        self.number = self.builder.param(f"{node.label}_number", (), "i64")
        self.state = [
            node.alike(self.builder.param(f"{node.label}_state", node.type(value)), value)
            for value in initial
        ]

    def finish(
        self,
        count: Value,
        cond: Value,
        again: Value,
        state: Sequence[Value],
        rows: Sequence[tuple[Value, Dim]],
    ) -> list[Value]:
        """Emit the loop, and return the number of iterations, the state and the rows.

        ``rows`` are values of an iteration with the number of rows to stack.
        Raises: ShapeError if the state changes its type.
        """
        node, initial = self.node, self.initial
        for before, after in zip(initial, state, strict=True):
            if not equal(before.type, after.type):
                raise ShapeError(
                    f"{self.node.title}: its state {before.name!r} is {written_type(before.type)}, "
                    f"and {written_type(after.type)} after an iteration",
                )
        names = node.outputs[len(node.outputs) - len(rows) :]
        for name, (row, _) in zip(names, rows, strict=False):
            if any(node.limit(dim) is not dim for dim in node.dims(row)):
                raise ChangingRows(
                    f"{node.title}: its output {(name or row.name)!r} collects "
                    f"{written_type(row.type)} in each iteration, which finds the size itself; "
                    "expected one shape in all iterations",
                    hint="Pad it in the body of the loop, or carry it as state that grows.",
                    span=node.span,
                )
        builder = self.builder
        flag = builder.op("reshape", again, shape=(), span=self.node.span)
        result = builder.tuple(flag, *state, *(row for row, _ in rows), span=self.node.span)
        params = (self.number, *self.state)
        name = f"{self.node.label}_body"
        func, others = outlined(name, params, Body(tuple(builder.bindings), result), span=node.span)
        kinds = [
            TensorType((index(steps), *self.node.type(row).shape), self.node.type(row).dtype)
            for row, steps in rows
        ]
        outer = node.builder
        made = outer.loop(
            outer.define(func), count, cond, initial, others,
            rows=kinds, name=node.label, span=node.span,
        )  # fmt: skip
        like = [count, *initial, *(row for row, _ in rows)]
        return [
            node.alike(outer.item(made, at, span=node.span), each) for at, each in enumerate(like)
        ]


class ScannedInputs:
    """What a Scan loops over."""

    def __init__(self, node: OnnxNode) -> None:
        self.node = node
        count = node.integer("num_scan_inputs")
        given = [node.input(at) for at in range(len(node.inputs))]
        if not 1 <= count <= len(given):
            raise node.fail(f"num_scan_inputs is {count} of {len(given)} inputs")
        self.body = node.graph("body")
        self.states, self.scanned = given[:-count], given[-count:]
        self.made = len(self.body.output) - len(self.states)
        axes = node.integers("scan_input_axes", (0,) * count)
        self.backwards = node.integers("scan_input_directions", (0,) * count)
        self.out_axes = node.integers("scan_output_axes", (0,) * self.made)
        self.turned = node.integers("scan_output_directions", (0,) * self.made)
        if not (
            len(axes) == len(self.backwards) == count
            and len(self.out_axes) == len(self.turned) == self.made
        ):
            raise node.fail("an attribute does not have one number for each input or output")
        self.axes = [
            node.axis(axis, node.rank(x)) for axis, x in zip(axes, self.scanned, strict=True)
        ]
        extents = [node.dims(x)[axis] for x, axis in zip(self.scanned, self.axes, strict=True)]
        self.steps: Dim = extents[0]
        if any(not equal(index(extent), index(self.steps)) for extent in extents):
            raise node.fail(f"its inputs have {', '.join(map(str, extents))} slices")

    def count(self) -> Value:
        """Return the number of slices as a value."""
        known = as_int(self.steps)
        if known is not None:
            return self.node.constant(np.array(known))
        size = shape_values(self.node, self.scanned[0], (self.steps,))
        return self.node.op("reshape", size, shape=())

    def slices(self, step: int) -> list[Value]:
        """Return the slices of one step."""
        last = self.node.shape(self.scanned[0])[self.axes[0]] - 1
        return [
            self._slice(x, axis, last - step if back else step)
            for x, axis, back in zip(self.scanned, self.axes, self.backwards, strict=True)
        ]

    def _slice(self, x: Value, axis: int, at: int) -> Value:
        node, shape = self.node, self.node.shape(x)
        cut = node.op("slice", x, begins=(at,), ends=(at + 1,), strides=(1,), axes=(axis,))
        return node.op("reshape", cut, shape=(*shape[:axis], *shape[axis + 1 :]))

    def slices_in(self, body: LoopBody) -> list[Value]:
        """Return the slices of an iteration, in its body."""
        builder, made = body.builder, list[Value]()
        last = self.last_in(body) if any(self.backwards) else body.number
        for x, axis, back in zip(self.scanned, self.axes, self.backwards, strict=True):
            at = body.number
            if back:
                at = builder.op("subtract", last, at, span=self.node.span)
            made.append(builder.op("take", x, at, axis=axis, span=self.node.span))
        return made

    def last_in(self, body: LoopBody) -> Value:
        """Return the number of the last iteration, in its body."""
        last = as_int(subtract(self.steps, 1))
        if last is not None:
            return self.node.constant_in(body.builder, np.array(last))
        one = self.node.constant_in(body.builder, np.array(1))
        return body.builder.op("subtract", self.count(), one, span=self.node.span)
