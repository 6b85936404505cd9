"""Equal work: what a program or a model does in vain costs nothing once it is lowered.

A program gets parts that change nothing, such as a condition that always holds, or a graph an
identity. Both are lowered, and must do as much: by counts of loops, of bytes, of kernels and of
instructions of LLVM, never by a clock. So a pass that finds less than it did is seen, although
all numbers are right.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from irkit.codegen import emit
from irkit.core import IRKitError, IRModule, count_nodes, rewrite, substitute, walk
from irkit.fuzz.generators.draw_sample import draw_sample
from irkit.fuzz.generators.graphs.graph_samples import graph_function
from irkit.fuzz.generators.sample import Unusable
from irkit.fuzz.judge.loops import target_of
from irkit.fuzz.judge.outcome import WrongSample
from irkit.fuzz.picks import Picks
from irkit.graph import (
    Bind,
    Body,
    GraphFunc,
    GraphStep,
    Op,
    TensorType,
    Value,
    verify as verify_graph,
)
from irkit.ir import (
    BOOL,
    I64,
    LT,
    Add,
    Allocate,
    Block,
    Const,
    Expr,
    FloorDiv,
    For,
    If,
    Let,
    Max,
    Mul,
    PrimFunc,
    Stmt,
    Store,
    Sub,
    Var,
    as_int,
    verify,
)
from irkit.phases import DEFAULT, GRAPH, for_target

_MOST_NODES = 3000
_MORE = {"instructions of LLVM": 2}
"""What may be more: a conversion is written once if it is one node, and twice if it is two."""
Counts = Mapping[str, int]
_Way = TypeVar("_Way")
_Made = TypeVar("_Made")


def work_is_equal(picks: Picks) -> None:
    """A program with parts in vain is lowered to as much work as without them.

    Raises: WrongSample; Unusable.
    """
    if picks.below(2):
        _graphs(picks)
    else:
        _programs(picks)


def _compare(plain: Counts, more: Counts, what: str, shown: str) -> None:
    for name, count in plain.items():
        if more[name] > count + _MORE.get(name, 0):
            said = f"{name}: {more[name]} with {what}, {count} without"
            raise WrongSample("broken", f"{said}\n{shown}")


def _first(
    picks: Picks, ways: Mapping[str, _Way], made: Callable[[_Way], _Made | None]
) -> tuple[str, _Made]:
    """Return the name of a way that has a place, one that is picked if it has one, and what it
    makes."""
    names = list(ways)
    first = picks.below(len(names))
    for name in (*names[first:], *names[:first]):
        found = made(ways[name])
        if found is not None:
            return name, found
    raise Unusable("there is no place for anything in vain")


def _checked(func: _Made | None, problems: Callable[[_Made], Sequence[object]]) -> _Made | None:
    """Return a function if there is one and it is valid."""
    return None if func is None or problems(func) else func


def _programs(picks: Picks) -> None:
    func = draw_sample("programs", picks).ir
    assert isinstance(func, PrimFunc)
    name, more = _first(picks, _IN_VAIN, lambda add: _checked(add(func, picks), verify))
    _compare(_program_counts(func), _program_counts(more), name, more.script())


def _program_counts(func: PrimFunc) -> Counts:
    """Lower a program, and count what it consists of. Nodes of expressions are shared by chance."""
    try:
        lowered = DEFAULT.run(func)
        if count_nodes(lowered) > _MOST_NODES:
            raise Unusable("it became too large")
        text = emit([lowered], target_of(0))
    except IRKitError as error:
        raise Unusable(str(error)) from None
    assert isinstance(lowered, PrimFunc)
    lines = [line for line in text.splitlines() if line.startswith("  ")]
    return {
        "stores": sum(1 for _ in walk(lowered, Store)),
        "loops": sum(1 for _ in walk(lowered, For)),
        "conditions": sum(1 for _ in walk(lowered, If)),
        "allocated bytes": sum(map(_bytes, walk(lowered, Allocate))),
        "instructions of LLVM": len(lines),
    }


def _bytes(node: Allocate) -> int:
    sizes = [as_int(dim) or 0 for dim in node.buffer.shape]
    return int(np.prod(sizes)) * node.buffer.dtype.bytes


def _one_loop(func: PrimFunc, picks: Picks, *, bounded: bool = False) -> For | None:
    """Pick a serial loop from 0 on, if ``bounded`` one whose extent is known: elsewhere arithmetic
    on its variable can wrap around."""
    loops = [
        loop
        for loop in walk(func, For)
        if loop.kind == "serial" and loop.var.dtype == I64 and as_int(loop.begin) == 0
        if not bounded or as_int(loop.end) is not None
    ]
    return picks.pick(loops) if loops else None


def _with(func: PrimFunc, old: Stmt, new: Stmt) -> PrimFunc:
    def replaced(stmt: Stmt) -> Stmt | None:
        return new if stmt is old else None

    return rewrite(func, replaced, on=type(old))


def _true_condition(func: PrimFunc, picks: Picks) -> PrimFunc | None:
    loop = _one_loop(func, picks)
    if loop is None:
        return None
    inside = If(LT(loop.var, loop.end, BOOL), loop.body)
    return _with(func, loop, loop.replace(body=inside))


def _single_iteration(func: PrimFunc, picks: Picks) -> PrimFunc | None:
    loop = _one_loop(func, picks)
    if loop is None:
        return None
    once = For(Var("once", I64), Const(0, I64), Const(1, I64), loop.body, "serial")
    return _with(func, loop, loop.replace(body=once))


def _dead_let(func: PrimFunc, picks: Picks) -> PrimFunc | None:
    loop = _one_loop(func, picks)
    if loop is None or any(block.init is not None for block in walk(loop, Block)):
        return None  # The first value of a sum is split off before the binding goes.
    unused = Let(Var("unused", I64), Mul(loop.var, Const(3, I64), I64), loop.body)
    return _with(func, loop, loop.replace(body=unused))


def _index(change: Callable[[Var], Expr]) -> Callable[[PrimFunc, Picks], PrimFunc | None]:
    """Return what puts an expression that is equal to a loop's variable in its place."""

    def changed(func: PrimFunc, picks: Picks) -> PrimFunc | None:
        loop = _one_loop(func, picks, bounded=True)
        if loop is None:
            return None
        body = substitute(loop.body, {loop.var: change(loop.var)})
        return _with(func, loop, loop.replace(body=body))

    return changed


def _n(number: int) -> Const:
    return Const(number, I64)


_IN_VAIN: dict[str, Callable[[PrimFunc, Picks], PrimFunc | None]] = {
    "a condition that holds": _true_condition,
    "a loop of one iteration": _single_iteration,
    "a value that nobody uses": _dead_let,
    "an index plus 0": _index(lambda i: Add(i, _n(0), I64)),
    "an index times 1": _index(lambda i: Mul(i, _n(1), I64)),
    "an index twice, halved": _index(lambda i: FloorDiv(Mul(i, _n(2), I64), _n(2), I64)),
    "an index of a row, divided": _index(
        lambda i: FloorDiv(Add(Mul(i, _n(4), I64), _n(3), I64), _n(4), I64)
    ),
    "an index with a lower limit": _index(lambda i: Max(i, _n(0), I64)),
    "an index there and back": _index(lambda i: Sub(Add(i, _n(5), I64), _n(5), I64)),
}
"""What is added to a program; each changes nothing that it computes."""


def _graphs(picks: Picks) -> None:
    func, _, called = graph_function(picks, whole=True)
    if called:
        raise Unusable("it calls functions")
    places = [
        at
        for at, bind in enumerate(func.body.bindings)
        if isinstance(bind.step, Op) and isinstance(bind.var.type, TensorType)
    ]
    if not places:
        raise Unusable("there is no place")
    at = picks.pick(places)
    name, more = _first(
        picks, _STEPS_IN_VAIN, lambda add: _checked(add(_Vain(func, at)), verify_graph)
    )
    _compare(_graph_counts(func), _graph_counts(more), name, more.script())


def _graph_counts(func: GraphFunc) -> Counts:
    """Lower a graph, and count its kernels, and what they consist of."""
    try:
        module = for_target(GRAPH, target_of(3)).run(IRModule({"main": func}))
    except IRKitError as error:
        raise Unusable(str(error)) from None
    assert isinstance(module, IRModule)
    main = module["main"]
    assert isinstance(main, GraphFunc)
    kernels = [each for each in module.functions.values() if isinstance(each, PrimFunc)]
    size = dict(main.attrs).get("arena_size", 0)
    return {
        "kernels": len(kernels),
        "steps": sum(1 for _ in walk(main, Bind)),
        "bytes of the arena": size if isinstance(size, int) else 0,
        "stores": sum(1 for each in kernels for _ in walk(each, Store)),
        "allocated bytes": sum(_bytes(x) for each in kernels for x in walk(each, Allocate)),
    }


class _Vain:
    """The bindings of a graph, in which one gets steps in vain behind it."""

    def __init__(self, func: GraphFunc, at: int) -> None:
        self.func, self.at = func, at
        self.bind = func.body.bindings[at]
        assert isinstance(self.bind.var.type, TensorType)
        self.type = self.bind.var.type
        self.inner = self.value("inner", self.type)

    def value(self, name: str, kind: TensorType) -> Value:
        """Return a new value."""
        return Value(f"{self.bind.var.name}_{name}", kind)

    def steps(self, *added: tuple[Value, GraphStep]) -> GraphFunc:
        """Return the graph in which the value is computed under another name, and goes through
        these steps, the last one of which gives the value its own name back."""
        made = [Bind(self.inner, self.bind.step)]
        made += [Bind(var, step) for var, step in added]
        return self.bindings(made, ())

    def bindings(self, here: Sequence[Bind], changed: Sequence[Bind]) -> GraphFunc:
        """Return the graph with bindings in place of the one, and some that replace later ones."""
        later = {each.var: each for each in changed}
        known = self.func.body.bindings
        rest = [later.get(each.var, each) for each in known[self.at + 1 :]]
        body = Body((*known[: self.at], *here, *rest), self.func.body.result)
        return self.func.replace(body=body)


def _identity(vain: _Vain) -> GraphFunc | None:
    return vain.steps((vain.bind.var, Op("identity", (vain.inner,))))


def _transposes(vain: _Vain) -> GraphFunc | None:
    rank = len(vain.type.shape)
    if rank < 2:
        return None
    order = tuple(reversed(range(rank)))
    turned = vain.value("turned", TensorType(vain.type.shape[::-1], vain.type.dtype))
    axes = (("axes", order),)
    return vain.steps(
        (turned, Op("transpose", (vain.inner,), axes)),
        (vain.bind.var, Op("transpose", (turned,), axes)),
    )


def _flat(vain: _Vain) -> GraphFunc | None:
    sizes = [as_int(dim) for dim in vain.type.shape]
    known = tuple(size for size in sizes if size)
    if len(known) != len(sizes) or not known:
        return None
    count = int(np.prod(known))
    flat = vain.value("flat", TensorType((Const(count, I64),), vain.type.dtype))
    return vain.steps(
        (flat, Op("reshape", (vain.inner,), (("shape", (count,)),))),
        (vain.bind.var, Op("reshape", (flat,), (("shape", known),))),
    )


def _dead(vain: _Vain) -> GraphFunc | None:
    return vain.bindings([Bind(vain.inner, vain.bind.step), vain.bind], ())


def _twin(vain: _Vain) -> GraphFunc | None:
    """Compute the value twice, the second time for one that reads it."""
    var = vain.bind.var
    for each in vain.func.body.bindings[vain.at + 1 :]:
        if isinstance(each.step, Op) and var in each.step.args:
            args = tuple(vain.inner if arg is var else arg for arg in each.step.args)
            reader = each.replace(step=each.step.replace(args=args))
            return vain.bindings([Bind(vain.inner, vain.bind.step), vain.bind], [reader])
    return None


_STEPS_IN_VAIN: dict[str, Callable[[_Vain], GraphFunc | None]] = {
    "an identity": _identity,
    "two transposes": _transposes,
    "a reshape and one back": _flat,
    "a step that nobody uses": _dead,
    "a step twice": _twin,
}
"""What is added to a graph; each changes nothing that it computes."""
