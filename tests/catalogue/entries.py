"""Entries of the catalogue: a pass, the program it runs on, and why it is wrong or legal.

A module of entries makes one ``Entries`` and decorates the passes with it. The name of the function
is the name of the entry, its docstring is the reason. A function over ``PrimFunc``, ``GraphFunc``
or ``IRModule`` is a pass; one over another node is a rule, applied everywhere.
"""

import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, get_type_hints

from irkit.core import Function, IRModule, rewrite
from irkit.graph import GRAPH_LEVEL, GRAPH_NODES, GraphFunc, parse_module as parse_graphs
from irkit.ir import LOOP_LEVEL, Expr, PrimFunc, parse_module, peephole
from irkit.transform import AnyPass, Phase, Pipeline, define_pass

Program = str | Callable[[], Function | IRModule]


class Entry(NamedTuple):
    """One pass on one program. ``contracts`` judges it by the contracts of a pass as well.

    ``isolated``: the pass runs in a process of its own, because it ends the one that it runs in.
    """

    group: str
    name: str
    why: str
    program: Program
    p: AnyPass
    legal: bool
    graph: bool
    contracts: bool
    isolated: bool = False

    def subject(self) -> Function | IRModule:
        """Return the program: a function if it has only one, else a module."""
        if not isinstance(self.program, str):
            return self.program()
        made = (parse_graphs if self.graph else parse_module)(self.program)
        if self.p.on_modules or len(made) > 1:
            return made
        return next(iter(made.functions.values()))

    def pipeline(self) -> Pipeline:
        """Return a pipeline of the pass alone."""
        level = GRAPH_LEVEL if self.graph else LOOP_LEVEL
        return Pipeline(level, (Phase(0, "test", (self.p,)),))


class Entries:
    """The entries of one module, which are all legal or all bad."""

    def __init__(self, group: str, *, legal: bool, contracts: bool = False) -> None:
        self.group, self.legal, self.contracts = group, legal, contracts
        self.found: list[Entry] = []

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.found)

    def __call__(
        self,
        program: Program,
        *,
        declared: bool = False,
        graph: bool = False,
        isolated: bool = False,
        **facts: Any,
    ) -> Callable[[Callable[..., Any]], AnyPass]:
        """Make an entry of a pass or of a rule."""

        def add(function: Callable[..., Any]) -> AnyPass:
            subject = _subject(function)
            if not issubclass(subject, (Function, IRModule)):
                on_graph = issubclass(subject, GRAPH_NODES) and not issubclass(subject, Expr)
                run = _over_graph(function) if on_graph else _over_loops(function)
                for name in ("__name__", "__qualname__", "__module__", "__doc__"):
                    setattr(run, name, getattr(function, name))
            else:
                on_graph, run = graph or issubclass(subject, GraphFunc), function
            made = define_pass(changes_rounding=declared, **facts)(run)
            name = function.__name__.replace("_", " ")
            self._add(name, made.doc, program, made, graph=on_graph, isolated=isolated)
            return made

        return add

    def rule(
        self,
        name: str,
        why: str,
        program: Program,
        pattern: Expr,
        into: Any,
        *,
        where: Callable[..., bool] | None = None,
        commutative: bool = False,
        declared: bool = False,
    ) -> None:
        """Make an entry of a peephole rule."""
        rule = peephole(name, pattern, into, where=where, commutative=commutative)

        def run(func: PrimFunc) -> PrimFunc:
            return rewrite(func, rule)

        run.__name__ = name.replace(" ", "_")
        made = define_pass(changes_rounding=declared)(run)
        self._add(name, why, program, made, graph=False)

    def _add(
        self,
        name: str,
        why: str,
        program: Program,
        p: AnyPass,
        *,
        graph: bool,
        isolated: bool = False,
    ) -> None:
        why = " ".join(why.split())
        contracts = self.contracts and not isolated
        self.found.append(
            Entry(self.group, name, why, program, p, self.legal, graph, contracts, isolated)
        )


def _subject(function: Callable[..., Any]) -> type[Any]:
    first = next(iter(inspect.signature(function).parameters))
    found = get_type_hints(function)[first]
    return found if isinstance(found, type) else found.__args__[0]


def _over_loops(rule: Callable[..., Any]) -> Callable[[PrimFunc], PrimFunc]:
    def run(func: PrimFunc) -> PrimFunc:
        return rewrite(func, rule)

    return run


def _over_graph(rule: Callable[..., Any]) -> Callable[[GraphFunc], GraphFunc]:
    def run(func: GraphFunc) -> GraphFunc:
        return rewrite(func, rule)

    return run
