"""The score of a sample, as text and as JSON."""

from collections import defaultdict

import msgspec

from tests.mutation.schemata.campaign import Campaign, Tally
from tests.mutation.schemata.families import family_of


class MutantReport(msgspec.Struct, frozen=True):
    """One mutant: what it is, and what became of it."""

    family: str
    module: str
    definition: str
    line: int
    what: str
    status: str
    how: str
    imported: bool
    reached: int
    infected: int
    judged: int
    changed: int
    alone: int
    case: int | None = None
    kind: str = ""
    found_by: str = ""
    named: str = ""
    message: str = ""
    proof: str = ""


class Report(msgspec.Struct, frozen=True):
    """The results of a sample."""

    seed: str
    cases: int
    unusable: int
    unclean: list[str]
    dismissed: int
    mutants: list[MutantReport]


def status_of(tally: Tally) -> str:
    """Return what became of a mutant."""
    if tally.found is not None:
        return "found"
    return "proved" if tally.proof else "missed"


def why_missed(tally: Tally) -> str:
    """Return how far a mutant got that was not found."""
    if tally.alone:
        return f"on from the import, in {tally.alone} cases"
    if not tally.reached:
        return "never reached"
    if not tally.infected:
        return f"reached in {tally.reached} cases, never with another value"
    return (
        f"reached in {tally.reached} cases, infected in {tally.infected}, judged in "
        f"{tally.judged}, other code or results in {tally.changed}"
    )


def json_report(campaign: Campaign, seed: str) -> bytes:
    """Return the results as JSON."""
    report = Report(
        seed,
        campaign.cases,
        campaign.unusable,
        campaign.unclean,
        len(campaign.dismissed),
        [_of(tally) for tally in campaign.tallies],
    )
    return msgspec.json.format(msgspec.json.encode(report), indent=1)


def _of(tally: Tally) -> MutantReport:
    mutant, found = tally.mutant, tally.found
    return MutantReport(
        family_of(mutant),
        mutant.module,
        mutant.definition,
        mutant.line,
        mutant.what,
        status_of(tally),
        tally.how,
        tally.imported,
        tally.reached,
        tally.infected,
        tally.judged,
        tally.changed,
        tally.alone,
        None if found is None else found.case,
        "",
        "" if found is None else f"{found.status} {found.tier}".strip(),
        "" if found is None else found.named,
        "" if found is None else found.message,
        tally.proof,
    )


def text_report(campaign: Campaign, seed: str) -> str:
    """Return the score by family, and each mutant that was missed."""
    by_family = defaultdict[str, list[Tally]](list)
    for tally in campaign.tallies:
        by_family[family_of(tally.mutant)].append(tally)
    lines = [f"seed {seed}", f"{campaign.cases} cases, {campaign.unusable} of them not usable"]
    lines += [f"unclean: {each}" for each in campaign.unclean]
    lines += [
        "",
        "| family | mutants | found | by proof | missed | median cases |",
        "|" + "---|" * 6,
    ]
    for family, tallies in [*by_family.items(), ("all", campaign.tallies)]:
        lines.append(_row(family, tallies))
    for tally in campaign.tallies:
        if status_of(tally) == "missed":
            mutant = tally.mutant
            lines += ["", f"{mutant.module}:{mutant.definition} {mutant.name}", why_missed(tally)]
    return "\n".join(lines)


def _row(family: str, tallies: list[Tally]) -> str:
    statuses = [status_of(tally) for tally in tallies]
    cases = sorted(tally.found.case + 1 for tally in tallies if tally.found is not None)
    found, proved = statuses.count("found"), statuses.count("proved")
    share = f"{100 * (found + proved) / len(tallies):.1f} %"
    middle = cases[len(cases) // 2] if cases else ""
    missed = statuses.count("missed")
    return (
        f"| {family} | {len(tallies)} | {found} | {proved} | {missed} ({share} found) | {middle} |"
    )
