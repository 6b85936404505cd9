"""The wrong elements of a step: what was computed before and after it, and who wrote the first."""

import msgspec

from irkit.debug.check.options import CheckOptions
from irkit.debug.check.subject import Subject
from irkit.debug.check.verdict import Verdict
from irkit.debug.execution.inputs import Array, InputSet
from irkit.ir import Buffer, ElementWrites, PrimFunc, element_writes
from irkit.transform import Step

MOST_FOLLOWED = 1_000
"""Steps in which the writes of an element are followed, as a factor of those of a check."""


class FirstMismatch(msgspec.Struct, frozen=True):
    """The arrays of the buffer with the first wrong element, before and after a step, and the
    writes of that element."""

    verdict: Verdict
    expected: Array
    found: Array
    wrote_before: ElementWrites
    wrote_after: ElementWrites


def first_mismatch(step: Step, options: CheckOptions) -> FirstMismatch | Verdict:
    """Run a step on a loop function before and after, and return where the results differ; the
    verdict if they do not.

    The interpreter follows the writes, for a limited number of steps; native code tells nothing
    about single writes.
    """
    before, after = step.before, step.after
    assert isinstance(before, PrimFunc)
    assert isinstance(after, PrimFunc)
    subject = Subject(before, options)
    blank = Verdict(step.index, before.name, step.phase, step.name, step.pass_text, "same")
    verdict = subject.verdict(blank, before, after, changes_rounding=step.changes_rounding)
    at = verdict.error.at
    if verdict.status != "differs" or at is None:
        return verdict
    number = next(n for n, each in enumerate(subject.inputs) if each.name == verdict.inputs)
    place = [p.name for p in before.params if isinstance(p, Buffer)].index(verdict.buffer)
    inputs, steps = subject.inputs[number], options.max_steps * MOST_FOLLOWED
    return FirstMismatch(
        verdict,
        subject.runs[0].outcome(before, number).arrays[place],
        subject.runs[0].outcome(after, number).arrays[place],
        _writes(before, inputs, verdict.buffer, at, steps),
        _writes(after, inputs, verdict.buffer, at, steps),
    )


def _writes(
    func: PrimFunc, inputs: InputSet, buffer: str, at: tuple[int, ...], max_steps: int
) -> ElementWrites:
    number = next(
        n for n, p in enumerate(func.params) if isinstance(p, Buffer) and p.name == buffer
    )
    return element_writes(func, inputs.copied(), number, at, max_steps=max_steps)
