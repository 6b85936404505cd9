"""Pipelines that check every access to a buffer."""

from irkit.passes.loop import instrument_bounds
from irkit.transform import Pipeline


def with_bounds_checks(pipeline: Pipeline) -> Pipeline:
    """Return the pipeline with a check of every access after blocks are lowered, while each access
    still has its own indices.

    A pipeline that does not lower blocks is for functions without blocks: there checks come first.
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
