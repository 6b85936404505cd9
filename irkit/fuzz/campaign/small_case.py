"""Shrink the case of a finding in a worker process: to text, a test, and a trace."""

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import msgspec

from irkit.core import IRKitError
from irkit.debug import scheduled_steps
from irkit.fuzz.campaign.draw import Draw
from irkit.fuzz.campaign.worker import data_of, set_up_worker
from irkit.fuzz.generators.sample import Numbered, Sample
from irkit.fuzz.generators.sample_file import sample_text
from irkit.fuzz.judge.models import is_model, module_of
from irkit.fuzz.judge.outcome import Outcome, fault_text
from irkit.fuzz.shrink.choices import record_choices, replay_choices
from irkit.fuzz.shrink.forked_judge import judge_in_fork
from irkit.fuzz.shrink.make_small import SampleSize, make_small
from irkit.ir import PrimFunc
from irkit.transform import Step, Trace

SECONDS = 20.0
"""Time limit of each of the three searches for a smaller case."""
NATIVE = ("O0", "O3", "invariants")
"""Tiers that need native code."""
_TEST = '''\
"""{title}

Made by `irkit fuzz`. It fails while that is so; run it with `python -m pytest`.
"""

from irkit.fuzz import judge, parse_sample

SAMPLE = r"""
{text}"""


def test_{name}() -> None:
    outcome = judge(parse_sample(SAMPLE), thorough=True{options})
    assert outcome.ok, outcome.message
'''


class SmallCase(msgspec.Struct, frozen=True):
    """A shrunk case.

    ``text`` is a sample in TOML, ``test`` a test of it for pytest; ``trace`` is a trace file of
    its lowering, for the inspector, empty if there is none; ``data`` is the text or the model
    itself, for samples that are files.
    """

    text: str
    test: str
    outcome: Outcome
    size: SampleSize
    trace: bytes = b""
    data: bytes = b""

    def __str__(self) -> str:
        return f"smallest: {self.size}; {self.outcome.message}"


def small_case(
    draw: Draw, invariants: tuple[str, ...], name: str, seconds: float = SECONDS
) -> SmallCase | None:
    """Shrink a case while it fails in the same way; return None if it does not fail here."""
    set_up_worker()
    choices: tuple[int, ...] = ()
    if draw.file:
        sample = draw.sample()
    else:
        picks, kept = record_choices(draw.picks)
        sample = draw.sample(picks)
        choices = tuple(kept)
    look = partial(judge_in_fork, invariants=invariants, number=draw.number)
    outcome = look(sample, about=draw.about)
    if not outcome.is_finding:
        return None

    def redraw(made: tuple[int, ...]) -> Sample:
        return draw.sample(replay_choices(made))

    by_invariant = outcome.tier == "invariants"
    about = outcome.named if by_invariant else ""
    look = partial(look, native=outcome.tier in NATIVE, about=about)
    small = make_small(sample, outcome, look, choices=choices, redraw=redraw, seconds=seconds)
    title = " ".join(fault_text(small.outcome.symptom, small.outcome.named).split())
    text = sample_text(small.sample, {"why": small.outcome.message})
    options = f", invariants={invariants!r}, number={draw.number}, about={about!r}"
    return SmallCase(
        text,
        _TEST.format(title=title, text=text, name=name, options=options if by_invariant else ""),
        small.outcome,
        small.size,
        _traced(small.sample, small.outcome, name),
        data_of(small.sample),
    )


def _traced(sample: Sample, outcome: Outcome, title: str) -> bytes:
    """Return a trace file of what the passes made of a sample, as far as they got."""
    dead = outcome.status in ("crash", "hang", "memory")
    if dead or sample.damaged or isinstance(sample.ir, (str, Numbered)):
        return b""
    kept = list[Step]()
    with suppress(
        IRKitError
    ):  # A failing pass is the end of the trace, and is named in the finding.
        kept.extend(_steps(sample))
    if not kept:
        return b""
    try:
        with tempfile.TemporaryDirectory(prefix="irkit-fuzz-") as folder:
            path = Path(folder) / "small.trace"
            Trace.of(kept, title=title).save(path)
            return path.read_bytes()
    except OSError:  # The disk is full: the case is worth more than its trace.
        return b""


def _steps(sample: Sample) -> Iterator[Step]:
    if isinstance(sample.ir, PrimFunc):
        return scheduled_steps(sample.ir, sample.schedule, sample.pipeline)
    assert is_model(sample.ir)
    return sample.pipeline.steps(module_of(sample))
