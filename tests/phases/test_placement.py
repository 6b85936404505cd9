"""A pass goes in at any place, from Python too, and shows in the one trace."""

from typing import Any

import numpy as np
import pytest

import irkit
from irkit.core import IRKitError, IRModule, Node, rewrite
from irkit.debug import unused_passes
from irkit.graph import GraphFunc, parse_module
from irkit.ir import LOOP_LEVEL, For, PrimFunc, flat_access, no_vectorized_loops, parse
from irkit.passes import BUILTIN
from irkit.passes.registry import is_user_pass
from irkit.phases import DEFAULT, GRAPH, LEGALIZE, lower
from irkit.phases.placement import Flow
from irkit.transform import (
    Fact,
    MissingFact,
    Phase,
    Pipeline,
    Registry,
    define_pass,
    parse_pipeline,
)
from tests.runtime.models import mlp

REGISTRY = Registry(BUILTIN)
KERNEL = """\
def f(A: f32[8], C: f32[8]):
    for i in serial(0, 8):
        C[i] = A[i] * f32(2.0)
"""


@define_pass
def tag(func: PrimFunc) -> PrimFunc:
    """Mark every loop with an attribute."""

    def mark(loop: For) -> Node | None:
        return None if ("tag", 1) in loop.attrs else loop.replace(attrs=(*loop.attrs, ("tag", 1)))

    return rewrite(func, mark, on=For)


@define_pass
def look(func: GraphFunc) -> GraphFunc:
    """Do nothing."""
    return func


@define_pass(needs=(no_vectorized_loops,))
def legal(func: PrimFunc) -> PrimFunc:
    """Do nothing to what has no vectorised loops."""
    return tag(func)


@pytest.mark.parametrize("pipeline", [DEFAULT, GRAPH, LEGALIZE, DEFAULT.then(LEGALIZE)])
def test_the_pipelines_have_a_text_that_reads_back(pipeline: Pipeline) -> None:
    text = pipeline.text(REGISTRY)
    assert ":" in text
    assert parse_pipeline(text, REGISTRY, pipeline) == pipeline


def test_the_edits_are_those_of_every_pipeline() -> None:
    for pipeline in (DEFAULT, GRAPH, LEGALIZE):
        last = pipeline.phases[-1].number
        p = look if pipeline is GRAPH else tag
        inserted = pipeline.insert(p, phase=last)
        assert inserted.names == (*pipeline.names, p.name)
        assert inserted.without(p.name) == pipeline
        assert pipeline.with_passes([(last, p)]) == inserted
        assert inserted.insert(p, before=p.name).names[-2:] == (p.name, p.name)
        assert inserted.replace(p.name, p.using()).stop_after(last) == inserted
        with pytest.raises(IRKitError, match=f"no phase 9; the phases are: .*{last} "):
            pipeline.insert(p, phase=9)


def test_phase_4_is_the_legalisation_alone() -> None:
    with pytest.raises(IRKitError, match="no phase 4; the phases are: 0 raw, 1 flat, 2 loops, 3"):
        DEFAULT.insert(tag, phase=4)
    with pytest.raises(IRKitError, match="no phase 3; the phases are: 4 legalize"):
        LEGALIZE.insert(tag, phase=3)


def test_the_legalisation_begins_with_the_facts_that_the_phases_leave() -> None:
    assert flat_access in LEGALIZE.facts
    pipeline = LEGALIZE.insert(legal, phase=4)
    assert DEFAULT.then(pipeline).names[-1] == "legal"
    with pytest.raises(MissingFact, match="phase 4: 'legal' needs no_vectorized_loops"):
        DEFAULT.stop_after(1).then(pipeline)


def test_build_runs_the_legalisation_after_the_phases() -> None:
    func = parse(KERNEL)
    kernel = irkit.build(func, legalize=LEGALIZE.insert(tag, phase=4))
    a, c = np.ones(8, np.float32), np.zeros(8, np.float32)
    kernel(a, c)
    assert c.tolist() == [2.0] * 8
    seen: list[Any] = []

    @define_pass
    def spy(func: PrimFunc) -> PrimFunc:
        seen.append(func)
        return func

    irkit.build(func, legalize=LEGALIZE.insert(spy, phase=4))
    assert [each.script() for each in seen] == [lower(func).script()]
    with pytest.raises(IRKitError, match="phase 4 legalize cannot follow"):
        irkit.build(func, pipeline=DEFAULT.then(LEGALIZE))


def test_compile_shows_all_three_pipelines_in_one_trace() -> None:
    model = irkit.compile(
        mlp(),
        graph_pipeline=GRAPH.insert(look, phase=0),
        pipeline=DEFAULT.insert(tag, phase=1),
        legalize=LEGALIZE.insert(legal, phase=4),
    )
    places = {(s.level.name, s.phase, s.name) for s in model.trace}
    assert {("graph", 0, "look"), ("loop", 1, "tag"), ("loop", 4, "legal")} <= places
    assert [step.index for step in model.trace] == list(range(len(model.trace)))
    names = [step.name for step in model.trace]
    # The end of the first graph phase still has operators.
    assert names.index("look") < names.index("fuse-ops")


def test_passes_that_did_nothing_are_data() -> None:
    pipeline = DEFAULT.insert(tag, phase=1).insert(tag, phase=2)
    trace = irkit.trace(parse(KERNEL), pipeline=pipeline)
    idle = [each for each in unused_passes(trace, [pipeline]) if is_user_pass(each.of)]
    (one,) = idle  # At phase 1 it changed something.
    assert (one.of, one.phase, one.runs, one.level) == (tag, 2, 1, "loop")
    never = unused_passes([], [LEGALIZE.insert(tag, phase=4), GRAPH.insert(look, phase=0)])
    said = [str(each) for each in never if is_user_pass(each.of)]
    assert said == [
        "pass 'tag' in phase 4 legalize never ran: it was given no function, and takes a PrimFunc",
        "pass 'look' in phase 0 graph never ran: it was given no function, and takes a GraphFunc",
    ]


def test_a_refusal_names_the_fact_and_the_passes_that_could_give_it() -> None:
    with pytest.raises(MissingFact) as caught:
        DEFAULT.without("flatten-buffers")
    assert caught.value.fact == "flat_access"
    assert str(caught.value) == (
        "phase 2: 'inject-double-buffers' needs flat_access, which nothing before it gives\n"
        "  It is given by 'flatten-buffers', which this leaves out."
    )
    own = Fact("is_tidy", "loop", lambda func: [])

    @define_pass(needs=(own,))
    def wants(func: PrimFunc) -> PrimFunc:
        return func

    with pytest.raises(MissingFact, match="No pass of this pipeline gives is_tidy"):
        DEFAULT.insert(wants, phase=3)


def test_passes_placed_together_may_need_each_other() -> None:
    own = Fact("is_tidy", "loop", lambda func: [])

    @define_pass(needs=(own,))
    def wants(func: PrimFunc) -> PrimFunc:
        return func

    @define_pass(gives=(own,))
    def tidy(func: PrimFunc) -> PrimFunc:
        return func

    registry = REGISTRY.with_passes(wants, tidy)
    flow = Flow().with_placed(["legalize:wants", "2:tidy"], registry)
    assert flow.lowering.names[-1] == "wants"
    flow = Flow().with_placed(["before=unroll-loops:wants", "1:tidy"], registry)
    assert flow.loops.names.index("wants") == flow.loops.names.index("unroll-loops") - 1


def test_a_flow_leaves_out_passes_wherever_they_stand() -> None:
    flow = Flow().without(["simplify", "fold-batch-norm"])
    assert "simplify" not in flow.lowering.names
    assert "fold-batch-norm" not in flow.graph.names
    assert Flow().without([]) == Flow()


def test_graphs_are_refused_where_loops_are_expected() -> None:
    module = parse_module("def main(x: f32[4]):\n    y: f32[4] = relu(x)\n    return y\n")
    assert isinstance(module, IRModule)
    with pytest.raises(IRKitError, match="'look' takes GraphFunc, but level 'loop'"):
        Pipeline(LOOP_LEVEL, (Phase(0, "x", (look,)),))
