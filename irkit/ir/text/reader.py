"""Read the text of loop IR back: ``same(parse(script(f)), f)``.

The text is untrusted: it is read a line at a time, with a limit on the length of each, and nothing
in it is ever executed.
"""

import ast
import re
from collections.abc import Mapping

from irkit.core import Attrs, Function, IRModule, Span
from irkit.ir.buffer import Buffer
from irkit.ir.dtype import DType
from irkit.ir.expr import Expr, Var
from irkit.ir.function import PrimFunc
from irkit.ir.text.param_reader import ParsedParam, read_params
from irkit.ir.text.part_reader import word_of
from irkit.ir.text.stmt_reader import StmtReader

_DEF = re.compile(r"def +([^\W\d]\w*) *\(")


def parse(text: str, *, file: str = "") -> PrimFunc:
    """Read the one function of a text.

    Raises: ParseError, with line and column, if the text is not well formed.
    """
    reader = TextReader(file)
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- users err
        raise reader.error(f"expected the text of a function, found {type(text).__name__}")
    reader.read(text)
    if len(reader.functions) != 1:
        raise reader.error(f"expected one function, found {len(reader.functions)}")
    return reader.functions[0]


def parse_module(text: str, *, file: str = "") -> IRModule:
    """Read any number of functions.

    Raises: ParseError, with line and column, if the text is not well formed.
    """
    reader = TextReader(file)
    reader.read(text)
    functions = dict[str, Function]()
    for func in reader.functions:
        if func.name in functions:
            raise reader.error(f"there are two functions with the name {func.name!r}")
        functions[func.name] = func
    return IRModule(functions)


def parse_expr(text: str, scope: Mapping[str, Expr | Buffer]) -> Expr:
    """Read an expression; ``scope`` maps its names to what they stand for.

    Raises: ParseError, with line and column, if the text is not well formed.
    """
    reader = StmtReader("")
    reader.scope.update(scope)
    lines = [line for line in text.split("\n") if line.strip()]
    for reader.line, line in enumerate(lines, 1):
        tree = reader.tree(line.strip(), 0)
        if isinstance(tree, ast.Assign) and isinstance(tree.targets[0], ast.Name):
            reader.scope[tree.targets[0].id] = reader.expr(tree.value)
        elif isinstance(tree, ast.Expr) and reader.line == len(lines):
            return reader.expr(tree.value)
    raise reader.error("expected an expression")


class TextReader(StmtReader):
    """Reader of a text: functions, their signatures and their lines."""

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.functions: list[PrimFunc] = []
        self._title: dict[str, str] = {}
        self._attrs: Attrs = ()
        self._types: dict[str, DType] = {}
        self._open: list[ParsedParam] | None = None
        self._params: tuple[Buffer | Var, ...] = ()
        self._start = Span("text")

    def read(self, text: str) -> None:
        """Read every line."""
        for self.line, whole in enumerate(text.split("\n"), 1):
            line = whole.strip(" \r")
            if not line or line[0] == "#":
                continue
            indent = len(whole) - len(whole.lstrip(" "))
            line = self.cleaned(line, indent)
            if indent and self.suites:
                self.add(line, indent)
            else:
                self._outside(line, indent)
        self._end()

    def _outside(self, line: str, indent: int) -> None:
        """Read a line outside any body: a decorator, or a part of a signature."""
        self.source, self.start = line, indent
        if self._open is not None:
            if line == "):":
                self._begin(self._open)
            else:
                self._open += self._listed(f"def f({line}): pass", indent - 6)
            return
        if indent:
            raise self.error("expected a function: def name(...):")
        self._end()
        if line[0] == "@":
            self._decorate(line)
            return
        found = _DEF.match(line)
        if found is None:
            raise self.error("expected a function: def name(...):")
        self._title.setdefault("", found[1])
        self._start = Span("text", "", self.file, self.line)
        if found.end() == len(line):
            self._open = []
        elif line[-1] == ":":
            self._begin(self._listed(f"{line} pass", 0))
        else:
            raise self.error("expected ':' at the end of the line, and the body on the next lines")

    def _listed(self, source: str, start: int) -> "list[ParsedParam]":
        """Return the parameters on one line, each with its annotation and value."""
        tree = self.tree(source, start)
        args = tree.args if isinstance(tree, ast.FunctionDef) else None
        if args is None or args.posonlyargs or args.kwonlyargs or args.vararg or args.kwarg:
            raise self.error("expected parameters such as A: f32[16], n: i64", tree)
        values = [*[None] * (len(args.args) - len(args.defaults)), *args.defaults]
        at = (self.line, self.source, self.start)
        return [ParsedParam(arg, value, at) for arg, value in zip(args.args, values, strict=True)]

    def _begin(self, params: "list[ParsedParam]") -> None:
        """Read a signature and start the body."""
        self._open = None
        self.span = self._start
        here = (self.line, self.source, self.start)
        self._params = read_params(self, params, self._types)
        self.line, self.source, self.start = here
        self.open("def", None, 0)

    def _end(self) -> None:
        """Finish the current function, if there is one."""
        if self._open is not None:
            raise self.error("expected '):' at the end of the signature")
        if not self.suites:
            return
        name = self._title[""] if "name" not in self._title else self._title["name"]
        func = PrimFunc(name, self._params, self.finish(), self._attrs, self._start)
        self.functions.append(func)
        self._attrs, self._title, self._types = (), {}, {}
        self.scope.clear()
        self.renamed.clear()

    def _decorate(self, line: str) -> None:
        tree = self.tree(line[1:], 1)
        call = tree.value if isinstance(tree, ast.Expr) else None
        word = word_of(call)
        if not isinstance(call, ast.Call) or word not in ("attrs", "name", "names", "types"):
            raise self.error("expected @attrs(...), @name(...), @names(...) or @types(...)", tree)
        if word == "attrs":
            self._attrs = (*self._attrs, *self.attrs(call))
        elif word == "name":
            (name,) = self.arguments(call, "name(text)")
            self._title["name"] = self.string(name)
        elif word == "names":
            self.rename(call)
        else:
            for keyword in call.keywords:
                self._types[str(keyword.arg)] = self.dtype_of(keyword.value)
