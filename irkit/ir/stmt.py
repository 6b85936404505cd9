"""Statements of the loop IR. Each has a span, its place in the source, which does not count in
comparisons.

A block is the unit that schedules address; blocks exist in phase 0 and are gone after phase 1.
"""

from collections.abc import Sequence
from typing import Literal

from irkit.core import Attrs, Binds, Node, Span, Uses
from irkit.ir.buffer import Buffer
from irkit.ir.expr import Expr, Var

LoopKind = Literal["serial", "parallel", "vectorized", "unrolled", "thread"]
LOOP_KINDS: tuple[LoopKind, ...] = ("serial", "parallel", "vectorized", "unrolled", "thread")
AxisKind = Literal["spatial", "reduce", "opaque"]
AXIS_KINDS: tuple[AxisKind, ...] = ("spatial", "reduce", "opaque")
PLACE_OF_VALUE = "{}"


class Stmt(Node, frozen=True, eq=False, kw_only=True):
    """Base class of statements."""

    span: Span | None = None


class Seq(Stmt, frozen=True, eq=False):
    """Statements in order; the empty sequence does nothing.

    Build it with ``seq``, which keeps sequences flat.
    """

    stmts: tuple[Stmt, ...]

    def rebuilt(self) -> Stmt:
        if len(self.stmts) == 1:
            return self.stmts[0]
        if not any(isinstance(stmt, Seq) for stmt in self.stmts):
            return self
        flat = tuple(
            inner
            for stmt in self.stmts
            for inner in (stmt.stmts if isinstance(stmt, Seq) else (stmt,))
        )
        return flat[0] if len(flat) == 1 else Seq(flat, span=self.span)


class Store(Stmt, frozen=True, eq=False):
    """Write of a value; a vector index writes several elements.

    Lanes where ``mask`` is false are not written.
    """

    buffer: Uses[Buffer]
    indices: tuple[Expr, ...]
    value: Expr
    mask: Expr | None = None


class For(Stmt, frozen=True, eq=False):
    """Loop of ``var`` from ``begin`` to ``end``, exclusive; a parallel loop runs in any order.

    ``thread`` names the axis of a thread loop, such as ``threadIdx.x``; ``attrs`` are hints with
    unique keys.
    """

    var: Binds[Var]
    begin: Expr
    end: Expr
    body: Stmt
    kind: LoopKind = "serial"
    thread: str = ""
    attrs: Attrs = ()


class Axis(Node, frozen=True, eq=False):
    """Iteration variable of a block: ``var`` takes the value of ``binding``, from 0 to ``extent`` -
    1."""

    var: Binds[Var]
    extent: Expr
    binding: Expr
    kind: AxisKind = "spatial"


class Region(Node, frozen=True, eq=False):
    """Box in a buffer: along each dimension, ``extents`` elements from ``begins``."""

    buffer: Uses[Buffer]
    begins: tuple[Expr, ...]
    extents: tuple[Expr, ...]


class Block(Stmt, frozen=True, eq=False, weakref=True):
    """A named computation over axes, run where ``predicate`` holds.

    ``init`` runs before ``body`` where all reduce axes are 0. ``reads`` and ``writes`` are None if
    they are as inferred from the body (``analysis/regions.py``).
    """

    name: str
    axes: tuple[Axis, ...]
    body: Stmt
    init: Stmt | None = None
    predicate: Expr | None = None
    reads: tuple[Region, ...] | None = None
    writes: tuple[Region, ...] | None = None
    attrs: Attrs = ()


class If(Stmt, frozen=True, eq=False):
    """Run ``then`` if ``cond`` holds, else ``otherwise`` if there is one."""

    cond: Expr
    then: Stmt
    otherwise: Stmt | None = None


class Let(Stmt, frozen=True, eq=False):
    """Binding of a value to a name for the statements of ``body``."""

    var: Binds[Var]
    value: Expr
    body: Stmt


class Allocate(Stmt, frozen=True, eq=False):
    """Memory for a buffer during ``body``; its initial contents are undefined."""

    buffer: Binds[Buffer]
    body: Stmt
    attrs: Attrs = ()


class View(Stmt, frozen=True, eq=False):
    """Memory of ``source`` from element ``offset`` on, seen as ``buffer`` during ``body``.

    The element types are the same.
    """

    buffer: Binds[Buffer]
    source: Uses[Buffer]
    offset: Expr
    body: Stmt


class Evaluate(Stmt, frozen=True, eq=False):
    """Evaluation of an expression for its effect: a barrier, a prefetch."""

    value: Expr


class Assert(Stmt, frozen=True, eq=False):
    """Stop with ``message`` unless ``cond`` holds; each ``{}`` in it is one of ``values``.

    The values are integers, and are evaluated only if the condition does not hold.
    """

    cond: Expr
    message: str
    values: tuple[Expr, ...] = ()

    def described(self, values: Sequence[int | str]) -> str:
        """Insert the values of a failure into the message; unknown ones become ``?``."""
        if not self.values:
            return self.message
        known = [str(value) for value in values] + ["?"] * (len(self.values) - len(values))
        parts = self.message.split(PLACE_OF_VALUE)
        return "".join(word for pair in zip(parts, [*known, ""], strict=True) for word in pair)
