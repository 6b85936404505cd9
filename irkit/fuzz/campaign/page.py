"""The report of a campaign as one HTML page without external resources, to be kept as an artefact
of CI.

Programs, names and messages are untrusted text: the template escapes all of it, and the page can
run no script.
"""

import shlex
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from markupsafe import Markup

from irkit.core import TokenHtml
from irkit.debug import versions
from irkit.fuzz.campaign.draw import case_text
from irkit.fuzz.campaign.engine import Campaign
from irkit.fuzz.campaign.findings import Finding
from irkit.fuzz.campaign.summary import tested_nothing
from irkit.fuzz.campaign.tally import CampaignTally, SlowCase
from irkit.fuzz.generators.coverage import drawn_features
from irkit.fuzz.generators.sample import KINDS
from irkit.fuzz.judge.outcome import fault_text

if TYPE_CHECKING:
    from jinja2 import Template

MOST_CHARACTERS = 40_000
"""Limit of a program or a message on the page; the file of the finding has all of it."""
MOST_IN_FULL = 40
"""Findings shown with their samples and tests; of the others the message only."""
_TIERS = {
    "draw": "draws the sample, and computes its results in NumPy",
    "interpreter": "interprets it as drawn, against NumPy",
    "lower": "runs the schedule and the passes, and verifies the result",
    "lowered": "interprets what was lowered",
    "races": "looks for iterations and threads that meet",
    "O0": "native code, unoptimised, between guard pages",
    "O3": "native code, optimised, between guard pages",
    "each pass": "verifies and interprets after each pass: one case in ten, and each that fails",
    "damaged file": "reads damaged text or a damaged model, and runs what loads",
    "invariants": "checks what holds whatever is computed: every second case",
}


class PageVerdict(msgspec.Struct, frozen=True):
    """The headline of the page."""

    name: Literal["passed", "failed", "little", "interrupted"]
    title: str
    lines: tuple[str, ...]


def as_page(campaign: Campaign) -> str:
    """Return the page about a campaign."""
    tally = campaign.tally
    made = _template().render(
        css=Markup(_file("page.css")),
        verdict=verdict_of(campaign),
        groups=[
            {"symptom": symptom, "named": named, "count": count}
            for (symptom, named), count in campaign.findings.counted.most_common()
        ],
        findings=[
            _finding(each, in_full=at < MOST_IN_FULL)
            for at, each in enumerate(campaign.findings.kept)
        ],
        facts=list(_facts(campaign)),
        command=command_of(campaign),
        under_test=[_share(name, tally.passes[name], tally.placed) for name in tally.under_test],
        kinds=[_share(name, n, tally.cases) for name, n in tally.kinds.most_common()],
        fates=[(*name.split(" ", 1), count) for name, count in sorted(tally.fates.items())],
        reasons=tally.reasons.most_common(20),
        tiers=list(_tiers(tally)),
        invariants=tally.invariants.most_common(),
        sorts=drawn_features(tally.features, tally.passes, campaign.plan.kinds),
        slowest=[_slow(each) for each in tally.slowest],
        versions=", ".join(f"{name} {version}" for name, version in versions().items()),
    )
    return made.encode("utf-8", "backslashreplace").decode()  # A lone surrogate is not valid UTF-8.


def verdict_of(campaign: Campaign) -> PageVerdict:
    """Return whether a campaign passed, and if not, why."""
    found, tally = campaign.findings.counted, campaign.tally
    done = (
        f"{_many(tally.cases, 'case')} in {campaign.seconds:.1f} s, {tally.valid_share:.2%} valid"
    )
    why = tested_nothing(campaign)
    unwritten = campaign.findings.unwritten
    if unwritten:
        done = f"{done}; not all files could be written: {unwritten}"
    if found:
        groups = ", ".join(
            f"{count} x {fault_text(*group)}" for group, count in found.most_common(3)
        )
        more = f" and {len(found) - 3} more" if len(found) > 3 else ""
        return PageVerdict(
            "failed",
            f"Failed: {_many(found.total(), 'finding')}",
            (groups + more, done, *filter(None, (why,))),
        )
    if campaign.interrupted:
        lines = (done, "Nothing was wrong so far.", *filter(None, (why,)))
        return PageVerdict("interrupted", "Interrupted", lines)
    if why:
        return PageVerdict("little", "Tested too little", (why, done))
    return PageVerdict("passed", f"Passed: {_many(tally.cases, 'case')} agree", (done,))


def command_of(campaign: Campaign) -> str:
    """Return the command that runs the same cases again."""
    plan = campaign.plan
    words = [
        "irkit",
        "fuzz",
        "--seed",
        str(plan.seed),
        "--cases",
        str(plan.cases or _drawn(campaign)),
    ]
    words += ["--jobs", str(plan.jobs)] if plan.jobs != 1 else []
    words += [] if plan.guided else ["--no-guide"]
    if plan.kinds != KINDS:
        words += [word for kind in plan.kinds for word in ("--kind", kind)]
    words += [word for text in plan.passes for word in ("--pass", text)]
    return shlex.join(words)


def _drawn(campaign: Campaign) -> int:
    return max(1, campaign.tally.cases - len(campaign.plan.kept))


def _facts(campaign: Campaign) -> Iterator[tuple[str, str]]:
    tally, plan = campaign.tally, campaign.plan
    rate = tally.cases / campaign.seconds if campaign.seconds else 0.0
    yield "seed", str(plan.seed)
    yield "begun", f"{campaign.begun:%Y-%m-%d %H:%M:%S} UTC"
    limit = "" if plan.seconds is None else f", of {plan.seconds:g} s asked for"
    yield "time", f"{campaign.seconds:.1f} s{limit}"
    yield "jobs", f"{plan.jobs}; workers lost: {tally.workers_lost}"
    yield "kinds", ", ".join(plan.kinds)
    yield "cases", f"{tally.cases}, {tally.valid} of them valid ({tally.valid_share:.2%})"
    speed = f"{rate:.1f} a second, {rate / plan.jobs:.1f} a second and worker"
    if tally.processor:
        speed += f", {tally.cases / tally.processor:.1f} a second of processor time"
    yield "speed", f"{speed}; median case {1e3 * tally.median('whole'):.1f} ms"
    if plan.guided:
        reached = f"{len(campaign.corpus.branches):,} branches of irkit taken"
        yield "guided", f"{reached}; {_many(tally.derived, 'case')} made from others"
    if plan.kept:
        yield "corpus", f"{_many(len(plan.kept), 'kept sample')}, run first"
    if tally.unplaced:
        yield "no place", f"{_many(tally.unplaced, 'case')} where a pass under test had none"


def _share(name: str, count: int, total: int) -> dict[str, Any]:
    """Return a row of a table with a bar: a count, and its share of a total."""
    share = count / total if total else 0.0
    return {
        "name": name,
        "count": count,
        "total": total,
        "percent": f"{share:.1%}",
        "share": round(100 * share, 1),
    }


def _tiers(tally: CampaignTally) -> Iterator[dict[str, Any]]:
    totals = {tier: sum(tally.times.get(tier, ())) for tier in tally.tiers}
    everything = sum(totals.values())
    for tier, count in tally.tiers.items():
        yield {
            "name": tier,
            "what": _TIERS.get(tier, ""),
            "count": count,
            "median": f"{1e3 * tally.median(tier):.2f}",
            "high": f"{1e3 * tally.quantile(tier, 0.95):.2f}",
            "most": f"{1e3 * tally.quantile(tier, 1.0):.1f}",
            "total": f"{totals[tier]:.1f}",
            "share": round(100 * totals[tier] / everything, 1) if everything else 0,
        }


def _slow(slow: SlowCase) -> dict[str, str]:
    tiers = sorted(slow.tiers.items(), key=lambda item: -item[1])
    times = [f"{tier} {seconds:.3f} s" for tier, seconds in tiers]
    return {
        "name": slow.draw.name,
        "seconds": f"{slow.seconds:.2f}",
        "worst": f"most of it in {tiers[0][0]}" if tiers else "",
        "tiers": ", ".join(times),
        "file": case_text(slow.draw),
    }


def _finding(finding: Finding, *, in_full: bool) -> dict[str, Any]:
    small = finding.small if in_full else None
    outcome = finding.outcome if small is None else small.outcome
    return {
        "title": finding.title,
        "named": finding.outcome.named,
        "again": finding.sure,
        "size": "" if small is None else str(small.size),
        "files": [each for each in (finding.file, finding.data_file) if each],
        "message": clipped(outcome.message),
        "commands": [shlex.join(words) for words in finding.commands.values()],
        "what": "The case as it was drawn"
        if small is None
        else "The smallest sample that shows it",
        "sample": coloured(finding.text if small is None else small.text) if in_full else "",
        "test": "" if small is None else coloured(small.test),
    }


def clipped(text: str) -> str:
    """Cut off the end of a text that is too long for a page."""
    if len(text) <= MOST_CHARACTERS:
        return text
    return f"{text[:MOST_CHARACTERS]}\n… and {len(text) - MOST_CHARACTERS} more characters"


def coloured(text: str) -> Markup:
    """Return a text with its lines coloured, escaped."""
    colours = TokenHtml()
    return Markup("\n".join(colours.line(line) for line in clipped(text).splitlines()))


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


@cache
def _template() -> "Template":
    from jinja2 import Environment, StrictUndefined

    made = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return made.from_string(_file("page.html.jinja"))


def _file(name: str) -> str:
    return (files("irkit.fuzz.campaign") / name).read_text(encoding="utf-8")
