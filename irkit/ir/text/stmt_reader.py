"""Read statements: each line is parsed by ``ast``, and indentation is handled here.

Open suites wait on a list, so nesting can be of any depth. A binding for the rest of its suite is a
``PendingScope`` among the statements until the suite is closed.
"""

import ast
import re
from collections.abc import Callable
from typing import Any

from irkit.core import ALIAS, DTypeError, Span
from irkit.ir.buffer import Buffer
from irkit.ir.dtype import I64, DType
from irkit.ir.expr import Const, Expr, Var, meet
from irkit.ir.stmt import (
    AXIS_KINDS,
    LOOP_KINDS,
    Allocate,
    Assert,
    Axis,
    Evaluate,
    For,
    If,
    Let,
    Seq,
    Stmt,
    Store,
    View,
)
from irkit.ir.text.expr_reader import MAX_LINE
from irkit.ir.text.part_reader import PartReader, word_of
from irkit.ir.text.suites import BlockHead, OpenSuite, PendingScope

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_COMMENT = re.compile(r"""(?:[^"'#]|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')*""")
_BRANCH = re.compile(r"(?:else|elif)(?![A-Za-z0-9_])")


class StmtReader(PartReader):
    """Reader of the statements of one function, a line at a time."""

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.suites: list[OpenSuite] = []
        self.renamed: dict[str, str] = {}

    def cleaned(self, line: str, indent: int) -> str:
        """Remove the comment of a line, and reject control characters, which Python could take for
        line ends."""
        if len(line) > MAX_LINE or ("#" not in line and line.isprintable()):
            return line
        found = _CONTROL.search(line)
        if found:
            self.source, self.start = "", indent + found.start()
            raise self.error("expected no control characters; indent with spaces")
        match = _COMMENT.match(line)
        return line[: match.end()].rstrip(" ") if match else line

    def open(self, kind: str, make: Callable[[Stmt], Stmt] | None, outer: int) -> OpenSuite:
        """Start a suite."""
        suite = OpenSuite(kind, outer, make)
        self.suites.append(suite)
        return suite

    def add(self, text: str, indent: int) -> None:
        """Read one line, given without its indentation."""
        self.source, self.start = text, indent
        branch = _BRANCH.match(text) is not None
        self._settle(indent, branch)
        self.span = Span("text", "", self.file, self.line)
        if branch:
            self._branch(text, indent)
            return
        tree = self.tree(f"{text} pass" if text[-1] == ":" else text, indent)
        read = _STATEMENTS.get(tree.__class__)
        if read is None:
            raise self.error("expected a statement of loop IR", tree)
        if text[-1] != ":" and read in _OPENING:
            raise self.error(
                "expected ':' at the end of the line, and the body on the next lines", tree
            )
        read(self, tree)

    def finish(self) -> Stmt:
        """Close every suite, and return the statements of the outermost one."""
        while len(self.suites) > 1:
            self._close()
        suite = self.suites.pop()
        self._check_filled(suite)
        return suite.body()

    def _settle(self, indent: int, branch: bool) -> None:
        """Close the suites that end before a line with this indentation."""
        suites = self.suites
        suite = suites[-1]
        if suite.indent < 0:
            if indent <= suite.outer:
                raise self.error("expected an indented statement")
            suite.indent = indent
            return
        while indent < suite.indent:
            if branch and suite.kind == "if" and suite.outer == indent:
                return  # The branch belongs to this conditional.
            if len(suites) == 1:
                raise self.error("expected a line of the function's body")
            self._close()
            suite = suites[-1]
        if indent != suite.indent:
            raise self.error("expected the indentation of one of the lines before")

    def _close(self) -> None:
        suite = self.suites.pop()
        self._check_filled(suite)
        body = suite.body()
        self._leave(suite)
        outer = self.suites[-1]
        if suite.kind == "init":
            assert outer.block is not None
            outer.block.init = body
            return
        if suite.branches:
            for cond, then, span in reversed(suite.branches):
                body = If(cond, body, None, span=span) if then is None else If(
                    cond, then, body, span=span
                )  # fmt: skip
        assert suite.make is not None or suite.branches
        outer.items.append(suite.make(body) if suite.make is not None else body)

    def _check_filled(self, suite: OpenSuite) -> None:
        if suite.indent < 0:
            raise self.error("expected an indented statement after the line that ends with ':'")

    def _leave(self, suite: OpenSuite) -> None:
        scope = self.scope
        for name, old in reversed(suite.undo):
            if old is None:
                scope.pop(name, None)
            else:
                scope[name] = old

    def _branch(self, text: str, indent: int) -> None:
        """Read ``else:`` or ``elif cond:``."""
        suite = self.suites[-1]
        if suite.kind != "if" or suite.outer != indent or suite.indent < 0:
            raise self.error("expected an if before, with the same indentation")
        if text[-1] != ":":
            raise self.error("expected ':' at the end of the line, and the body on the next lines")
        cond = None
        if text.startswith("elif"):
            tree = self.tree(f"{text[2:]} pass", indent + 2)
            assert isinstance(tree, ast.If)
            cond = tree.test
        elif text[4:].strip() != ":":
            raise self.error("expected else:")
        self._leave(suite)
        test, _, span = suite.branches[-1]
        suite.branches[-1] = (test, suite.body(), span)
        suite.items, suite.undo, suite.indent = [], [], -1
        if cond is None:
            suite.kind = "else"
        else:
            suite.branches.append((self.expr(cond), None, self.span))

    def bind(self, node: ast.expr, make: Callable[[str], Var | Buffer], suite: OpenSuite) -> Any:
        """Make the symbol that a line names, and put it in scope until ``suite`` is closed."""
        if not isinstance(node, ast.Name):
            raise self.error("expected a name", node)
        name = node.id
        symbol = make(self.renamed.pop(name, name) if self.renamed else name)
        suite.undo.append((name, self.scope.get(name)))
        self.scope[name] = symbol
        return symbol

    def rename(self, call: ast.Call) -> None:
        """Read ``names(printed="name")``: the names of the next binders in the IR."""
        for keyword in call.keywords:
            self.renamed[str(keyword.arg)] = self.string(keyword.value)


def _assign(reader: StmtReader, node: ast.Assign) -> None:
    suite, target, value = reader.suites[-1], node.targets[0], node.value
    if len(node.targets) != 1:
        raise reader.error("expected one assignment", node)
    if isinstance(target, ast.Subscript):
        buffer = reader.buffer(target.value)
        indices = reader.index(target.slice)
        stored = reader.typed(value, buffer.dtype)
        suite.items.append(Store(buffer, indices, stored, span=reader.span))
        return
    if not isinstance(target, ast.Name):
        raise reader.error("expected a name or an element of a buffer before '='", target)
    if ALIAS.match(target.id):
        reader.scope[target.id] = reader.part(value)
        return
    if isinstance(value, ast.Call):
        if isinstance(value.func, ast.Attribute):
            _axis(reader, target, value, value.func)
            return
        word = word_of(value)
        if word in ("alloc", "view"):
            suite.items.append(PendingScope(_buffer_binding(reader, target, value, suite)))
            return
    _let(reader, target, reader.expr(value), None, suite)


def _typed_let(reader: StmtReader, node: ast.AnnAssign) -> None:
    if node.value is None:
        raise reader.error("expected a value: name: type = value", node)
    kind = reader.dtype_of(node.annotation)
    _let(reader, node.target, reader.typed(node.value, kind), kind, reader.suites[-1])


def _let(
    reader: StmtReader, target: ast.expr, value: Expr, kind: DType | None, suite: OpenSuite
) -> None:
    span = reader.span
    var: Var = reader.bind(target, lambda name: Var(name, kind or value.dtype), suite)
    suite.items.append(PendingScope(lambda body: Let(var, value, body, span=span)))


def _buffer_binding(
    reader: StmtReader, target: ast.expr, call: ast.Call, suite: OpenSuite
) -> Callable[[Stmt], Stmt]:
    """Read ``alloc(...)`` or ``view(...)`` and bind its buffer."""
    span, allocates = reader.span, word_of(call) == "alloc"
    if len(call.args) != (1 if allocates else 2):
        form = "alloc(f32[16], scope=...)" if allocates else "view(A, f32[16], offset=0)"
        raise reader.error(f"expected {form}", call)
    if allocates:
        attrs = reader.attrs(call, ("strides", "scope", "align"))
        room: Buffer = reader.bind(target, reader.buffer_of(call, call.args[0]), suite)
        return lambda body: Allocate(room, body, attrs, span=span)
    source, offset = reader.buffer(call.args[0]), None
    for keyword in call.keywords:
        if keyword.arg == "offset":
            offset = reader.expr(keyword.value)
        elif keyword.arg not in ("strides", "scope", "align"):
            raise reader.error("a view has strides, scope, align and offset", call)
    make = reader.buffer_of(call, call.args[1], source.scope)
    seen: Buffer = reader.bind(target, make, suite)
    at = offset if offset is not None else Const(0, I64)
    return lambda body: View(seen, source, at, body, span=span)


def _axis(reader: StmtReader, target: ast.Name, call: ast.Call, func: ast.Attribute) -> None:
    suite = reader.suites[-1]
    kind = func.attr
    if not isinstance(func.value, ast.Name) or func.value.id != "axis" or kind not in AXIS_KINDS:
        raise reader.error(f"expected axis.{', axis.'.join(AXIS_KINDS)}", call)
    head = _head(reader, call)
    extent, value = reader.arguments(call, f"axis.{kind}(extent, binding)")
    size, binding = reader.expr(extent), reader.expr(value)
    var: Var = reader.bind(target, lambda name: Var(name, binding.dtype), suite)
    head.axes.append(Axis(var, size, binding, kind))


def _head(reader: StmtReader, at: ast.AST) -> BlockHead:
    suite = reader.suites[-1]
    if suite.block is None or suite.items:
        raise reader.error("expected this line at the beginning of a block", at)
    return suite.block


def _loop(reader: StmtReader, node: ast.For) -> None:
    call = node.iter
    kind = word_of(call)
    if kind not in LOOP_KINDS or not isinstance(call, ast.Call):
        raise reader.error(f"expected a loop over one of {', '.join(LOOP_KINDS)}", call)
    threaded = kind == "thread"
    if len(call.args) != 2 + threaded:
        raise reader.error(f"expected {kind}(begin, end{', tag' if threaded else ''})", call)
    begin, end = reader.expr(call.args[0]), reader.expr(call.args[1])
    if begin.dtype != end.dtype:
        try:
            begin, end = meet(*reader.meeting((call.args[0], begin), (call.args[1], end)))
        except DTypeError as found:
            raise reader.error(found.message, call, found.hint) from None
    thread = reader.string(call.args[2]) if threaded else ""
    attrs, span = reader.attrs(call) if call.keywords else (), reader.span

    def make(body: Stmt) -> Stmt:
        return For(var, begin, end, body, kind, thread, attrs, span=span)

    suite = reader.open("for", make, reader.start)
    var: Var = reader.bind(node.target, lambda name: Var(name, begin.dtype), suite)


def _with(reader: StmtReader, node: ast.With) -> None:
    item = node.items[0]
    call, target, word = item.context_expr, item.optional_vars, word_of(item.context_expr)
    if len(node.items) != 1 or not isinstance(call, ast.Call):
        raise reader.error(
            "expected with block(...), init(), alloc(...), view(...) or let(...)", node
        )
    if word == "block" and target is None and len(call.args) == 1:
        head = BlockHead(reader.string(call.args[0]), reader.attrs(call), reader.span)
        reader.open("block", head.make, reader.start).block = head
    elif word == "init" and target is None and not call.args:
        head = _head(reader, call)
        if head.init is not None:
            raise reader.error("a block has one init", call)
        reader.open("init", None, reader.start)
    elif word in ("alloc", "view") and target is not None:
        suite = reader.open(word, None, reader.start)
        suite.make = _buffer_binding(reader, target, call, suite)
    elif word == "let" and target is not None:
        (value,) = reader.arguments(call, "let(value)")
        expr, span = reader.expr(value), reader.span
        suite = reader.open("let", None, reader.start)
        var: Var = reader.bind(target, lambda name: Var(name, expr.dtype), suite)

        def make(body: Stmt) -> Stmt:
            return Let(var, expr, body, span=span)

        suite.make = make
    else:
        raise reader.error(
            "expected with block(...), init(), or alloc(...), view(...), let(...) as name", node
        )


def _if(reader: StmtReader, node: ast.If) -> None:
    suite = reader.open("if", None, reader.start)
    suite.branches.append((reader.expr(node.test), None, reader.span))


def _pass(reader: StmtReader, node: ast.Pass) -> None:
    reader.suites[-1].items.append(Seq((), span=reader.span))


def _assert(reader: StmtReader, node: ast.Assert) -> None:
    given = node.msg.elts if isinstance(node.msg, ast.Tuple) else [node.msg]
    message = reader.string(given[0]) if given and given[0] is not None else ""
    values = tuple(reader.expr(value) for value in given[1:] if value is not None)
    stmt = Assert(reader.expr(node.test), message, values, span=reader.span)
    reader.suites[-1].items.append(stmt)


def _command(reader: StmtReader, node: ast.Expr) -> None:
    call, word = node.value, word_of(node.value)
    suite = reader.suites[-1]
    if not isinstance(call, ast.Call) or word not in _COMMANDS:
        raise reader.error(f"expected an assignment, or one of {', '.join(_COMMANDS)}", node)
    if word == "names":
        reader.rename(call)
    elif word == "evaluate":
        (value,) = reader.arguments(call, "evaluate(value)")
        suite.items.append(Evaluate(reader.expr(value), span=reader.span))
    elif word == "store":
        args = reader.arguments(call, "store(buffer, indices, value, mask=mask)", ("mask",))
        buffer, indices = reader.buffer(args[0]), reader.index(args[1])
        value, mask = reader.typed(args[2], buffer.dtype), reader.expr(args[3])
        suite.items.append(Store(buffer, indices, value, mask, span=reader.span))
    else:
        _block_line(reader, call, word)


def _block_line(reader: StmtReader, call: ast.Call, word: str) -> None:
    head = _head(reader, call)
    if word == "where":
        (cond,) = reader.arguments(call, "where(condition)")
        head.predicate = reader.expr(cond)
        return
    regions = [reader.region(arg) for arg in call.args]
    if word == "reads":
        head.reads = [*(head.reads or ()), *regions]
    else:
        head.writes = [*(head.writes or ()), *regions]


_OPENING = (_loop, _with, _if)
_COMMANDS = ("store", "evaluate", "where", "reads", "writes", "names")
_STATEMENTS: dict[type[ast.stmt], Callable[[StmtReader, Any], None]] = {
    ast.Assign: _assign,
    ast.AnnAssign: _typed_let,
    ast.For: _loop,
    ast.With: _with,
    ast.If: _if,
    ast.Pass: _pass,
    ast.Assert: _assert,
    ast.Expr: _command,
}
