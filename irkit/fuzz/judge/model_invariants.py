"""Invariants of graphs and models, whatever they compute: text reads back, passes over graphs keep
their contracts, printed text is lowered alike."""

from collections.abc import Callable

from irkit.debug import contracts, equal_structure
from irkit.fuzz.judge.models import ModelCase
from irkit.fuzz.judge.outcome import WrongSample
from irkit.fuzz.malformed.checks.read_text import round_trip
from irkit.graph import GraphFunc, constants_of, parse_module
from irkit.transform import IR


def prints_and_parses(case: ModelCase, number: int) -> None:
    """Text of each function, as drawn and as lowered, reads back as the same."""
    for module in (case.module, case.lowered):
        for func in module.functions.values():
            wrong = round_trip(func)
            if wrong:
                raise WrongSample("broken", wrong)


def passes_keep_contracts(case: ModelCase, number: int) -> None:
    """A pass verifies, is truthful about what it changed, deterministic, idempotent if it says so,
    switchable, and keeps spans and its input."""
    changed = [step for step in case.steps if step.changed]
    if case.about:
        changed = [step for step in changed if step.name == case.about]
    elif changed:
        changed = [changed[number % len(changed)]]
    for step in changed:
        p = next(p for _, p in case.pipeline.placed if str(p) == step.pass_text)
        broken = contracts(p, [step.before], hash_seeds=(), fires=0, samples=1)
        if broken:
            raise WrongSample("broken", str(broken[0]), p.name)


def lowers_alike(case: ModelCase, number: int) -> None:
    """Lowering again gives the same, and so does lowering the printed text."""
    constants = {
        each.digest: each.array
        for func in case.module.functions.values()
        if isinstance(func, GraphFunc)
        for each in constants_of(func).values()
    }
    read = parse_module(case.module.script(), constants=constants)
    for what, given in (("again", case.module), ("from text", read)):
        whole: IR = given
        steps = list(case.pipeline.steps(given, verify=False))
        for step in steps:
            whole = step.applied_to(whole)
        if not equal_structure(whole, case.lowered):
            pairs = zip(case.steps, steps, strict=False)
            named = (a.name for a, b in pairs if not equal_structure(a.after, b.after))
            raise WrongSample(
                "broken", f"lowered {what}, it is a different module", next(named, "")
            )


MODEL_INVARIANTS: dict[str, Callable[[ModelCase, int], None]] = {
    "print and parse": prints_and_parses,
    "passes keep contracts": passes_keep_contracts,
    "lowers alike": lowers_alike,
}
"""Those of ``INVARIANTS`` that hold for models too."""
