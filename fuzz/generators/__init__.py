"""One grammar with two drivers: what is drawn from a number is drawn by Hypothesis too. Reading
order: drawn (what a sample is), features, programs."""

from irkit.fuzz.generators.drawn import (
    KINDS,
    Allowed,
    Array,
    Kind,
    Program,
    Sample,
    Unusable,
    outputs_of,
)
from irkit.fuzz.generators.features import features_of
from irkit.fuzz.generators.programs import draw_program

__all__ = [
    "KINDS",
    "Allowed",
    "Array",
    "Kind",
    "Program",
    "Sample",
    "Unusable",
    "draw_program",
    "features_of",
    "outputs_of",
]
