"""State of a loop that grows: it lies in room for the most, beside the extents that are in use.

In the body, prefixes make of these extents dimensions, which the run finds in each iteration. One
of more places than there is room for ends the run.
"""

from collections.abc import Sequence

from irkit.core import equal, walk
from irkit.frontend.onnx.convert.data_dependent import prefix_along
from irkit.frontend.onnx.convert.shapes.size_kernels import in_room, shape_values
from irkit.frontend.onnx.limits import GROWN
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.frontend.sizes import Dim, add, multiply, subtract
from irkit.graph import TensorType, Value
from irkit.ir import Expr, Var, index


class LoopState:
    """One state of a loop: what it is at first, and how much each iteration adds to its axes."""

    def __init__(self, node: OnnxNode, initial: Value) -> None:
        self.node, self.initial = node, initial
        self.steps: dict[int, Dim | None] = {}
        """Places that an iteration adds, by the axis that grows; None if that differs."""
        self.room: list[Dim] = []

    def parts(self, most: Dim | None) -> list[Value]:
        """Return what the loop has as its state at first: the room, and the extents in use."""
        if not self.steps:
            return [self.initial]
        node, dims = self.node, self.node.dims(self.initial)
        self.room = [
            add(dim, self._growth(self.steps[axis], most)) if axis in self.steps else dim
            for axis, dim in enumerate(dims)
        ]
        return [in_room(node, self.initial, self.room), *self._extents(node, self.initial)]

    @property
    def count(self) -> int:
        """The number of parts."""
        return 1 + len(self.steps)

    def opened(self, node: OnnxNode, parts: Sequence[Value]) -> Value:
        """Return the state of an iteration, or of the end, from its parts."""
        value = parts[0]
        for axis, extent in zip(self.steps, parts[1:], strict=True):
            value = prefix_along(node, value, axis, extent)
        return value

    def closed(self, node: OnnxNode, before: Value, after: Value) -> list[Value]:
        """Return the parts of the next state."""
        if not self.steps or not _is_alike(before, after):
            return [after]
        return [in_room(node, after, self.room), *self._extents(node, after)]

    def grows(self, before: Value, after: Value) -> bool:
        """Note which axes grow in an iteration, and by how much; return True if that is news."""
        if not _is_alike(before, after):
            return False
        node, is_new = self.node, False
        for axis, (a, b) in enumerate(zip(node.dims(before), node.dims(after), strict=True)):
            if axis not in self.steps:
                if not equal(index(a), index(b)):
                    self.steps[axis], is_new = self._step(a, b), True
            elif self.steps[axis] is not None:
                step = self._step(a, b)
                if step is None or not equal(index(step), index(self.steps[axis] or 0)):
                    self.steps[axis], is_new = None, True
        # The order of axes is that of the extents among the parts.
        self.steps = dict(sorted(self.steps.items()))
        return is_new

    def is_full(self, most: Dim | None) -> bool:
        """Return True if a loop that makes all iterations uses all of the room."""
        return most is not None and all(isinstance(step, int) for step in self.steps.values())

    def _step(self, before: Dim, after: Dim) -> Dim | None:
        step = self.node.limit(subtract(after, before))
        if isinstance(step, int):
            return step if step >= 0 else None
        own = set(walk(before, Var)) if isinstance(before, Expr) else set[Var]()
        is_open = own.isdisjoint(walk(step, Var)) and self.node.at_least_0(step) is step
        return step if is_open else None

    def _growth(self, step: Dim | None, most: Dim | None) -> Dim:
        return GROWN if step is None or most is None else multiply(most, step)

    def _extents(self, node: OnnxNode, value: Value) -> list[Value]:
        sizes = [shape_values(node, value, (node.dims(value)[axis],)) for axis in self.steps]
        return [node.op("reshape", size, shape=()) for size in sizes]


def _is_alike(a: Value, b: Value) -> bool:
    """Return True if two tensors differ in nothing but extents."""
    return (
        isinstance(a.type, TensorType)
        and isinstance(b.type, TensorType)
        and a.type.dtype == b.type.dtype
        and len(a.type.shape) == len(b.type.shape)
    )
