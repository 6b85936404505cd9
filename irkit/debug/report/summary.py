"""What passes did, in numbers: one row for each pass, over all functions it ran on."""

from collections.abc import Iterable

import msgspec

from irkit.core import Span, count_nodes
from irkit.transform import IR, Step, functions_of


class PassRow(msgspec.Struct):
    """One pass at one position of a pipeline, summed over functions.

    Units: seconds; nodes before the first step and after the last.
    """

    level: str
    phase: int
    name: str
    runs: int = 0
    changed: int = 0
    seconds: float = 0.0
    before: int = 0
    after: int = 0


def summarize(steps: Iterable[Step]) -> list[PassRow]:
    """Sum up steps by pass, in the order in which the passes first ran.

    A pass that occurs in a phase twice has two rows.
    """
    rows: dict[tuple[str, int, str, int], PassRow] = {}
    seen: dict[tuple[str, str, int, str], int] = {}
    sizes: dict[int, int] = {}
    for step in steps:
        place = (step.function, step.level.name, step.phase, step.name)
        nth = seen[place] = seen.get(place, 0) + 1
        key = (step.level.name, step.phase, step.name, nth)
        row = rows.setdefault(key, PassRow(step.level.name, step.phase, step.name))
        row.runs += 1
        row.changed += step.changed
        row.seconds += step.seconds
        row.before += _size(step.before, sizes)
        row.after += _size(step.after, sizes)
    return list(rows.values())


class RuleRow(msgspec.Struct):
    """One rule of one pass, summed over functions; ``span`` is its place in the source.

    ``rounds`` is more than 0 for what ``fixpoint`` repeated. Units: seconds, 0.0 if not measured.
    """

    level: str
    phase: int
    pass_name: str
    rule: str
    fired: int = 0
    seconds: float = 0.0
    rounds: int = 0
    span: Span | None = None


def summarize_rules(steps: Iterable[Step]) -> list[RuleRow]:
    """Sum up what each rule did, by pass, in order of first use.

    The steps have times if they were run with ``time_rules``, and then also rules that never fired.
    """
    rows: dict[tuple[str, int, str, str], RuleRow] = {}
    for step in steps:
        for each in step.reports:
            key = (step.level.name, step.phase, step.name, each.rule)
            row = rows.setdefault(key, RuleRow(*key, span=each.span))
            row.fired += each.hits
            row.seconds += each.seconds
            row.rounds = max(row.rounds, each.rounds)
    return list(rows.values())


def _size(ir: IR, sizes: dict[int, int]) -> int:
    """Count nodes, once for each object: the result of one step is the input of the next."""
    if id(ir) not in sizes:
        sizes[id(ir)] = sum(count_nodes(func) for func in functions_of(ir))
    return sizes[id(ir)]
