"""Random programs, many with vectors, before and after a pass of the legalisation."""

from collections.abc import Callable

from irkit.core import IRKitError, same
from irkit.debug.check.difference import identical
from irkit.debug.targets import TargetCall, target_executor
from irkit.fuzz.generators.arguments import draw_arguments
from irkit.fuzz.generators.loops.loop_functions import loop_function
from irkit.fuzz.picks import picks_of
from irkit.ir import PrimFunc, parse, script, verify
from irkit.phases import DEFAULT

Change = Callable[[PrimFunc], PrimFunc]


def changed_programs(change: Change, count: int, *, first: int = 0) -> int:
    """Draw programs, lower them, and compare what the interpreter computes before and after a
    pass; return how many of them the pass has changed."""
    reference = target_executor("interpreter", max_steps=100_000)
    changed = 0
    for seed in range(first, first + count):
        picks = picks_of(seed)
        try:
            drawn = loop_function(picks, wide=True)
            numbers = ("special", "fractions", "integers")[seed % 3]
            args = draw_arguments(drawn, picks, numbers, empty=False).args
            func = DEFAULT.run(drawn)
        except IRKitError:
            continue
        after = change(func)
        if after is func:
            continue
        changed += 1
        assert verify(after) == []
        assert same(parse(script(after)), after)
        assert change(after) is after, script(after)
        wanted, found = reference.run([TargetCall(func, args), TargetCall(after, args)])
        assert wanted.end == found.end, script(after)
        for a, b in zip(wanted.arrays, found.arrays, strict=True):
            assert identical(a, b), f"{script(func)}\nbecame\n{script(after)}"
    return changed
