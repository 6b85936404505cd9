"""The summary of a campaign: as text, and as JUnit XML for CI."""

import shlex
import textwrap
from collections.abc import Iterator, Mapping
from xml.etree import ElementTree as Xml

from irkit.fuzz.campaign.engine import Campaign
from irkit.fuzz.generators.coverage import drawn_features
from irkit.fuzz.judge.outcome import fault_text

LEAST_VALID = 0.9
LEAST_FIRED = 10
"""Cases in which a pass under test must have changed something; fewer if there are few cases."""
LEAST_CASES = 100
MOST_MISSING = 16
"""Names of a sort that no sample had; the page has them all."""


def tested_nothing(campaign: Campaign) -> str:
    """Return why a campaign did not test what it should have; an empty string if it did."""
    tally, plan = campaign.tally, campaign.plan
    least = LEAST_CASES if plan.cases is None else min(LEAST_CASES, plan.cases)
    if tally.cases < least:
        return (
            f"too few cases: {tally.cases}, expected at least {least}. Give it more time, or say "
            "how many with --cases."
        )
    if tally.valid_share < LEAST_VALID:
        common = ", ".join(f"{reason} ({n})" for reason, n in tally.reasons.most_common(2))
        return (
            f"only {tally.valid_share:.1%} of the cases were valid, expected at least "
            f"{LEAST_VALID:.0%}; mostly: {common}"
        )
    for name in tally.under_test:
        fired = tally.passes[name]
        wanted = max(1, min(LEAST_FIRED, tally.placed // 10))
        if fired < wanted:
            return (
                f"pass '{name}' changed something in {fired} of {tally.placed} cases, expected at "
                f"least {wanted}: it was hardly tested. Give it more time, put it where there is "
                "something for it to do, or test it with check_pass and programs of your own "
                "(strategy=)."
            )
    return ""


def exit_code(campaign: Campaign) -> int:
    """Return 1 for findings, 2 if nothing was tested, 130 if interrupted, and 0 if all is well."""
    if campaign.findings.counted:
        return 1
    if campaign.interrupted:
        return 130
    return 2 if tested_nothing(campaign) else 0


def summary(campaign: Campaign) -> str:
    """Return lines that say what was done and found."""
    return "\n".join((*_told(campaign), *_found(campaign)))


def _told(campaign: Campaign) -> Iterator[str]:
    tally, plan = campaign.tally, campaign.plan
    rate = tally.cases / campaign.seconds if campaign.seconds else 0.0
    stopped = ", interrupted" if campaign.interrupted else ""
    yield (
        f"{tally.cases} cases of seed {plan.seed} in {campaign.seconds:.1f} s{stopped}: "
        f"{rate:.1f} a second, {rate / plan.jobs:.1f} a second and worker "
        f"(median case {1e3 * tally.median('whole'):.1f} ms)"
    )
    if tally.processor:
        yield f"processor time: {tally.cases / tally.processor:.1f} cases a second of it"
    yield f"valid: {tally.valid} ({tally.valid_share:.2%})"
    for reason, count in tally.reasons.most_common(5):
        yield f"  not valid: {count} x {reason}"
    if tally.unplaced:
        yield f"  in {tally.unplaced} of these a pass under test had no position"
    yield f"workers lost: {tally.workers_lost}"
    if plan.guided:
        yield (
            f"guided: {len(campaign.corpus.branches)} branches of irkit taken, "
            f"{len(campaign.corpus)} cases took a new one, {tally.derived} were made from them"
        )
    yield _line("kinds", tally.kinds)
    if tally.fates:
        yield _line("damaged files", tally.fates)
    yield "what ran:"
    for tier, count in tally.tiers.items():
        yield f"  {tier:12} {count:7} times, median {1e3 * tally.median(tier):6.2f} ms"
    yield _line("invariants", tally.invariants)
    for name in tally.under_test:
        yield (
            f"pass '{name}' changed something in {tally.passes[name]} of {tally.placed} cases "
            f"({tally.fired_share(name):.1%})"
        )
    for sort in drawn_features(tally.features, tally.passes, plan.kinds):
        yield _line(sort.title, sort.counts)
        if sort.missing:
            left = len(sort.missing) - MOST_MISSING
            more = f" and {left} more" if left > 0 else ""
            yield f"  never: {', '.join(sort.missing[:MOST_MISSING])}{more}"


def _line(what: str, counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return f"{what}: " + (", ".join(f"{name} {count}" for name, count in ordered) or "none")


def _found(campaign: Campaign) -> Iterator[str]:
    findings = campaign.findings
    if not findings.counted:
        yield "findings: none"
    else:
        yield f"findings: {findings.counted.total()}, by symptom and pass:"
    for group, count in findings.counted.most_common():
        yield f"  {count:5} x {fault_text(*group)}"
    for finding in findings.kept:
        yield ""
        yield str(finding)
        if finding.data_file:
            yield f"  the file:   {finding.data_file}"
        for what, words in finding.commands.items():
            yield f"  {what + ':':11} {shlex.join(words)}"
        if finding.small is not None:
            yield from ("", *textwrap.indent(finding.small.test, "    ").splitlines())
    if findings.unwritten:
        yield f"error: not all files could be written: {findings.unwritten}"
    why = tested_nothing(campaign)
    if why:
        yield ("" if campaign.interrupted else "error: nothing was tested: ") + why


def as_junit(campaign: Campaign) -> str:
    """Return JUnit XML: a test case for each kind, one for having tested anything, and one for each
    finding kept."""
    tally = campaign.tally
    suite = Xml.Element("testsuite", name="irkit fuzz", time=f"{campaign.seconds:.3f}")
    for kind, count in sorted(tally.kinds.items()):
        Xml.SubElement(suite, "testcase", classname="irkit.fuzz", name=f"{kind} ({count} cases)")
    enough = Xml.SubElement(suite, "testcase", classname="irkit.fuzz", name="something was tested")
    why = tested_nothing(campaign)
    if why:
        Xml.SubElement(enough, "failure", message=_printable(why))
    for finding in campaign.findings.kept:
        name = _printable(finding.title)
        case = Xml.SubElement(suite, "testcase", classname="irkit.fuzz.findings", name=name)
        failure = Xml.SubElement(case, "failure", message=name)
        text = finding.text if finding.small is None else finding.small.test
        failure.text = _printable(f"{finding}\n\n{text}")
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    Xml.indent(suite)
    return Xml.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _printable(text: str) -> str:
    """Remove characters that XML cannot hold."""
    return "".join(ch if ch in "\n\t" or ch.isprintable() else "?" for ch in text)
