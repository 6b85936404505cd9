"""The phases of a target: what a device with threads leaves out of those of a processor."""

from irkit.core import Target
from irkit.transform import Pipeline

FOR_PROCESSORS = ("lower-thread-loops", "serialize-inner-parallel-loops")
"""Passes that run threads on a processor, which a device does itself."""


def phases_of(target: Target, pipeline: Pipeline) -> Pipeline:
    """Return a pipeline for a target: for a device, thread loops stay, and become launches."""
    if target.device is None:
        return pipeline
    for name in FOR_PROCESSORS:
        if name in pipeline.names:
            pipeline = pipeline.without(name)
    return pipeline
