"""The primitive decompose_padding: split a padded copy into a fill and a copy of the interior."""

from irkit.core import FARTHEST, Node, ScheduleError, Span, any_node, substitute, walk
from irkit.ir import (
    GE,
    GT,
    LE,
    LT,
    Block,
    Compare,
    Conditional,
    Const,
    Expr,
    For,
    Load,
    PrimFunc,
    Select,
    Stmt,
    Store,
    Var,
    as_int,
    conjuncts,
    const,
    is_const,
    linear,
    replace_stmts,
    seq,
)
from irkit.schedule.analysis.accesses import at_own_axes, only_store, writes_beside
from irkit.schedule.analysis.guards import guards_of, joined
from irkit.schedule.checks.unordered_loops import check_writes_apart
from irkit.schedule.rewrite.clone import new_name
from irkit.schedule.rewrite.nests import nest_like
from irkit.schedule.state.lookup import find_block, find_loop, path_to


def decompose_padding(func: PrimFunc, name: str, var: Var) -> tuple[PrimFunc, str]:
    """Split a padded copy into a block that fills with the constant and one that copies the
    interior.

    The block that fills is named ``NAME_fill``. The loops of the copy become shorter where the
    condition bounds them; the rest of the condition becomes its predicate.
    Raises: ScheduleError if the block is not a choice between a value and a constant by position,
    or the loop contains other blocks; and if iterations of a loop around it that has no order may
    write the same element, because one would fill what another has copied.
    """
    block, loop = find_block(func, name), find_loop(func, var)
    what = f"decompose the padding of {name!r}"
    inner = _nest(func, block, loop, what)
    store, cond, value, other = _padding(func, block, what)
    span = Span("schedule", "decompose_padding", parent=block.span)
    names = {each.var: each.var.copy() for each in inner}
    copies = {axis.var: axis.var.copy() for axis in block.axes}
    guards = guards_of(block)
    both = {**names, **copies}
    fill = Block(
        new_name(func, f"{name}_fill"),
        tuple(
            axis.replace(var=copies[axis.var], binding=substitute(axis.binding, names))
            for axis in block.axes
        ),
        Store(store.buffer, tuple(substitute(at, both) for at in store.indices), other, span=span),
        predicate=joined([substitute(part, both) for part in guards]),
        span=span,
    )
    copy = _copy(block, store, value, [*guards, *conjuncts(cond)], inner, span)
    filling = nest_like(inner, names, fill, span)
    made = replace_stmts(func, {loop: seq(filling, copy)})
    check_writes_apart(made, filling, store.buffer, what)
    return made, fill.name


def _nest(func: PrimFunc, block: Block, loop: For, what: str) -> list[For]:
    path = path_to(func, block)
    inner = path[path.index(loop) : -1] if loop in path else []
    found = [stmt for stmt in inner if isinstance(stmt, For)]
    if not found or len(found) != len(inner):
        raise ScheduleError(
            f"cannot {what}: {loop.var.name!r} contains more than that block", at=loop
        )
    if any(each.kind == "thread" for each in found):
        raise ScheduleError(f"cannot {what}: it is inside a thread loop", at=loop)
    return found


def _padding(func: PrimFunc, block: Block, what: str) -> tuple[Store, Expr, Expr, Const]:
    """Match a block that chooses between a value and a constant by position; return the store, the
    condition, the value and the constant."""
    store = only_store(block)
    reason = ""
    choice = store.value if store is not None else None
    if store is None or store.mask is not None or block.init is not None:
        reason = "its body is not a single store"
    elif any(axis.kind != "spatial" for axis in block.axes):
        reason = "it reduces"
    elif not isinstance(choice, (Conditional, Select)) or not isinstance(choice.otherwise, Const):
        reason = "it does not choose between a value and a constant"
    elif any_node(choice.cond, Load):
        reason = "its condition depends on loaded values, not only on the position"
    elif writes_beside(func, block, store.buffer):
        reason = f"other blocks also write {store.buffer.name!r}"
    elif any(load.buffer is store.buffer for load in walk(store.value, on=Load)):
        reason = "it reads what it writes"
    elif not at_own_axes(store, block.axes):
        reason = "it does not write at its own axes, each once"
    if reason:
        raise ScheduleError(f"cannot {what}: {reason}", at=block)
    assert store is not None
    assert isinstance(choice, (Conditional, Select))
    assert isinstance(choice.otherwise, Const)
    return store, choice.cond, choice.then, choice.otherwise


def _copy(
    block: Block, store: Store, value: Expr, parts: list[Expr], inner: list[For], span: Span
) -> Stmt:
    """Return the nest that copies the interior, with shorter loops where the condition bounds
    them."""
    shorter: dict[Var, tuple[int, int]] = {}
    for axis in block.axes:
        loop = next((each for each in inner if each.var is axis.binding), None)
        end = None if loop is None else as_int(loop.end)
        alone = sum(loop is not None and loop.var in walk(a.binding) for a in block.axes) == 1
        if loop is None or end is None or not alone or not is_const(loop.begin, 0):
            continue
        if any(loop.var in walk(part) for part in parts):
            continue
        low, high = 0, end
        for part in list(parts):
            found = _limits(part, axis.var)
            if found is not None:
                low, high = max(low, found[0]), min(high, found[1])
                parts.remove(part)
        shorter[loop.var] = (low, max(low, high))
    axes = tuple(
        axis.replace(binding=axis.binding + shorter[axis.binding][0])
        if isinstance(axis.binding, Var) and shorter.get(axis.binding, (0, 0))[0]
        else axis
        for axis in block.axes
    )
    bindings: dict[Node, Node] = {axis.var: axis.binding for axis in axes}
    tests = [substitute(part, bindings) for part in parts]
    made: Stmt = block.replace(
        axes=axes,
        body=store.replace(value=value),
        predicate=joined(tests),
        reads=None,
        writes=None,
        span=span,
    )
    for loop in reversed(inner):
        if loop.var in shorter:
            low, high = shorter[loop.var]
            made = loop.replace(end=const(high - low, loop.var.dtype), body=made)
        else:
            made = loop.replace(body=made)
    return made


def _limits(part: Expr, var: Var) -> tuple[int, int] | None:
    """Return the half-open range of a variable that a comparison allows, or None."""
    if not isinstance(part, Compare) or not part.a.dtype.is_integer or part.a.dtype.lanes != 1:
        return None
    form = linear(part.a - part.b)
    if form is None or len(form.terms) != 1 or abs(form.constant) > FARTHEST:
        return None
    ((atom, factor),) = form.terms
    if atom is not var or factor not in (1, -1):
        return None
    # factor * var + constant compared with 0.
    less = isinstance(part, (LT, LE))
    if not less and not isinstance(part, (GT, GE)):
        return None
    strict = isinstance(part, (LT, GT))
    at = -form.constant if factor == 1 else form.constant
    if less == (factor == 1):
        return -FARTHEST, at + (not strict)
    return at + strict, FARTHEST
