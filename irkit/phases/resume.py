"""Pipelines that continue on a function which other passes have already lowered."""

from irkit.graph import GraphFunc
from irkit.passes import installed_passes
from irkit.phases.default import DEFAULT
from irkit.phases.graph import GRAPH
from irkit.phases.legalize import LEGALIZE
from irkit.transform import IR, Pipeline, functions_of, read_phases, sub_pipeline


def pipeline_for(text: str, ir: IR) -> Pipeline:
    """Return the pipeline that a text such as ``1:simplify;2:my_module:my_pass`` describes, of the
    graph phases if there are graphs, and of the loop phases otherwise.

    Facts that a pass needs and that hold for the functions are in force at the start. A name with a
    colon imports a module, which runs its code. Raises: ParseError, OptionError, or IRKitError,
    each with the column; IRKitError if the passes cannot run in this order.
    """
    graphs = any(isinstance(func, GraphFunc) for func in functions_of(ir))
    like = GRAPH if graphs else DEFAULT.then(LEGALIZE)
    phases = read_phases(text, installed_passes(), like)
    return sub_pipeline(like, [(phase.number, p) for phase in phases for p in phase.passes], ir)
