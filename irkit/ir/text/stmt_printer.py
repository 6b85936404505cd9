"""Print the statements of loop IR, line by line.

A ``Let``, ``Allocate`` or ``View`` at the end of its suite names something for the rest of the
suite; elsewhere it is a ``with`` statement, which shows its scope.
"""

from array import array
from collections.abc import Callable
from typing import Any

from irkit.core import Attrs, Node, PrintedNames, deep_recursion, is_printable
from irkit.ir.buffer import Buffer
from irkit.ir.dtype import I64
from irkit.ir.expr import Const, Expr, Var
from irkit.ir.stmt import (
    Allocate,
    Assert,
    Axis,
    Block,
    Evaluate,
    For,
    If,
    Let,
    Region,
    Seq,
    Stmt,
    Store,
    View,
)
from irkit.ir.text.attributes import options_text, quoted
from irkit.ir.text.expr_printer import ExprPrinter, TooDeep, enclosed
from irkit.ir.text.memo import LONG_SEQUENCE, Memo

STEP = "    "


class Printer:
    """Lines of one function under construction."""

    def __init__(
        self,
        printed: PrintedNames,
        memo: Memo | None = None,
        *,
        marking: bool = False,
        brief: bool = False,
    ) -> None:
        self.exprs = ExprPrinter(printed, brief=brief)
        self.lines: list[str] = []
        self.marking = marking
        # The ids of nodes, and their lines, from 1.
        self.keys, self.places = array("q"), array("i")
        self.memo = memo if memo is not None and memo.holds(printed) else None
        self.indent = ""

    def suite(self, stmt: Stmt, indent: str) -> None:
        """Print a statement and everything below it."""
        self.indent = indent
        with deep_recursion:
            self.visit(stmt, True)

    def visit(self, stmt: Stmt, tail: bool) -> None:
        """Print a statement; ``tail`` if it ends its suite."""
        cls = stmt.__class__
        memo = self.memo
        if memo is None or not (cls in _KEPT or id(stmt) in memo.lone):
            self._print(stmt, tail)
        elif not self._again(memo, (stmt,), 0, tail):
            self._kept(memo, stmt, tail)

    def inside(self, stmt: Stmt) -> None:
        """Print a suite of its own, one step deeper."""
        outer = self.indent
        self.indent = outer + STEP
        self.visit(stmt, True)
        self.indent = outer

    def run(self, stmts: tuple[Stmt, ...], tail: bool) -> None:
        """Print the statements of a sequence; those that followed each other before, together."""
        memo, last = self.memo, len(stmts) - 1
        at = 0
        while at <= last:
            stmt = stmts[at]
            if memo is None or not (stmt.__class__ in _KEPT or id(stmt) in memo.lone):
                self._print(stmt, tail and at == last)
                at += 1
                continue
            count = self._again(memo, stmts, at, tail)
            if not count:
                self._kept(memo, stmt, tail and at == last)
            at += count or 1

    def _print(self, stmt: Stmt, tail: bool) -> None:
        form = _FORMS.get(stmt.__class__)
        assert form is not None, f"no printed form for {type(stmt).__name__}"
        if self.marking:
            self.keys.append(id(stmt))
            self.places.append(len(self.lines) + 1)
        form(self, stmt, tail)

    def _kept(self, memo: Memo, stmt: Stmt, tail: bool) -> None:
        """Print a statement and keep its lines."""
        line, mark = len(self.lines), len(self.keys)
        self._print(stmt, tail)
        if self.marking and not self.exprs.aliases:
            memo.keep(stmt, self.indent, tail, (line, len(self.lines)), (mark, len(self.keys)))

    def mark(self, node: Node) -> None:
        """Record that a node begins on the next line."""
        if self.marking:
            self.keys.append(id(node))
            self.places.append(len(self.lines) + 1)

    def starts(self) -> dict[int, int]:
        """Return the line, from 1, on which each node first begins, by ``id`` and in order."""
        found = dict.fromkeys(self.keys, 0)
        found.update(zip(reversed(self.keys), reversed(self.places), strict=True))
        return found

    def _again(self, memo: Memo, stmts: tuple[Stmt, ...], at: int, tail: bool) -> int:
        """Print statements of a sequence from the memo, if possible, and return their number."""
        if self.exprs.aliases:
            return 0
        (number, line, end, mark, last), count = memo.find(stmts, at, self.indent, tail)
        if count:
            made, by = memo.printed[number], len(self.lines) - line
            self.lines += made.lines[line:end]
            self.keys += made.keys[mark:last]
            self.places += array("i", [place + by for place in made.places[mark:last]])
        return count

    def line(self, text: str) -> None:
        self.lines.append(self.indent + text)

    def expr(self, expr: Expr) -> str:
        """Print an expression; its extra lines, if any, go before the current line."""
        try:
            return self.exprs.part(expr, 1)
        except TooDeep:
            lines, text = self.exprs.with_lines(expr)
        for line in lines:
            self.line(line)
        return text

    def fits(self, expr: Expr) -> bool:
        """Return True if an expression needs no lines of its own."""
        try:
            self.exprs.line(expr)
        except TooDeep:
            return False
        return True

    def listed(self, exprs: tuple[Expr, ...]) -> str:
        names = self.exprs.printed
        return ", ".join([names.get(id(expr)) or self.expr(expr) for expr in exprs])

    def tupled(self, exprs: tuple[Expr, ...]) -> str:
        return f"({self.listed(exprs)},)" if len(exprs) == 1 else f"({self.listed(exprs)})"

    def bind(self, symbol: Var | Buffer) -> str:
        """Return the name of a symbol being bound; its original name is recorded if it was
        mangled."""
        name = self.exprs.name(symbol)
        if name != symbol.name and not is_printable(symbol.name):
            self.line(f"names({name}={quoted(symbol.name)})")
        return name

    def element(self, buffer: Buffer) -> str:
        """Return type and shape: ``f32[m, n]``."""
        return f"{buffer.dtype}[{self.listed(buffer.shape) or '()'}]"

    def options(self, buffer: Buffer, scope: str = "global") -> str:
        """Return the options that differ from the defaults: strides, scope, alignment."""
        text = f", strides={self.tupled(buffer.strides)}" if buffer.strides is not None else ""
        if buffer.scope != scope:
            text += f", scope={quoted(buffer.scope)}"
        return f"{text}, align={buffer.align}" if buffer.align else text

    def buffer(self, buffer: Buffer) -> str:
        """Return the annotation of a parameter."""
        element, options = self.element(buffer), self.options(buffer)
        return f"buffer({element}{options})" if options else element

    def axis(self, axis: Axis) -> str:
        name = self.bind(axis.var)
        return f"{name} = axis.{axis.kind}({self.expr(axis.extent)}, {self.expr(axis.binding)})"

    def region(self, region: Region) -> str:
        """Return a region as a subscript with slices."""
        dims = [self._slice(b, e) for b, e in zip(region.begins, region.extents, strict=True)]
        return f"{self.exprs.name(region.buffer)}[{', '.join(dims) or '()'}]"

    def _slice(self, begin: Expr, extent: Expr) -> str:
        if extent == _ONE:
            return self.expr(begin)
        low = self.expr(begin)
        if isinstance(begin, Const) and begin.dtype == I64:
            if begin.value == 0:
                return f"0:{self.expr(extent)}"
            if isinstance(extent, Const) and extent.dtype == I64:
                return f"{low}:{int(begin.value) + int(extent.value)}"
        high = enclosed(extent, self.expr(extent), 10)
        return f"{low}:{enclosed(begin, low, 9)} + {high}"

    def regions(self, word: str, regions: tuple[Region, ...] | None) -> None:
        if regions is not None:
            for at in range(0, max(1, len(regions)), 8):
                self.line(f"{word}({', '.join(map(self.region, regions[at : at + 8]))})")


def _more(attrs: Attrs, taken: tuple[str, ...] = ()) -> str:
    return f", {options_text(attrs, taken)}" if attrs else ""


BUFFER_OPTIONS = ("strides", "scope", "align", "offset")
_ONE = Const(1, I64)


def _seq(printer: Printer, stmt: Seq, tail: bool) -> None:
    if not stmt.stmts:
        printer.line("pass")
        return
    if printer.memo is not None and len(stmt.stmts) >= LONG_SEQUENCE:
        printer.memo.lone.update(map(id, stmt.stmts))
    printer.run(stmt.stmts, tail)


def _store(printer: Printer, stmt: Store, tail: bool) -> None:
    name = printer.exprs.name(stmt.buffer)
    if stmt.mask is None:
        value = printer.exprs.typed(stmt.value, stmt.buffer.dtype) or printer.expr(stmt.value)
        printer.line(f"{name}[{printer.listed(stmt.indices) or '()'}] = {value}")
        return
    indices, value = printer.tupled(stmt.indices), printer.expr(stmt.value)
    printer.line(f"store({name}, {indices}, {value}, mask={printer.expr(stmt.mask)})")


def _for(printer: Printer, stmt: For, tail: bool) -> None:
    name = printer.bind(stmt.var)
    end, begin = printer.exprs.meeting(stmt.end, stmt.begin)  # If both could, the end says it.
    bounds = f"{begin or printer.expr(stmt.begin)}, {end or printer.expr(stmt.end)}"
    thread = f", {quoted(stmt.thread)}" if stmt.kind == "thread" else ""
    printer.line(f"for {name} in {stmt.kind}({bounds}{thread}{_more(stmt.attrs)}):")
    printer.inside(stmt.body)


def _block(printer: Printer, stmt: Block, tail: bool) -> None:
    printer.line(f"with block({quoted(stmt.name)}{_more(stmt.attrs)}):")
    outer = printer.indent
    printer.indent = outer + STEP
    for axis in stmt.axes:
        printer.line(printer.axis(axis))
    if stmt.predicate is not None:
        printer.line(f"where({printer.expr(stmt.predicate)})")
    printer.regions("reads", stmt.reads)
    printer.regions("writes", stmt.writes)
    if stmt.init is not None:
        printer.line("with init():")
        printer.inside(stmt.init)
    printer.visit(stmt.body, True)
    printer.indent = outer


def _if(printer: Printer, stmt: If, tail: bool) -> None:
    word = "if"
    while True:
        printer.line(f"{word} {printer.expr(stmt.cond)}:")
        otherwise = stmt.otherwise
        chained = otherwise if isinstance(otherwise, If) and printer.fits(otherwise.cond) else None
        printer.inside(stmt.then)
        if chained is None:
            break
        stmt, word = chained, "elif"
        printer.mark(stmt)
    if otherwise is not None:
        printer.line("else:")
        printer.inside(otherwise)


def _scope(printer: Printer, name: str, tail: bool, form: str, body: Stmt) -> None:
    """Print a binding for the rest of the suite, or for a suite of its own."""
    printer.line(f"{name} = {form}" if tail else f"with {form} as {name}:")
    _rest(printer, body, tail)


def _rest(printer: Printer, body: Stmt, tail: bool) -> None:
    if tail:
        printer.visit(body, True)
    else:
        printer.inside(body)


def _let(printer: Printer, stmt: Let, tail: bool) -> None:
    name, value = printer.bind(stmt.var), printer.expr(stmt.value)
    if tail:
        value = printer.exprs.typed(stmt.value, stmt.var.dtype) or value
        printer.line(f"{name}: {stmt.var.dtype} = {value}")
    else:
        printer.line(f"with let({value}) as {name}:")
    _rest(printer, stmt.body, tail)


def _allocate(printer: Printer, stmt: Allocate, tail: bool) -> None:
    buffer, name = stmt.buffer, printer.bind(stmt.buffer)
    more = f"{printer.options(buffer)}{_more(stmt.attrs, BUFFER_OPTIONS)}"
    _scope(printer, name, tail, f"alloc({printer.element(buffer)}{more})", stmt.body)


def _view(printer: Printer, stmt: View, tail: bool) -> None:
    buffer, name = stmt.buffer, printer.bind(stmt.buffer)
    source, element = printer.exprs.name(stmt.source), printer.element(buffer)
    options = printer.options(buffer, stmt.source.scope)
    form = f"view({source}, {element}, offset={printer.expr(stmt.offset)}{options})"
    _scope(printer, name, tail, form, stmt.body)


def _evaluate(printer: Printer, stmt: Evaluate, tail: bool) -> None:
    printer.line(f"evaluate({printer.expr(stmt.value)})")


def _assert(printer: Printer, stmt: Assert, tail: bool) -> None:
    message = quoted(stmt.message)
    if stmt.values:
        message = f"({', '.join([message, *map(printer.expr, stmt.values)])})"
    printer.line(f"assert {printer.expr(stmt.cond)}, {message}")


_KEPT = (For, If, Block)
_FORMS: dict[type[Any], Callable[[Printer, Any, bool], None]] = {
    Seq: _seq,
    Store: _store,
    For: _for,
    Block: _block,
    If: _if,
    Let: _let,
    Allocate: _allocate,
    View: _view,
    Evaluate: _evaluate,
    Assert: _assert,
}


def printed_statements() -> tuple[type[Node], ...]:
    """Return the statement classes that have a printed form."""
    return tuple(_FORMS)
