"""Read the text of graph functions back: ``same(parse(script(f)), f)``.

The text is untrusted: it is read a line at a time, open suites wait on a list, and nothing in it is
ever executed. Types that can be inferred can be left out: ``r = relu(x)``. Declared types are taken
as they are, and ``verify`` checks them against the operators.
"""

import ast
import re
from typing import Literal, NamedTuple

from irkit.core import Attrs, Function, IRKitError, IRModule, Span
from irkit.graph.function import GraphFunc
from irkit.graph.infer import type_of
from irkit.graph.nodes import Bind, Body, GraphIf, GraphStep, Invoke, Lambda, Value
from irkit.graph.text.step_reader import Constants, StepReader, called_name
from irkit.graph.types import Type
from irkit.ir import ALIAS, DType, parse_module as parse_loops

_NOTHING: Constants = {}
_RETURN = re.compile(r" +return\b")
_ELSE = re.compile(r"else *:\Z")
_DEF = re.compile(r"def +([^\W\d]\w*) *\(")


def parse(
    text: str, *, constants: Constants = _NOTHING, absent: bool = False, file: str = ""
) -> GraphFunc:
    """Read the one graph function of a text.

    ``constants`` maps digests to large arrays that the text only names. With ``absent``, those not
    given are represented by their digests; then the function can be used for everything but
    running. Raises: ParseError, with line and column, if the text is not well formed.
    """
    reader = GraphReader(file, constants, absent)
    reader.read(text.split("\n"))
    if len(reader.functions) != 1:
        raise reader.error(f"expected one graph function, found {len(reader.functions)}")
    return reader.functions[0]


def parse_module(
    text: str, *, constants: Constants = _NOTHING, absent: bool = False, file: str = ""
) -> IRModule:
    """Read any number of graph functions and loop functions; those that return something are graph
    functions.

    Raises: ParseError, with line and column, if the text is not well formed.
    """
    lines = text.split("\n")
    is_graph = _graph_lines(lines)
    reader = GraphReader(file, constants, absent)
    reader.read([line if graph else "" for line, graph in zip(lines, is_graph, strict=True)])
    rest = ["" if graph else line for line, graph in zip(lines, is_graph, strict=True)]
    found: dict[str, Function] = dict(parse_loops("\n".join(rest), file=file).functions)
    for func in reader.functions:
        if func.name in found:
            reader.line = _line_of(func)
            raise reader.error(f"there are two functions with the name {func.name!r}")
        found[func.name] = func
    return IRModule(dict(sorted(found.items(), key=lambda pair: _line_of(pair[1]))))


def _graph_lines(lines: list[str]) -> list[bool]:
    """Return for each line whether it belongs to a graph function: one that returns something."""
    starts: list[int] = []
    in_body = True
    for at, line in enumerate(lines):
        if line[:1] == " ":
            in_body = True
        elif line[:1] in ("@", "d") and in_body:
            starts.append(at)
            in_body = False
    graph = [False] * len(lines)
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=False):
        found = any(_RETURN.match(line) for line in lines[start:end])
        graph[start:end] = [found] * (end - start)
    return graph


def _line_of(func: Function) -> int:
    span: Span | None = getattr(func, "span", None)
    return 0 if span is None else span.line


SuiteKind = Literal["def", "lambda", "let", "then", "else"]


class GraphParam(NamedTuple):
    """A parameter as written: its name, type, and line."""

    arg: ast.arg
    type: ast.expr
    at: tuple[int, str, int]


class Header(NamedTuple):
    """A signature: the name, and the parameters."""

    name: str
    indent: int
    params: list[GraphParam]
    attrs: Attrs
    span: Span


class BodyResult(NamedTuple):
    """The last line of a body that is not a function: the name that the body is bound to."""

    name: str
    type: Type


class Suite:
    """An open body: its owner, and its bindings so far."""

    def __init__(
        self, kind: Literal["def", "lambda", "let", "then", "else"], indent: int, span: Span
    ) -> None:
        self.kind, self.span = kind, span
        self.outer = indent
        """The indentation of the line that opened it."""
        self.indent = -1
        self.bindings: list[Bind] = []
        self.result: Value | None = None
        self.given: BodyResult | None = None
        self.values: list[str] = []
        self.dims: list[str] = []
        self.header: Header | None = None
        self.params: tuple[Value, ...] = ()
        self.branch: tuple[Value, Body | None, BodyResult | None] | None = None

    @property
    def returns(self) -> bool:
        return self.kind in ("def", "lambda")


class GraphReader(StepReader):
    """Reader of a text: functions and their lines."""

    def __init__(self, file: str, constants: Constants, absent: bool) -> None:
        super().__init__(file, constants, absent)
        self.functions: list[GraphFunc] = []
        self._suites: list[Suite] = []
        self._header: Header | None = None
        self._decorated = False
        self._title = ""
        self._attrs: Attrs = ()
        self._types: dict[str, DType] = {}

    def read(self, lines: list[str]) -> None:
        """Read every line."""
        for self.line, whole in enumerate(lines, 1):
            line = whole.strip(" \r")
            if line and line[0] != "#":
                indent = len(whole) - len(whole.lstrip(" "))
                self._line(self.cleaned(line, indent), indent)
        if self._header is not None:
            raise self.error("expected '):' at the end of the signature")
        self.source = ""
        while self._suites:
            self._end_suite()
        if self._decorated:
            raise self.error("expected a function after its decorators")

    def _line(self, line: str, indent: int) -> None:
        self.source, self.start = line, indent
        self.span = Span("text", "", self.file, self.line)
        if self._header is not None:
            self._signature(line, indent, self._header)
        elif _ELSE.match(line):
            self._else(indent)
        else:
            self._end_suites(indent)
            if line[0] == "@":
                self._decorate(line, indent)
            elif line.startswith("def "):
                self._def(line, indent)
            elif not self._suites or self._decorated:
                raise self.error("expected a function: def name(...):")
            else:
                self._statement(line, indent)

    def _end_suites(self, indent: int) -> None:
        """Close the suites that end before a line with this indentation."""
        while self._suites:
            suite = self._suites[-1]
            if suite.indent < 0:
                if indent <= suite.outer:
                    raise self.error("expected an indented line")
                suite.indent = indent
            if indent == suite.indent:
                if suite.result is not None:
                    raise self.error("expected the end of the body after its result")
                return
            if indent > suite.indent:
                raise self.error("expected the indentation of one of the lines before")
            self._end_suite()
        if indent:
            raise self.error("expected a function: def name(...):")

    def _closed(self) -> tuple[Suite, Body]:
        """Close the innermost suite, and remove the names that it bound."""
        suite = self._suites.pop()
        if suite.result is None:
            ending = "return name" if suite.returns else "name: type = value"
            raise self.error(f"the body before has no result; expected {ending} at its end")
        for name in suite.values:
            del self.values[name]
        for name in suite.dims:
            self.scope.pop(name, None)
        return suite, Body(tuple(suite.bindings), suite.result)

    def _end_suite(self) -> None:
        suite, body = self._closed()
        if suite.header is not None:
            self._finish(suite, suite.header, body)
            return
        assert suite.given is not None
        step: GraphStep = body
        if suite.branch is not None:
            cond, first, given = suite.branch
            if first is None or given is None:
                raise self.error(
                    "expected else: after the body of an if, as both sides need a value"
                )
            if suite.given.name != given.name:
                raise self.error(f"both sides of an if must assign {given.name!r}")
            step = GraphIf(cond, first, body)
        self._bind(suite.given.name, step, suite.given.type, suite.span)

    def _finish(self, suite: Suite, header: Header, body: Body) -> None:
        """Make the function or lambda of a closed suite."""
        if suite.kind == "lambda":
            step = Lambda(suite.params, body, header.attrs)
            self._bind(header.name, step, type_of(step), suite.span)
            return
        self.scope.clear()
        func = GraphFunc(header.name, suite.params, body, header.attrs, suite.span)
        self.functions.append(func)

    def _else(self, indent: int) -> None:
        """Start the other side of a conditional."""
        while self._suites and self._suites[-1].outer > indent:
            self._end_suite()
        opener = self._suites[-1] if self._suites else None
        if opener is None or opener.kind != "then" or opener.outer != indent:
            raise self.error("expected an if before, with the same indentation")
        suite, body = self._closed()
        assert suite.branch is not None
        self._open("else", indent, suite.span).branch = (suite.branch[0], body, suite.given)

    def _open(self, kind: SuiteKind, indent: int, span: Span) -> Suite:
        self._suites.append(Suite(kind, indent, span))
        return self._suites[-1]

    def _decorate(self, line: str, indent: int) -> None:
        """Read a decorator: attributes of the next function, or names that are not identifiers."""
        tree = self.tree(line[1:], indent + 1)
        match tree, bool(self._suites):
            case ast.Expr(value=ast.Call(func=ast.Name(id="attrs")) as call), False:
                self._attrs = (*self._attrs, *self.attrs(call))
            case ast.Expr(value=ast.Call(func=ast.Name(id="function")) as call), True:
                self._attrs = (*self._attrs, *self.attrs(call))
            case ast.Expr(value=ast.Call(func=ast.Name(id="name"), args=[text])), False:
                self._title = self.string(text)
            case ast.Expr(value=ast.Call(func=ast.Name(id="names")) as call), False:
                self.rename(call)
            case ast.Expr(value=ast.Call(func=ast.Name(id="types"), keywords=kinds)), False:
                for kind in kinds:
                    self._types[str(kind.arg)] = self.dtype_of(kind.value)
            case _:
                inside = "@function(...)"
                outside = "@attrs(...), @name(...), @names(...) or @types(...)"
                raise self.error(f"expected {inside if self._suites else outside}", tree)
        self._decorated = True

    def _def(self, line: str, indent: int) -> None:
        found = _DEF.match(line)
        if found is None:
            raise self.error("expected a function: def name(...):")
        name = found[1] if self._suites else self._title or found[1]
        header = Header(name, indent, [], self._attrs, self.span)
        self._attrs, self._title, self._decorated = (), "", False
        if found.end() == len(line):
            self._header = header
        elif line[-1] == ":":
            header.params.extend(self._listed(f"{line} pass", indent))
            self._begin(header)
        else:
            raise self.error("expected ':' at the end of the line, and the body on the next lines")

    def _signature(self, line: str, indent: int, header: Header) -> None:
        """Continue a signature of several lines."""
        if line == "):":
            self._header = None
            self._begin(header)
            return
        header.params.extend(self._listed(f"def f({line}): pass", indent - 6))

    def _listed(self, source: str, start: int) -> list[GraphParam]:
        """Return the parameters on one line."""
        tree = self.tree(source, start)
        args = tree.args if isinstance(tree, ast.FunctionDef) else None
        if args is None or args.posonlyargs or args.kwonlyargs or args.vararg or args.kwarg:
            raise self.error("expected parameters such as x: f32[16]", tree)
        found: list[GraphParam] = []
        for arg in args.args:
            if args.defaults or arg.annotation is None:
                raise self.error("expected a type for each parameter, and no default", arg)
            found.append(GraphParam(arg, arg.annotation, (self.line, self.source, self.start)))
        return found

    def _begin(self, header: Header) -> None:
        """Bind the dimensions and parameters of a signature, and open its body."""
        suite = self._open("lambda" if self._suites else "def", header.indent, header.span)
        suite.header = header
        here = (self.line, self.source, self.start)
        for param in header.params:
            self.line, self.source, self.start = param.at
            suite.dims += self.bind_dimensions(param.type, self._types)
        self._types = {}
        values: list[Value] = []
        for param in header.params:
            self.line, self.source, self.start = param.at
            values.append(self._value(param.arg.arg, self.type(param.type), suite, param.arg))
        suite.params = tuple(values)
        self.line, self.source, self.start = here

    def _value(self, name: str, kind: Type, suite: Suite, node: ast.AST | None) -> Value:
        """Return a new value, bound to its name until a suite is closed."""
        if name in self.values:
            raise self.error(f"the name {name!r} is taken; expected another one", node)
        value = self.values[name] = Value(self.renamed.pop(name, name), kind)
        suite.values.append(name)
        return value

    def _statement(self, line: str, indent: int) -> None:
        if line.startswith("return "):
            tree: ast.stmt = self.tree(line[7:].strip(), indent + 7)
            self._return(tree)
            return
        opens = line[-1] == ":"
        tree = self.tree(f"{line} pass" if opens else line, indent)
        match tree, opens:
            case ast.AnnAssign(target=ast.Name() as to, annotation=kind, value=ast.expr() as v), _:
                if isinstance(v, ast.Call) and called_name(v) == "prefix":
                    self._suites[-1].dims += self.bind_dimensions(kind, {})
                self._assign(to, self.type(kind), v)
            case ast.Assign(targets=[ast.Name(id=name)], value=value), _ if ALIAS.match(name):
                self.scope[name] = self.part(value)
            case ast.Assign(targets=[ast.Name() as to], value=value), _:
                self._assign(to, None, value)
            case ast.Expr(value=ast.Call(func=ast.Name(id="names")) as call), _:
                self.rename(call)
            case ast.If(test=test), True:
                self._open("then", indent, self.span).branch = (self.use(test), None, None)
            case ast.With(
                items=[ast.withitem(context_expr=ast.Call(func=ast.Name(id="let")))]
            ), True:
                self._open("let", indent, self.span)
            case _:
                raise self.error("expected name: type = step, def, if, with let(): or return", tree)

    def _return(self, tree: ast.stmt) -> None:
        suite = self._suites[-1]
        if not suite.returns or not isinstance(tree, ast.Expr):
            raise self.error("expected return name, at the end of a function", tree)
        suite.result = self.use(tree.value)

    def _assign(self, target: ast.Name, declared: Type | None, value: ast.expr) -> None:
        suite = self._suites[-1]
        if not isinstance(value, ast.Name):
            step = self.step(value, declared)
            kind = self._inferred(step, value) if declared is None else declared
            self._bind(target.id, step, kind, self.span, target)
            return
        if suite.returns:
            raise self.error("expected a step; identity(x) returns a value", value)
        suite.result = self.use(value)
        suite.given = BodyResult(target.id, suite.result.type if declared is None else declared)

    def _inferred(self, step: GraphStep, node: ast.expr) -> Type:
        if isinstance(step, Invoke):
            raise self.error("a call needs a type: r: f32[4] = call(...)", node)
        try:
            return type_of(step)
        except IRKitError as error:
            raise self.error(error.message, node, error.hint) from None

    def _bind(
        self, name: str, step: GraphStep, kind: Type, span: Span, node: ast.AST | None = None
    ) -> None:
        """Add a binding to the current body."""
        suite = self._suites[-1]
        suite.bindings.append(Bind(self._value(name, kind, suite, node), step, span))
