"""The primitive begin_at_first: begin a choice among elements with the first of them."""

from collections.abc import Mapping

from irkit.core import Node, ScheduleError, Span, rewrite, substitute
from irkit.ir import (
    GE,
    GT,
    LE,
    LT,
    NE,
    Axis,
    Block,
    Compare,
    Expr,
    Interval,
    Load,
    PrimFunc,
    Stmt,
    Store,
    Var,
    as_int,
    bounds,
    const,
    linear,
    prove,
    replace_stmts,
    seq,
    simplify,
)
from irkit.schedule.analysis.accesses import variables
from irkit.schedule.analysis.choice import begins_neutral, condition_of
from irkit.schedule.analysis.combination import Combination, combination_of
from irkit.schedule.analysis.guards import reduced_over
from irkit.schedule.analysis.ranges import inside_extents, ranges_at
from irkit.schedule.analysis.reduction_steps import first_step_initialises, has_steps, unless_empty
from irkit.schedule.state.lookup import find_block, loops_above


def begin_at_first(func: PrimFunc, name: str) -> PrimFunc:
    """Initialise a reduction that chooses among elements with the first one, and drop comparisons
    of a value that rises from step to step, such as the position in an argmax.

    A step keeps all results so far, or takes all values of its element. So the first element
    compared with itself stays, and later ones come after all that were chosen before.
    The block depends on the order of its steps afterwards: it has no attribute ``reassoc``.
    Raises: ScheduleError if the block is no such reduction, or may have no elements.
    """
    block = find_block(func, name)
    combine, cond = _choice(func, block)
    ranges = inside_extents(block, ranges_at(func))
    first: dict[Node, Node] = {
        axis.var: const(0, axis.var.dtype) for axis in block.axes if axis.kind == "reduce"
    }
    _check_first(func, block, combine, first)
    boxes = {v: bounds(g, ranges) for v, g in zip(combine.rights, combine.gathered, strict=True)}
    if not begins_neutral(combine, cond, boxes):
        raise _refusal(block, "what initialises it may win over an element")
    _check_apart(block, combine)
    step = _step(func, block)
    body = block.body
    for var, value in zip(combine.rights, combine.gathered, strict=True):
        if step is not None and _rises(value, step) and _is_bounded(boxes[var]):
            body = _without_comparison(body, combine, var)
    span = Span("schedule", "begin_at_first", parent=block.span)
    starts = [
        Store(store.buffer, store.indices, substitute(value, first), span=span)
        for store, value in zip(combine.stores, combine.gathered, strict=True)
    ]
    made = block.replace(
        init=seq(*starts),
        body=body,
        attrs=tuple(each for each in block.attrs if each[0] != "reassoc"),
        span=span,
    )
    return replace_stmts(func, {block: made})


def _refusal(block: Block, reason: str) -> ScheduleError:
    return ScheduleError(f"cannot begin {block.name!r} at its first element: {reason}", at=block)


def _choice(func: PrimFunc, block: Block) -> tuple[Combination, Expr]:
    """Return how a block combines values, and when it keeps the results so far."""
    found = combination_of(func, block)
    if found is None or found.single is not None or block.init is None:
        raise _refusal(block, "it is no reduction of several values that te made, with an init")
    cond = condition_of(found)
    if cond is None:
        raise _refusal(block, "a step does not keep all results so far or take all new values")
    return found, cond


def _check_first(
    func: PrimFunc, block: Block, combine: Combination, first: Mapping[Node, Node]
) -> None:
    """Check that there is a first element wherever a block begins."""
    reducing = reduced_over(block)
    steps = [loop for loop in loops_above(func, block) if loop.var in reducing]
    begins = first_step_initialises(func, block, steps, has_steps(block))
    if unless_empty(func, block) or not begins:
        raise _refusal(block, "it cannot be proved that there is one")
    ranges = inside_extents(block, ranges_at(func))
    if combine.cond is not None and not prove(substitute(combine.cond, first), ranges):
        raise _refusal(block, "it cannot be proved that its condition holds there")


def _step(func: PrimFunc, block: Block) -> Axis | None:
    """Return the axis along which a reduction steps, from the first element to the last; None if
    that order is unknown."""
    steps = [axis for axis in block.axes if axis.kind == "reduce" and as_int(axis.extent) != 1]
    loops = {loop.var: loop for loop in loops_above(func, block)}
    binding = steps[0].binding if len(steps) == 1 else None
    loop = loops.get(binding) if isinstance(binding, Var) else None
    return steps[0] if loop is not None and loop.kind in ("serial", "unrolled") else None


def _check_apart(block: Block, combine: Combination) -> None:
    """Check that each point of the spatial axes has a result of its own."""
    places = combine.stores[0].indices
    for axis in block.axes:
        if axis.kind != "reduce" and as_int(axis.extent) != 1 and axis.var not in places:
            raise _refusal(block, f"a result has several values of {axis.var.name!r}")


def _is_bounded(values: Interval) -> bool:
    return values.low is not None and values.high is not None


def _rises(value: Expr, step: Axis) -> bool:
    """Return True if a value is larger at each step than at the one before."""
    form = linear(simplify(value)) if value.dtype.is_integer else None
    if form is None or form.coefficient(step.var) < 1:
        return False
    return not any(step.var in variables(atom) and atom is not step.var for atom, _ in form.terms)


def _without_comparison(body: Stmt, combine: Combination, rising: Var) -> Stmt:
    """Return the body of a block, where results so far have a smaller value than a new element."""
    buffer = combine.stores[combine.rights.index(rising)].buffer

    def is_so_far(expr: Expr) -> bool:
        return isinstance(expr, Load) and expr.buffer is buffer

    def decide(node: Compare) -> Expr | None:
        if is_so_far(node.a) and node.b is rising:
            return const(isinstance(node, (LT, LE, NE)), node.dtype)
        if is_so_far(node.b) and node.a is rising:
            return const(isinstance(node, (GT, GE, NE)), node.dtype)
        return None

    return rewrite(body, decide, on=Compare)
