"""The state of the verifier: symbols in scope, loops, barriers, and the problems found so far."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from irkit.core import CHILDREN, MAX_PROBLEMS, Attrs, Node, Problem
from irkit.ir.buffer import Buffer, Load
from irkit.ir.build import as_int
from irkit.ir.dtype import DType
from irkit.ir.expr import Const, Expr, Var
from irkit.ir.function import UNSCHEDULED, PrimFunc, dimension_vars
from irkit.ir.scopes import memory_scope, scope_problem
from irkit.ir.stmt import For, Stmt
from irkit.ir.verify.expression_nodes import node_problem
from irkit.ir.verify.valid_expressions import ValidExpressions

MAX_STRING = 1 << 14
_THREAD = re.compile(r"(threadIdx|blockIdx|vthread)(\.[xyz])?\Z")


class LoopChecker:
    """Walk over a function that tracks the symbols in scope."""

    def __init__(
        self,
        func: PrimFunc,
        rules: "Mapping[type[Node], Callable[[LoopChecker, Any], None]]",
        known: ValidExpressions,
    ) -> None:
        self.rules = rules
        self.known = known
        self.valid: dict[int, tuple[Node, ...]] = {}
        self.statements: set[int] = set()
        self.problems: list[Problem] = []
        self.at: Node = func
        self._scope: set[int] = set()
        self._bound: set[int] = set()
        self._typed: set[int] = set()
        self._types: set[int] = set()
        self._loops: list[For] = []

    def report(self, message: str) -> None:
        self.problems.append(Problem(message, self.at))

    def signature(self, func: PrimFunc) -> None:
        """Check the parameters, and bind what they introduce."""
        dims = dimension_vars(func.params)
        scalars = [param for param in func.params if isinstance(param, Var)]
        for symbol in (*scalars, *dims):
            self.bind(symbol)
            if symbol.dtype.lanes != 1:
                self.report(f"parameter {symbol.name!r} has type {symbol.dtype}; expected a scalar")
        for param in func.params:
            if isinstance(param, Buffer):
                self.buffer(param)
                self.bind(param)
        self.attrs(func.attrs)
        mark = dict(func.attrs).get(UNSCHEDULED, True)
        if mark is not True:
            self.report(f"attribute {UNSCHEDULED!r} is {mark!r}; expected True, or no attribute")

    def statement(self, stmt: Stmt) -> None:
        """Check a statement and those below it, in text order, until there are many problems."""
        if len(self.problems) >= MAX_PROBLEMS:
            return
        self.at = stmt
        self.statements.add(id(stmt))
        rule = self.rules.get(stmt.__class__)
        if rule is None:
            self.report(f"{type(stmt).__name__} is not a statement of loop IR")
        else:
            rule(self, stmt)

    def scope(self, symbols: tuple[Node, ...], body: Stmt) -> None:
        """Check a body in which some symbols are bound."""
        for symbol in symbols:
            self.bind(symbol)
        self.statement(body)
        self.leave(symbols)

    def leave(self, symbols: tuple[Node, ...]) -> None:
        """End the scope of some symbols."""
        self._scope.difference_update(map(id, symbols))

    def loop(self, loop: For) -> None:
        """Check the body of a loop."""
        self._loops.append(loop)
        self.scope((loop.var,), loop.body)
        self._loops.pop()

    def bind(self, symbol: Node) -> None:
        if id(symbol) in self._bound:
            self.report(f"{_name(symbol)} is bound a second time; expected one binder per symbol")
        self._bound.add(id(symbol))
        self._scope.add(id(symbol))

    def use(self, symbol: Node) -> None:
        if id(symbol) not in self._scope:
            bound = id(symbol) in self._bound
            where = "outside of its scope" if bound else "but bound nowhere before"
            self.report(f"{_name(symbol)} is used {where}")

    def expr(self, root: Expr) -> DType:
        """Check an expression of the current statement, and return its type.

        Raises: WrongField.
        """
        used = self.valid.get(id(root))
        if used is None:
            used = self.known.get(id(root))
        if used is None:
            used = self._new(root)
        else:
            for symbol in used:
                self.use(symbol)
        self.valid[id(root)] = used
        return root.dtype

    def _new(self, root: Expr) -> tuple[Node, ...]:
        """Check an expression that was in no valid function, and return the symbols it uses."""
        stack: list[Any] = [root]
        seen: set[int] = set()
        used: dict[Node, None] = {}
        typed, types = self._typed, self._types
        while stack:
            node = stack.pop()
            key = id(node)
            if key in seen:
                continue
            seen.add(key)
            cls = node.__class__
            if cls is Var or isinstance(node, Var):
                used[node] = None
                self.use(node)
                continue
            found = None
            if key not in typed:
                typed.add(key)
                found = node_problem(node, types)
            if cls is Load or isinstance(node, Load):
                used[node.buffer] = None
                self.use(node.buffer)
            if found is not None:
                self.report(found)
            if cls is not Const:
                stack += CHILDREN[cls](node)
        return tuple(used)

    def integer(self, expr: Expr, what: str) -> DType:
        """Check an expression that must be a scalar integer."""
        kind = self.expr(expr)
        if not kind.is_integer or kind.lanes != 1:
            self.report(f"{what} has type {kind}; expected a scalar integer")
        return kind

    def condition(self, expr: Expr, what: str) -> None:
        """Check an expression that must be a scalar bool."""
        kind = self.expr(expr)
        if not kind.is_bool or kind.lanes != 1:
            self.report(f"{what} has type {kind}; expected bool")

    def thread(self, loop: For, name: str) -> None:
        """Check the axis of a thread loop against the loops of the same axis around it."""
        tag = loop.thread
        if _THREAD.match(tag) is None:
            self.report(f"{name} has thread axis {tag!r}; expected one such as threadIdx.x")
        outer = next((each for each in self._loops if each.thread == tag), None)
        if outer is None or tag.startswith("vthread"):
            return
        if tag.startswith("blockIdx"):
            self.report(f"{name} uses thread axis {tag!r}, which a loop around it uses already")
        extents = [_extent(loop), _extent(outer)]
        if None not in extents and extents[0] != extents[1]:
            self.report(
                f"{name} runs over {extents[0]} threads of {tag}, the loop around it over "
                f"{extents[1]}; expected as many"
            )

    def barrier(self) -> None:
        """Check that threads can meet at a barrier."""
        nest = [number for number, loop in enumerate(self._loops) if _is_nest(loop)]
        for loop in self._loops[nest[0] :] if nest else []:
            if loop.kind in ("parallel", "vectorized"):
                self.report(
                    f"a barrier stands in the {loop.kind} loop {loop.var.name!r}, whose "
                    "iterations have no order for threads to meet in"
                )

    def buffer(self, buffer: Buffer) -> None:
        """Check the shape, strides, type, alignment and scope of a buffer."""
        name = f"buffer {buffer.name!r}"
        for dim in buffer.shape:
            self.integer(dim, f"a dimension of {name}")
            if isinstance(dim, Const) and isinstance(dim.value, int) and dim.value < 0:
                self.report(f"a dimension of {name} is {dim.value}; expected 0 or more")
        if buffer.strides is not None:
            if len(buffer.strides) != buffer.rank:
                self.report(
                    f"{name} has {buffer.rank} dimensions and {len(buffer.strides)} strides"
                )
            for stride in buffer.strides:
                self.integer(stride, f"a stride of {name}")
        if buffer.dtype.lanes != 1:
            self.report(f"{name} has elements of type {buffer.dtype}; expected scalars")
        if buffer.align < 0 or buffer.align & (buffer.align - 1):
            self.report(f"the alignment of {name} is {buffer.align}; expected a power of two")
        problem = scope_problem(buffer.scope)
        if problem is not None:
            self.report(f"{name}: {problem[0]}. {problem[1]}")
        row = memory_scope(buffer.scope)
        held = "" if row is None else row.type_problem(buffer.dtype)
        if held:
            self.report(f"{name}: {held}")

    def attrs(self, attrs: Attrs) -> None:
        """Check that attributes are data that can be printed."""
        keys = [key for key, _ in attrs]
        for key in sorted({key for key in keys if keys.count(key) > 1}):
            self.report(f"attribute {key!r} is given twice")
        for key, value in attrs:
            if not _is_data(value):
                self.report(
                    f"attribute {key!r} holds a {type(value).__name__}; expected a string, a"
                    " number, None, or a tuple of such"
                )


def _extent(loop: For) -> int | None:
    begin, end = as_int(loop.begin), as_int(loop.end)
    return None if begin is None or end is None else end - begin


def _is_nest(loop: For) -> bool:
    return loop.kind == "thread" and not loop.thread.startswith("blockIdx")


def _name(symbol: Node) -> str:
    kind = "buffer" if isinstance(symbol, Buffer) else "variable"
    return f"{kind} {getattr(symbol, 'name', '?')!r}"


def _is_data(value: object, depth: int = 0) -> bool:
    if isinstance(value, tuple):
        return depth < 2 and all(_is_data(item, depth + 1) for item in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] -- of anything
    if isinstance(value, str):
        return len(value) <= MAX_STRING
    return value is None or type(value) in (bool, int, float)
