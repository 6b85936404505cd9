"""The third set: programs as text, each with a wrong and a legal result of a pass.

A file ``CLASS.txt`` of this folder is a class. A case is ``== name``, a line with the report of
another compiler that it is modelled on, the program, ``-- bad: why`` with a program that means
something else, and ``-- legal: why`` with one that means the same. ``(declared)`` behind a name:
the passes declare ``changes_rounding``. The cases were written before their author read the checks.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from irkit.core import Function, IRModule, substitute
from irkit.graph import GraphFunc, parse_module as parse_graphs
from irkit.ir import Buffer, PrimFunc, Var, parse_module, shape_vars
from irkit.transform import define_pass
from tests.catalogue.entries import Entry

Kind = TypeVar("Kind", bound=Function)
DECLARED = " (declared)"
CLASSES = tuple(sorted(path.stem for path in Path(__file__).parent.glob("*.txt")))


def load(group: str, *, legal: bool) -> Iterator[Entry]:
    """Yield the entries of one class, from its file."""
    side = "legal" if legal else "bad"
    text = (Path(__file__).parent / f"{group}.txt").read_text()
    for case in re.split(r"^== ", text, flags=re.MULTILINE)[1:]:
        head, *results = re.split(r"^-- ", case, flags=re.MULTILINE)
        name, _, program = head.split("\n", 2)
        for result in results:
            why, after = result.split("\n", 1)
            if why.startswith(f"{side}: "):
                yield _entry(group, name, why.removeprefix(f"{side}: "), program, after, legal)


def _entry(group: str, name: str, why: str, program: str, after: str, legal: bool) -> Entry:
    graph = group == "graphs"
    name, declared = name.removesuffix(DECLARED), name.endswith(DECLARED)
    rewrite = _replaced_graph(after) if graph else _replaced_loops(after)
    p = define_pass(changes_rounding=declared)(rewrite)
    return Entry(group, name, why, program, p, legal, graph=graph, contracts=False)


def _replaced_loops(after: str) -> Callable[[PrimFunc], PrimFunc]:
    def replace_program(func: PrimFunc) -> PrimFunc:
        new = _only(parse_module(after), PrimFunc)
        sizes = dict(zip(shape_vars(new), shape_vars(func), strict=True))
        types = zip(new.params, func.params, strict=True)
        params = {new: old for new, old in types if _type(new) == _type(old)}
        body = substitute(new.body, {**sizes, **params})
        return new.replace(params=tuple(params.get(p, p) for p in new.params), body=body)

    return replace_program


def _type(param: Var | Buffer) -> object:
    return (param.dtype, param.align) if isinstance(param, Buffer) else param.dtype


def _replaced_graph(after: str) -> Callable[[GraphFunc], GraphFunc]:
    def replace_program(func: GraphFunc) -> GraphFunc:
        new = _only(parse_graphs(after), GraphFunc)
        params = dict(zip(new.params, func.params, strict=True))
        return new.replace(params=func.params, body=substitute(new.body, params))

    return replace_program


def _only(module: IRModule, kind: type[Kind]) -> Kind:
    (function,) = module.functions.values()
    assert isinstance(function, kind)
    return function
