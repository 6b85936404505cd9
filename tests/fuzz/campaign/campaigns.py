"""Campaigns made without running a case, with everything that a page about one can show."""

from pathlib import Path

from irkit.fuzz.campaign import Campaign, CampaignPlan, CaseOptions, Draw
from irkit.fuzz.campaign.findings import Finding
from irkit.fuzz.campaign.small_case import SmallCase
from irkit.fuzz.campaign.worker import CaseResult
from irkit.fuzz.judge import Outcome
from irkit.fuzz.shrink.make_small import SampleSize

HOSTILE = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>&amp;\ud800\x00'\""
"""What a page must show as it is."""
_TIERS = ("draw", "interpreter", "lower", "lowered", "O0", "O3")
_FEATURES = ("node:Add", "dtype:f32", f"op:{HOSTILE}", "mutation:token")


def ran(status: str = "ok", *, fired: tuple[str, ...] = (), message: str = "") -> CaseResult:
    """Make the result of a case."""
    outcome = Outcome(
        status,  # pyright: ignore[reportArgumentType]
        "lowered",
        "my-pass",
        message,
        _TIERS,
        ("print and parse",),
        fired,
        fate="refused" if status == "ok" else "",
        seconds={tier: 0.001 * (1 + at) for at, tier in enumerate(_TIERS)},
    )
    return CaseResult(outcome, _FEATURES, processor=0.02)


def run_nothing(draw: Draw, options: CaseOptions) -> CaseResult:
    """Do nothing."""
    return ran()


def campaign_with(cases: int = 200, *, fired: int = 100, findings: int = 0) -> Campaign:
    """Make a campaign with one pass under test, and malicious text in its findings."""
    plan = CampaignPlan(
        seed=7, cases=cases, jobs=2, passes=("1:my.module:my_pass",), under_test=("my-pass",)
    )
    made = Campaign(plan, run_nothing)
    made.seconds = 12.5
    for number in range(cases):
        passes = ("my-pass",) if number < fired else ()
        made.tally.add(Draw("programs", 7, number), ran(fired=passes), is_loop=True)
    for number in range(findings):
        found = ran("mismatch", message=f"C[0] is 1, expected 2 {HOSTILE}")
        finding = Finding(
            Draw("programs", 7, number),
            found.outcome,
            f"def f(A: f32[4]):  # {HOSTILE}",
            str(number),
        )
        finding.again, finding.tries, finding.file = 3, 3, f"found/{HOSTILE}.toml"
        if number == 0:
            text = f"irkit_sample = 1\n# the smallest {HOSTILE}"
            finding.small = SmallCase(
                text,
                f'SAMPLE = r"""{text}"""',
                found.outcome,
                SampleSize(1, 0, 1, 55),
            )
            finding.trace_file = "found/small.trace"
            finding.test_file = "found/test_small.py"
        made.findings.add(finding, finding.group)
    return made


def page_in(folder: Path, text: str) -> str:
    """Write a page, and return its address."""
    path = folder / "report.html"
    path.write_text(text, "utf-8")
    return path.as_uri()
