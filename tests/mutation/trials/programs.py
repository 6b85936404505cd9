"""Programs that a changed pass is tried on: kernels, scheduled kernels, graphs, and random ones."""

from collections.abc import Iterator
from typing import Literal

import msgspec
from hypothesis import HealthCheck, Phase, given, seed, settings

from irkit.core import IRModule
from irkit.fuzz.generators.loops.loop_functions import prim_funcs
from irkit.fuzz.generators.seed_corpus.schedules import SCHEDULES, scheduled
from irkit.fuzz.generators.seed_corpus.texts import EDGE_CASES, GRAPHS, KERNELS
from irkit.graph import parse as parse_graph
from irkit.ir import PrimFunc, parse, script
from irkit.phases import DEFAULT, GRAPH
from irkit.transform import IR, Apply, Pipeline, Step

ProgramKind = Literal["loops", "plain", "schedule", "graph"]


class TrialProgram(msgspec.Struct, frozen=True):
    """A program: a kernel or random function as text, or the name of a schedule.

    ``plain`` ones are lowered without ``simplify``, which hides what the passes after it can do.
    """

    name: str
    kind: ProgramKind
    text: str


def fixed_programs() -> list[TrialProgram]:
    """List the programs that are always the same."""
    loops = [
        TrialProgram(name, "loops", text.strip() + "\n")
        for name, text in (KERNELS | EDGE_CASES).items()
    ]
    schedules = [TrialProgram(name, "schedule", name) for name in SCHEDULES]
    graphs = [TrialProgram(name, "graph", text.strip() + "\n") for name, text in GRAPHS.items()]
    plain = [
        TrialProgram(f"{name} plainly", "plain", text.strip() + "\n")
        for name, text in EDGE_CASES.items()
    ]
    return [*loops, *plain, *schedules, *graphs]


def random_programs(number: int, count: int) -> list[TrialProgram]:
    """Draw random functions; the same for the same ``number``."""
    made: list[TrialProgram] = []

    @seed(number)
    @settings(
        max_examples=max(1, count),
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(prim_funcs())
    def collect(func: PrimFunc) -> None:
        made.append(TrialProgram(f"random {len(made)}", "loops", script(func)))

    if count:
        collect()
    return made[:count]


def read_program(case: TrialProgram) -> tuple[IR, Pipeline]:
    """Read a program, and choose the passes that lower it."""
    if case.kind == "graph":
        return IRModule({"main": parse_graph(case.text)}), GRAPH
    if case.kind == "schedule":
        func, primitives = scheduled(case.text)
        return func, DEFAULT.with_passes([(0, p) for p in primitives])
    pipeline = DEFAULT.without("simplify") if case.kind == "plain" else DEFAULT
    return parse(case.text), pipeline


def steps_of(case: TrialProgram, apply: Apply) -> Iterator[Step]:
    """Lower a program step by step."""
    ir, pipeline = read_program(case)
    return pipeline.steps(ir, apply=apply)
