"""Checks of steps over graphs, where the step changed them.

What both graphs compute in the same way needs no run (``graph_numbering``). Values of the same name
are compared in order, each on drawn activations with the weights of the graph (``graph_region``);
those that agree count as the same from then on. A value that differs matters only if it reaches a
result. Results must have the same bits; those of a pass that declares that it changes rounding, as
algebra on weights does, may differ by a few rounding errors of the graph itself, which a run in f64
measures, or by the bound of the loop function that computes them now.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from irkit.core import IRKitError, IRModule
from irkit.debug.check.comparison import is_useless
from irkit.debug.check.difference import Difference, compare, identical, is_float
from irkit.debug.check.graph_numbering import CutPoint, GraphNumbering, NumberedStep
from irkit.debug.check.graphs.graph_region import GraphRegion, RegionRunner
from irkit.debug.check.options import CheckOptions
from irkit.debug.check.rounding_error.precision import Precision, unit_of
from irkit.debug.check.rounding_error.quantized_bound import allowed_steps, rounded_float
from irkit.debug.execution.executors import NativeExecutor
from irkit.debug.execution.inputs import SIZES, Array, InputKind, InputSet
from irkit.debug.execution.native_worker import NativeWorker
from irkit.graph import AbsentData, Constant, FuncType, GraphFunc, Op, TensorType, tensors_in
from irkit.ir import OutOfBounds, PrimFunc, Var
from irkit.transform import IR

ULPS = 16
OWN_ERRORS = 8
KINDS: tuple[InputKind, ...] = ("whole numbers", "fractions")
"""Kinds of the sets that every value is compared on."""
MORE_KINDS: tuple[InputKind, ...] = ("special values", "edges", "edges", "edges", "edges", "edges")
"""Kinds of the further sets for a region of at most ``FEW_ELEMENTS``; edges are whole rows of one
pattern, such as negative numbers only, which decide about maxima, padding and signs of zero."""
FEW_ELEMENTS = 1 << 14
"""Of drawn and computed values; the convolutions of a network have more, and take seconds."""
_PROVED = "the same operators on the same operands"


class _Unlike(msgspec.Struct, frozen=True):
    """How two values differ; ``error`` is that of the first wrong element."""

    error: Difference
    buffer: str
    inputs: str


def graph_of(ir: IR) -> GraphFunc | None:
    """Return the graph function that can be run: the one given, or ``main`` of a module."""
    found = ir.functions.get("main") if isinstance(ir, IRModule) else ir
    return found if isinstance(found, GraphFunc) else None


class GraphSubject:
    """A graph, to be compared with what a step makes of it."""

    def __init__(self, program: IR, options: CheckOptions, worker: NativeWorker) -> None:
        func = graph_of(program)
        assert func is not None
        self.func = func
        self.known = GraphNumbering()
        scope = self.known.enter(program, func)
        self.cuts: dict[str, CutPoint] = {}
        for bind in func.body.bindings:
            scope[bind.var] = self.known.number(bind.var, bind.step, scope)
            self.cuts[bind.var.name] = CutPoint(bind.var, scope[bind.var])
        self.result = scope[func.body.result]
        self.shared = len(self.known.nodes)
        sizes = _sizes(func, options)
        kinds: tuple[InputKind, ...] = ("given",) if options.inputs else KINDS
        more: tuple[InputKind, ...] = () if options.inputs else MORE_KINDS
        self.runners = [
            RegionRunner(
                self.known,
                kind,
                (abs(options.seed), at),
                sizes,
                options.inputs,
                worker,
                rows=at if kind == "edges" else None,
            )
            for at, kind in enumerate((*kinds, *more))
        ]
        self.always, self.sizes = len(kinds), sizes
        self.worker = worker
        self.compared = self.rounded = self.most_sets = 0
        self.unseen = False
        self.worst = Difference()
        self.changes_rounding = False

    def compare_step(self, after: IR, *, changes_rounding: bool = False) -> dict[str, Any]:
        """Compare with the graph after a step; return fields of a verdict."""
        self.compared = self.rounded = self.most_sets = 0
        self.unseen = False
        self.worst = Difference()
        self.changes_rounding = changes_rounding
        try:
            unlike = self._first_difference(after)
        except _CannotRun as error:
            return {"status": error.status, "message": error.message}
        except IRKitError as error:
            return {"status": "not known", "message": str(error)}
        native = any(runner.ran_native for runner in self.runners)
        how = "NumPy and native code" if native else "NumPy"
        made: dict[str, Any] = {"status": "same", "how": how, "error": self.worst}
        if unlike is None and not self.compared:
            return made | {"basis": "proved", "message": _PROVED}
        many = "s" if self.most_sets > 1 else ""
        made |= {"basis": "tested", "tried": f"{self.most_sets} set{many} of inputs"}
        if self.compared:
            made["tried"] += f": {self.compared} values that changed, with the graph's weights"
        if self.unseen:
            made["tried"] += "; no special values where many elements changed"
        if unlike is not None:
            where = {"buffer": unlike.buffer, "inputs": unlike.inputs}
            return made | {"status": "differs", "error": unlike.error, **where}
        return made | ({"status": "rounds differently"} if self.rounded else {})

    def _first_difference(self, after: IR) -> _Unlike | None:
        """Return the first value that differs and reaches a result, or None."""
        func = graph_of(after)
        if func is None:
            raise IRKitError("there is no graph after the step")
        scope = self.known.enter(after, func)
        unlike: dict[int, _Unlike] = {}
        pairs: dict[int, int] = {}
        for bind in func.body.bindings:
            number = self.known.number(bind.var, bind.step, scope)
            cut = self.cuts.get(bind.var.name)
            if cut is not None and number != cut.number and _can_agree(cut, bind.var.type):
                passed_on = self._passed_on(number, cut.number, pairs)
                if passed_on is not None and cut.number != self.result:
                    found = unlike[passed_on]
                else:
                    found = self._compared(cut.number, number, bind.var.name, unlike)
                if found is None:
                    number = cut.number
                else:
                    unlike[number], pairs[number] = found, cut.number
            scope[bind.var] = number
        result = scope[func.body.result]
        if result == self.result:
            return None
        if result in unlike:
            return unlike[result]
        return self._compared(self.result, result, "result", unlike)

    def _passed_on(self, number: int, before: int, pairs: Mapping[int, int]) -> int | None:
        """Return the one operand that differs, if all else of an operator is as it was; running it
        would tell nothing new about the step."""
        made, old = self.known.nodes[number], self.known.nodes[before]
        if not isinstance(made.step, Op) or not isinstance(old.step, Op):
            return None
        if (made.step.name, made.step.attrs) != (old.step.name, old.step.attrs):
            return None
        if len(made.args) != len(old.args):
            return None
        other = {pair for pair in zip(made.args, old.args, strict=True) if pair[0] != pair[1]}
        if len(other) != 1:
            return None
        ((after, was),) = other
        return after if pairs.get(after) == was else None

    def _compared(
        self, before: int, after: int, name: str, unlike: Mapping[int, _Unlike]
    ) -> _Unlike | None:
        """Compare two numbers; name the first value before it that differs, if there is one.

        Where all weights of a layer are equal, or zero, values agree whatever comes before: where
        values before them differ, they must agree with other weights after those, too.
        """
        found = self._difference(before, after, name)
        leaks = [n for n in unlike if n in self.known.cone([after], range(self.shared))]
        if found is None and leaks:
            self._redraw(self._weights_after(leaks[0], after))
            found = self._difference(before, after, name)
            self._redraw(set())
        return unlike[leaks[0]] if found is not None and leaks else found

    def _weights_after(self, first: int, last: int) -> set[int]:
        """Return the constants that are read between two values."""
        below = self.known.cone([first], frozenset())
        later = self.known.cone([last], range(self.shared)) - below
        return self._weights({n for n in later if n >= self.shared})

    def _weights(self, numbers: set[int]) -> set[int]:
        """Return the weights, of both graphs, that some operators read."""
        nodes = self.known.nodes
        read = {arg for n in numbers for arg in nodes[n].args if arg < self.shared}
        return {arg for arg in read if _is_weight(nodes[arg])}

    def _redraw(self, weights: set[int]) -> None:
        for runner in self.runners:
            runner.redrawn = frozenset(weights)

    def _difference(self, before: int, after: int, name: str) -> _Unlike | None:
        """Compare two numbers on each set of inputs; a difference must stay when the operators that
        compute what is drawn run as well, with any weights."""
        self.compared += 1
        own = self.runners[0].redrawn
        near = GraphRegion(self.known, (before, after), self.shared)
        found = self._apart(near, before, after, name)
        if found is None or not near.frontier:
            return found
        wide = GraphRegion(self.known, (before, after), self.shared, wider=True)
        inner = self._weights(near.computed)
        self._redraw({*own, *(self._weights(wide.computed - near.computed) - inner)})
        found = self._apart(wide, before, after, name)
        self._redraw(set(own))
        return found

    def _apart(self, region: GraphRegion, before: int, after: int, name: str) -> _Unlike | None:
        few = not self.changes_rounding and region.elements(self.sizes) <= FEW_ELEMENTS
        runners = self.runners if few else self.runners[: self.always]
        self.unseen |= len(runners) < len(self.runners) and not self.changes_rounding
        self.most_sets = max(self.most_sets, len(runners))
        for at, runner in enumerate(runners):
            inputs = f"{runner.kind} {at}"
            try:
                (expected,) = runner.values(region, [before])
            except IRKitError as error:
                raise _CannotRun("not known", f"the input of the step fails: {error}") from None
            try:
                (found,) = runner.values(region, [after])
            except AbsentData as error:
                raise _CannotRun("not known", str(error)) from None
            except OutOfBounds as error:
                raise _CannotRun("out of bounds", str(error)) from None
            except IRKitError as error:
                raise _CannotRun("failed", str(error)) from None
            true: Sequence[Array] | None = None
            for item, (a, b) in enumerate(zip(expected, found, strict=True)):
                if a.shape == b.shape and identical(a, b):
                    continue
                buffer = name if len(expected) == 1 else f"{name}[{item}]"
                if a.shape != b.shape:
                    message = f"{buffer!r} has shape {list(b.shape)}, expected {list(a.shape)}"
                    raise _CannotRun("failed", message)
                limit = _limit(a, a) if self.changes_rounding and is_float(a) else None
                if self.changes_rounding and not is_float(a):
                    limit = self._steps_of_rounding(runner, region, before)
                apart = compare(a, b, limit, zeros_have_signs=limit is None)
                if apart.at is not None and limit is not None and is_float(a):
                    if true is None:
                        (true,) = runner.values(region, [before], wide=True)
                    limit = _limit(a, true[item])
                    apart = compare(a, b, limit, zeros_have_signs=False)
                if apart.at is not None and limit is not None and is_float(a):
                    more = self._kernel_bound(runner, region, after, item)
                    limit = limit if more is None else limit + more
                    apart = compare(a, b, limit, zeros_have_signs=False)
                if limit is not None and is_float(a) and _says_nothing(a, limit):
                    message = f"rounding can explain any value of {buffer!r} on {inputs}"
                    raise _CannotRun("not known", message)
                if apart.at is not None:
                    return _Unlike(apart, buffer, inputs)
                self.rounded += 1
                self.worst = max(self.worst, apart, key=lambda each: each.abs)
        return None

    def _steps_of_rounding(
        self, runner: RegionRunner, region: GraphRegion, number: int
    ) -> Array | None:
        """Return by how much an integer may differ, since it is a rounded float; None if not."""
        chain = rounded_float(self.known, number)
        if not chain:
            return None
        ((own,),) = runner.values(region, [chain[-1]])
        ((true,),) = runner.values(region, [chain[-1]], wide=True)

        def value_of(each: int) -> Array:
            return runner.values(region, [each])[0][0]

        return allowed_steps(self.known, chain, own, _limit(own, true), value_of)

    def _kernel_bound(
        self, runner: RegionRunner, region: GraphRegion, number: int, item: int
    ) -> Array | None:
        """Return by how much rounding can change a result of the loop function that computes a
        value; None if none does."""
        node = self.known.nodes[number]
        if node.kernel is None:
            return None
        func = node.kernel
        given = [array for (array,) in runner.values(region, list(node.args))]
        inputs = InputSet("", "fractions", tuple(runner.arguments(number, given)))
        native = NativeExecutor(self.worker)

        def run(variant: PrimFunc, arrays: list[object]) -> list[Array] | None:
            done = native.run(variant, arrays)
            return None if done.error else list(done.arrays)

        own = native.run(func, inputs.copied()).arrays
        bounds = Precision(func).allowed(inputs, own, run)
        return bounds[len(bounds) - len(tensors_in(node.type)) + item]


class _CannotRun(IRKitError):
    """Raised when one of the graphs does not run; ``status`` is that of the verdict."""

    def __init__(self, status: str, message: str) -> None:
        self.status = status
        super().__init__(message)


def _can_agree(cut: CutPoint, kind: object) -> bool:
    if isinstance(cut.value.type, FuncType) or type(kind) is not type(cut.value.type):
        return False
    return not isinstance(kind, TensorType) or kind == cut.value.type


def _is_weight(node: NumberedStep) -> bool:
    kind = node.type
    is_array = isinstance(kind, TensorType) and kind.dtype.is_float and len(kind.shape) > 0
    return is_array and isinstance(node.step, Constant)


def _says_nothing(array: Array, limit: Array) -> bool:
    useless = is_useless(array, limit)[np.isfinite(array.astype(np.float64))]
    return bool(useless.size and useless.all())


def _limit(own: Array, true: Array) -> Array:
    with np.errstate(all="ignore"):
        apart = np.abs(own.astype(np.float64) - true)
        sizes = np.abs(true)
    errors, known = apart[np.isfinite(apart)], sizes[np.isfinite(sizes)]
    most = 2 * ULPS * unit_of(own) * (known.max() if known.size else 0.0)
    return np.full(own.shape, most + OWN_ERRORS * (errors.max() if errors.size else 0.0))


def _sizes(func: GraphFunc, options: CheckOptions) -> dict[Var, int]:
    """Choose the size of each symbolic dimension."""
    sizes: dict[Var, int] = {}
    for param in func.params:
        given = np.shape(options.inputs[param.name]) if param.name in options.inputs else ()
        for kind in tensors_in(param.type):
            for at, dim in enumerate(kind.shape):
                if isinstance(dim, Var) and dim not in sizes:
                    drawn = options.dims.get(dim.name, SIZES[len(sizes) % len(SIZES)])
                    sizes[dim] = given[at] if at < len(given) else drawn
    return sizes
