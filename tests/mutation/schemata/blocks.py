"""A block of cases in a process of its own: run each with no mutant on, then again with each mutant
that it infects.

Mutants take turns in one process, because a fork costs more than a case. One that crashes or hangs
ends the process, and the last report says which it was. What seems to be found is confirmed in a
fork of its own, and by the same case with no mutant on.

This module is imported anew together with the changed modules.
"""

from collections.abc import Callable
from functools import partial
from time import perf_counter

import msgspec
from msgspec.structs import replace

from irkit.fuzz.generators.sample import Sample
from irkit.fuzz.judge.outcome import DEATHS, Outcome
from irkit.fuzz.judge.progress import tier_and_pass
from irkit.processes import ChildDied, Limits, report, run_in_fork
from tests.mutation.schemata.cases import (
    Observed,
    draw_case,
    forget_case,
    install_recorder,
    mutant_on,
    observe,
    observe_with,
)
from tests.mutation.schemata.messages import AloneOrder, BlockOrder, BlockResult, Found
from tests.mutation.schemata.switches import NONE, SWITCHES

_MEMORY = 6 << 30
_QUIET = 30.0
"""Seconds that a tier of one case may take."""
_ALONE = Limits(60.0, _MEMORY)
_FULL = 40
"""A mutant is judged in every case that infects it up to this number, then ever less often."""
_MESSAGE = 300
_REDRAWN = 4
"""One case in this many is drawn anew with a mutant that drawing infects; in the others the sample
is that of the original."""


def judge_block(order: BlockOrder) -> BlockResult:
    """Judge a block of cases in forks of this process, which has one thread."""
    install_recorder()
    total = BlockResult(order.first)
    lost = set[int]()
    while total.next < order.end:
        alive = {k: n for k, n in order.alive.items() if k not in lost}
        rest = replace(order, first=total.next, alive=alive)
        part, died = _in_fork(partial(_work, rest), rest)
        if died is not None and part.now == NONE:
            part.unclean.append(f"case {part.next}: {died.message}")
            part.next += 1
        elif died is not None:
            status = DEATHS[died.kind]
            tier, named = tier_and_pass(died.report.rpartition("\n")[2])
            found = (part.now, part.next, status, tier, named, died.message, part.redrawn)
            part.found.append(Found(*found))
        confirmed = [found for found in part.found if _is_confirmed(order.seed, found)]
        part.dismissed += [found for found in part.found if found not in confirmed]
        part.found = confirmed
        lost |= {found.mutant for found in (*part.found, *part.dismissed)}
        total.add(part)
    return total


def _in_fork(work: Callable[[], bytes], order: BlockOrder) -> tuple[BlockResult, ChildDied | None]:
    try:
        done = run_in_fork(work, Limits(None, _MEMORY), quiet=_QUIET)
        return msgspec.json.decode(done, type=BlockResult), None
    except ChildDied as died:
        state = died.report.partition("\n")[0]
        last = msgspec.json.decode(state, type=BlockResult) if state else BlockResult(order.first)
        return last, died


def _work(order: BlockOrder) -> bytes:
    block = _Block(order)
    for number in range(order.first, order.end):
        block.judge_case(number)
    return msgspec.json.encode(block.result)


class _Block:
    """A block of cases in this process; ``result`` counts the cases that are done."""

    def __init__(self, order: BlockOrder) -> None:
        self.order = order
        self.result = BlockResult(order.first)
        self.alive = dict(order.alive)
        self._said = ""

    def judge_case(self, number: int) -> None:
        """Run a case, and again with each mutant that it infects."""
        forget_case()
        self._turn_to(number, NONE)
        with SWITCHES.watching():
            drawn = draw_case(self.order.seed, number, on_tier=self._on_tier)
        reached, infected_draw = set(SWITCHES.reached), set(SWITCHES.infected)
        with SWITCHES.watching():
            clean = observe(drawn, number, on_tier=self._on_tier)
        reached |= SWITCHES.reached
        infected = set(SWITCHES.infected)
        made = BlockResult(number + 1, cases=1, unusable=int(clean is None))
        if clean is not None and clean.outcome.is_finding:
            made.unclean.append(f"case {number}: {clean.outcome.symptom}: {clean.outcome.message}")
            return self.result.add(made)
        for mutant in sorted(self.alive):
            made.reached[mutant] = int(mutant in reached)
            if mutant in infected or mutant in infected_draw:
                made.infected[mutant] = 1
                self.alive[mutant] += 1
                if is_wanted(self.alive[mutant], number):
                    again = mutant in infected_draw and (
                        mutant not in infected or not number % _REDRAWN
                    )
                    self._judge_mutant(drawn, clean, number, mutant, again, made)
        return self.result.add(made)

    def _judge_mutant(
        self,
        drawn: Sample | Outcome | None,
        clean: Observed | None,
        number: int,
        mutant: int,
        redrawn: bool,
        made: BlockResult,
    ) -> None:
        self._turn_to(number, mutant, redrawn)
        known = frozenset[str]() if clean is None else clean.texts
        with mutant_on(mutant):
            if redrawn:
                drawn = draw_case(self.order.seed, number, on_tier=self._on_tier)
            found = observe(drawn, number, known=known, on_tier=self._on_tier)
        made.judged[mutant] = 1
        digests = [None if each is None else each.digest for each in (found, clean)]
        made.changed[mutant] = int(digests[0] != digests[1])
        if found is not None and found.outcome.is_finding:
            self.result.found.append(found_by(mutant, number, found.outcome, redrawn))
            del self.alive[mutant]

    def _turn_to(self, number: int, mutant: int, redrawn: bool = False) -> None:
        """Report what is done, and which mutant comes next."""
        self.result.next, self.result.now, self.result.redrawn = number, mutant, redrawn
        self._said = msgspec.json.encode(self.result).decode()
        report(self._said)

    def _on_tier(self, tier: str) -> None:
        report(f"{self._said}\n{tier}")


def is_wanted(infected: int, number: int) -> bool:
    """Return True if a mutant that was infected so often is to be judged in a case: in all at
    first, and then in about as many of the next hundred as of the next thousand."""
    return infected <= _FULL or not number % (infected // _FULL)


def found_by(mutant: int, number: int, outcome: Outcome, redrawn: bool) -> Found:
    """Return what an outcome says of a mutant."""
    said = outcome.message[:_MESSAGE]
    return Found(mutant, number, outcome.status, outcome.tier, outcome.named, said, redrawn)


def _is_confirmed(seed: int, found: Found) -> bool:
    """Judge a case again in two forks: wrong with the mutant, and right without."""
    alone = outcome_in_fork(seed, found.case, found.mutant, redrawn=found.redrawn)
    if alone is None or not alone.is_finding:
        return False
    clean = outcome_in_fork(seed, found.case, NONE)
    return clean is None or not clean.is_finding


def outcome_in_fork(
    seed: int, number: int, mutant: int, *, redrawn: bool = False
) -> Outcome | None:
    """Judge a case in a fork of its own, at O3 too."""

    def work() -> bytes:
        found = observe_with(mutant, seed, number, redrawn=redrawn, on_tier=report)
        return msgspec.json.encode(None if found is None else found.outcome)

    try:
        return msgspec.json.decode(run_in_fork(work, _ALONE), type=Outcome | None)
    except ChildDied as died:
        return Outcome(DEATHS[died.kind], *tier_and_pass(died.report), message=died.message)


def judge_alone(order: AloneOrder, on_case: Callable[[str], object]) -> BlockResult:
    """Judge cases in this process, which was imported with the mutant on, until one is wrong."""
    install_recorder()
    started, result = perf_counter(), BlockResult(order.first, order.mutant)
    for number in range(order.first, order.end):
        if perf_counter() - started > order.seconds:
            break
        result.next = number
        on_case(msgspec.json.encode(result).decode())
        forget_case()
        found = observe_with(order.mutant, order.seed, number, redrawn=True)
        result.cases += 1
        result.next = number + 1
        if found is not None and found.outcome.is_finding:
            result.found.append(found_by(order.mutant, number, found.outcome, True))
            break
    result.judged[order.mutant] = result.cases
    return result
