"""The executor's program as text: arithmetic on sizes, memory, and calls with branches and loops.

It is for people; the plan itself is the data in a package.
"""

import msgspec

from irkit.codegen.executor_plan import (
    MOST_BYTES,
    Branch,
    Copy,
    ExecutorPlan,
    Repeat,
    SizeStep,
    TensorPlace,
    TensorSpec,
    control_flow,
)

_INDENT = "    "


class PlanLine(msgspec.Struct, frozen=True):
    """A line of the program; ``kernel`` is what it calls, ``node`` the graph node that this
    computes, or both are empty."""

    text: str
    kernel: str = ""
    node: str = ""


def plan_lines(plan: ExecutorPlan) -> list[PlanLine]:
    """Return the program of a plan, line by line."""
    return _PlanText(plan).lines()


class _PlanText:
    def __init__(self, plan: ExecutorPlan) -> None:
        self.plan = plan
        self.params = {at: spec.name for at, spec in plan.params}

    def lines(self) -> list[PlanLine]:
        plan = self.plan
        state = {pair.result: plan.inputs[pair.param].name for pair in plan.state}
        made = [PlanLine(f"input {_tensor(spec)}") for spec in plan.inputs]
        made += [
            PlanLine(f"output {_tensor(spec)}{self._state(number, state)}")
            for number, spec in enumerate(plan.outputs)
        ]
        for dim in plan.dims:
            made.append(PlanLine(f"{dim.name} = dimension of inputs, in {dim.least}..{dim.most}"))
        made += [PlanLine(_step(step)) for step in plan.sizes]
        made.append(PlanLine(f"parameters: {plan.param_bytes} bytes"))
        made.append(PlanLine(f"arena: {plan.arena_bytes} bytes"))
        if plan.memory_limit < MOST_BYTES:
            limit = f"refuse unless {plan.memory} <= {plan.memory_limit}  # memory_limit"
            made.append(PlanLine(limit))
        return [*made, *self._program()]

    def _state(self, number: int, state: dict[int, str]) -> str:
        if number not in state:
            return ""
        pair = next(each for each in self.plan.state if each.result == number)
        room = f", with room for {pair.capacity} along axis {pair.axis}" if pair.capacity else ""
        return f", written over {state[number]}{room}"

    def _program(self) -> list[PlanLine]:
        made: list[PlanLine] = []
        indent = ""
        for what, number in control_flow(self.plan):
            if what == "call":
                made.append(self._call(number, indent))
                continue
            region = self.plan.regions[number]
            if isinstance(region, Repeat):
                if what == "loop":
                    made += [PlanLine(indent + self._copied(copy)) for copy in region.enter]
                    for row in region.rows:
                        made.append(PlanLine(f"{indent}{self._place(row.to)} = 0"))
                    made.append(PlanLine(indent + self._loop(region)))
                else:
                    made += [PlanLine(indent + self._copied(copy)) for copy in region.carry]
                    for row in region.rows:
                        to, source = self._place(row.to), self._place(row.source)
                        number_at = self._place(region.number)
                        made.append(PlanLine(f"{indent}{to}[{number_at}] = {source}"))
            elif what in ("if", "else"):
                outer = indent if what == "if" else indent[: -len(_INDENT)]
                made.append(PlanLine(outer + self._branch(region, what)))
            if what in ("if", "loop"):
                indent += _INDENT
            elif what == "end":
                indent = indent[: -len(_INDENT)]
        return made + [PlanLine(self._copied(copy)) for copy in self.plan.copies]

    def _branch(self, region: Branch, what: str) -> str:
        return f"if {self._place(region.cond)}:" if what == "if" else "else:"

    def _loop(self, loop: Repeat) -> str:
        limits = [self._place(loop.count), *(str(row.rows) for row in loop.rows)]
        least = limits[0] if len(limits) == 1 else f"min({', '.join(limits)})"
        number, cond = self._place(loop.number), self._place(loop.cond)
        return f"for {number} in 0..{least} while {cond}:"

    def _call(self, number: int, indent: str) -> PlanLine:
        call = self.plan.calls[number]
        sizes = [*map(str, call.scalars), *map(str, call.extents)]
        places = ", ".join(map(self._place, call.args))
        given = f"{places}; {', '.join(sizes)}" if sizes else places
        fused = f" = {', '.join(call.operators)}" if call.operators else ""
        return PlanLine(
            f"{indent}{call.kernel}({given})  # {call.node}{fused}", call.kernel, call.node
        )

    def _copied(self, copy: Copy) -> str:
        return f"{self._place(copy.to)} = {self._place(copy.source)}  # {copy.size} bytes"

    def _place(self, place: TensorPlace) -> str:
        if isinstance(place.at, int) and place.kind in ("input", "output"):
            specs = self.plan.inputs if place.kind == "input" else self.plan.outputs
            return specs[place.at].name
        if isinstance(place.at, int) and place.kind == "param":
            return f"parameter {self.params.get(place.at, place.at)}"
        return f"arena[{place.at}]"


def _tensor(spec: TensorSpec) -> str:
    return f"{spec.name}: {spec.dtype}[{', '.join(map(str, spec.shape)) or '()'}]"


def _step(step: SizeStep) -> str:
    if step.op in ("extent", "check"):
        return f"{step.name} = {step.a}, refused if negative  # {step.what}"
    if step.op in ("min", "max"):
        return f"{step.name} = {step.op}({step.a}, {step.b})  # {step.what}"
    return f"{step.name} = {step.a} {step.op} {step.b}  # {step.what}"
