"""What the verbs print with ``--json``.

Each result names its schema. The number in it grows when a field is renamed, removed or means
something else; new fields may come at any time. ``docs/json.md`` lists the fields.
"""

import math
from collections.abc import Iterable

import click
import msgspec

from irkit.core import Application, Span
from irkit.debug import (
    Culprit,
    Difference,
    StageBounds,
    StageRaces,
    TargetVerdict,
    Trust,
    Verdict,
    is_trusted,
)
from irkit.transform import Step, Trace


class StepJson(msgspec.Struct, frozen=True):
    """A step of a trace. Units: ``seconds`` is the pass alone."""

    index: int
    level: str
    phase: int
    name: str
    pass_text: str
    function: str
    changed: bool
    seconds: float
    rewrites: int


class TraceJson(msgspec.Struct, frozen=True):
    """The result of ``irkit trace``."""

    schema: str
    title: str
    versions: dict[str, str]
    damage: str
    steps: tuple[StepJson, ...]


class PairJson(msgspec.Struct, frozen=True):
    """Two steps that differ, or one that only one trace has; then there are no lines."""

    left: StepJson | None
    right: StepJson | None
    side: str
    removed: int = 0
    added: int = 0
    lines: tuple[str, ...] = ()


class DiffJson(msgspec.Struct, frozen=True):
    """The result of ``irkit diff``."""

    schema: str
    damage: tuple[str, ...]
    pairs: tuple[PairJson, ...]


class ErrorJson(msgspec.Struct, frozen=True):
    """The largest errors, null if infinite, and the first wrong element."""

    abs: float | None
    rel: float | None
    ulp: float | None
    wrong: int
    buffer: str
    at: tuple[int, ...] | None
    expected: str
    found: str


class VerdictJson(msgspec.Struct, frozen=True):
    """What is known of one step."""

    index: int
    level: str
    phase: int
    name: str
    pass_text: str
    function: str
    changed: bool
    status: str
    basis: str
    message: str
    inputs: str
    how: str
    tried: str
    order: str
    branches: int
    unproved: str
    guilty: str
    trust: Trust | None
    error: ErrorJson


class FormJson(msgspec.Struct, frozen=True):
    """The verdicts on one form of the program: as recorded, as written, or with the automatic
    schedule."""

    loops: str
    trusted: bool
    verdicts: tuple[VerdictJson, ...]


class FindingJson(msgspec.Struct, frozen=True):
    """What was proved of an access, or of a loop without an order."""

    kind: str
    text: str
    status: str
    how: str
    message: str
    file: str | None
    line: int | None


class StageJson(msgspec.Struct, frozen=True):
    """What was proved of a function as given, or after a pass. ``asked``: bounds or races."""

    asked: str
    stage: str
    function: str
    wrong: bool
    findings: tuple[FindingJson, ...]


class LineJson(msgspec.Struct, frozen=True):
    """The first line that stores something else on one target than on the other."""

    number: int
    text: str
    entry: int
    place: int | None
    values: dict[str, str]
    branched: bool
    other: str
    written: str


class TargetJson(msgspec.Struct, frozen=True):
    """What is known of a function on two targets."""

    loops: str
    function: str
    first: str
    second: str
    status: str
    message: str
    inputs: str
    tried: str
    right: str
    line: LineJson | None
    error: ErrorJson


class CheckJson(msgspec.Struct, frozen=True):
    """The result of ``irkit check``. With --bounds or --races it has stages and no forms, and with
    --target targets and no forms."""

    schema: str
    damage: str
    ok: bool
    forms: tuple[FormJson, ...] = ()
    stages: tuple[StageJson, ...] = ()
    targets: tuple[TargetJson, ...] = ()


class RewriteJson(msgspec.Struct, frozen=True):
    """A guilty rewrite, numbered from 0 among those of the pass."""

    number: int
    rule: str
    file: str | None
    line: int | None


class BisectJson(msgspec.Struct, frozen=True):
    """The result of ``irkit bisect``; without a guilty step, ``verdict`` is null.

    ``trust`` is that in the result without the guilty rewrites; ``kept`` are the verdicts with a
    number of trust on the steps before it.
    """

    schema: str
    damage: str
    loops: str = ""
    verdict: VerdictJson | None = None
    rewrites: tuple[RewriteJson, ...] = ()
    of: int = 0
    note: str = ""
    diff: tuple[str, ...] = ()
    trust: Trust | None = None
    kept: tuple[VerdictJson, ...] = ()


def echo_json(result: msgspec.Struct) -> None:
    """Print a result as one line of JSON."""
    click.echo(msgspec.json.encode(result))


def trace_json(loaded: Trace) -> TraceJson:
    """Return the list of steps of a trace."""
    steps = tuple(map(step_json, loaded))
    return TraceJson("irkit.trace/1", loaded.title, dict(loaded.versions), loaded.damage, steps)


def step_json(step: Step) -> StepJson:
    """Return a step as it stands in results."""
    return StepJson(
        step.index,
        step.level.name,
        step.phase,
        step.name,
        step.pass_text,
        step.function,
        step.changed,
        step.seconds,
        step.applications,
    )


def diff_json(damage: Iterable[str], pairs: Iterable[PairJson]) -> DiffJson:
    """Return the differences of two traces; ``damage`` is that of the first and the second."""
    return DiffJson("irkit.diff/1", tuple(damage), tuple(pairs))


def check_json(
    ok: bool,
    damage: str,
    *,
    forms: Iterable[FormJson] = (),
    stages: Iterable[StageJson] = (),
    targets: Iterable[TargetJson] = (),
) -> CheckJson:
    """Return what a check found."""
    return CheckJson("irkit.check/1", damage, ok, tuple(forms), tuple(stages), tuple(targets))


def form_json(loops: str, found: Iterable[Verdict]) -> FormJson:
    """Return the verdicts on one form of a program."""
    known = tuple(found)
    return FormJson(loops, is_trusted(known), tuple(map(verdict_json, known)))


def verdict_json(each: Verdict) -> VerdictJson:
    """Return a verdict on a step."""
    return VerdictJson(
        index=each.index,
        level=each.level,
        phase=each.phase,
        name=each.name,
        pass_text=each.pass_text,
        function=each.function,
        changed=each.changed,
        status=each.status,
        basis=each.basis,
        message=each.message,
        inputs=each.inputs,
        how=each.how,
        tried=each.tried,
        order=each.order,
        branches=each.branches,
        unproved=each.unproved,
        guilty=each.guilty,
        trust=each.trust,
        error=_error(each.error, each.buffer),
    )


def target_json(loops: str, each: TargetVerdict) -> TargetJson:
    """Return what is known of a function on two targets."""
    line = each.line
    return TargetJson(
        loops=loops,
        function=each.function,
        first=each.first,
        second=each.second,
        status=each.status,
        message=each.message,
        inputs=each.inputs,
        tried=each.tried,
        right=each.right,
        line=None
        if line is None
        else LineJson(
            line.number,
            line.text.strip(),
            line.entry,
            line.place,
            line.values,
            line.branched,
            line.other.strip(),
            line.written,
        ),
        error=_error(each.error, each.buffer),
    )


def _error(error: Difference, buffer: str) -> ErrorJson:
    return ErrorJson(
        _finite(error.abs),
        _finite(error.rel),
        _finite(error.ulp),
        error.wrong,
        buffer,
        error.at,
        error.expected,
        error.found,
    )


def bounds_json(stage: StageBounds) -> StageJson:
    """Return what is known of the accesses of a stage."""
    findings = tuple(
        FindingJson(each.kind, each.text, each.status, each.how, each.message, *_place(each.span))
        for each in stage.accesses
    )
    return StageJson("bounds", stage.stage, stage.function, stage.is_wrong, findings)


def races_json(stage: StageRaces) -> StageJson:
    """Return what is known of the loops without an order of a stage."""
    findings = tuple(
        FindingJson(
            each.kind, each.loop.var.name, each.status, each.how, each.message, *_place(each.span)
        )
        for each in stage.loops
    )
    return StageJson("races", stage.stage, stage.function, stage.is_wrong, findings)


def bisect_json(
    damage: str, loops: str = "", found: Culprit | None = None, kept: Iterable[Verdict] = ()
) -> BisectJson:
    """Return the pass and the rewrites that break a program, if there is one."""
    trusted = tuple(verdict_json(each) for each in kept if each.trust is not None)
    if found is None:
        return BisectJson("irkit.bisect/1", damage, kept=trusted)
    return BisectJson(
        "irkit.bisect/1",
        damage,
        loops,
        verdict_json(found.verdict),
        tuple(map(_rewrite, found.rewrites)),
        found.of,
        found.note,
        tuple(found.diff()),
        found.trust,
        trusted,
    )


def _rewrite(each: Application) -> RewriteJson:
    return RewriteJson(each.number, each.rule, *_place(each.span))


def _place(span: Span | None) -> tuple[str | None, int | None]:
    return (None, None) if span is None else (span.file, span.line)


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
