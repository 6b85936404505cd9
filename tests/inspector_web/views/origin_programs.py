"""Traces of kernels that were parsed from a file."""

from irkit.fuzz.generators.seed_corpus.texts import KERNELS
from irkit.inspector_web import Texts
from irkit.ir import parse
from irkit.phases import trace
from irkit.transform import Trace


def from_text(name: str) -> Texts:
    return Texts(Trace(trace(parse(KERNELS[name].strip() + "\n", file="kernel.irs"))))
