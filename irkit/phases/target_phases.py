"""The phases of a target: what a device with threads leaves out of those of a processor."""

from collections.abc import Generator

from irkit.codegen import check_blocks
from irkit.core import Target
from irkit.ir import PrimFunc
from irkit.transform import IR, Pipeline, Step

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


def with_launch_checks(
    steps: Generator[Step, None, IR], target: Target
) -> Generator[Step, None, IR]:
    """Run steps; for a device also check that blocks of a launch stay apart.

    That is known best where launches are there and buffers still have all their dimensions.
    Raises: IRKitError.
    """
    device, checked = target.device, False
    while True:
        try:
            step = next(steps)
        except StopIteration as stop:
            made: IR = stop.value
            if device is not None and not checked and isinstance(made, PrimFunc):
                check_blocks(made, device)
            return made
        if device is not None and step.name == "unify-thread-bindings":
            assert isinstance(step.after, PrimFunc)
            check_blocks(step.after, device)
            checked = True
        yield step
