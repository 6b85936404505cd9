"""Score of the fuzzer: a table of changes, and totals."""

from collections import Counter
from collections.abc import Sequence
from statistics import median

from rich.table import Table

from tests.mutation.runs.fuzz_runs import FuzzedChange
from tests.mutation.trials.messages import SMALL

_EQUIVALENCE = {
    "means the same": "lower programs differently and mean the same",
    "changes nothing": "give other values that change nothing",
    "same value": "never give another value",
    "never reached": "are never reached",
}


def fuzz_table(results: Sequence[FuzzedChange]) -> Table:
    """Return a line for each change: after how many cases it was found, how, and how small it
    became; or whether it may be equivalent."""
    table = Table("change", "module", "cases", "s", "found by", "kind", "named", "right", "size")
    for result in results:
        found = result.result
        mark = "" if found.is_small else " !"
        size = f"{found.stages} {found.steps} {found.passes}{mark}"
        nothing = "NOTHING" if result.equivalence is None else str(result.equivalence)
        table.add_row(
            result.name,
            result.change.module.removeprefix("irkit."),
            str(found.number + 1) if found.found else f"none of {found.number}",
            f"{found.seconds:.1f}",
            f"{found.status} {found.tier}" if found.found else nothing,
            found.kind,
            found.named,
            ("yes" if result.right else "NO") if found.found else "",
            size if found.found else "",
        )
    return table


def fuzz_score(results: Sequence[FuzzedChange]) -> str:
    """Return how many were found, how soon, and how many became small with the right pass named;
    and how many others may be equivalent."""
    found = [result for result in results if result.result.found]
    text = f"{len(found)} of {len(results)} found"
    if found:
        cases = sorted(result.result.number + 1 for result in found)
        soon = sum(count <= 10_000 for count in cases)
        text += (
            f", {soon} within 10,000 cases; median {median(cases):.0f} cases and "
            f"{median(r.result.seconds for r in found):.1f} s; "
            f"{sum(result.right for result in found)} with the right pass named; "
            f"{sum(result.result.is_small for result in found)} made as small as {SMALL[0]} "
            f"stages, {SMALL[1]} schedule steps and {SMALL[2]} passes"
        )
    equivalent = Counter(
        result.equivalence.status for result in results if result.equivalence is not None
    )
    if equivalent:
        counted = ", ".join(
            f"{count} {_EQUIVALENCE[what]}" for what, count in equivalent.most_common()
        )
        text += f"; not found and perhaps equivalent: {counted}"
    return text
