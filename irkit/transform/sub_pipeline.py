"""Pipelines of the remaining passes, for a function that has been lowered part of the way."""

from collections.abc import Iterable

import msgspec

from irkit.transform.define import AnyPass
from irkit.transform.facts import Fact
from irkit.transform.order import MissingFact
from irkit.transform.pipeline import Phase, Pipeline
from irkit.transform.step import IR, functions_of


def sub_pipeline(like: Pipeline, placed: Iterable[tuple[int, AnyPass]], ir: IR) -> Pipeline:
    """Return a pipeline of some of the passes of another.

    A fact that a pass needs and no pass gives is assumed if the function, or each one of a module,
    has it. Raises: IRKitError
    if the passes cannot run in this order on this function.
    """
    kept: dict[int, list[AnyPass]] = {}
    for number, p in placed:
        kept.setdefault(number, []).append(p)
    phases = tuple(
        Phase(phase.number, phase.name, tuple(kept[phase.number]))
        for phase in like.phases
        if phase.number in kept
    )
    needed = {fact.name: fact for passes in kept.values() for p in passes for fact in p.needs}
    facts: tuple[Fact, ...] = ()
    while True:
        try:
            return msgspec.structs.replace(like, phases=phases, facts=facts)
        except MissingFact as error:
            fact = needed[error.fact]
            funcs = functions_of(ir, like.level.functions)
            if fact in facts or any(like.level.verify(f) or fact.problems(f) for f in funcs):
                raise
            facts = (*facts, fact)
