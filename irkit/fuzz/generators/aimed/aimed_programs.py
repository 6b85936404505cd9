"""Instances of what a pass looks for, put into programs, in the place of values of their type."""

from collections.abc import Sequence

from irkit.core import children, rewrite, walk, with_fields
from irkit.fuzz.generators.aimed.aim import PassAim
from irkit.fuzz.generators.aimed.instances import InstanceMaker
from irkit.fuzz.generators.aimed.opportunities import opportunities
from irkit.fuzz.generators.loops.loop_functions import loop_function
from irkit.fuzz.picks import Picks
from irkit.ir import (
    Allocate,
    And,
    Assert,
    Block,
    Broadcast,
    Buffer,
    Conditional,
    DType,
    Expr,
    For,
    If,
    Let,
    Load,
    Or,
    PrimFunc,
    Ramp,
    Store,
    Var,
    View,
    cast,
    const,
)

MOST_PLACES = 4
_CLOSED = (Conditional, And, Or, Load, Ramp, Broadcast)
"""Expressions whose parts are not always evaluated, or are indices."""
_SMALL = (1, 2, 3, 0, 4, -1)


def aimed_function(picks: Picks, aim: PassAim) -> PrimFunc:
    """Make a function with what a pass looks for."""
    func = loop_function(picks) if picks.one_in(3) else opportunities(picks, aim)
    return planted(func, picks, aim) if aim.has_expressions else func


def planted(func: PrimFunc, picks: Picks, aim: PassAim) -> PrimFunc:
    """Replace some values that a function stores by what the pass looks for; indices, conditions
    and bounds stay, so that every access stays where it was."""
    steering = _indexing_buffers(func)
    stores = [
        store
        for store in walk(func, Store)
        if store.mask is None and store.value.dtype.lanes == 1 and store.buffer not in steering
    ]
    for store in picks.some(stores, MOST_PLACES) if stores else ():
        scope = _loop_variables(func, store)
        made = _with_instance(store, scope, picks, aim)
        if made is not None:
            func = _replaced(func, store, made)
    return func


def _replaced(func: PrimFunc, store: Store, made: Store) -> PrimFunc:
    def put(each: Store) -> Store | None:
        return made if each is store else None

    return rewrite(func, put)


def _with_instance(store: Store, scope: Sequence[Var], picks: Picks, aim: PassAim) -> Store | None:
    values = _always_evaluated(store.value)
    place = picks.pick(values)

    def fill(dtype: DType) -> Expr:
        return _filling(dtype, values, scope, picks, aim.rounding)

    made = InstanceMaker(picks, aim, fill).make(place.dtype)
    if made is None:
        return None
    return store.replace(value=_put(store.value, place, made))


def _put(node: Expr, place: Expr, made: Expr) -> Expr:
    """Replace a part of a value that is always evaluated: the same object can be an index too."""
    if node is place:
        return made
    if isinstance(node, _CLOSED):
        return node
    below = [child for child in children(node) if isinstance(child, Expr)]
    changed = with_fields(node, {id(child): _put(child, place, made) for child in below})
    assert isinstance(changed, Expr)
    return changed


def _filling(
    dtype: DType, values: Sequence[Expr], scope: Sequence[Var], picks: Picks, rounding: bool
) -> Expr:
    """Return any expression of a type that is defined where the values are."""
    fitting = [each for each in values if each.dtype == dtype]
    form = picks.below(8)
    if fitting and form < 5:
        return picks.pick(fitting)
    if scope and form == 5 and not dtype.is_bool:
        return cast(picks.pick(scope), dtype)
    if form == 6 and not dtype.is_bool:
        small = [each for each in _SMALL if each >= dtype.low or dtype.is_float]
        return const(picks.pick(small), dtype)
    others = [each for each in values if not (rounding and each.dtype.is_float)]
    if dtype.is_float or not others:
        others = list(values)
    other = picks.pick(others)
    if other.dtype == dtype:
        return other
    if rounding and other.dtype.is_float and not dtype.is_float:
        return const(1, dtype)
    return cast(other, dtype)


def _always_evaluated(value: Expr) -> list[Expr]:
    """Return the scalar parts of a value that are evaluated whatever the data are, and are neither
    indices nor conditions."""
    found: list[Expr] = []
    todo = [value]
    while todo:
        node = todo.pop()
        if node.dtype.lanes > 1:
            continue
        found.append(node)
        if not isinstance(node, _CLOSED):
            todo.extend(child for child in children(node) if isinstance(child, Expr))
    return found


def _loop_variables(func: PrimFunc, store: Store) -> list[Var]:
    """Return the variables of the loops around a store."""
    return [loop.var for loop in walk(func, For) if any(s is store for s in walk(loop, Store))]


def _indexing_buffers(func: PrimFunc) -> set[Buffer]:
    """Return the buffers whose elements decide what is accessed: those in indices, bounds, names
    and conditions, and what shares memory with them."""
    inside: set[Buffer] = set()
    root: dict[Buffer, Buffer] = {}
    for node in walk(func):
        parts: list[Expr | None] = []
        match node:
            case Load() | Store():
                parts = [*node.indices, node.mask]
            case For():
                parts = [node.begin, node.end]
            case Conditional() | If() | Assert():
                parts = [node.cond]
            case Let():
                parts = [node.value]
            case Block():
                parts = [node.predicate, *(axis.binding for axis in node.axes)]
            case View():
                parts = [node.offset, *node.buffer.shape]
                root[node.buffer] = root.get(node.source, node.source)
            case Allocate():
                parts = [*node.buffer.shape]
            case _:
                pass
        inside |= {load.buffer for part in parts if part is not None for load in walk(part, Load)}
    steering = {root.get(each, each) for each in inside}
    return steering | {view for view, source in root.items() if source in steering}
