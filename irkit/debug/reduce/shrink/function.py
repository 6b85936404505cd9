"""Ways to make a function smaller, each of which may break it.

An edit is a node and its replacement.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import cast

from irkit.core import Node, children, postorder, substitute, symbols_used, walk, with_fields
from irkit.ir import (
    Allocate,
    Block,
    Buffer,
    Const,
    Expr,
    For,
    If,
    Let,
    Load,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    Var,
    View,
    as_int,
    const,
    seq,
)

Edit = tuple[Node, Callable[[], Node]]


def apply_edits(func: PrimFunc, edits: Sequence[Edit]) -> PrimFunc:
    """Make all edits at once.

    Of several edits of one node the first counts; an edit hides those inside the node it replaces.
    """
    new: dict[int, Node] = {}
    for old, make in edits:
        if id(old) not in new:
            new[id(old)] = make()
    given = set(new)
    for old in postorder(func):
        if id(old) not in given:
            node = with_fields(old, new)
            if node is not old:
                new[id(old)] = node
    return cast(PrimFunc, new.get(id(func), func))


def deletions(func: PrimFunc) -> list[Edit]:
    """Delete each statement."""
    return [(stmt, seq) for stmt in walk(func.body, Stmt) if not (isinstance(stmt, Seq))]


def hoists(func: PrimFunc) -> list[Edit]:
    """Replace each statement by its body, run once."""
    found: list[Edit] = []
    for stmt in walk(func.body, Stmt):
        found += [(stmt, make) for make in _bodies(stmt)]
        if isinstance(stmt, Allocate):
            found += [
                (stmt, partial(_with_buffer, stmt, other)) for other in _replacements(func, stmt)
            ]
    return found


def _replacements(func: PrimFunc, stmt: Allocate) -> list[Buffer]:
    """Return the parameters that could replace a buffer."""
    wanted = stmt.buffer.dtype, stmt.buffer.rank
    buffers = [param for param in func.params if isinstance(param, Buffer)]
    return [param for param in buffers if (param.dtype, param.rank) == wanted]


def _with_buffer(stmt: Allocate, other: Buffer) -> Node:
    return substitute(stmt.body, {stmt.buffer: other})


def _bodies(stmt: Stmt) -> Iterator[Callable[[], Node]]:
    match stmt:
        case For(var, begin, _, body):
            yield partial(substitute, body, {var: begin})
        case Let(var, value, body):
            yield partial(substitute, body, {var: value})
        case If(_, then, otherwise):
            yield lambda: then
            if otherwise is not None:
                yield lambda: otherwise
                yield lambda: stmt.replace(otherwise=None)
        case Block():
            yield partial(_without_block, stmt, True)
            yield partial(_without_block, stmt, False)
            if stmt.init is not None:
                yield lambda: stmt.replace(init=None)
        case Allocate(buffer, body) if buffer not in symbols_used(body):
            yield lambda: body
        case View(buffer, source, _, body):
            yield partial(substitute, body, {buffer: source})
        case _:
            return


def _without_block(block: Block, with_init: bool) -> Node:
    first = (block.init,) if with_init and block.init is not None else ()
    given = {axis.var: axis.binding for axis in block.axes}
    return substitute(seq(*first, block.body), given)


def loops(func: PrimFunc) -> list[Edit]:
    """Run each loop fewer times, from 0, and serially."""
    found: list[Edit] = []
    for loop in walk(func.body, For):
        begin, end = as_int(loop.begin), as_int(loop.end)
        if begin is not None and end is not None:
            lengths = dict.fromkeys((1, 2, 3, 4, 8, (end - begin) // 2, end - begin - 1))
            found += [
                (loop, partial(loop.replace, end=const(begin + length, loop.end.dtype)))
                for length in lengths
                if 0 < length < end - begin
            ]
            if begin:
                zero = const(0, loop.begin.dtype)
                last = const(end - begin, loop.end.dtype)
                found.append((loop, partial(loop.replace, begin=zero, end=last)))
        if loop.kind != "serial":
            found.append((loop, partial(loop.replace, kind="serial", thread="")))
        found += _without_attrs(loop)
    return found


def _without_attrs(node: For | Block | Allocate) -> list[Edit]:
    count = len(node.attrs)
    kept = [node.attrs[:at] + node.attrs[at + 1 :] for at in range(count)]
    return [(node, partial(node.replace, attrs=attrs)) for attrs in kept]


def trimmings(func: PrimFunc) -> list[Edit]:
    """Drop predicates, masks, axes, regions and attributes."""
    found: list[Edit] = []
    for node in walk(func.body, (Block, Store, Load, Allocate)):
        if isinstance(node, Block):
            found += _trimmed(node)
        elif not isinstance(node, Allocate) and node.mask is not None:
            found.append((node, partial(node.replace, mask=None)))
        if isinstance(node, (Block, Allocate)):
            found += _without_attrs(node)
    return found


def _trimmed(block: Block) -> Iterator[Edit]:
    if block.predicate is not None:
        yield block, partial(block.replace, predicate=None)
    if block.reads is not None or block.writes is not None:
        yield block, partial(block.replace, reads=None, writes=None)
    for axis in block.axes:
        yield block, partial(_without_axis, block, axis.var, axis.binding)
        extent = as_int(axis.extent)
        if extent is not None and extent > 1:
            yield axis, partial(axis.replace, extent=const(1, axis.extent.dtype))
            yield axis, partial(axis.replace, extent=const(extent // 2, axis.extent.dtype))


def _without_axis(block: Block, var: Var, binding: Expr) -> Node:
    left = tuple(axis for axis in block.axes if axis.var is not var)
    return substitute(block.replace(axes=left), {var: binding})


def expressions(func: PrimFunc) -> list[Edit]:
    """Replace each expression by 0, 1, or an operand of the same type."""
    found: list[Edit] = []
    for node in walk(func.body, Expr):
        simple = [const(value, node.dtype) for value in (0, 1)]
        if isinstance(node, Const):
            # Only towards 0: 1 can become 0, not the reverse.
            value = node.value
            simple = [] if value == 0 else simple[:1] if value == 1 else simple
        elif node.dtype.lanes > 1:
            simple = [] if any(isinstance(child, Const) for child in children(node)) else simple
        found += [(node, partial(_same, each)) for each in (*simple, *_operands(node))]
    return found


def _same(node: Node) -> Node:
    return node


def _operands(node: Expr) -> list[Expr]:
    below = (child for child in children(node) if isinstance(child, Expr))
    return [child for child in below if child.dtype == node.dtype]


def buffers_of(func: PrimFunc) -> list[Buffer]:
    """Return the buffers that a function introduces, parameters first."""
    own = [node.buffer for node in walk(func.body, (Allocate, View))]
    return [param for param in func.params if isinstance(param, Buffer)] + own
