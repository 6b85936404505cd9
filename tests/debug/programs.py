"""Programs to try every pass on: its input at each position in the phases."""

from functools import cache
from typing import Any

from hypothesis import given, settings

from irkit.core import IRModule
from irkit.fuzz import prim_funcs
from irkit.fuzz.generators.seed_corpus.texts import EDGE_CASES
from irkit.fuzz.picks import picks_of
from irkit.graph import parse_module
from irkit.ir import UNSCHEDULED, PrimFunc, parse, script, seq
from irkit.phases import DEFAULT, GRAPH
from irkit.phases.bounds_checks import with_bounds_checks
from irkit.transform import IR, AnyPass, Pipeline
from tests.graph.graphs import random_graph
from tests.passes.graph.conv_graphs import conv_graph, tiled_graph
from tests.passes.graph.programs import CALLS, NESTED
from tests.passes.loop.kernels import kernel
from tests.shared.aimed_graphs import AIMED_GRAPHS, constant_products
from tests.shared.attention_graphs import attention_graph

CHOSEN = (
    "MATMUL",
    "TILED_MATMUL",
    "CONV_PADDED",
    "SOFTMAX",
    "BRANCHES",
    "REUSED",
    "FUSED_PRODUCER",
    "TILE",
    "SIBLING_THREADS",
    "CROSS_THREAD_SUMS",
    "HALVED_THREADS",
    "VTHREAD_MATMUL",
)
SELECTS = """
def selects(A: f32[8], B: f32[9], C: f32[8]):
    for i in serial(0, 8):
        C[i] = select(i < 4, B[i + 1], A[i])
    for i in parallel(0, 2):
        for j in parallel(0, 4):
            C[i * 4 + j] = select(A[i * 4 + j] > f32(0.0), C[i * 4 + j], B[8 - j])
    for i in serial(0, 4):
        C[i] = select(A[i] > f32(0.0), B[i * 7 // (i + 1)], C[i])
"""
GATHER = """
def gather(A: f32[n], P: i64[4], C: f32[4]):
    for i in serial(0, 4):
        C[i] = A[P[i]] if C[i] > f32(0.0) else A[i]
"""
NARROW = """
def narrow(A: f16[8], B: f32[8], C: i32[8], D: bf16[8]):
    for i in serial(0, 8):
        A[i] = A[i] * A[i] + cast(B[i], f16)
        C[i] = cast(B[i] * f32(3.0), i32)
        D[i] = D[i] - cast(A[i], bf16)
"""
FEW_ROWS = """
def main(q: f32[2, 1, 8], k: f32[2, 5, 8]):
    turned: f32[2, 8, 5] = transpose(k, axes=(0, 2, 1))
    scores: f32[2, 1, 5] = matmul(q, turned)
    return scores
"""


@cache
def random_programs(count: int) -> tuple[PrimFunc, ...]:
    """Draw random functions, the same in each run, with spans as parsing gives them."""
    found: list[PrimFunc] = []

    @settings(max_examples=count, deadline=None, derandomize=True, database=None)
    @given(prim_funcs())
    def collect(func: PrimFunc) -> None:
        found.append(parse(script(func), file="random.irs"))

    collect()
    return tuple(found[:count])


@cache
def stages(pipeline: Pipeline, programs: tuple[IR, ...]) -> dict[str, list[IR]]:
    """Return the inputs of each pass of a pipeline, by the name of the pass."""
    found: dict[str, list[IR]] = {}
    for program in programs:
        for step in pipeline.steps(program):
            found.setdefault(step.name, []).append(step.before)
    return found


@cache
def loop_programs(count: int) -> tuple[PrimFunc, ...]:
    texts = (SELECTS, EDGE_CASES["SHARED_MEMORY"], EDGE_CASES["TWO_HALVES"], GATHER, NARROW)
    chosen = (*map(kernel, CHOSEN), *(parse(text.strip()) for text in texts))
    return (*chosen, *random_programs(count))


@cache
def graph_programs(count: int) -> tuple[IRModule, ...]:
    aimed = [draw(picks_of(n)) for draw in AIMED_GRAPHS for n in range(2)]
    drawn = [random_graph(seed) for seed in range(count)]
    written = [parse_module(text) for text in (CALLS, NESTED, FEW_ROWS)]
    return (*(IRModule({"main": graph}) for graph in (*drawn, *aimed)), *written)


_SIZES: dict[str, dict[str, Any]] = {
    "block-channels": {"lanes": 4},
    "fuse-attention": {"vector_bytes": 16, "fewest": 1},
    "pack-panels": {"vector_bytes": 16},
    "use-winograd": {"percent": 100_000, "fewest": 1},
}
"""Options of passes that do nothing until a machine is known, or where nothing is large enough."""


def at_work(p: AnyPass) -> AnyPass:
    """Return a built-in pass with options by which it changes small programs."""
    return p.using(**_SIZES[p.name]) if p.name in _SIZES else p


@cache
def _working_graph() -> Pipeline:
    pipeline = GRAPH
    for name, p in ((p.name, p) for _, p in GRAPH.placed):
        pipeline = pipeline.replace(name, at_work(p)) if name in _SIZES else pipeline
    return pipeline


def programs_for(p: AnyPass, count: int) -> list[IR]:
    """Return inputs of a built-in pass: those at its position, and others if it needs no facts."""
    if p.name in GRAPH.names:
        if p.name not in _SIZES:
            return stages(GRAPH, graph_programs(count))[p.name]
        draws = (conv_graph, tiled_graph, constant_products, attention_graph)
        drawn = [draw(picks_of(n)) for draw in draws for n in range(1 + count // 4)]
        programs = tuple(IRModule({"main": graph}) for graph in drawn)
        return stages(_working_graph(), programs)[p.name]
    programs = loop_programs(count)
    if p.name == "convert-ssa":  # Its input does not verify, so no phase produces it.
        return [func.replace(body=seq(func.body, func.body)) for func in programs]
    if p.name == "auto-schedule":  # It is for functions that nobody has scheduled.
        return [func.replace(attrs=(*func.attrs, (UNSCHEDULED, True))) for func in programs]
    if p.name == "time-loops":  # It runs after all phases, on request.
        return [DEFAULT.run(func) for func in programs]
    pipeline = DEFAULT if p.name in DEFAULT.names else with_bounds_checks(DEFAULT)
    at_place = stages(pipeline, programs).get(p.name, [])
    return [*at_place, *(() if p.needs else programs)]
