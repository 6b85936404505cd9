"""Source with every mutant of a module behind a switch.

The expression that a mutant changes is widened to what surrounds it, as long as that is only an
operator, a comparison, a condition or a subscript: ``a + 1 < b`` says more about what a change of
``+`` does than ``a + 1``. Its parts without a change are computed once. What cannot be written as a
lambda (a pattern of `match`, a `yield`, a `:=`) is switched by the statement.
"""

import ast
import builtins
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Literal, TypeVar, cast

from tests.mutation.changes.mutant import Mutant, changed_node
from tests.mutation.changes.source import source_of
from tests.mutation.schemata.switches import SWITCHES_NAME

_Node = TypeVar("_Node", bound=ast.AST)
_Function = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_WIDENED = (ast.BinOp, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.IfExp, ast.Subscript, ast.Slice)
_PURE_CALLS = frozenset({"len", "min", "max", "abs", "bool", "int", "isinstance"})
"""Built-in functions that may be called again."""
_NO_LAMBDA = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)
_SIMPLE = (ast.Name, ast.Constant)
_PARTS = "_irkit_parts"
assert all(hasattr(builtins, name) for name in _PURE_CALLS)

How = Literal["expression", "statement", "import"]


class _Place:
    """A node of a module with its parents."""

    def __init__(self, tree: ast.Module) -> None:
        self.nodes = list(ast.walk(tree))
        self.above = {
            id(below): node for node in self.nodes for below in ast.iter_child_nodes(node)
        }
        self.lazy = frozenset(id(node) for node in _lazy(tree, False))

    def parents(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the parents of a node, from the inside out."""
        while id(node) in self.above:
            node = self.above[id(node)]
            yield node


def _lazy(node: ast.AST, inside: bool) -> Iterator[ast.AST]:
    """Yield the nodes that run when a function is called, and not when the module is imported."""
    if inside:
        yield node
    for field, value in ast.iter_fields(node):
        below = inside or (isinstance(node, _Function) and field == "body")
        values = cast(list[object], value) if isinstance(value, list) else [value]
        for each in values:
            if isinstance(each, ast.AST):
                yield from _lazy(each, below)


def how_switched(mutant: Mutant) -> How:
    """Return how a mutant is switched on: by its expression, by its statement, or only by importing
    the module anew."""
    place = _place_of(mutant.module)
    return _how(place, place.nodes[mutant.site[0]])


@lru_cache(16)
def _place_of(module: str) -> _Place:
    return _Place(ast.parse(source_of(module)))


def _how(place: _Place, node: ast.AST) -> How:
    test = _changed_part(node)
    if id(test) not in place.lazy:
        return "import"
    target = _target(place, test)
    return "expression" if target is not None else "statement"


def instrumented(module: str, mutants: Iterable[tuple[int, Mutant]]) -> ast.Module:
    """Return the tree of a module with its mutants behind switches of these numbers. Those that
    only an import can switch on are left out."""
    tree = ast.parse(source_of(module))
    place = _Place(tree)
    expressions = defaultdict[int, list[_Change]](list)
    statements = defaultdict[int, list[_Change]](list)
    for number, mutant in mutants:
        node = place.nodes[mutant.site[0]]
        assert isinstance(node, (ast.expr, ast.stmt))
        changed = changed_node(node, mutant.site[1])
        how = _how(place, node)
        old = _changed_part(node)
        if how == "expression":
            new = _changed_part(changed)
            expressions[id(_target(place, old))].append(_Change(number, old, new))
        elif how == "statement":
            within = node if isinstance(node, ast.stmt) else None
            around = within or next(p for p in place.parents(node) if isinstance(p, ast.stmt))
            statements[id(around)].append(_Change(number, node, changed))
    _Switcher(expressions, statements).visit(tree)
    return ast.fix_missing_locations(tree)


class _Change:
    """A node and what a mutant puts in its place."""

    def __init__(self, number: int, old: ast.AST, new: ast.AST) -> None:
        self.number, self.old, self.new = number, old, new


def _changed_part(node: ast.AST) -> ast.AST:
    """Return what is changed of a node: the condition of a statement."""
    return node.test if isinstance(node, (ast.If, ast.While)) else node


def _target(place: _Place, node: ast.AST) -> ast.expr | None:
    """Return the expression to switch, or None if it must be the statement."""
    found = node if isinstance(node, ast.expr) and _can_be_lambda(place, node) else None
    if isinstance(node, ast.Call) and not _is_pure(node):
        return found
    last = node
    for parent in place.parents(node):
        pure_call = isinstance(parent, ast.Call) and last in parent.args and _is_pure(parent)
        if not (isinstance(parent, _WIDENED) or pure_call):
            break
        assert isinstance(parent, ast.expr)
        last = parent
        if isinstance(parent, ast.Slice):
            found = None
        elif _can_be_lambda(place, parent):
            found = parent
        else:
            break
    return found


def _can_be_lambda(place: _Place, node: ast.expr) -> bool:
    if isinstance(node, (ast.Slice, ast.Starred)):
        return False
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return False
    around = list(place.parents(node))
    scope = next(each for each in around if isinstance(each, (*_Function, ast.ClassDef)))
    if isinstance(scope, ast.ClassDef) or any(isinstance(each, ast.pattern) for each in around):
        return False
    return not any(isinstance(each, _NO_LAMBDA) or _is_super(each) for each in ast.walk(node))


def _is_super(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in ("super", "__class__")


def _is_pure(call: ast.Call) -> bool:
    return (
        isinstance(call.func, ast.Name)
        and call.func.id in _PURE_CALLS
        and not call.keywords
        and not any(isinstance(arg, ast.Starred) for arg in call.args)
    )


class _Switcher(ast.NodeTransformer):
    """Puts switches into a tree, the innermost ones too."""

    def __init__(
        self, expressions: dict[int, list[_Change]], statements: dict[int, list[_Change]]
    ) -> None:
        self.expressions, self.statements = expressions, statements
        self.truths = set[int]()

    def visit(self, node: ast.AST) -> ast.AST:
        for test in _tests(node):
            self.truths.add(id(test))
        expression = self.expressions.get(id(node))
        if expression is not None:
            assert isinstance(node, ast.expr)
            return self._switched(node, expression)
        statement = self.statements.get(id(node))
        if statement is not None:
            copies = [[_copied(node, change)] for change in statement]
            return _statement_switch(statement, copies, self.generic_visit(node))
        return self.generic_visit(node)

    def _switched(self, node: ast.expr, changes: list[_Change]) -> ast.expr:
        if isinstance(node, ast.Call) and not _is_pure(node):
            copy = _copied(node, changes[0])
            return ast.IfExp(_is_on(changes[0]), copy, cast(ast.expr, self.generic_visit(node)))
        parts = _Parts(node, changes)
        forms = [parts.form(_copied(node, change, parts.marks)) for change in changes]
        truth = id(node) in self.truths
        original = parts.form(_copied(node, None, parts.marks), self)
        numbers = [ast.Constant(change.number) for change in changes]
        return ast.Call(
            ast.Attribute(ast.Name(SWITCHES_NAME, ast.Load()), "choose", ast.Load()),
            [
                ast.Tuple([*numbers], ast.Load()),
                original,
                ast.Tuple([*forms], ast.Load()),
                *([ast.Constant(True)] if truth else []),
            ],
            [],
        )


def _tests(node: ast.AST) -> list[ast.expr]:
    """Return the expressions of a node of which only the truth matters."""
    match node:
        case ast.If() | ast.While() | ast.IfExp() | ast.Assert():
            return [node.test]
        case ast.comprehension():
            return node.ifs
        case ast.UnaryOp(op=ast.Not()):
            return [node.operand]
        case _:
            return []


def _statement_switch(
    changes: Sequence[_Change], copies: list[list[ast.AST]], original: ast.AST
) -> ast.stmt:
    made = cast(ast.stmt, original)
    for change, copy in zip(changes, copies, strict=True):
        made = ast.If(_is_on(change), cast(list[ast.stmt], copy), [made])
    return made


def _is_on(change: _Change) -> ast.expr:
    switches = ast.Name(SWITCHES_NAME, ast.Load())
    return ast.Call(ast.Attribute(switches, "is_on", ast.Load()), [ast.Constant(change.number)], [])


class _Mark(ast.expr):
    """A part that an expression and its mutants have in common."""

    _fields = ("number",)

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


class _Parts:
    """The parts of an expression in which nothing is changed."""

    def __init__(self, node: ast.expr, changes: Sequence[_Change]) -> None:
        olds = {id(change.old) for change in changes}
        self._changed = {id(each) for each in ast.walk(node) if _contains(each, olds)}
        self.parts: list[ast.expr] = []
        self.marks: dict[int, _Mark] = {}
        self._look(node)

    def _look(self, node: ast.AST) -> None:
        """Mark the largest parts below a node that contain no change."""
        for below in ast.iter_child_nodes(node):
            if id(below) in self._changed or isinstance(below, ast.Slice):
                self._look(below)
            elif isinstance(below, ast.expr) and not isinstance(below, _SIMPLE):
                self.marks[id(below)] = _Mark(len(self.parts))
                self.parts.append(below)

    def form(self, node: ast.AST, switcher: _Switcher | None = None) -> ast.Lambda:
        """Return a lambda of an expression with marks, which has the parts in their place."""
        made = _Filled(self.parts, switcher).visit(node)
        names = ast.arguments([], [ast.arg(_PARTS)], None, [], [], None, [])
        return ast.Lambda(names, cast(ast.expr, made))


class _Filled(ast.NodeTransformer):
    def __init__(self, parts: Sequence[ast.expr], switcher: _Switcher | None) -> None:
        self.parts, self.switcher = parts, switcher

    def visit(self, node: ast.AST) -> ast.AST:
        if not isinstance(node, _Mark):
            return self.generic_visit(node)
        part = self.parts[node.number]
        whole = _copied(part, None) if self.switcher is None else self.switcher.visit(part)
        nothing = ast.arguments([], [], None, [], [], None, [])
        return ast.Call(
            ast.Name(_PARTS, ast.Load()),
            [
                ast.Constant(node.number),
                ast.Lambda(nothing, cast(ast.expr, whole)),
                ast.Constant(_has_no_effect(part)),
            ],
            [],
        )


def _has_no_effect(node: ast.expr) -> bool:
    allowed = (ast.Name, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.Tuple)
    kinds = (*allowed, ast.Attribute, ast.operator, ast.cmpop, ast.boolop, ast.unaryop)
    return all(isinstance(each, (*kinds, ast.expr_context)) for each in ast.walk(node))


def _contains(node: ast.AST, wanted: set[int]) -> bool:
    return any(id(each) in wanted for each in ast.walk(node))


def _copied(node: _Node, change: _Change | None, marks: dict[int, _Mark] | None = None) -> _Node:
    """Copy a tree with a change, and marks in place of some nodes."""
    if change is not None and node is change.old:
        copy = _copied(change.new, None, marks)
        return cast(_Node, copy)
    if marks and id(node) in marks:
        return cast(_Node, marks[id(node)])
    made: dict[str, object] = {}
    for field, value in ast.iter_fields(node):
        if isinstance(value, list):
            made[field] = [
                _copied(each, change, marks) if isinstance(each, ast.AST) else each
                for each in cast(list[object], value)
            ]
        elif isinstance(value, ast.AST):
            made[field] = _copied(value, change, marks)
        else:
            made[field] = value
    return ast.copy_location(type(node)(**made), node)
