"""What becomes of a sample that is wrong: it is made small, and kept as text. Reading order:
choices, forked, graphs, models, files, smaller, sample_file."""

from irkit.fuzz.generators.sample_file import parse_sample, read_sample, sample_text, write_sample
from irkit.fuzz.shrink.choices import recorded, replayed, shrink_choices
from irkit.fuzz.shrink.forked_judge import LIMITS, Judge, judge_in_fork
from irkit.fuzz.shrink.make_small import CANDIDATES, SmallSample, make_small

__all__ = [
    "CANDIDATES",
    "LIMITS",
    "Judge",
    "SmallSample",
    "judge_in_fork",
    "make_small",
    "parse_sample",
    "read_sample",
    "recorded",
    "replayed",
    "sample_text",
    "shrink_choices",
    "write_sample",
]
