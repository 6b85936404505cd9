"""The part of a graph that a pass changed, run on drawn activations and the weights of the graph.

Two values, one of the graph before and one of that after, are compared by running what computes
them, up to values that both graphs share. Those are drawn, not computed, except for what decides
about shapes, elements or branches (integers and bools). No drawn value depends on another one. If
the two differ, the operators that compute the drawn values run as well: what a value is known for,
such as having no sign, mostly comes from the operator that made it.
"""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from irkit.core import IRKitError
from irkit.debug.check.graph_numbering import GraphNumbering, NumberedStep
from irkit.debug.execution.executors import InterpreterExecutor, NativeExecutor
from irkit.debug.execution.inputs import Array, InputKind, dim_size, draw_values
from irkit.debug.execution.native_worker import NativeWorker
from irkit.debug.execution.row_patterns import filled_rows
from irkit.graph import (
    OPS,
    Constant,
    GraphIf,
    GraphLoop,
    Invoke,
    Op,
    Prefix,
    TensorType,
    Tuple,
    TupleGet,
    TupleType,
    Type,
    arrays_of,
    interpret_step,
    kernel_arguments,
    op_spec,
    tensors_in,
)
from irkit.ir import OutOfBounds, PrimFunc, StepLimit, Var, numpy_dtype

MAX_ELEMENTS = 1 << 26
KERNEL_STEPS = 5_000
"""Most steps of the interpreter for a kernel; native code runs the others."""
LOOP_STEPS = 100_000
"""Most steps of the interpreter for each kernel of a loop."""
INTEGERS = (0, 3)
LARGE = 2.0**7
"""The largest finite number among special values of a graph: f16 holds sums of its squares."""
Arrays = Array | tuple[Array, ...]


class GraphRegion:
    """A frontier of values, from which some targets are computed; the first is of the graph before.

    ``shared`` is how many numbers that graph has. With ``wider``, the frontier is one operator
    further up.
    """

    def __init__(
        self, known: GraphNumbering, targets: Sequence[int], shared: int, *, wider: bool = False
    ) -> None:
        self.known = known
        own = [target for target in targets if target < shared]
        new = [n for n in known.cone(targets, range(shared)) if n >= shared]
        frontier = {arg for n in new for arg in known.nodes[n].args if arg < shared}
        frontier |= set(own[1:])  # The graph after gives another value of the one before.
        if wider:
            frontier = set[int]().union(*map(self._producers, frontier))
        self.frontier = self._settled(frontier, own)
        self.computed = known.cone(targets, frozenset(self.frontier)) - self.frontier

    def elements(self, sizes: Mapping[Var, int]) -> int:
        """Return how many elements the values that are drawn or computed have."""
        types = [self.known.nodes[number].type for number in self.frontier | self.computed]
        shapes = [kind.shape for each in types for kind in tensors_in(each)]
        return sum(prod(dim_size(dim, sizes) for dim in shape) for shape in shapes)

    def _settled(self, made: set[int], own: Sequence[int]) -> set[int]:
        """Return a frontier in which no value depends on another one, nor decides about shapes.

        What is computed from constants alone is computed: a pass may put its value in its place.
        """
        nodes = self.known.nodes
        while True:
            made -= self.known.constants
            inside = self.known.cone(own, frozenset(made))
            made |= {n for n in inside if nodes[n].step is None}
            dependent = {n for n in made if self._depends(n, made)}
            exact = {n for n in made if not _is_drawable(nodes[n])}
            if not dependent | exact:
                return made
            for number in dependent | exact:
                made.discard(number)
                made |= set(nodes[number].args)

    def _producers(self, number: int) -> set[int]:
        """Return what the operator that computes a value reads; operators that only move values are
        passed over."""
        found, todo = set[int](), [number]
        seen = set[int]()
        while todo:
            at = todo.pop()
            if at in seen:
                continue
            seen.add(at)
            node = self.known.nodes[at]
            if not node.args:
                found.add(at)
            elif _moves(node):
                todo.extend(node.args)
            else:
                found |= set(node.args)
        return found

    def _depends(self, number: int, others: set[int]) -> bool:
        """Return True if a value is computed from one of the others."""
        least = min(others)  # Numbers rise from operands to results.
        todo, seen = list(self.known.nodes[number].args), set[int]()
        while todo:
            at = todo.pop()
            if at in others:
                return True
            if at > least and at not in seen:
                seen.add(at)
                todo.extend(self.known.nodes[at].args)
        return False


def _moves(node: NumberedStep) -> bool:
    if isinstance(node.step, (Tuple, TupleGet)):
        return True
    return isinstance(node.step, Op) and OPS[node.step.name].kind == "injective"


def _is_drawable(node: NumberedStep) -> bool:
    """Return True for a value that can be drawn, or that depends on nothing."""
    if not node.args:
        return True
    if node.sizes:
        return False
    return isinstance(node.type, TensorType) and node.type.dtype.is_float


class RegionRunner:
    """Runs regions on one set of inputs. ``given`` are arrays by the names of parameters: with
    them nothing else is drawn, so regions begin at the parameters. With ``rows``, each drawn array
    follows one pattern of ``row_patterns``, counted from there on."""

    def __init__(
        self,
        known: GraphNumbering,
        kind: InputKind,
        seed: tuple[int, ...],
        sizes: Mapping[Var, int],
        given: Mapping[str, Any],
        worker: NativeWorker,
        rows: int | None = None,
    ) -> None:
        self.known, self.seed, self.rows = known, seed, rows
        self.kind: InputKind = kind
        self.sizes, self.given, self.worker = dict(sizes), given, worker
        self.redrawn: frozenset[int] = frozenset()  # Weights that are drawn all the same.
        self._drawn: dict[int, Array] = {}
        self._whole: dict[int, Arrays] = {}  # With given inputs, values are those of the graph.
        self._long: dict[int, tuple[PrimFunc, StepLimit]] = {}

    @property
    def ran_native(self) -> bool:
        """Return True if a kernel ran as native code."""
        return bool(self._long)

    def values(
        self, region: GraphRegion, targets: Sequence[int], *, wide: bool = False
    ) -> list[tuple[Array, ...]]:
        """Return the arrays of each target; with ``wide``, computed in f64.

        Raises: IRKitError if an operator fails.
        """
        frontier: set[int] = set() if self.given else region.frontier
        inside = self.known.cone(targets, frozenset(frontier))
        made: dict[int, Arrays] = {} if wide or not self.given else self._whole
        left = _uses(self.known, inside)
        with np.errstate(all="ignore"):
            for number in sorted(inside):
                if number not in made:
                    drawn = number in frontier or number in self.redrawn
                    made[number] = self._array(number) if drawn else self._computed(number, made)
                    if wide:
                        made[number] = _wide(made[number])
                node = self.known.nodes[number]
                for arg in (*node.args, *node.sizes) if made is not self._whole else ():
                    left[arg] -= 1
                    if not left[arg] and arg not in targets:
                        made.pop(arg, None)  # Activations of a large graph take memory.
        return [_flat(made[target]) for target in targets]

    def _array(self, number: int) -> Array:
        if number not in self._drawn:
            node = self.known.nodes[number]
            if node.step is None and node.name in self.given:
                return np.asarray(self.given[node.name])
            assert isinstance(node.type, TensorType)
            shape = tuple(dim_size(dim, self.sizes) for dim in node.type.shape)
            if int(np.prod(shape, dtype=object)) > MAX_ELEMENTS:
                raise IRKitError(f"{node.name!r} is too large for a check: {list(shape)}")
            rng = np.random.default_rng((*self.seed, number))
            if isinstance(node.step, Constant):
                made = rng.uniform(-2, 2, size=shape) / np.sqrt(_fan(shape))
                self._drawn[number] = made.astype(numpy_dtype(node.type.dtype))
                return self._drawn[number]
            if self.rows is not None and node.type.dtype.is_float:
                array = filled_rows(node.type.dtype, shape, None, self.rows + number, rng)
            else:
                array = draw_values(node.type.dtype, shape, self.kind, rng, INTEGERS)
            self._drawn[number] = _without_overflow(array)
        return self._drawn[number]

    def _computed(self, number: int, made: Mapping[int, Arrays]) -> Arrays:
        node = self.known.nodes[number]
        given = [made[arg] for arg in node.args]
        match node.step:
            case None:
                return self._array(number)
            case Constant(data):
                return data.array
            case Op(name, _, attrs):
                return op_spec(name).evaluate([_one(each) for each in given], attrs)
            case Tuple():
                return tuple(array for each in given for array in _flat(each))
            case TupleGet(_, index):
                return _item(self.known.nodes[node.args[0]].type, given[0], index)
            case GraphIf():
                return given[1] if bool(_one(given[0])) else given[2]
            case Prefix():
                return self._prefix(number, _one(given[0]), int(_one(given[1])))
            case GraphLoop():
                return self._loop(node, [_one(each) for each in given])
            case Invoke(name):
                if node.kernel is None:
                    raise IRKitError(f"{name!r} is called, and is not known here")
                return self._kernel(number, [_one(each) for each in given])
            case _:
                raise IRKitError(f"{node.name!r} has no value that can be compared")

    def _prefix(self, number: int, rows: Array, count: int) -> Array:
        """Return the first rows, and note their number for what has that dimension."""
        if not 0 <= count <= len(rows):
            raise IRKitError(f"{self.known.nodes[number].name!r} takes {count} of {len(rows)} rows")
        extents = [var for var, made in self.known.prefixes.items() if made == number]
        self.sizes |= dict.fromkeys(extents, count)
        return rows[:count]

    def _loop(self, node: NumberedStep, given: Sequence[Array]) -> Arrays:
        """Run a loop by the interpreter of graphs."""
        assert node.loop is not None
        module, bind = node.loop
        found = interpret_step(module, bind, given, self.sizes, max_steps=LOOP_STEPS)
        return tuple(arrays_of(found))

    def arguments(self, number: int, given: Sequence[Array]) -> Sequence[int | Array]:
        """Return the arguments of the loop function that computes a value, with results that are 0,
        or as the state that they are written over."""
        node = self.known.nodes[number]
        assert node.kernel is not None
        kinds = [each for arg in node.args for each in tensors_in(self.known.nodes[arg].type)]
        kinds += tensors_in(node.type)
        return kernel_arguments(
            node.kernel, given, kinds, lambda dim: dim_size(dim, self.sizes)
        ).all

    def _kernel(self, number: int, given: Sequence[Array]) -> Arrays:
        """Run a loop function, which writes its results to its last parameters."""
        node = self.known.nodes[number]
        func = node.kernel
        assert func is not None
        try:
            if id(func) in self._long:
                raise self._long[id(func)][1]
            done = InterpreterExecutor(KERNEL_STEPS).run(func, self.arguments(number, given))
        except StepLimit as limit:
            self._long[id(func)] = func, limit
            done = NativeExecutor(self.worker).run(func, self.arguments(number, given))
        if done.error:
            error = OutOfBounds if done.outside else IRKitError
            raise error(f"{func.name!r} fails: {done.error}")
        found = done.arrays[len(given) :]
        return found if isinstance(node.type, TupleType) else found[0]


def _without_overflow(array: Array) -> Array:
    """Replace finite floats that are very large or very small: algebra on weights, such as moving a
    power of two into them, is exact but where a product overflows or is denormal."""
    if array.dtype.kind in "iub":
        return array
    with np.errstate(all="ignore"):
        size = np.abs(array.astype(np.float64))
        extreme = np.isfinite(size) & (size != 0) & ((size > LARGE) | (size < 1 / LARGE))
    return np.where(extreme, np.where(array < 0, -3, 3).astype(array.dtype), array)


def _fan(shape: Sequence[int]) -> int:
    """Return how many products a sum over a weight has, at most: weights drawn in proportion to its
    root keep activations small, so that no operator behind them is saturated."""
    return max(1, shape[0], int(np.prod(shape[1:], dtype=np.int64)))


def _uses(known: GraphNumbering, inside: set[int]) -> dict[int, int]:
    left = dict.fromkeys(inside, 0)
    for number in inside:
        for arg in (*known.nodes[number].args, *known.nodes[number].sizes):
            left[arg] = left.get(arg, 0) + 1
    return left


def _one(value: Arrays) -> Array:
    assert not isinstance(value, tuple)
    return value


def _flat(value: Arrays) -> tuple[Array, ...]:
    return value if isinstance(value, tuple) else (value,)


def _item(kind: Type, whole: Arrays, index: int) -> Arrays:
    """Return an item of a tuple, whose arrays stand in a row."""
    assert isinstance(kind, TupleType)
    counts = [len(tensors_in(item)) for item in kind.items]
    begin = sum(counts[:index])
    part = _flat(whole)[begin : begin + counts[index]]
    return part if isinstance(kind.items[index], TupleType) else part[0]


def _wide(value: Arrays) -> Arrays:
    if isinstance(value, tuple):
        return tuple(_widened(each) for each in value)
    return _widened(value)


def _widened(array: Array) -> Array:
    narrow = array.dtype.kind not in "iub" and array.dtype.itemsize < 8
    return array.astype(np.float64) if narrow else array
