"""A failing case of a pass over graphs or whole modules, and ways to make it smaller.

Values of the graph ``main`` become parameters or results, operators go, and so do functions that
nothing calls any more.
"""

from collections.abc import Iterator
from functools import partial

import msgspec

from irkit.core import Function, IRKitError, IRModule, substitute, walk
from irkit.debug.check.check import verdicts
from irkit.debug.check.options import CheckOptions
from irkit.debug.reduce.failure import Failure
from irkit.debug.reduce.search import Family, all_moves
from irkit.graph import (
    ArrayData,
    Bind,
    Body,
    FuncType,
    GraphFunc,
    Invoke,
    Op,
    Value,
    constants_of,
    operands,
    used_inside,
    verify as verify_graph,
    without_plan,
)
from irkit.ir import PrimFunc, seq
from irkit.transform import Apply, PassFailed, Pipeline, apply_here


class ModuleCase(msgspec.Struct, frozen=True, eq=False):
    """A module that a pass breaks; ``pipeline`` is that pass alone."""

    module: IRModule
    pipeline: Pipeline

    @property
    def constants(self) -> dict[str, ArrayData]:
        """Return the constants of its graphs, by digest."""
        graphs = [func for func in self.module.functions.values() if isinstance(func, GraphFunc)]
        return {data.digest: data for func in graphs for data in constants_of(func).values()}

    def __str__(self) -> str:
        lines = len(self.module.script().splitlines())
        return f"{len(self.module.functions)} functions on {lines} lines"


def failure_of_module(
    case: ModuleCase, options: CheckOptions, apply: Apply = apply_here
) -> Failure | None:
    """Run the pass of a case and return how it fails; None if it does not, or if the module is not
    valid."""
    raised: list[PassFailed] = []
    try:
        if _is_invalid(case.module):
            return None
        steps = case.pipeline.steps(case.module, apply=apply)
        found = verdicts(steps, options, failed=raised.append)
        wrong = next((each for each in found if each.is_wrong), None)
    except IRKitError:
        return None
    if wrong is None:
        return None
    inside = raised[0].__cause__ if raised else None
    kind = raised[0].kind if raised else wrong.status
    exception = "" if inside is None else type(inside).__name__
    return Failure(kind, wrong.name, exception, str(wrong))


def _is_invalid(module: IRModule) -> bool:
    return not module.functions or bool(verify_graph(module))


Move = partial[ModuleCase | None]


def _drops(case: ModuleCase) -> list[Move]:
    """Drop each function."""
    return [partial(_without, name=name) for name in case.module.functions]


def _without(case: ModuleCase, name: str) -> ModuleCase | None:
    return _with(case, name, None) if name in case.module.functions else None


def _with(case: ModuleCase, name: str, func: Function | None) -> ModuleCase:
    """Replace a function; then drop what no result depends on."""
    module = case.module.with_functions({name: func})
    return msgspec.structs.replace(case, module=_pruned(module, name))


def _pruned(module: IRModule, name: str) -> IRModule:
    func = module.functions.get(name)
    if not isinstance(func, GraphFunc):
        return module
    needed = {func.body.result}
    kept: list[Bind] = []
    for bind in reversed(func.body.bindings):
        if bind.var in needed:
            kept.append(bind)
            needed.update(used_inside(bind.step))
    body = Body(tuple(reversed(kept)), func.body.result)
    params = tuple(param for param in func.params if param in needed)
    made = func.replace(params=params, body=body)
    called = {call.function for call in walk(func, Invoke)} - {
        call.function for call in walk(made, Invoke)
    }
    gone = {each: None for each in called if each not in _called(module, name)}
    return module.with_functions({name: made, **gone})


def _called(module: IRModule, but: str) -> set[str]:
    """Return the names of the functions that some function calls, except one."""
    others = [func for name, func in module.functions.items() if name != but]
    return {call.function for func in others for call in walk(func, Invoke)}


def _graphs(case: ModuleCase) -> Iterator[tuple[str, GraphFunc]]:
    for name, func in case.module.functions.items():
        if isinstance(func, GraphFunc):
            yield name, func


def _results(case: ModuleCase) -> list[Move]:
    """Return an earlier value, the earliest first."""
    return [
        partial(_returning, name=name, value=bind.var)
        for name, func in _graphs(case)
        for bind in func.body.bindings
        if bind.var is not func.body.result and not isinstance(bind.var.type, FuncType)
    ]


def _returning(case: ModuleCase, name: str, value: Value) -> ModuleCase | None:
    func = case.module.functions.get(name)
    if not isinstance(func, GraphFunc) or all(b.var is not value for b in func.body.bindings):
        return None
    if value is func.body.result:
        return None
    made = func.replace(body=func.body.replace(result=value), attrs=_plain(func))
    return _with(case, name, made)


def _plain(func: GraphFunc) -> tuple[tuple[str, object], ...]:
    """Return the attributes without a plan of memory, and without names of inputs and outputs."""
    left = without_plan(func.attrs)
    return tuple((key, value) for key, value in left if key not in ("inputs", "outputs"))


def _cuts(case: ModuleCase) -> list[Move]:
    """Make a parameter of each value, the last ones first."""
    return [
        partial(_given, name=name, value=bind.var)
        for name, func in _graphs(case)
        for bind in reversed(func.body.bindings)
        if not isinstance(bind.var.type, FuncType) and bind.var is not func.body.result
    ]


def _given(case: ModuleCase, name: str, value: Value) -> ModuleCase | None:
    func = case.module.functions.get(name)
    if not isinstance(func, GraphFunc):
        return None
    left = tuple(bind for bind in func.body.bindings if bind.var is not value)
    if len(left) == len(func.body.bindings):
        return None
    made = func.replace(
        params=(*func.params, value), body=func.body.replace(bindings=left), attrs=_plain(func)
    )
    return _with(case, name, made)


def _bypasses(case: ModuleCase) -> list[Move]:
    """Replace each operator by an operand of the same type."""
    return [
        partial(_instead, name=name, value=bind.var, by=arg)
        for name, func in _graphs(case)
        for bind in func.body.bindings
        if isinstance(bind.step, (Op, Invoke))
        for arg in operands(bind.step)
        if arg.type == bind.var.type
    ]


def _instead(case: ModuleCase, name: str, value: Value, by: Value) -> ModuleCase | None:
    func = case.module.functions.get(name)
    if not isinstance(func, GraphFunc) or all(b.var is not value for b in func.body.bindings):
        return None
    left = tuple(bind for bind in func.body.bindings if bind.var is not value)
    made = func.replace(body=func.body.replace(bindings=left), attrs=_plain(func))
    return _with(case, name, substitute(made, {value: by}))


def _bodies(case: ModuleCase) -> list[Move]:
    """Make each loop function do nothing."""
    return [
        partial(_emptied, name=name)
        for name, func in case.module.functions.items()
        if isinstance(func, PrimFunc)
    ]


def _emptied(case: ModuleCase, name: str) -> ModuleCase | None:
    func = case.module.functions.get(name)
    if not isinstance(func, PrimFunc):
        return None
    empty = func.replace(body=seq())
    return None if func.body is empty.body else _with(case, name, empty)


def _attributes(case: ModuleCase) -> list[Move]:
    """Drop the attributes of each graph."""
    return [partial(_ungrouped, name=name) for name, func in _graphs(case) if func.attrs]


def _ungrouped(case: ModuleCase, name: str) -> ModuleCase | None:
    func = case.module.functions.get(name)
    if not isinstance(func, GraphFunc) or not func.attrs:
        return None
    return _with(case, name, func.replace(attrs=()))


MODULE_FAMILIES: tuple[Family[ModuleCase], ...] = (
    Family("functions", _drops, all_moves),
    Family("results", _results, all_moves, together=False),
    Family("parameters", _cuts, all_moves),
    Family("operators", _bypasses, all_moves, together=False),
    Family("bodies", _bodies, all_moves),
    Family("attributes", _attributes, all_moves),
)
