"""What a rule asks about a block: its operands, its axes, and which of them move together."""

from collections.abc import Mapping

from irkit.core import any_node, children, free_symbols, substitute, walk
from irkit.ir import (
    Add,
    Axis,
    Block,
    Expr,
    FloorDiv,
    For,
    Load,
    Mul,
    Stmt,
    Store,
    Sub,
    Var,
    as_int,
    const,
    evaluate,
    is_const,
    simplify,
    statements,
    trip_count,
)
from irkit.schedule import Schedule, variables

Estimates = Mapping[Var, int]
"""What a schedule assumes that extents which are not constant are. Nothing depends on it but
speed."""

MOST_COPIED = 1.5
"""Bytes that a schedule may need for copies, for each byte of what a reduction reads."""


def estimate(extent: Expr, estimates: Estimates) -> int | None:
    """Return the number that an extent is, or is assumed to be; None if it is neither."""
    known = as_int(extent)
    if known is not None or not estimates:
        return known
    if isinstance(extent, Var):
        return estimates.get(extent)
    used = {var for var in free_symbols(extent) if isinstance(var, Var)}
    if not used <= set(estimates):
        return None
    return int(evaluate(extent, {var: estimates[var] for var in used}))


def divides(number: int, extent: Expr) -> bool:
    """Return True if an extent is constant, and a multiple of a number."""
    size = as_int(extent)
    return size is not None and size % number == 0


def blocks_of(sch: Schedule) -> list[Block]:
    return list(statements(sch.func).blocks)


def operations(root: Stmt) -> int | None:
    """Return how often the blocks below a statement run, each lane that they store counted; None if
    an extent is not constant."""
    total = 0
    stack: list[tuple[int, Stmt]] = [(1, root)]
    while stack:
        times, stmt = stack.pop()
        if isinstance(stmt, Block):
            lanes = [store.value.dtype.lanes for store in walk(stmt, on=Store)]
            total += times * max(lanes, default=1)
            continue
        if isinstance(stmt, For):
            extent = iterations(stmt)
            if extent is None:
                return None
            times *= extent
        stack.extend((times, node) for node in children(stmt) if isinstance(node, Stmt))
    return total


def iterations(loop: For) -> int | None:
    """Return how often a loop runs, or None if that is not constant; sizes may be sums."""
    known = trip_count(loop)
    return as_int(simplify(loop.end - loop.begin)) if known is None else known


def spatial_axes(block: Block) -> list[Axis]:
    return [axis for axis in block.axes if axis.kind == "spatial"]


def reduce_axes(block: Block) -> list[Axis]:
    return [axis for axis in block.axes if axis.kind == "reduce"]


def _addends(value: Expr) -> list[Expr]:
    found: list[Expr] = []
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, (Add, Sub)):
            waiting += [each.b, each.a]
        else:
            found.append(each)
    return found


def _is_any(load: Load) -> bool:
    return True


class Product:
    """A sum of products, or of sums of them: pairs of operands, and which axes each depends on."""

    def __init__(self, block: Block, store: Store) -> None:
        value = store.value
        term = value.b if isinstance(value, Add) and isinstance(value.a, Load) else None
        addends = [] if term is None else _addends(term)
        self.pairs = [(each.a, each.b) for each in addends if isinstance(each, Mul)]
        self.matches = (
            bool(addends)
            and len(self.pairs) == len(addends)
            and all(any_node(side, Load, _is_any) for pair in self.pairs for side in pair)
        )

    def moves(self, operand: Expr, axis: Axis) -> bool:
        return axis.var in variables(operand)


def move_as_one(block: Block, store: Store, outer: Axis, inner: Axis, *, last: bool = True) -> bool:
    """Return True if two axes are always two neighbouring indices together, the ``last`` two, and
    cover those dimensions."""
    pair = (outer, inner)
    own = {outer.var, inner.var}
    unit = {axis.var: const(0, axis.var.dtype) for axis in block.axes if is_const(axis.extent, 1)}
    for access in (*walk(block.body, on=Load), store):
        indices = [simplify(substitute(index, unit)) for index in access.indices]
        if not any(own & variables(index) for index in indices):
            continue
        at = next((n for n, index in enumerate(indices) if index is outer.var), None)
        if at is None or (last and at != len(indices) - 2) or access.buffer.strides is not None:
            return False
        if indices[at : at + 2] != [outer.var, inner.var]:
            return False
        if any(own & variables(index) for index in (*indices[:at], *indices[at + 2 :])):
            return False
        dims = access.buffer.shape[at : at + 2]
        if any(as_int(dim) != as_int(axis.extent) for dim, axis in zip(dims, pair, strict=True)):
            return False
    return True


def row_axis(product: Product, spatial: list[Axis], last: Axis) -> tuple[Axis, int] | None:
    """Find the axis to unroll, and how many of its values may share vectors: those for which the
    vectorized operands are the same.

    Those do not depend on the axis, or only on its quotient by a number (its group).
    """
    if not product.matches:
        return None
    by_pair = [[side for side in pair if product.moves(side, last)] for pair in product.pairs]
    if any(len(sides) != 1 for sides in by_pair):
        return None
    found = [(axis, min(_shared(carrier, axis) for (carrier,) in by_pair)) for axis in spatial[:-1]]
    shared = [(axis, count) for axis, count in found if count > 1]
    return max(shared, key=lambda pair: pair[1], default=None)


def _shared(operand: Expr, axis: Axis) -> int:
    """Return how many consecutive values of an axis read the same, from each multiple of that on;
    1 if that is not known."""
    extent = as_int(axis.extent) or 1
    used = sum(var is axis.var for var in walk(operand, on=Var))
    if not used:
        return extent
    quotients = [each for each in walk(operand, on=FloorDiv) if each.a is axis.var]
    sizes = {as_int(each.b) or 1 for each in quotients}
    if len(quotients) != used or len(sizes) != 1:
        return 1
    (size,) = sizes
    return size if size > 1 and extent % size == 0 else 1
