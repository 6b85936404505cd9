from pathlib import Path

import pytest

from irkit.core import FormatError, IRModule, same
from irkit.graph import GRAPH_LEVEL, GraphFunc, parse_module
from irkit.ir import LOOP_LEVEL, parse
from irkit.transform import PassFailed, Phase, Pipeline, Trace, define_pass

GRAPH = """\
def main(x: f32[n, 2], y: f32[n, 2]):
    c: f32[2] = constant([1.5, -0.0])
    z: f32[n, 2] = add(x, c)
    return z
"""
LOOPS = """\
def kernel(A: f32[n]):
    for i in serial(0, n):
        A[i] = f32(0.0)
"""


@define_pass
def renew(func: GraphFunc) -> GraphFunc:
    return func.replace(attrs=(("renewed", True),))


@define_pass
def lose_a_parameter(func: GraphFunc) -> GraphFunc:
    return func.replace(params=func.params[:1])


def module() -> IRModule:
    return parse_module(GRAPH).with_functions({"kernel": parse(LOOPS)})


def test_a_trace_of_graphs_reads_back_with_symbolic_shapes_and_small_constants(
    tmp_path: Path,
) -> None:
    steps = Pipeline(GRAPH_LEVEL, (Phase(0, "graph", (renew,)),)).steps(module())
    trace = Trace.of(steps)
    trace.save(tmp_path / "t")
    (step,) = Trace.load(tmp_path / "t", [LOOP_LEVEL, GRAPH_LEVEL])
    assert step.function == "main"
    assert same(step.after, trace[0].after)
    assert step.scripts() == trace[0].scripts()
    assert "-0.0" in step.scripts()[1]
    with pytest.raises(FormatError, match="Levels known here: loop"):
        Trace.load(tmp_path / "t", [LOOP_LEVEL])


def test_a_graph_pass_that_changes_the_signature_is_named() -> None:
    with pytest.raises(PassFailed, match=r"'lose-a-parameter' on function 'main'.*signature"):
        Pipeline(GRAPH_LEVEL, (Phase(0, "graph", (lose_a_parameter,)),)).run(module())
