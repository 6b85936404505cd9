"""Printed functions without a pipeline."""

from irkit.graph import GRAPH_LEVEL, GraphFunc
from irkit.inspector_web import Texts
from irkit.inspector_web.text.texts import PrintedFunction
from irkit.ir import LOOP_LEVEL, PrimFunc
from irkit.transform import Step, Trace


def part_of(func: PrimFunc | GraphFunc) -> PrintedFunction:
    level = LOOP_LEVEL if isinstance(func, PrimFunc) else GRAPH_LEVEL
    step = Step(0, level, 0, "", "p", "p", {}, func.name, func, func, 0.0)
    return Texts(Trace([step])).of(0).parts[0][1]
