"""Samples for tests of the judge."""

import numpy as np

from irkit.debug import InputSet
from irkit.fuzz.generators import Sample
from irkit.ir import PrimFunc, parse
from irkit.transform import Pipeline

ADD = parse("""
def add(A: f32[5], C: f32[5]):
    for i in serial(0, 5):
        with block("C"):
            v = axis.spatial(5, i)
            C[v] = A[v] + f32(1.0)
""").replace(attrs=(("outputs", (1,)),))


def sample_of(pipeline: Pipeline, func: PrimFunc = ADD) -> Sample:
    given = np.arange(5, dtype=np.float32)
    inputs = InputSet("given", "given", (given, np.zeros(5, np.float32)))
    expected = ((given + 1,),)
    return Sample(
        "programs", func, pipeline, inputs=(inputs,), expected=expected, allowed=((0.0,),)
    )


GRAPH_TEXT = """
def main(x: f32[2, 3]):
    y: f32[2, 3] = relu(x)
    z: f32[2, 3] = add(y, x)
    return z
"""
