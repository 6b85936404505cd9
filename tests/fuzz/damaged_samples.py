"""Damaged samples, for tests of files."""

from irkit.fuzz.generators import Sample
from irkit.phases import GRAPH


def damaged(ir: str | bytes) -> Sample:
    return Sample("text" if isinstance(ir, str) else "onnx", ir, GRAPH, damaged=True)
