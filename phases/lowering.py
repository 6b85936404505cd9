"""Run the phases on a function or a module."""

from typing import TypeVar

from irkit.core import IRModule
from irkit.ir import PrimFunc
from irkit.phases.default import DEFAULT
from irkit.transform import Apply, Pipeline, Trace, apply_here

_IR = TypeVar("_IR", PrimFunc, IRModule)


def lower(
    ir: _IR,
    *,
    pipeline: Pipeline = DEFAULT,
    stop_after: int | None = None,
    apply: Apply = apply_here,
) -> _IR:
    """Run all phases, or those up to ``stop_after``; a function gives a function, a module a
    module.

    ``apply`` says how a pass is run, such as :class:`irkit.debug.Isolation` does.
    Raises: PassFailed if a pass breaks the program; it names the pass.
    """
    return _chosen(pipeline, stop_after).run(ir, apply=apply)


def trace(ir: _IR, *, pipeline: Pipeline = DEFAULT, stop_after: int | None = None) -> Trace:
    """Run the phases as :func:`lower` does, and keep every step."""
    title = ir.name if isinstance(ir, PrimFunc) else ""
    return Trace.of(_chosen(pipeline, stop_after).steps(ir), title=title)


def _chosen(pipeline: Pipeline, stop_after: int | None) -> Pipeline:
    return pipeline if stop_after is None else pipeline.stop_after(stop_after)
