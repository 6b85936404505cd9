"""A task: loops that nobody has scheduled, and the space of schedules to search."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from irkit.autoschedule import Machine
from irkit.codegen import complete_target
from irkit.core import IRKitError, Target, structural_hash
from irkit.ir import Buffer, PrimFunc, as_int, is_unscheduled, parse, work_of
from irkit.te import Tensor, create_prim_func
from irkit.tune.machine_table import machine_here
from irkit.tune.records import SCHEMA, TaskLine
from irkit.tune.space.sampled_space import SampledSpace
from irkit.tune.space.spaces import RuleSpace, Space, TemplateSpace
from irkit.tune.templates import load_template


class Task(msgspec.Struct, frozen=True, eq=False):
    """What is tuned: a function as written, and a space. ``weight`` is its share of a model's time,
    or how often it runs."""

    name: str
    func: PrimFunc
    space: Space
    weight: float = 1.0
    template: str = ""
    args: tuple[Any, ...] = ()

    @property
    def hash(self) -> str:
        """The name by which records know the task: the same loops have the same one."""
        return hash_of(self.func)

    @property
    def flop(self) -> int:
        """Operations of one call; 0 if unknown."""
        counted = work_of(self.func)
        return 0 if counted is None else counted.flops

    def line(self) -> TaskLine:
        """Return the task as a line of a file of records."""
        return TaskLine(
            SCHEMA,
            self.hash,
            self.name,
            self.flop,
            self.func.script(),
            self.template,
            self.args,
            self._where(),
            self.weight,
        )

    def _where(self) -> str:
        """Return the function that made the space; empty if there is none."""
        if isinstance(self.space, TemplateSpace):
            return self.space.template.where
        return self.space.where if isinstance(self.space, SampledSpace) else ""


def hash_of(func: PrimFunc) -> str:
    """Return a name of the loops of a function that does not depend on the function's own name."""
    return structural_hash(func.replace(name="main"))[:32]


def task(
    given: PrimFunc | Tensor | Sequence[Tensor] | Callable[..., Any] | str,
    args: Sequence[Any] = (),
    *,
    name: str = "",
    weight: float = 1.0,
    threads: int = 1,
    machine: Machine | None = None,
    target: Target | None = None,
) -> Task:
    """Return the task of loops, of tensor expressions, or of a template or function of a file.

    ``given`` is a function over loops as ``te.create_prim_func`` makes it, tensors (parameters
    first), a function, or a text such as ``kernel.py:matmul``; a function may return a schedule
    that samples, whose decisions are the space; ``args`` are the arguments of the
    latter two. Schedules have parallel loops if they may run on more than one of ``threads``.
    Raises: IRKitError if a shape is not constant, or somebody has scheduled the loops already.
    """
    chosen = machine or machine_here(complete_target(target or Target()))
    if isinstance(given, str) or (callable(given) and not isinstance(given, (PrimFunc, Tensor))):
        found = load_template(given)
        made = found.run(args)
        func = _checked(made.written)
        if made.schedule is not None:
            space: Space = TemplateSpace(found, tuple(args), func, chosen, threads)
            trace = made.schedule.trace
            if trace.samples and not made.config.knobs:
                text = trace.without_where().as_json()
                space = SampledSpace(func, text, chosen, threads, found.where)
            return Task(name or found.name, func, space, weight, found.name, tuple(args))
        name = name or found.name
    elif isinstance(given, PrimFunc):
        func = _checked(given)
    else:
        tensors = [given] if isinstance(given, Tensor) else list(given)
        func = _checked(create_prim_func(tensors))
    return Task(name or func.name, func, RuleSpace(func, chosen, threads), weight)


def resumed_task(line: TaskLine, *, threads: int = 1) -> Task:
    """Return the task of a line of a file of records.

    Raises: IRKitError if it is about a template: a file of records must not make irkit run code.
    """
    if line.template:
        args = json.dumps(list(line.args))[1:-1]
        raise IRKitError(
            f"{line.name!r} is a template, and the file of records may be a stranger's: it is not "
            "run because a line there names it",
            hint=f"If you trust it: irkit tune {line.where} --args {args!r} --resume RECORDS.",
        )
    return task(parse(line.loops), name=line.name, weight=line.weight, threads=threads)


def _checked(func: PrimFunc) -> PrimFunc:
    if not is_unscheduled(func):
        raise IRKitError(
            f"{func.name!r} is scheduled already; a search begins with loops as "
            "te.create_prim_func makes them"
        )
    for param in func.params:
        if not isinstance(param, Buffer):
            raise IRKitError(f"{func.name!r} takes the number {param.name!r}; expected buffers")
        if any(as_int(dim) is None for dim in param.shape):
            raise IRKitError(
                f"{param.name!r} of {func.name!r} has a shape that is not constant, so there is "
                "nothing to measure",
                hint="Give every extent a number.",
            )
    return func
