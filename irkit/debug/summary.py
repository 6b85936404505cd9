"""What passes did, in numbers: one row a pass, over all functions it ran on."""

from collections.abc import Iterable

import msgspec

from irkit.core import IRModule, count_nodes
from irkit.transform import IR, Step


class PassRow(msgspec.Struct):
    """One pass at one place of a pipeline, summed over functions. Units: seconds; nodes before the
    first and after the last."""

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

    A pass that stands in a phase twice has two rows.
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


def _size(ir: IR, sizes: dict[int, int]) -> int:
    """Count nodes, once for each object: the result of one step is what the next begins with."""
    if id(ir) not in sizes:
        functions = ir.functions.values() if isinstance(ir, IRModule) else (ir,)
        sizes[id(ir)] = sum(count_nodes(func) for func in functions)
    return sizes[id(ir)]
