"""Print graph functions as Python syntax that ``parse`` reads back: ``same(parse(script(f)), f)``.

A lambda is a nested ``def`` under ``@function``; a body of an ``if`` or of a nested let ends with
an assignment of its result to the bound name. Spans are not printed.
"""

from irkit.core import (
    PRINT_WIDTH,
    Attrs,
    IRKitError,
    Listing,
    Node,
    Span,
    deep_recursion,
    print_function,
    symbols_bound,
)
from irkit.graph.function import GraphFunc
from irkit.graph.nodes import (
    Apply,
    Bind,
    Body,
    Constant,
    GraphIf,
    GraphLoop,
    GraphStep,
    Invoke,
    Lambda,
    Op,
    Prefix,
    Tuple,
    TupleGet,
    Value,
)
from irkit.graph.ops import OPS
from irkit.graph.text.type_printer import constant_text, sequence, type_text
from irkit.graph.types import FuncType, TensorType, TupleType, Type
from irkit.ir import (
    I64,
    Expr,
    ExprPrinter,
    Names,
    PrintedNames,
    Var,
    is_printable,
    mangled,
    options_text,
    quoted,
)

STEP = "    "
RESERVED = frozenset({"call", "apply", "op", "constant", "func", "loop", "prefix"})


def script(func: GraphFunc, *, names: Names | None = None) -> str:
    """Print a graph function.

    ``names`` is the name table of a trace, which lets known symbols keep their printed names.
    """
    return "\n".join(_printed(func, names if names is not None else Names()).lines) + "\n"


print_function.register(GraphFunc, script)


def listing(func: GraphFunc, *, names: Names | None = None) -> Listing:
    """Print a graph function as lines, with the line on which each binding and its step begin."""
    printer = _printed(func, names if names is not None else Names())
    return Listing(printer.lines, printer.starts)


def symbols_in_order(func: GraphFunc, memo: object = None) -> list[Node]:
    """Return what a function introduces, in the order in which names are assigned; nothing is
    cached."""
    return [*func.params, *dimension_vars(func), *symbols_bound(func.body)]


def _printed(func: GraphFunc, table: Names) -> "_Printer":
    dims = dimension_vars(func)
    printer = _Printer(table.choose(symbols_in_order(func)), func.span)
    printer.title(func, dims)
    printer.starts[id(func)] = len(printer.lines) + 1
    printer.header("def", func.name, func.params, "")
    with deep_recursion:
        printer.body(func.body, STEP)
    printer.lines.append(f"{STEP}return {printer.name(func.body.result)}")
    return printer


def dimension_vars(func: GraphFunc) -> tuple[Var, ...]:
    """Return the variables that are a whole dimension of a parameter, in order."""
    found: dict[Var, None] = {}
    for value in func.params:
        found.update((dim, None) for dim in standing_alone(value.type))
    return tuple(found)


def standing_alone(kind: Type) -> list[Var]:
    """Return the variables that are whole dimensions in a type, in text order."""
    found: list[Var] = []
    stack = [kind]
    while stack:
        match stack.pop():
            case TensorType(shape):
                found += [dim for dim in shape if isinstance(dim, Var)]
            case TupleType(items):
                stack.extend(reversed(items))
            case FuncType(params, result):
                stack += [result, *reversed(params)]
            case _:
                pass
    return found


class _Printer:
    """Lines of one function under construction."""

    def __init__(self, printed: PrintedNames, span: Span | None) -> None:
        self.exprs = ExprPrinter(printed)
        self.span = span
        self.lines: list[str] = []
        self.starts: dict[int, int] = {}

    def name(self, symbol: Node) -> str:
        return self.exprs.name(symbol)

    def typed(self, value: Value, indent: str | None = None) -> str:
        """Return name and type; in a body, parts too deep for one line go on lines before it."""

        def extent(dim: Expr) -> str:
            lines, text = self.exprs.with_lines(dim)
            if lines and indent is None:
                raise IRKitError(
                    f"a dimension of {value.name!r} is too deep for one line of the signature",
                    span=self.span,
                    hint="Simplify the dimension.",
                )
            self.lines += [f"{indent}{line}" for line in lines]
            return text

        return f"{self.name(value)}: {type_text(value.type, extent)}"

    def title(self, func: GraphFunc, dims: tuple[Var, ...]) -> None:
        """Print the decorators of a function; each attribute has a line of its own."""
        self.lines += [f"@attrs({options_text((pair,))})" for pair in func.attrs]
        if not is_printable(func.name):
            self.lines.append(f"@name({quoted(func.name)})")
        for symbol in (*func.params, *dims):
            known = str(getattr(symbol, "name"))
            if not is_printable(known):
                self.lines.append(f"@names({self.name(symbol)}={quoted(known)})")
        for dim in dims:
            if dim.dtype != I64:
                self.lines.append(f"@types({self.name(dim)}={dim.dtype})")

    def header(self, word: str, name: str, params: tuple[Value, ...], indent: str) -> None:
        """Print a signature on one line if it fits, else one parameter per line."""
        parts = [self.typed(param) for param in params]
        start = f"{indent}{word} {name if is_printable(name) else mangled(name)}("
        short = f"{start}{', '.join(parts)}):"
        if len(short) <= PRINT_WIDTH or not parts:
            self.lines.append(short)
        else:
            self.lines += [start, *(f"{indent}{STEP}{part}," for part in parts), f"{indent}):"]

    def body(self, body: Body, indent: str, var: Value | None = None) -> None:
        """Print the bindings of a body; then, unless it is that of a function, its value."""
        for bind in body.bindings:
            self._bind(bind, indent)
        if var is not None:
            self.lines.append(f"{indent}{self.typed(var, indent)} = {self.name(body.result)}")

    def _bind(self, bind: Bind, indent: str) -> None:
        step, var = bind.step, bind.var
        self.starts[id(bind)] = self.starts[id(step)] = len(self.lines) + 1
        self._original(var, indent)
        match step:
            case Lambda():
                self._lambda(step, var, indent)
            case GraphIf(cond, then, otherwise):
                self.lines.append(f"{indent}if {self.name(cond)}:")
                self.body(then, indent + STEP, var)
                self.lines.append(f"{indent}else:")
                self.body(otherwise, indent + STEP, var)
            case Body():
                self.lines.append(f"{indent}with let():")
                self.body(step, indent + STEP, var)
            case _:
                self.lines.append(f"{indent}{self.typed(var, indent)} = {self._step(step)}")

    def _original(self, value: Value, indent: str) -> None:
        """Print the name of a value in the IR if the printed one is mangled."""
        if not is_printable(value.name):
            self.lines.append(f"{indent}names({self.name(value)}={quoted(value.name)})")

    def _lambda(self, step: Lambda, var: Value, indent: str) -> None:
        for param in step.params:
            self._original(param, indent)
        self.lines.append(f"{indent}@function({options_text(step.attrs)})")
        self.header("def", self.name(var), step.params, indent)
        self.body(step.body, indent + STEP)
        self.lines.append(f"{indent}{STEP}return {self.name(step.body.result)}")

    def _step(self, step: GraphStep) -> str:
        match step:
            case Op(name, args, attrs):
                if name in OPS:
                    return f"{name}({self._arguments(args, attrs)})"
                return f"op({quoted(name)}{self._more(args, attrs)})"
            case Constant(data):
                return constant_text(data)
            case Apply(callee, args):
                name = self.name(callee)
                if name in OPS or name in RESERVED:
                    return f"apply({name}{self._more(args)})"
                return f"{name}({self._arguments(args)})"
            case Invoke(function, args):
                return f"call({quoted(function)}{self._more(args)})"
            case GraphLoop(function, count, cond, state, others):
                head = f"{quoted(function)}, {self.name(count)}, {self.name(cond)}"
                parts = [sequence([self.name(each) for each in some]) for some in (state, others)]
                return f"loop({head}, {', '.join(parts)})"
            case Prefix(_, value, count):
                return f"prefix({self.name(value)}, {self.name(count)})"
            case Tuple(items):
                return sequence([self.name(item) for item in items])
            case TupleGet(value, index):
                return f"{self.name(value)}[{index}]"
            case _:
                raise AssertionError(f"no printed form for {type(step).__name__}")

    def _arguments(self, args: tuple[Value, ...], attrs: Attrs = ()) -> str:
        names = [self.name(arg) for arg in args]
        return ", ".join([*names, options_text(attrs)] if attrs else names)

    def _more(self, args: tuple[Value, ...], attrs: Attrs = ()) -> str:
        text = self._arguments(args, attrs)
        return f", {text}" if text else ""
