"""Judge a graph or an ONNX model: NumPy, the graph interpreter before and after the graph passes,
and native code twice, with the memory plan.

Arrays lie where the plan says, so there are no guard pages between them.
"""

from typing import Any

import msgspec
import numpy as np

from irkit.codegen import compile_object, emit, emit_executor
from irkit.core import Function, IRKitError, IRModule, walk
from irkit.debug import check
from irkit.frontend.onnx import import_onnx
from irkit.fuzz.generators.sample import Sample
from irkit.fuzz.generators.sample_file import arrays_by_digest
from irkit.fuzz.judge.agreement import difference
from irkit.fuzz.judge.loops import target_of
from irkit.fuzz.judge.memory_plan import main_graph, overwritten, values_of
from irkit.fuzz.judge.outcome import WrongSample
from irkit.fuzz.judge.progress import Optimise, TierProgress, always
from irkit.graph import (
    GRAPH_LEVEL,
    GraphFunc,
    arrays_of,
    interpret,
    parse_module,
)
from irkit.ir import PrimFunc, Var, bits_of
from irkit.phases import DEFAULT, LEGALIZE, compile, for_target
from irkit.runtime import Cache, Model, rows_of
from irkit.transform import IR, PassFailed, Pipeline, Step, functions_of

_LOWER, _PLAN = "lower-to-loops", "plan-memory"
_NO_PASSES = Pipeline(GRAPH_LEVEL, ())


class ModelCase:
    """A model on its way through the tiers."""

    def __init__(self, sample: Sample, progress: TierProgress) -> None:
        self.sample, self.progress = sample, progress
        self.steps: list[Step] = []
        self.about = ""
        # As for native code, which is made from its result.
        self.pipeline = for_target(sample.pipeline, target_of(3))
        self.wanted: list[list[Any]] = []
        self.model: Model | None = None
        """The model as unoptimised native code, if it was made."""
        with progress.running("draw"):
            try:
                self.module = module_of(sample)
            except IRKitError as error:
                status = "invalid" if sample.may_be_refused else "failed"
                raise WrongSample(status, f"the importer refuses it: {error}") from None
        self.scheduled = self.lowered = self.module

    @property
    def made(self) -> IRModule:
        """Return what the pipeline made."""
        return self.lowered

    @property
    def functions(self) -> tuple[Function, ...]:
        """Return the functions as drawn and as lowered."""
        modules = (self.module, self.lowered)
        return tuple(func for module in modules for func in module.functions.values())

    def read_again(self) -> IRModule:
        """Return the module read back from its text."""
        constants = arrays_by_digest(functions_of(self.module))
        return parse_module(self.module.script(), constants=constants)

    def run(self, *, native: bool = True, optimise: Optimise = always) -> None:
        """Run all tiers, or all but native code. Raises: WrongSample."""
        with self.progress.running("interpreter"):
            self._interpret_as_drawn()
        with self.progress.running("lower"):
            after: IR = self.module
            apply = self.progress.apply
            self.steps = list(self.pipeline.steps(self.module, verify=False, apply=apply))
            for step in self.steps:
                after = step.applied_to(after)
            assert isinstance(after, IRModule)
            self.lowered = after
            self.progress.fired = [step.name for step in self.steps if step.changed]
        with self.progress.running("lowered"):
            self._look_at_lowered(after)
        planned = {_LOWER, _PLAN} <= set(self.sample.pipeline.names)
        if native and planned and _is_fixed(self.module):
            with self.progress.running("O0"):
                model = self.model = _compiled(after)
            with self.progress.running("lowered"):  # Native code can write anywhere, unseen.
                self.interpret(_with_kernels(after, model))
            with self.progress.running("O0"):
                self._compare_native(model)
            texts = _texts(model)
            if optimise("\n".join(texts)):
                with self.progress.running("O3"):
                    self._compare_native(_optimised(model, texts))

    def _interpret_as_drawn(self) -> None:
        for number in range(len(self.sample.inputs)):
            try:
                found = self._results(self.module, number)
            except IRKitError as error:
                known = self.sample.expected[number] is not None
                raise WrongSample("failed" if known else "invalid", str(error)) from None
            expected = self.sample.expected[number]
            self.wanted.append(list(found if expected is None else expected))
            why = self._disagreement(number, found)
            if why:
                raise WrongSample("mismatch", f"the interpreter disagrees with NumPy: {why}")

    def _results(self, program: IR, number: int) -> list[Any]:
        assert isinstance(program, (IRModule, GraphFunc))
        with np.errstate(all="ignore"):
            result = interpret(program, self._bits(number))
        return [np.asarray(array) for array in arrays_of(result)]

    def _bits(self, number: int) -> list[Any]:
        """Return an input set as graphs take it: of narrow types the bits."""
        return [bits_of(np.asarray(each)) for each in self.sample.inputs[number].copied()]

    def _disagreement(self, number: int, found: list[Any]) -> str:
        wanted, allowed = self.wanted[number], self.sample.allowed[number]
        if len(wanted) != len(found):
            return f"there are {len(found)} results, expected {len(wanted)}"
        for at, (a, b) in enumerate(zip(wanted, found, strict=True)):
            limit = allowed[at] if allowed else None
            why = difference(*_comparable(a, b), limit, signs=self.sample.zeros_have_signs)
            if why:
                return f"result {at}{why} (inputs: {self.sample.inputs[number].name})"
        return ""

    def interpret(self, program: IR, named: str = "") -> None:
        """Interpret a lowered form of the model, its kernels too. Raises: WrongSample."""
        for number in range(len(self.sample.inputs)):
            try:
                found = self._results(program, number)
            except IRKitError as error:
                raise WrongSample("failed", str(error), named) from None
            why = self._disagreement(number, found)
            if why:
                raise WrongSample("mismatch", why, named)

    def _look_at_lowered(self, program: IR) -> None:
        """Interpret the lowered model, and check that each value is in place when it is used:
        native code that overwrites one, or writes beyond the arena, may go unseen."""
        if _PLAN not in self.sample.pipeline.names:
            return self.interpret(program)
        main = main_graph(program)[1]
        for number in range(len(self.sample.inputs)):
            try:
                known = values_of(program, self._bits(number))
            except IRKitError as error:
                raise WrongSample("failed", str(error)) from None
            found = [np.asarray(array) for array in arrays_of(known[main.body.result.name])]
            why = self._disagreement(number, found)
            if why:
                raise WrongSample("mismatch", why)
            lost = overwritten(program, known)
            if lost:
                raise WrongSample("failed", f"{lost!r} is not in place when it is used", _PLAN)
        return None

    def _compare_native(self, model: Model) -> None:
        for number, inputs in enumerate(self.sample.inputs):
            names = [spec.name for spec in model.plan.inputs]
            given = dict(zip(names, inputs.copied(), strict=True))
            caches = in_caches(model, given)
            try:
                found = model.run({**given, **caches})
            except IRKitError as error:
                raise WrongSample("failed", str(error)) from None
            why = self._disagreement(number, list(found.values()))
            if not why:
                why = _beside(model, caches)
            if why:
                raise WrongSample("mismatch", f"native code: {why}")

    def after_each_pass(self) -> None:
        """Verify and interpret after each pass. Raises: WrongSample, with the name."""
        whole: IR = self.module
        for step in self.sample.pipeline.steps(self.module):
            whole = step.applied_to(whole)
            if step.changed:
                self.interpret(whole, step.name)

    def kernels_after_each_pass(self) -> None:
        """Lower as for native code; interpret the model after each pass, and its kernels after each
        of theirs, with arguments of their own. Raises: WrongSample, with the name; PassFailed."""
        whole: IR = self.module
        for step in self.pipeline.steps(self.module):
            whole = step.applied_to(whole)
            if step.changed:
                self.interpret(whole, step.name)
        assert isinstance(whole, IRModule)
        for name, func in whole.functions.items():
            if isinstance(func, PrimFunc):
                _look_at_kernel(func.replace(name=name))


def in_caches(model: Model, given: dict[str, Any]) -> dict[str, Cache]:
    """Return the inputs that are caches, in memory with room for their capacity, of which what is
    not in use has bytes of 7."""
    found: dict[str, Cache] = {}
    for pair in model.plan.state:
        if pair.capacity:
            name = model.plan.inputs[pair.param].name
            rows = np.asarray(given[name])
            shape = (*rows.shape[: pair.axis], pair.capacity, *rows.shape[pair.axis + 1 :])
            room = np.full((*shape, rows.itemsize), 7, np.uint8).view(rows.dtype)[..., 0]
            found[name] = Cache(room, rows.shape[pair.axis])
            rows_of(room, pair.axis, rows.shape[pair.axis])[...] = rows
    return found


def _beside(model: Model, caches: dict[str, Cache]) -> str:
    """Return what is wrong with the caches after a run: their lengths, or what is not in use."""
    for pair in model.plan.state if caches else ():
        cache = caches.get(model.plan.inputs[pair.param].name)
        if cache is None:
            continue
        rows = model.plan.outputs[pair.result].extents[pair.axis]
        if cache.length != rows:
            return f" has {cache.length} rows in its cache, expected {rows}"
        unused = np.delete(cache.array, range(rows), pair.axis)
        if (np.ascontiguousarray(unused).view(np.uint8) != 7).any():
            return " wrote behind the rows of its cache"
    return ""


def _comparable(wanted: Any, found: Any) -> tuple[Any, Any]:
    """Return two arrays as they are, or as what the bits of a narrow type stand for: a graph has
    only the bits, and there are several NaN."""
    wanted = np.asarray(wanted)
    if bits_of(wanted) is wanted or found.itemsize != 1:
        return wanted, found
    return wanted.astype(np.float32), found.view(wanted.dtype).astype(np.float32)


def _look_at_kernel(func: PrimFunc) -> None:
    steps, failure = list[Step](), None
    try:
        for step in DEFAULT.then(LEGALIZE).steps(func):
            steps.append(step)
    except PassFailed as error:
        failure = error
    for verdict in check(steps, native=False):
        if verdict.is_wrong:
            raise WrongSample("mismatch", f"{func.name}: {verdict}", verdict.name)
    if failure is not None:
        raise failure


def _compiled(lowered: IR) -> Model:
    """Compile a model, unoptimised."""
    assert isinstance(lowered, IRModule)
    try:
        return compile(lowered, target=target_of(0), graph_pipeline=_NO_PASSES, verify=False)
    except IRKitError as error:
        if isinstance(error, PassFailed):
            raise
        raise WrongSample("failed", str(error)) from None


def _is_fixed(module: IRModule) -> bool:
    """Return True if all extents are known: only such a model becomes native code."""
    return not any(
        isinstance(node, Var)
        for func in module.functions.values()
        if isinstance(func, GraphFunc)
        for param in func.params
        for node in walk(param.type)
    )


def _with_kernels(lowered: IR, model: Model) -> IR:
    """Return the module with the kernels that were lowered for it."""
    whole = lowered
    for step in model.trace.steps:
        whole = step.applied_to(whole)
    return whole


def _texts(model: Model) -> list[str]:
    """Return the LLVM IR of the kernels of a model, and of what calls them."""
    target = target_of(3)
    kernels = {step.function: step.after for step in model.trace.steps if step.function != "main"}
    funcs = [kernels[name] for name in dict.fromkeys(call.kernel for call in model.plan.calls)]
    texts = [emit([func], target) for func in funcs if isinstance(func, PrimFunc)]
    return [*texts, emit_executor(model.plan)]


def _optimised(model: Model, texts: list[str]) -> Model:
    """Compile a model again, optimised."""
    target = target_of(3)
    objects = tuple(compile_object(text, target) for text in texts)
    return Model(msgspec.structs.replace(model.contents, objects=objects, target=target))


def module_of(sample: Sample) -> IRModule:
    """Return a graph as a module; ONNX is imported. Raises: IRKitError for a bad model."""
    match sample.ir:
        case IRModule():
            return sample.ir
        case GraphFunc():
            return IRModule({"main": sample.ir})
        case bytes():
            return import_onnx(sample.ir)
        case _:
            raise AssertionError(f"a {type(sample.ir).__name__} is no model")


def is_model(program: object) -> bool:
    """Return True if a program is a graph or an ONNX model."""
    return isinstance(program, (GraphFunc, IRModule, bytes)) and not isinstance(program, str)
