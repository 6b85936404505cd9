"""Programs that a changed pass is tried on: kernels, scheduled kernels, graphs, and random ones."""

from collections.abc import Iterator
from typing import Literal

import msgspec
from hypothesis import HealthCheck, Phase, given, seed, settings

from irkit.core import IRModule
from irkit.fuzz.edges import EDGES
from irkit.fuzz.fixed_graphs import GRAPHS
from irkit.fuzz.fixed_schedules import SCHEDULES, scheduled
from irkit.fuzz.kernels import KERNELS
from irkit.fuzz.programs import prim_funcs
from irkit.graph import parse as parse_graph
from irkit.ir import PrimFunc, parse, script
from irkit.phases import DEFAULT, GRAPH
from irkit.transform import IR, Pipeline, Step
from irkit.transform.run import Apply

Kind = Literal["loops", "plain", "schedule", "graph"]


class Case(msgspec.Struct, frozen=True):
    """A program: a kernel or random function as text, or the name of a schedule.

    ``plain`` ones are lowered without ``simplify``, which hides what the passes after it can do.
    """

    name: str
    kind: Kind
    text: str


def fixed_cases() -> list[Case]:
    """List the programs that are always the same."""
    loops = [Case(name, "loops", text.strip() + "\n") for name, text in (KERNELS | EDGES).items()]
    schedules = [Case(name, "schedule", name) for name in SCHEDULES]
    graphs = [Case(name, "graph", text.strip() + "\n") for name, text in GRAPHS.items()]
    plain = [Case(f"{name} plainly", "plain", text.strip() + "\n") for name, text in EDGES.items()]
    return [*loops, *plain, *schedules, *graphs]


def random_cases(number: int, count: int) -> list[Case]:
    """Draw random functions; the same for the same ``number``."""
    made: list[Case] = []

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
        made.append(Case(f"random {len(made)}", "loops", script(func)))

    if count:
        collect()
    return made[:count]


def program_of(case: Case) -> tuple[IR, Pipeline]:
    """Read a program, and choose the passes that lower it."""
    if case.kind == "graph":
        return IRModule({"main": parse_graph(case.text)}), GRAPH
    if case.kind == "schedule":
        func, primitives = scheduled(case.text)
        return func, DEFAULT.with_passes([(0, p) for p in primitives])
    pipeline = DEFAULT.without("simplify") if case.kind == "plain" else DEFAULT
    return parse(case.text), pipeline


def steps_of(case: Case, apply: Apply) -> Iterator[Step]:
    """Lower a program step by step."""
    ir, pipeline = program_of(case)
    return pipeline.steps(ir, apply=apply)
