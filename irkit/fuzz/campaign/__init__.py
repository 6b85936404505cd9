"""Run many samples and keep what goes wrong. Reading order: draws and worker (a case in a process
of its own), small, findings, tally, ending, engine; covered, summary, page."""

from irkit.fuzz.campaign.draws import Draw, draw_of, read_draw, with_passes
from irkit.fuzz.campaign.engine import Campaign, Plan
from irkit.fuzz.campaign.findings import Finding, Findings, write_finding
from irkit.fuzz.campaign.tally import Tally
from irkit.fuzz.campaign.worker import Asked, Ran, run_case, text_of

__all__ = [
    "Asked",
    "Campaign",
    "Draw",
    "Finding",
    "Findings",
    "Plan",
    "Ran",
    "Tally",
    "draw_of",
    "read_draw",
    "run_case",
    "text_of",
    "with_passes",
    "write_finding",
]
