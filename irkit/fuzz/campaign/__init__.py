"""Run many samples and keep what goes wrong. Reading order: draws and worker (a case in a process
of its own), small, findings, tally, ending, engine; covered, summary, page."""

from irkit.fuzz.campaign.draw import (
    Draw as Draw,
    draw_of as draw_of,
    read_draw as read_draw,
    with_passes as with_passes,
)
from irkit.fuzz.campaign.engine import (
    Campaign as Campaign,
    CampaignPlan as CampaignPlan,
)
from irkit.fuzz.campaign.findings import (
    Finding as Finding,
    Findings as Findings,
    write_finding as write_finding,
)
from irkit.fuzz.campaign.tally import (
    CampaignTally as CampaignTally,
)
from irkit.fuzz.campaign.worker import (
    CaseOptions as CaseOptions,
    CaseResult as CaseResult,
    run_case as run_case,
    text_of as text_of,
)
