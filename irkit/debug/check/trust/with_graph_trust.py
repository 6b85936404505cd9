"""A number of trust for a step over a graph."""

import time

from irkit.core import IRModule
from irkit.debug.check.graphs.graph_subject import GraphSubject
from irkit.debug.check.trust.graph_mutants import GraphMutant, graph_mutants
from irkit.debug.check.trust.with_trust import LEAST_SECONDS, MOST_MUTANTS, SHOWN
from irkit.debug.check.verdict import WRONG, Trust
from irkit.graph import GRAPH_LEVEL, GraphFunc
from irkit.transform import IR


def graph_trust(
    subject: GraphSubject, after: IR, result: GraphFunc, *, changes_rounding: bool, seconds: float
) -> Trust | None:
    """Return how many mutants of the result of a step, ``after``, the inputs tell from it.

    Mutants that compute the same by their numbers are left out. No more than ``seconds`` of
    processor time are spent. Units: seconds.
    """
    end = time.process_time() + max(seconds, LEAST_SECONDS)
    killed, survivors = 0, list[GraphMutant]()
    for mutant in graph_mutants(subject.func, result):
        if killed + len(survivors) >= MOST_MUTANTS or time.process_time() >= end:
            break
        if GRAPH_LEVEL.verify(mutant.func):
            continue
        program: IR = mutant.func
        if isinstance(after, IRModule):
            program = after.with_functions({result.name: mutant.func})
        found = subject.compare_step(program, changes_rounding=changes_rounding)
        if found["status"] in WRONG:
            killed += 1
        elif found.get("basis") == "tested":
            survivors.append(mutant)
    if not killed and not survivors:
        return None
    shown = tuple(map(str, survivors[:SHOWN]))
    return Trust(killed, killed + len(survivors), shown)
