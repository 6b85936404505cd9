"""Statements that only one side of a step has, and that have no effect of their own."""

from irkit.core import substitute, symbols_used
from irkit.ir import (
    I64,
    U64,
    Allocate,
    Assert,
    Block,
    Buffer,
    Const,
    Evaluate,
    Expr,
    For,
    If,
    Let,
    Seq,
    Stmt,
    Var,
    View,
    as_int,
    convert,
    eq,
    ge,
    is_hint,
    le,
    logical_and,
    logical_not,
    lt,
    seq,
)
from irkit.proof.functions.lanes import in_lanes
from irkit.proof.functions.loads import loads_of
from irkit.proof.functions.memory import FlatView, size
from irkit.proof.functions.scope import NotShown, Scope, Side

MOST_COPIES = 64


class OneSided:
    """Replaces statements of one side by what they amount to; lists of statements have the next one
    last."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.beside_loop = False
        """True while a loop of the other side is compared: only unrolled ones become copies."""

    def unpack(self, stmts: list[Stmt], side: Side) -> None:
        """Replace the last statement until it is one that has an effect, or is compared."""
        while stmts:
            match stmts[-1]:
                case Seq(inner):
                    stmts.pop()
                    stmts += inner[::-1]
                case Let(var, value, body) if self.replaces(side, var, value, body):
                    stmts[-1] = body
                    made = side.read(value)
                    self.evaluated(made, side)
                    side.values[var] = made
                case Evaluate() as stmt if is_hint(stmt):
                    stmts.pop()
                case _:
                    return

    def replaces(self, side: Side, var: Var, value: Expr, body: Stmt) -> bool:
        return self.scope.keeps(side, side.read(value), var, body)

    def evaluated(self, value: Expr, side: Side) -> None:
        """Note the loads of a value that one side alone evaluates."""
        found = loads_of([value])
        if side is self.scope.before:
            # Where an index reads memory, the same text can later be another element.
            self.scope.loaded += [each for each in found if each.is_plain]
        else:
            self.scope.waiting += found

    def looked_through(self, stmts: list[Stmt], side: Side) -> bool:
        """Look through a statement that only one side has; False if that is not possible."""
        scope = self.scope
        match stmts[-1] if stmts else None:
            case If(cond, then, otherwise):
                chosen = self._known(side.read(cond))
                if chosen is None:
                    return False
                stmts[-1] = then if chosen else otherwise or seq()
            case For() as loop:
                return self._few_iterations(stmts, side, loop)
            case Assert(cond) if scope.holds(side.read(cond)):
                stmts.pop()
            case Block() as block:
                self._open_block(stmts, side, block)
            case View() as view:
                self._see(stmts, side, view)
            case Allocate(buffer, body) if buffer not in symbols_used(body):
                stmts[-1] = body
            case _:
                return False
        return True

    def _see(self, stmts: list[Stmt], side: Side, view: View) -> None:
        """Read a view as the memory that it is of, which is then flat on both sides."""
        scope, buffer = self.scope, view.buffer
        source = side.buffer(view.source)
        known = side.flat.get(view.source)
        if known is None:
            assert isinstance(source, Buffer)
            known = scope.flatten(source)
        offset = side.read(view.offset)
        dims = tuple(side.read(dim) for dim in buffer.shape)
        if buffer.strides is not None:
            raise NotShown(f"view {buffer.name} has strides")
        if side is scope.after and (buffer.rank != 1 or buffer in scope.after.values):
            raise NotShown(f"view {buffer.name} has several dimensions")
        if side is scope.after:
            # It lies in its memory if it is all of it: what exists has a size that does not wrap.
            scope.equal(convert(offset, I64), Const(0, I64))
            scope.equal(size(dims), size(known.dims))
        begin = convert(known.offset, I64) + convert(offset, I64)
        side.flat[buffer] = FlatView(known.memory, begin, dims)
        stmts[-1] = view.body

    def _known(self, cond: Expr) -> bool | None:
        if self.scope.holds(cond):
            return True
        return False if self.scope.holds(logical_not(cond)) else None

    def _few_iterations(self, stmts: list[Stmt], side: Side, loop: For) -> bool:
        """Look through a loop that runs once or never."""
        begin, end = side.read(loop.begin), side.read(loop.end)
        if U64 in (begin.dtype, end.dtype) or not self.replaces(
            side, loop.var, loop.begin, loop.body
        ):
            return False
        if loop.kind == "vectorized" and side is self.scope.before and not self.beside_loop:
            side.values.pop(loop.var, None)  # It may have been a number in another piece.
            stmts[-1] = in_lanes(loop, side, self.scope)
            return True
        if self._copies(stmts, side, loop):
            return True
        wide, limit = convert(begin, I64), convert(end, I64)
        once = logical_and(lt(wide, limit), eq(limit, wide + 1))
        if self.scope.holds(le(limit, wide)):
            stmts.pop()
        elif loop.kind != "thread" and self.scope.holds(once):
            stmts[-1] = loop.body
            side.values[loop.var] = convert(begin, loop.var.dtype)
        else:
            return False
        return True

    def _copies(self, stmts: list[Stmt], side: Side, loop: For) -> bool:
        """Replace a short loop by copies of its body."""
        first, last = as_int(loop.begin), as_int(loop.end)
        ordered = loop.kind in ("serial", "unrolled") or side is self.scope.before
        ordered = ordered and (loop.kind == "unrolled" or not self.beside_loop)
        if first is None or last is None or loop.kind == "thread" or not ordered:
            return False
        if not 1 < last - first <= MOST_COPIES:
            return False
        stmts.pop()
        numbers = [Const(at, loop.var.dtype) for at in reversed(range(first, last))]
        stmts += [substitute(loop.body, {loop.var: number}) for number in numbers]
        return True

    def _open_block(self, stmts: list[Stmt], side: Side, block: Block) -> None:
        """Replace a block by its body; an axis stands for its binding."""
        bindings: list[tuple[Var, Expr]] = []
        for axis in block.axes:
            binding, extent = side.read(axis.binding), side.read(axis.extent)
            if not self.replaces(side, axis.var, axis.binding, content_of(block)):
                raise NotShown(f"an axis of block {block.name!r} reads memory that is written")
            bindings.append((axis.var, convert(binding, axis.var.dtype)))
            if side is not self.scope.before:
                inside = logical_and(
                    ge(binding, 0), lt(convert(binding, I64), convert(extent, I64))
                )
                if not self.scope.holds(inside):
                    raise NotShown(f"an axis of block {block.name!r} may leave its extent")
        body = content_of(block)
        stmts[-1] = body if block.predicate is None else If(block.predicate, body, None)
        side.values.update(bindings)


def content_of(block: Block) -> Stmt:
    """Return what a block runs, where its predicate holds."""
    if block.init is None:
        return block.body
    first = [eq(axis.var, 0) for axis in block.axes if axis.kind == "reduce"]
    init = If(logical_and(*first), block.init, None) if first else block.init
    return seq(init, block.body)
