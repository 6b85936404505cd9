"""A function that computes, beside each float, how far rounding can take it.

Each float becomes four numbers in f64: ``value`` without rounding; ``size``, the same computed from
magnitudes, which never cancel; ``rate``, the sum of the relative errors of all roundings that led
to it; and ``error``, what other operations than sums and products make of the errors of their
operands. In whatever order sums are computed, and with or without fused operations, a result is
within ``error + rate / (1 - rate) * size`` of the value (Higham, Accuracy and Stability of
Numerical Algorithms, chapters 3 and 4). Sums and products of whole numbers are exact as long as
they fit the mantissa. An error that is infinite or NaN means that nothing is known.

What is decided by floats too close to each other, and is not a choice between floats, sets the
first element of ``doubt``: then nothing is known of any result.
"""

from collections.abc import Callable, Sequence
from typing import Any

from irkit.core import deep_recursion
from irkit.debug.check.rounding_error.bounded import Bounded
from irkit.debug.check.rounding_error.error_rules import ErrorRules
from irkit.ir import (
    F64,
    Allocate,
    Assert,
    Block,
    Broadcast,
    Buffer,
    Evaluate,
    Expr,
    For,
    If,
    Let,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    Var,
    View,
    const,
    evaluates,
    expand_instructions,
    nested,
    seq,
)

PARTS = ("value", "size", "rate", "error")
Buffers = tuple[Buffer, Buffer, Buffer, Buffer]


@deep_recursion
def with_running_error(func: PrimFunc) -> PrimFunc:
    """Return the function that computes the errors of another one.

    Each buffer of floats is four, in the order of the numbers above; ``doubt``, of one element, is
    the last parameter.
    """
    func = expand_instructions(func)
    made = _Maker()
    params: list[Buffer | Var] = []
    for param in func.params:
        params += made.parameter(param)
    body = made.statement(func.body)
    return PrimFunc(func.name, (*params, made.doubt), body, (), func.span)


class _Maker:
    def __init__(self) -> None:
        self.buffers: dict[Buffer, Buffers] = {}
        self.doubt = Buffer("doubt", (const(1, "i64"),), F64)
        self.rules = ErrorRules(self.buffers)

    def parameter(self, param: Buffer | Var) -> Sequence[Buffer | Var]:
        if not param.dtype.is_float:
            return (param,)
        if isinstance(param, Buffer):
            return self.parts(param)
        value = Var(param.name, F64)
        self.rules.floats[param] = Bounded.exactly(value)
        return (value,)

    def parts(self, buffer: Buffer) -> Buffers:
        """Return the four buffers in place of a buffer of floats."""
        if buffer not in self.buffers:
            names = [buffer.name, *(f"{buffer.name}_{part}" for part in PARTS[1:])]
            value, size, rate, error = (buffer.replace(name=n, dtype=F64).copy() for n in names)
            self.buffers[buffer] = value, size, rate, error
        return self.buffers[buffer]

    def statement(self, stmt: Stmt) -> Stmt:
        self.rules.begin()
        return _STATEMENTS[type(stmt)](self, stmt)

    def checked(self, stmt: Stmt, *exprs: Expr | None) -> Stmt:
        """Note the doubt in what a statement depends on, before it."""
        doubts = [self.rules.doubt(expr) for expr in exprs if expr is not None]
        return seq(*[self.note(each) for each in doubts if each is not None], stmt)

    def note(self, doubt: Expr) -> Stmt:
        lanes = doubt.dtype.lanes
        if lanes == 1:
            return If(doubt, Store(self.doubt, (const(0, "i64"),), const(1.0, F64)))
        at = Broadcast(const(0, "i64"), const(0, "i64").dtype.with_lanes(lanes))
        return Store(self.doubt, (at,), const(1.0, F64.with_lanes(lanes)), doubt)

    def store(self, stmt: Store) -> Stmt:
        plain = self.rules.plain
        indices = tuple(plain(index) for index in stmt.indices)
        mask = None if stmt.mask is None else plain(stmt.mask)
        unsure = (*stmt.indices, stmt.mask)
        if stmt.buffer not in self.buffers:
            made = stmt.replace(indices=indices, value=plain(stmt.value), mask=mask)
            return self.checked(made, *unsure, stmt.value)
        bounded = self.rules.bounded(stmt.value)
        names = [Var(part, each.dtype) for part, each in zip(PARTS, bounded, strict=True)]
        stores = seq(
            *(
                Store(buffer, indices, name, mask, span=stmt.span)
                for buffer, name in zip(self.buffers[stmt.buffer], names, strict=True)
            )
        )
        return self.checked(_named(names, bounded, stores), *unsure)

    def let(self, stmt: Let) -> Stmt:
        if not stmt.var.dtype.is_float:
            value, doubt = self.rules.plain(stmt.value), self.rules.doubt(stmt.value)
            made = stmt.replace(value=value, body=self.statement(stmt.body))
            return made if doubt is None else seq(self.note(doubt), made)
        bounded = self.rules.bounded(stmt.value)
        names = [Var(f"{stmt.var.name}_{p}", e.dtype) for p, e in zip(PARTS, bounded, strict=True)]
        self.rules.floats[stmt.var] = Bounded(*names)
        return _named(names, bounded, self.statement(stmt.body))

    def loop(self, stmt: For) -> Stmt:
        begin, end = self.rules.plain(stmt.begin), self.rules.plain(stmt.end)
        doubts = self.rules.doubt(stmt.begin), self.rules.doubt(stmt.end)
        made = stmt.replace(begin=begin, end=end, body=self.statement(stmt.body))
        return seq(*[self.note(each) for each in doubts if each is not None], made)

    def branch(self, stmt: If) -> Stmt:
        cond, doubt = self.rules.plain(stmt.cond), self.rules.doubt(stmt.cond)
        then = self.statement(stmt.then)
        otherwise = None if stmt.otherwise is None else self.statement(stmt.otherwise)
        made = stmt.replace(cond=cond, then=then, otherwise=otherwise)
        return made if doubt is None else seq(self.note(doubt), made)

    def sequence(self, stmt: Seq) -> Stmt:
        return seq(*[self.statement(each) for each in stmt.stmts])

    def effect(self, stmt: Evaluate) -> Stmt:
        return stmt if evaluates(stmt, "barrier") else seq()

    def block(self, stmt: Block) -> Stmt:
        axes = tuple(
            axis.replace(
                extent=self.rules.plain(axis.extent), binding=self.rules.plain(axis.binding)
            )
            for axis in stmt.axes
        )
        predicate = None if stmt.predicate is None else self.rules.plain(stmt.predicate)
        init = None if stmt.init is None else self.statement(stmt.init)
        body = self.statement(stmt.body)
        return stmt.replace(
            axes=axes, predicate=predicate, init=init, body=body, reads=None, writes=None
        )

    def allocate(self, stmt: Allocate) -> Stmt:
        if not stmt.buffer.dtype.is_float:
            return stmt.replace(body=self.statement(stmt.body))
        parts = self.parts(stmt.buffer)
        made = self.statement(stmt.body)
        for buffer in parts:
            made = stmt.replace(buffer=buffer, body=made)
        return made

    def view(self, stmt: View) -> Stmt:
        offset = self.rules.plain(stmt.offset)
        if stmt.source not in self.buffers:
            return stmt.replace(offset=offset, body=self.statement(stmt.body))
        pairs = list(zip(self.parts(stmt.buffer), self.buffers[stmt.source], strict=True))
        made = self.statement(stmt.body)
        for buffer, source in pairs:
            made = stmt.replace(buffer=buffer, source=source, offset=offset, body=made)
        return made

    def assertion(self, stmt: Assert) -> Stmt:
        values = tuple(self.rules.plain(value) for value in stmt.values)
        made = stmt.replace(cond=self.rules.plain(stmt.cond), values=values)
        return self.checked(made, stmt.cond)


def _named(names: Sequence[Var], values: Sequence[Expr], body: Stmt) -> Stmt:
    """Name values for a statement, so that it does not change what they load."""
    lets = [Let(name, value, Seq(())) for name, value in zip(names, values, strict=True)]
    return nested(lets, body)


_STATEMENTS: dict[type[Stmt], Callable[[_Maker, Any], Stmt]] = {
    Seq: _Maker.sequence,
    Store: _Maker.store,
    Let: _Maker.let,
    For: _Maker.loop,
    If: _Maker.branch,
    Block: _Maker.block,
    Allocate: _Maker.allocate,
    View: _Maker.view,
    Assert: _Maker.assertion,
    Evaluate: _Maker.effect,
}
