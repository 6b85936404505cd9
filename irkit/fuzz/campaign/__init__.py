"""Run many samples and keep what goes wrong. Reading order: draws and worker (a case in a process
of its own), small, findings, tally, ending, engine; covered, summary, page."""

from irkit.fuzz.campaign.draw import Draw, draw_of, read_draw, with_passes
from irkit.fuzz.campaign.engine import Campaign, CampaignPlan
from irkit.fuzz.campaign.findings import Finding, Findings, write_finding
from irkit.fuzz.campaign.tally import CampaignTally
from irkit.fuzz.campaign.worker import CaseOptions, CaseResult, run_case, text_of

__all__ = [
    "Campaign",
    "CampaignPlan",
    "CampaignTally",
    "CaseOptions",
    "CaseResult",
    "Draw",
    "Finding",
    "Findings",
    "draw_of",
    "read_draw",
    "run_case",
    "text_of",
    "with_passes",
    "write_finding",
]
