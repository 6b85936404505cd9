"""The text form of pipelines, in both directions.

Before::

    0:;1:flatten-buffers,simplify;2:vectorize-loops{lanes=8},unroll-loops

After::

    Pipeline(level, (Phase(0, "raw"), Phase(1, "flat", (flatten_buffers, simplify)), ...))
"""

import msgspec

from irkit.core import IRKitError, Span
from irkit.transform.define import AnyPass
from irkit.transform.pipeline import Phase, Pipeline
from irkit.transform.registry import Registry
from irkit.transform.spec import PassSpec, parse_phases, pointed_at


def parse_pipeline(
    text: str, registry: Registry, like: Pipeline, *, imports: bool = True
) -> Pipeline:
    """Read a pipeline over the level of the pipeline ``like``.

    ``like`` also provides the names of the phases, the facts at the start and the order of passes.
    Phases that the text leaves out are absent. ``imports`` is that of :meth:`Registry.find`.
    Raises: ParseError, OptionError, or IRKitError, each with the column; IRKitError if the passes
    cannot run in this order.
    """
    return msgspec.structs.replace(like, phases=read_phases(text, registry, like, imports=imports))


def read_phases(
    text: str, registry: Registry, like: Pipeline, *, imports: bool = True
) -> tuple[Phase, ...]:
    """Read the phases of a pipeline as :func:`parse_pipeline` does, without checking the order."""
    phases: list[Phase] = []
    for number, span, specs in parse_phases(text):
        phase = _phase(like, number, text, span)
        passes = tuple(_resolved(spec, registry, text, imports) for spec in specs)
        phases.append(Phase(number, phase.name, passes))
    return tuple(phases)


def _phase(like: Pipeline, number: int, text: str, span: Span) -> Phase:
    try:
        return like.phase(number)
    except IRKitError as error:
        _point(error, text, span)
        raise


def _resolved(spec: PassSpec, registry: Registry, text: str, imports: bool) -> AnyPass:
    try:
        return registry.resolve(spec, imports=imports)
    except IRKitError as error:
        if spec.span is not None:
            _point(error, text, spec.span)
        raise


def _point(error: IRKitError, text: str, span: Span) -> None:
    """Set the place in the text on an error."""
    error.span = span
    shown = pointed_at(text, span)
    error.hint = f"{error.hint}\n  {shown}" if error.hint else shown
