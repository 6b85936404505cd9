"""Run many samples and keep what goes wrong. Reading order: outcome, course, agreement, guarded,
loops, models, texts, promises, judge; draws and worker (a case in a process of its own), findings,
tally, engine, summary."""

from irkit.fuzz.campaign.draws import Draw, draw_of, read_draw, with_passes
from irkit.fuzz.campaign.engine import Campaign, Plan
from irkit.fuzz.campaign.findings import Finding, Findings, write_finding
from irkit.fuzz.campaign.judge import judge
from irkit.fuzz.campaign.outcome import Outcome
from irkit.fuzz.campaign.promises import PROMISES
from irkit.fuzz.campaign.tally import Tally
from irkit.fuzz.campaign.worker import Asked, Ran, run_case, text_of

__all__ = [
    "PROMISES",
    "Asked",
    "Campaign",
    "Draw",
    "Finding",
    "Findings",
    "Outcome",
    "Plan",
    "Ran",
    "Tally",
    "draw_of",
    "judge",
    "read_draw",
    "run_case",
    "text_of",
    "with_passes",
    "write_finding",
]
