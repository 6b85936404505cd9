"""Rename symbols so that each is defined once.

Before::

    def f(A: f32[8], C: f32[8]):
        for i in serial(0, 8):
            C[i] = A[i]
        for i in serial(0, 8):
            C[i] = C[i] + A[i]

After::

    def f(A: f32[8], C: f32[8]):
        for i in serial(0, 8):
            C[i] = A[i]
        for i_1 in serial(0, 8):
            C[i_1] = C[i_1] + A[i_1]

Passes rely on each variable and buffer being bound once, and the verifier rejects a function where
one is bound again. This pass repairs the result of a rewrite that copied a statement without
``fresh``. A use belongs to the innermost definition around it.
"""

from typing import cast

from irkit.core import (
    IRKitError,
    Node,
    allowed,
    binders,
    deep_recursion,
    substitute,
    with_fields,
)
from irkit.ir import (
    Assert,
    Block,
    Buffer,
    Evaluate,
    Expr,
    For,
    If,
    Let,
    PrimFunc,
    Region,
    Stmt,
    Store,
    View,
    dimension_vars,
    map_below,
)
from irkit.transform import define_pass

# A statement shared twice at each of 60 levels would become 2**60 statements.
MAX_REPEATED = 1 << 17


@define_pass(idempotent=True, atomic=True)
def convert_ssa(func: PrimFunc) -> PrimFunc:
    """Rename every variable and buffer that is bound more than once, from its second binding on.

    Raises: IRKitError if too many statements are shared between several places.
    """
    with deep_recursion:
        made = func.replace(body=_Renamer(func).visit(func.body))
    return made if allowed("rename", func, made) else func


class _Renamer:
    """The symbols bound so far, and their replacements in the scope of the visit."""

    def __init__(self, func: PrimFunc) -> None:
        self.bound: set[Node] = {*func.params, *dimension_vars(func.params)}
        self.new: dict[Node, Node] = {}
        self.visited: set[int] = set()
        self.repeated = 0

    def visit(self, stmt: Stmt) -> Stmt:
        self._count(stmt)
        match stmt:
            case Store() | Evaluate() | Assert():
                return substitute(stmt, self.new)
            case If():
                stmt = stmt.replace(cond=substitute(stmt.cond, self.new))
            case For():
                begin, end = substitute(stmt.begin, self.new), substitute(stmt.end, self.new)
                stmt = stmt.replace(begin=begin, end=end)
            case Let():
                stmt = stmt.replace(value=substitute(stmt.value, self.new))
            case View():
                source = self.new.get(stmt.source, stmt.source)
                stmt = stmt.replace(source=source, offset=substitute(stmt.offset, self.new))
            case Block():
                return self._block(stmt)
            case _:
                pass
        return self._scope(stmt)

    def _scope(self, stmt: Stmt) -> Stmt:
        """Bind the symbols that a statement introduces and visit the statements below it."""
        held = binders(stmt)
        before = self._bind(*held)
        made = map_below(stmt, self.visit)
        renamed = {id(symbol): self.new[symbol] for symbol in held if symbol in self.new}
        self._restore(before)
        return cast(Stmt, with_fields(made, renamed, ("binder",))) if renamed else made

    def _block(self, block: Block) -> Stmt:
        """Rename axes; their extents and bindings are outside their scope."""
        outside = [
            axis.replace(
                extent=substitute(axis.extent, self.new),
                binding=substitute(axis.binding, self.new),
            )
            for axis in block.axes
        ]
        before = self._bind(*(axis.var for axis in block.axes))
        axes = tuple(axis.replace(var=self.new.get(axis.var, axis.var)) for axis in outside)
        changed = any(a is not b for a, b in zip(axes, block.axes, strict=True))
        made = map_below(block, self.visit)
        assert isinstance(made, Block)
        made = made.replace(
            axes=axes if changed else block.axes,
            predicate=None if made.predicate is None else substitute(made.predicate, self.new),
            reads=self._regions(made.reads),
            writes=self._regions(made.writes),
        )
        self._restore(before)
        return made

    def _regions(self, regions: tuple[Region, ...] | None) -> tuple[Region, ...] | None:
        if regions is None:
            return None
        new = tuple(substitute(region, self.new) for region in regions)
        return regions if all(a is b for a, b in zip(new, regions, strict=True)) else new

    def _bind(self, *symbols: Node) -> dict[Node, Node | None]:
        """Enter the scope of symbols; return their replacements outside it."""
        before: dict[Node, Node | None] = {}
        for symbol in symbols:
            new = self._shaped(symbol)
            if new is symbol and symbol in self.bound:
                new = symbol.copied()
            self.bound.add(symbol)
            before[symbol] = self.new.pop(symbol, None)
            if new is not symbol:
                self.new[symbol] = new
        return before

    def _restore(self, before: dict[Node, Node | None]) -> None:
        for symbol, outside in before.items():
            self.new.pop(symbol, None)
            if outside is not None:
                self.new[symbol] = outside

    def _shaped(self, symbol: Node) -> Node:
        """Rename the variables in the shape of a buffer."""
        if not isinstance(symbol, Buffer):
            return symbol
        shape, strides = self._dims(symbol.shape), symbol.strides
        return symbol.replace(shape=shape, strides=strides and self._dims(strides))

    def _dims(self, dims: tuple[Expr, ...]) -> tuple[Expr, ...]:
        new = tuple(substitute(dim, self.new) for dim in dims)
        return dims if all(a is b for a, b in zip(new, dims, strict=True)) else new

    def _count(self, stmt: Stmt) -> None:
        self.repeated += id(stmt) in self.visited
        self.visited.add(id(stmt))
        if self.repeated > MAX_REPEATED:
            raise IRKitError(
                f"statements are shared between several places more than {MAX_REPEATED} times",
                span=stmt.span,
                hint="Copy less, or call fresh() on copies.",
            )
