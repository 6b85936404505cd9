"""Verify once, at the end: for runs whose steps nobody sees.

To verify after each pass takes a third of the time of lowering, and finds nothing in nearly all
runs. So passes run without it, and what the last one makes is verified. If that is invalid, or
anything is raised, all passes run again, each verified, and the error names the pass at fault.

A pipeline with a pass from elsewhere is verified after each pass: one that is being written may
make anything, and it should not run twice.
"""

import os
from collections.abc import Iterable
from typing import TypeVar

from irkit.core import Level
from irkit.transform.define import AnyPass
from irkit.transform.pipeline import Pipeline
from irkit.transform.run import Apply, apply_here, find_problems
from irkit.transform.step import IR
from irkit.transform.trace.trace_folder import VARIABLE, recorded

_T = TypeVar("_T")


def run_recorded(
    pipeline: Pipeline,
    ir: IR,
    cls: type[_T],
    levels: Iterable[Level],
    *,
    apply: Apply = apply_here,
) -> _T:
    """Run a pipeline, record its steps if ``IRKIT_TRACE`` asks for it, and return the resulting
    IR, which is of a class. If nobody can see the steps, what they make is verified at the end.

    Raises: PassFailed.
    """
    if os.environ.get(VARIABLE) or apply is not apply_here:
        written = recorded(pipeline.steps(ir, apply=apply), levels)
        while True:
            try:
                next(written)
            except StopIteration as stop:
                result = stop.value
                break
    else:
        result = run_verified_last(pipeline, ir)
    assert isinstance(result, cls), type(result).__name__
    return result


def run_verified_last(pipeline: Pipeline, ir: IR) -> IR:
    """Run all passes of a pipeline and return the IR, verified.

    Raises: PassFailed, as if it had been verified after each pass; VerificationFailed for the IR
    that is given.
    """
    if any(_is_foreign(p) for _, p in pipeline.placed):
        return pipeline.run(ir)
    try:
        after = pipeline.run(ir, verify="start")
        if not find_problems(pipeline.level, after, pipeline.gives):
            return after
    except Exception:  # Also of the verifier itself; it is raised again below, by its pass.
        pass
    return pipeline.run(ir)


def _is_foreign(p: AnyPass) -> bool:
    return not p.path.startswith("irkit.")
