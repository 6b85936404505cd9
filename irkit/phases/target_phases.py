"""The phases of a target: what a device with threads leaves out of those of a processor, and what
its backend wants legalised."""

from collections.abc import Mapping

import msgspec

from irkit.codegen import Options, legalisation
from irkit.core import Target
from irkit.phases.default import DEFAULT
from irkit.phases.legalize import LEGALIZE
from irkit.transform import Fact, Pipeline

FOR_PROCESSORS = ("lower-thread-loops", "serialize-inner-parallel-loops")
"""Passes that run threads on a processor, which a device does itself."""


def phases_of(target: Target, pipeline: Pipeline) -> Pipeline:
    """Return a pipeline for a target: for a device, thread loops stay, and become launches; of
    irkit's legalisation passes, those stay that the backend declares, with its options."""
    if target.device is not None:
        for name in FOR_PROCESSORS:
            if name in pipeline.names:
                pipeline = pipeline.without(name)
        kept = tuple(fact for fact in pipeline.facts if fact not in _facts_of_processors())
        pipeline = msgspec.structs.replace(pipeline, facts=kept)
    return _legalised(pipeline, legalisation(target))


def _facts_of_processors() -> set[Fact]:
    return {
        fact for _, each in DEFAULT.placed if each.name in FOR_PROCESSORS for fact in each.gives
    }


def _legalised(pipeline: Pipeline, wanted: Mapping[str, Options]) -> Pipeline:
    for _, each in pipeline.placed:
        if each.name not in LEGALIZE.names or each.options:
            continue  # It is the user's, or has the options that the user has chosen.
        if each.name in wanted:
            pipeline = pipeline.replace(each.name, each.using(**wanted[each.name]))
        else:
            pipeline = pipeline.without(each.name)
    return pipeline
