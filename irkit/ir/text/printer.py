"""Print loop IR as Python syntax that ``parse`` reads back: ``same(parse(script(f)), f)``.

Spans are not printed.
"""

from typing import cast

from irkit.core import (
    ALIAS,
    PRINT_WIDTH,
    Listing,
    Names,
    Node,
    is_printable,
    mangled,
    print_function,
)
from irkit.ir.buffer import Buffer
from irkit.ir.dtype import I64
from irkit.ir.expr import Expr, Var
from irkit.ir.function import PrimFunc, dimension_vars
from irkit.ir.stmt import Axis, Region, Stmt
from irkit.ir.text.attributes import options_text, quoted
from irkit.ir.text.expr_printer import ExprPrinter
from irkit.ir.text.memo import Memo, PrintedLines
from irkit.ir.text.names import bound_symbols, symbols_in_order
from irkit.ir.text.stmt_printer import STEP, Printer


def script(node: PrimFunc | Node, *, names: Names | None = None) -> str:
    """Print a function, a statement or an expression.

    ``names`` is the name table of a trace, which lets known symbols keep their printed names.
    """
    table = names if names is not None else Names()
    if isinstance(node, Expr):
        lines, text = ExprPrinter(table.choose(())).with_lines(node)
        return "\n".join([*lines, text])
    if isinstance(node, Stmt):
        printer = Printer(table.choose(bound_symbols(node)))
        printer.suite(node, "")
        return "\n".join(printer.lines) + "\n"
    if isinstance(node, Axis):
        return Printer(table.choose((node.var,))).axis(node)
    if isinstance(node, Region):
        return Printer(table.choose(())).region(node)
    if isinstance(node, Buffer):
        printer = Printer(table.choose(()))
        return f"{printer.exprs.name(node)}: {printer.buffer(node)}"
    return _function(cast(PrimFunc, node), table)


print_function.register(PrimFunc, script)


def listing(func: PrimFunc, *, names: Names | None = None) -> Listing:
    """Print a function as lines, with the line on which each statement begins.

    Constants are bare where their type follows from what they meet, so that the lines are easy to
    read; they are read back as the same function.
    """
    table = names if names is not None else Names()
    printer = _printed_function(func, table, marking=True, brief=True)
    return Listing(printer.lines, printer.starts())


def _function(func: PrimFunc, table: Names) -> str:
    return "\n".join(_printed_function(func, table).lines) + "\n"


def _printed_function(
    func: PrimFunc, table: Names, *, marking: bool = False, brief: bool = False
) -> Printer:
    dims = dimension_vars(func.params)
    memo = table.memo if isinstance(table.memo, Memo) else None
    printer = Printer(
        table.choose(symbols_in_order(func, memo)), memo, marking=marking, brief=brief
    )
    name = func.name if is_printable(func.name) else mangled(func.name)
    if func.attrs:
        printer.line(f"@attrs({options_text(func.attrs)})")
    if name != func.name:
        printer.line(f"@name({quoted(func.name)})")
    for symbol in (*func.params, *dims):
        short = printer.exprs.name(symbol)
        if not is_printable(symbol.name):
            printer.line(f"@names({short}={quoted(symbol.name)})")
    for dim in dims:
        if dim.dtype != I64:
            printer.line(f"@types({printer.exprs.name(dim)}={dim.dtype})")
    printer.mark(func)
    _header(printer, name, func.params)
    if printer.memo is not None:
        printer.memo.begin(PrintedLines(printer.lines, printer.keys, printer.places))
    printer.suite(func.body, STEP)
    return printer


def _header(printer: Printer, name: str, params: tuple[Buffer | Var, ...]) -> None:
    """Print the signature on one line if it fits, else one parameter per line."""
    before, printer.lines = printer.lines, []
    parts = list[str]()
    for param in params:
        kind = str(param.dtype) if isinstance(param, Var) else printer.buffer(param)
        # Parts of expressions too deep for one line are listed among the parameters.
        parts.extend(line.replace(" = ", "=", 1) for line in printer.lines)
        printer.lines.clear()
        parts.append(f"{printer.exprs.name(param)}: {kind}")
    short = f"def {name}({', '.join(parts)}):"
    fits = len(short) <= PRINT_WIDTH and not any(ALIAS.match(part.split("=")[0]) for part in parts)
    printer.lines = before
    printer.lines += [short] if fits else [f"def {name}(", *(f"{STEP}{p}," for p in parts), "):"]
