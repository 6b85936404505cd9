"""The primitive transform_block_layout: replace the axes of a block by their image under an index
map."""

from collections.abc import Sequence
from math import prod

from irkit.core import Node, ScheduleError, Span, any_node, rewrite, substitute
from irkit.ir import (
    Axis,
    AxisKind,
    Block,
    Expr,
    FloorDiv,
    FloorMod,
    For,
    Interval,
    Load,
    PrimFunc,
    Stmt,
    Store,
    Var,
    as_int,
    bounds,
    const,
    dependences,
    index,
    is_const,
    linear,
    nested,
    replace_stmts,
    seq,
    simplify,
)
from irkit.ir.analysis import accumulates
from irkit.schedule.analysis.accesses import variables
from irkit.schedule.analysis.domain import Points
from irkit.schedule.analysis.ranges import inside_extents
from irkit.schedule.arguments.index_map import IndexMap, image_of
from irkit.schedule.state.lookup import find_block, loops_above, path_to


def transform_block_layout(func: PrimFunc, name: str, index_map: IndexMap) -> PrimFunc:
    """Replace the axes of a block by their image under an index map.

    The block gets one loop for each new axis, in their order.
    Raises: ScheduleError if the map cannot be proved to be bijective or mixes reduce axes with
    others, or the block is not under its own loops, whose order does not matter.
    """
    block = find_block(func, name)
    what = f"transform the axes of {name!r}"
    loops = _loops(func, block, what)
    image = [
        simplify(index(part)) for part in image_of(index_map, [axis.var for axis in block.axes])
    ]
    kinds: list[AxisKind] = [_kind(part, block, what) for part in image]
    extents = _extents(image, block, what)
    new = [Var(f"v{at}", part.dtype) for at, part in enumerate(image)]
    old = _inverse(block, image, new, extents, what)
    span = Span("schedule", "transform_block_layout", parent=block.span)
    made_loops = [
        For(Var(f"ax{at}", n.dtype), const(0, n.dtype), const(extent, n.dtype), seq(), span=span)
        for at, (n, extent) in enumerate(zip(new, extents, strict=True))
    ]
    axes = tuple(
        Axis(n, loop.end, loop.var, kind)
        for n, loop, kind in zip(new, made_loops, kinds, strict=True)
    )
    made: Stmt = block.replace(
        axes=axes,
        body=_plain(substitute(block.body, old), axes),
        init=None if block.init is None else _plain(substitute(block.init, old), axes),
        reads=None,
        writes=None,
        span=span,
    )
    return replace_stmts(func, {loops[0]: nested(made_loops, made)})


def _plain(body: Stmt, axes: Sequence[Axis]) -> Stmt:
    """Simplify the indices of a body over new axes that have quotients: an old axis in them may now
    be a sum of two, and two old ones may be one."""
    last = ((axis.var, (as_int(axis.extent) or 1) - 1) for axis in axes)
    ranges = {var: Interval(0, end) for var, end in last}

    def plain(node: Node) -> Node | None:
        assert isinstance(node, Load | Store)
        if not any(any_node(index, (FloorDiv, FloorMod)) for index in node.indices):
            return None
        return node.replace(indices=tuple(simplify(index, ranges) for index in node.indices))

    return rewrite(body, plain, on=(Load, Store))


def _loops(func: PrimFunc, block: Block, what: str) -> list[For]:
    loops = loops_above(func, block)[-len(block.axes) :] if block.axes else []
    path = path_to(func, block)
    own = {axis.binding for axis in block.axes if isinstance(axis.binding, Var)}
    plain = bool(loops) and path[-len(loops) - 1 : -1] == loops
    plain = plain and own == {loop.var for loop in loops} and block.predicate is None
    plain = plain and len(own) == len(block.axes)
    ends = {loop.var: loop for loop in loops}
    for axis in block.axes if plain else ():
        assert isinstance(axis.binding, Var)
        loop = ends[axis.binding]
        same = as_int(loop.end) is not None and as_int(loop.end) == as_int(axis.extent)
        plain = plain and same and is_const(loop.begin, 0) and loop.kind == "serial"
    if not plain:
        raise ScheduleError(
            f"cannot {what}: it is not under its own serial loops of constant extents, each "
            "bound to one axis",
            at=block,
        )
    for axis in block.axes:
        assert isinstance(axis.binding, Var)
        reason = "it has an opaque axis" if axis.kind == "opaque" else ""
        if axis.kind == "spatial":
            reason = dependences(func).carried(ends[axis.binding]) or ""
        elif axis.kind == "reduce" and not accumulates(func, block):
            reason = "the steps of its reduction cannot be reordered"
        if reason:
            raise ScheduleError(f"cannot {what}: {reason}", at=block)
    return loops


def _kind(part: Expr, block: Block, what: str) -> AxisKind:
    used = variables(part)
    kinds: set[AxisKind] = {axis.kind for axis in block.axes if axis.var in used}
    if len(kinds) > 1 or not used <= {axis.var for axis in block.axes}:
        raise ScheduleError(
            f"cannot {what}: a new axis mixes reduce axes with others, or uses other variables",
            at=block,
        )
    return kinds.pop() if kinds else "spatial"


def _extents(image: Sequence[Expr], block: Block, what: str) -> list[int]:
    ranges = inside_extents(block, {})
    found: list[int] = []
    for part in image:
        box = bounds(part, ranges)
        first = simplify(
            substitute(part, {axis.var: const(0, axis.var.dtype) for axis in block.axes})
        )
        if box.low != 0 or box.high is None or not is_const(first, 0):
            raise ScheduleError(f"cannot {what}: a new axis does not begin at 0", at=block)
        found.append(box.high + 1)
    return found


def _inverse(
    block: Block, image: Sequence[Expr], new: Sequence[Var], extents: Sequence[int], what: str
) -> dict[Node, Node]:
    """Solve for the old axes; verified by substituting the map, and by counting points."""
    single: dict[Node, Node] = {
        axis.var: const(0, axis.var.dtype) for axis in block.axes if is_const(axis.extent, 1)
    }
    kept: dict[Var, Expr] = {
        part: n for n, part in zip(new, image, strict=True) if isinstance(part, Var)
    }
    image = [simplify(substitute(part, single)) for part in image]
    ranges = inside_extents(block, {})
    turned = Block(
        "",
        tuple(
            Axis(n, const(extent, n.dtype), part)
            for n, extent, part in zip(new, extents, image, strict=True)
        ),
        seq(),
    )
    loops = tuple(
        For(axis.var, const(0, axis.var.dtype), axis.extent, seq()) for axis in block.axes
    )
    points = Points(turned, loops, ranges)
    digits = _digits(block, image, new)
    forth: dict[Node, Node] = dict(zip(new, image, strict=True))
    found: dict[Node, Node] = {}
    for axis in block.axes:
        if axis.var in single:
            found[axis.var] = kept.get(axis.var, const(0, axis.var.dtype))
            continue
        back = digits.get(axis.var)
        if back is None:
            back = points.by_axes(axis.var)
        if back is None or not points.alike(substitute(back, forth), axis.var):
            raise ScheduleError(
                f"cannot {what}: cannot express axis {axis.var.name!r} by the new ones",
                at=block,
            )
        found[axis.var] = simplify(back)
    count, wanted = prod(extents), prod(as_int(axis.extent) or 0 for axis in block.axes)
    if count != wanted:
        raise ScheduleError(
            f"cannot {what}: the new axes have {count} points, but the old ones {wanted}", at=block
        )
    return found


def _digits(block: Block, image: Sequence[Expr], new: Sequence[Var]) -> dict[Var, Expr]:
    """Solve each new axis that is a mixed-radix number with old axes as digits."""
    extents = {axis.var: axis.extent for axis in block.axes}
    found: dict[Var, Expr] = {}
    for n, part in zip(new, image, strict=True):
        form = linear(part)
        if form is None or form.constant or len(form.terms) < 2:
            continue
        terms = sorted(form.terms, key=lambda term: term[1])
        for at, (atom, factor) in enumerate(terms):
            if not isinstance(atom, Var) or atom not in extents or factor < 1:
                break
            digit = n // factor if factor > 1 else n
            found[atom] = digit % extents[atom] if at + 1 < len(terms) else digit
    return found
