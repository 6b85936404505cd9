"""Put the checks of every access into a pipeline."""

from irkit.passes.loop import instrument_bounds
from irkit.transform import Pipeline


def with_bounds_checks(pipeline: Pipeline) -> Pipeline:
    """Check accesses as soon as blocks are gone, while each still has its own indices.

    A pipeline that does not lower blocks is for functions without; there checks come first.
    """
    if instrument_bounds.name in pipeline.names:
        return pipeline
    if "lower-blocks" in pipeline.names:
        return pipeline.insert(instrument_bounds, after="lower-blocks")
    for phase in pipeline.phases:
        if phase.passes:
            return pipeline.insert(
                instrument_bounds, phase=phase.number, before=phase.passes[0].name
            )
    return pipeline.insert(instrument_bounds, phase=pipeline.phases[0].number)
