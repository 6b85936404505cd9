"""The invariant of independence: loops of which irkit says that no two iterations meet, whatever
the inputs are, do not meet on these inputs.

The dependence test is asked about loops as they stand and about serial ones, as if they had no
order; iterations that meet are found by the interpreter, which notes who touched what.
"""

from irkit.core import IRKitError, rewrite, walk
from irkit.debug import RaceSearch
from irkit.fuzz.judge.loops import LoopCase
from irkit.fuzz.judge.outcome import WrongSample
from irkit.ir import For, PrimFunc
from irkit.ir.threads import independence

_MOST_LOOPS = 3


def independent_loops_never_meet(case: LoopCase, number: int) -> None:
    """Iterations that cannot meet for any inputs do not meet for these. Raises: WrongSample."""
    forms = (case.func, case.scheduled, case.lowered)
    func = forms[number % len(forms)]
    search = RaceSearch(case.sample.inputs)
    if search.has_race(func):
        return
    serial = [loop for loop in walk(func.body, For) if loop.kind in ("serial", "unrolled")]
    first = number // len(forms) % max(len(serial), 1)
    for loop in (serial[first:] + serial[:first])[:_MOST_LOOPS]:
        changed = _without_order(func, loop)
        try:
            known = [each for each in independence(changed) if each.loop.var is loop.var]
            met = any(each.holds for each in known) and search.has_race(changed)
        except IRKitError:
            continue  # It is too large to run.
        if met:
            why = f"iterations of {loop.var.name} meet, which are said to be independent"
            raise WrongSample("broken", why)


def _without_order(func: PrimFunc, loop: For) -> PrimFunc:
    def parallel(node: For) -> For | None:
        return node.replace(kind="parallel") if node is loop else None

    return rewrite(func, parallel)
