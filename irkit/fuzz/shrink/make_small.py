"""Shrink a failing sample: other choices, fewer passes, then less of the program.

First the choices that it was drawn from are made fewer and lower, which works for each kind. Then
passes are left out, and a loop function is taken apart by :func:`irkit.debug.reduce`.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import msgspec
import numpy as np
import onnx
from google.protobuf.message import DecodeError

from irkit.core import IRKitError, IRModule, walk
from irkit.debug import FailingCase, Family, InputSet, Search, reduce
from irkit.fuzz.generators.sample import Numbered, Sample, Unusable
from irkit.fuzz.judge.outcome import Outcome
from irkit.fuzz.shrink.choices import Choices, shrink_choices
from irkit.fuzz.shrink.forked_judge import Judge
from irkit.fuzz.shrink.graphs import GRAPH_FAMILIES
from irkit.fuzz.shrink.models import MODEL_FAMILIES
from irkit.fuzz.shrink.texts import TEXT_FAMILIES
from irkit.graph import Bind, GraphFunc, GraphIf, Invoke, Op
from irkit.ir import Block, PrimFunc

SECONDS = 20.0
CANDIDATES = 3_000
Redraw = Callable[[Choices], Sample]


class SampleSize(msgspec.Struct, frozen=True):
    """The size of a shrunk sample: ``stages`` are blocks, or operators of a graph or a model;
    ``steps`` are those of the schedule; ``tried`` counts candidates."""

    stages: int
    steps: int
    passes: int
    tried: int

    def __str__(self) -> str:
        return (
            f"{self.stages} stages, {self.steps} schedule steps, {self.passes} passes "
            f"(after {self.tried} candidates)"
        )


class SmallSample(msgspec.Struct, frozen=True, eq=False):
    """The smallest sample found, what is wrong with it, and its size."""

    sample: Sample
    outcome: Outcome
    size: SampleSize


def make_small(
    sample: Sample,
    outcome: Outcome,
    judge_sample: Judge,
    *,
    choices: Choices = (),
    redraw: Redraw | None = None,
    seconds: float = SECONDS,
) -> SmallSample:
    """Shrink a sample while, as far as can be seen, the same fault remains.

    ``judge_sample`` judges a candidate; it must survive whatever candidates do. With ``redraw``,
    samples are drawn anew, from fewer ``choices``. Each of the four searches takes at most
    ``seconds``.
    """
    search = _SampleSearch(sample, outcome, judge_sample, seconds)
    if redraw is not None and choices:
        drawn = redraw  # Bound once, for the type checker.

        def holds(made: Choices) -> bool:
            try:
                return search.takes(drawn(made))
            except (Unusable, IRKitError):
                return False

        shrink_choices(choices, holds, seconds=seconds, candidates=CANDIDATES)
    is_file = sample.damaged or isinstance(sample.ir, (str, Numbered))
    if sample.damaged:
        search.cut(TEXT_FAMILIES)
    elif not is_file:
        search.cut(_PASSES)
    if isinstance(search.best.ir, PrimFunc) and search.best.inputs:
        search.take_apart()
    elif not is_file:
        search.cut(MODEL_FAMILIES if isinstance(search.best.ir, bytes) else GRAPH_FAMILIES)
    best = search.best
    size = SampleSize(
        _stages(best),
        sum(not each.primitive.startswith("get_") for each in best.schedule.steps),
        0 if is_file else len(best.pipeline.placed),
        search.tried,
    )
    return SmallSample(best, search.outcome, size)


class _SampleSearch:
    def __init__(
        self, sample: Sample, outcome: Outcome, judge_sample: Judge, seconds: float
    ) -> None:
        self.wanted = self.outcome = outcome
        self.best, self.judge_sample, self.tried = sample, judge_sample, 0
        self.seconds = seconds

    def takes(self, sample: Sample) -> bool:
        """Keep a sample as the best if the same is wrong with it."""
        self.tried += 1
        found = self.judge_sample(sample)
        if not _is_like(self.wanted, found):
            return False
        self.best, self.outcome = sample, found
        return True

    def cut(self, families: Sequence[Family[Sample]]) -> None:
        """Leave out parts of a sample while the same is wrong with it."""
        search = Search(self.takes, _key, seconds=self.seconds, candidates=CANDIDATES)
        search.run(self.best, families)

    def take_apart(self) -> None:
        """Take statements, loops and numbers out of a loop function, and steps out of its schedule,
        with one set of inputs.

        The result is compared bit for bit, so numbers with a tolerance are left alone: other
        rounding would pass for the fault.
        """
        for inputs, allowed in zip(self.best.inputs, self.best.allowed, strict=True):
            if self.wanted.status == "mismatch" and any(each is not None for each in allowed):
                continue
            assert isinstance(self.best.ir, PrimFunc)
            names = [param.name for param in self.best.ir.params]
            given = dict(zip(names, map(np.asarray, inputs.args), strict=True))
            case = FailingCase(self.best.ir, self.best.pipeline, given, self.best.schedule)
            if not self.holds(case):
                continue  # Another set shows it, or only NumPy's results of the program do.
            try:
                reduce(case, self.holds, seconds=self.seconds, candidates=CANDIDATES)
            except IRKitError:
                continue
            return

    def holds(self, case: FailingCase) -> bool:
        """Return True if the same is wrong with a case."""
        return self.takes(_sample_of(case, self.best))


def _sample_of(case: FailingCase, like: Sample) -> Sample:
    args: list[Any] = case.args
    return Sample(
        like.kind,
        case.func,
        case.pipeline,
        case.schedule,
        (InputSet("reduced", "given", tuple(args)),),
        (None,),
        ((),),
        zeros_have_signs=like.zeros_have_signs,
    )


def _is_like(wanted: Outcome, found: Outcome) -> bool:
    """Return True if two outcomes show the same fault, as far as can be seen."""
    if not found.is_finding or wanted.status != found.status:
        return False
    if wanted.named or found.named:
        return wanted.named == found.named
    return wanted.tier == found.tier


def _key(sample: Sample) -> tuple[object, ...]:
    ir = sample.ir if isinstance(sample.ir, (str, bytes)) else sample.ir.script()
    return ir, str(sample.pipeline)


def _names(sample: Sample) -> list[str]:
    """List the passes of a sample, the last ones first."""
    return [p.name for _, p in reversed(sample.pipeline.placed)]


def _without(sample: Sample, names: Sequence[str]) -> Sample | None:
    """Remove passes that can be removed: another pass may need what one gives."""
    left = sample.pipeline
    for name in names:
        with suppress(IRKitError):
            left = left.without(name)
    return None if left is sample.pipeline else msgspec.structs.replace(sample, pipeline=left)


_PASSES: tuple[Family[Sample], ...] = (Family("passes", _names, _without),)


def _stages(sample: Sample) -> int:
    if isinstance(sample.ir, PrimFunc):
        blocks = sum(1 for _ in walk(sample.ir, on=Block))
        return blocks or 1
    graphs = sample.ir.functions.values() if isinstance(sample.ir, IRModule) else (sample.ir,)
    found = [each for each in graphs if isinstance(each, GraphFunc)]
    if found:
        steps = (bind.step for each in found for bind in walk(each.body, on=Bind))
        return sum(isinstance(step, (Op, Invoke, GraphIf)) for step in steps) or 1
    if isinstance(sample.ir, bytes):
        return _nodes(sample.ir)
    return 1


def _nodes(data: bytes) -> int:
    try:
        return len(onnx.load_model_from_string(data).graph.node) or 1
    except DecodeError:
        return 1
