"""What becomes of a sample that is wrong: it is made small, and kept as text. Reading order:
choices, forked, graphs, models, files, smaller, sample_file."""

from irkit.fuzz.shrinking.choices import recorded, replayed, shrunk
from irkit.fuzz.shrinking.forked import LIMITS, Judged, judged_apart
from irkit.fuzz.shrinking.sample_file import parse_sample, read_sample, sample_text, write_sample
from irkit.fuzz.shrinking.smaller import CANDIDATES, Small, make_small

__all__ = [
    "CANDIDATES",
    "LIMITS",
    "Judged",
    "Small",
    "judged_apart",
    "make_small",
    "parse_sample",
    "read_sample",
    "recorded",
    "replayed",
    "sample_text",
    "shrunk",
    "write_sample",
]
