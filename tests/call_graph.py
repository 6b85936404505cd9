"""Which functions of some modules call which, found in the source by name.

What is found, inside a module: functions, methods and classes by their names, also through tables
of functions and parameters that are annotated with a class. Methods of ``self`` and ``super()`` are
found in other modules too. A function that is passed on counts as called. Operators and methods of
other objects are not found.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Union

from tests.source_tree import tree_of

FunctionNode = (ast.FunctionDef, ast.AsyncFunctionDef)
THROUGH_C = {
    *("map", "filter", "sorted", "min", "max", "sum", "any", "all", "tuple", "list", "set", "dict"),
    *("frozenset", "zip", "enumerate", "iter", "next", "reduce", "partial", "accumulate"),
    *("starmap", "groupby", "takewhile", "dropwhile", "sort", "sub", "from_iterable"),
}
"""Functions of Python that call what they are given from C, or take it from an iterator."""


@dataclass(eq=False)
class Definition:
    """A function, or a module's variable, which refers to functions if it is a table of them."""

    path: Path
    name: str
    node: ast.AST
    scope: "Scope"
    calls: list["Call"] = field(default_factory=list["Call"])


@dataclass(eq=False)
class Class:
    """A class: what it defines, and the classes it derives from and that derive from it."""

    name: str
    node: ast.ClassDef
    scope: "Scope"
    members: dict[str, Definition] = field(default_factory=dict[str, Definition])
    bases: list["Class"] = field(default_factory=list["Class"])
    derived: list["Class"] = field(default_factory=list["Class"])

    def inherited(self, name: str) -> list[Definition]:
        """Return the definition of a member, its own or a base's."""
        if name in self.members:
            return [self.members[name]]
        for base in self.bases:
            if found := base.inherited(name):
                return found
        return []

    def overriding(self, name: str) -> list[Definition]:
        """Return the definitions of a member in the classes that derive from this one."""
        found = [each.members[name] for each in self.derived if name in each.members]
        return [*found, *(d for each in self.derived for d in each.overriding(name))]


@dataclass(frozen=True)
class Imported:
    """A name imported from a module."""

    module: str
    name: str


@dataclass(eq=False)
class Scope:
    """Names of a module or function; ``own`` is the class whose methods ``self`` has."""

    names: dict[str, Union[Definition, Class, Imported, None]]
    outer: "Scope | None" = None
    own: Class | None = None
    kinds: dict[str, ast.expr] = field(default_factory=dict[str, ast.expr])


@dataclass(frozen=True)
class Call:
    """A call of a function, or a reference to it; ``way`` is how it goes through C, if it does."""

    target: Definition
    line: int
    way: str


class CallGraph:
    """The calls between the functions of modules, given by their dotted names."""

    def __init__(self, modules: Mapping[str, Path]) -> None:
        self.definitions: list[Definition] = []
        self.modules = {name: Scope({}) for name in modules}
        self._classes: list[Class] = []
        for name, path in modules.items():
            self._collect(path, tree_of(path).body, self.modules[name], "")
        for each in self._classes:
            for base in each.node.bases:
                for found in self._resolve(_unsubscripted(base), each.scope):
                    if isinstance(found, Class):
                        each.bases.append(found)
                        found.derived.append(each)
        for definition in self.definitions:
            _CallFinder(self, definition).find()

    def _collect(
        self, path: Path, body: list[ast.stmt], scope: Scope, prefix: str, own: Class | None = None
    ) -> None:
        """Enter what statements define into a scope, or into a class."""
        for stmt in body:
            if isinstance(stmt, FunctionNode):
                inner = _function_scope(stmt, scope, own)
                made = Definition(path, prefix + stmt.name, stmt, inner)
                self.definitions.append(made)
                (scope.names if own is None else own.members)[stmt.name] = made
                self._collect(path, stmt.body, inner, f"{made.name}.")
            elif isinstance(stmt, ast.ClassDef):
                new = Class(prefix + stmt.name, stmt, scope)
                self._classes.append(new)
                scope.names[stmt.name] = new
                self._collect(path, stmt.body, scope, f"{new.name}.", new)
            elif isinstance(stmt, ast.ImportFrom):
                for alias in stmt.names:
                    found = Imported(stmt.module or "", alias.name)
                    scope.names[alias.asname or alias.name] = found
            elif isinstance(stmt, (ast.Assign, ast.AnnAssign)) and stmt.value is not None:
                if scope.outer is None:
                    self._table(path, stmt, stmt.value, scope, prefix, own)
            else:
                for part in ("body", "orelse", "finalbody"):
                    self._collect(path, getattr(stmt, part, []), scope, prefix, own)

    def _table(
        self,
        path: Path,
        stmt: ast.Assign | ast.AnnAssign,
        value: ast.expr,
        scope: Scope,
        prefix: str,
        own: Class | None,
    ) -> None:
        targets = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]
        for target in targets:
            if isinstance(target, ast.Name):
                made = Definition(path, prefix + target.id, value, scope)
                self.definitions.append(made)
                (scope.names if own is None else own.members)[target.id] = made

    def _resolve(self, node: ast.AST, scope: Scope) -> list[Definition | Class | Scope]:
        """Return what an expression may stand for."""
        if isinstance(node, ast.Name):
            return self._named(node.id, scope)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return self._named(node.value, scope)
        if not isinstance(node, ast.Attribute):
            return []
        if isinstance(node.value, ast.Call) and _name_of(node.value.func) == "super":
            own = _own(scope)
            bases = [] if own is None else own.bases
            return [d for base in bases for d in base.inherited(node.attr)]
        if isinstance(node.value, ast.Name):
            owner = self._class_of(node.value.id, scope)
            if owner is not None:
                return [*owner.inherited(node.attr), *owner.overriding(node.attr)]
        found: list[Definition | Class | Scope] = []
        for whole in self._resolve(node.value, scope):
            if isinstance(whole, Class):
                found += whole.inherited(node.attr)
            elif isinstance(whole, Scope):
                found += self._named(node.attr, whole)
        return found

    def _class_of(self, name: str, scope: Scope) -> Class | None:
        """Return the class of ``self``, or of an annotated parameter."""
        if name in ("self", "cls"):
            return _own(scope)
        at: Scope | None = scope
        while at is not None and name not in at.names:
            at = at.outer
        kind = None if at is None else at.kinds.get(name)
        found = [] if kind is None else self._resolve(kind, scope)
        return next((each for each in found if isinstance(each, Class)), None)

    def _named(self, name: str, scope: Scope | None) -> list[Definition | Class | Scope]:
        while scope is not None:
            if name in scope.names:
                found = scope.names[name]
                if isinstance(found, Imported):
                    return self._imported(found)
                return [] if found is None else [found]
            scope = scope.outer
        return []

    def _imported(self, wanted: Imported) -> list[Definition | Class | Scope]:
        whole = self.modules.get(f"{wanted.module}.{wanted.name}")
        module = self.modules.get(wanted.module)
        again = module is None or module.names.get(wanted.name) == wanted  # A package, of itself.
        found = [] if again else self._named(wanted.name, module)
        return found or ([] if whole is None else [whole])

    def targets(
        self, node: ast.AST, scope: Scope, *, called: bool
    ) -> Iterator[tuple[Definition, str]]:
        """List the functions that an expression may stand for, and how they are called."""
        for found in self._resolve(node, scope):
            if isinstance(found, Definition):
                yield found, ""
            elif isinstance(found, Class) and called:
                for name in ("__init__", "__post_init__"):
                    for definition in found.inherited(name):
                        yield definition, "the constructor of a class"


class _CallFinder(ast.NodeVisitor):
    """Finder of the calls in one definition, without the functions that are defined in it."""

    def __init__(self, graph: CallGraph, definition: Definition) -> None:
        self.graph = graph
        self.definition = definition
        self.way = ""

    def find(self) -> None:
        node = self.definition.node
        for part in node.body if isinstance(node, FunctionNode) else [node]:
            self.visit(part)

    def _through(self, way: str, *nodes: ast.AST) -> None:
        outer, self.way = self.way, way or self.way
        for node in nodes:
            self.visit(node)
        self.way = outer

    def _note(self, node: ast.expr, way: str = "", *, called: bool = False) -> None:
        for target, how in self.graph.targets(node, self.definition.scope, called=called):
            if target.path == self.definition.path or _is_of_self(node):
                way = self.way or way or how if isinstance(target.node, FunctionNode) else ""
                self.definition.calls.append(Call(target, node.lineno, way))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._through("", *node.args.defaults)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        pass

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self.visit(node.generators[0].iter)  # Evaluated outside the generator.
        rest = [part for g in node.generators[1:] for part in (g.iter, *g.ifs)]
        self._through("a generator expression", node.elt, *node.generators[0].ifs, *rest)

    def visit_Call(self, node: ast.Call) -> None:
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        starred = any(isinstance(arg, ast.Starred) for arg in node.args)
        forwarded = starred or any(keyword.arg is None for keyword in node.keywords)
        self._note(node.func, "a call with * or **" if forwarded else "", called=True)
        if isinstance(node.func, ast.Attribute):
            self.visit(node.func.value)
        elif not isinstance(node.func, ast.Name):
            self.visit(node.func)
        name = _name_of(node.func)
        for arg in given:
            passed = isinstance(arg, (ast.Name, ast.Attribute, ast.Lambda))
            way = f"an argument of {name}" if passed and name in THROUGH_C else ""
            self._through(way, arg)

    def visit_Name(self, node: ast.Name) -> None:
        self._note(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._note(node)
        self.visit(node.value)


def _function_scope(
    node: ast.FunctionDef | ast.AsyncFunctionDef, outer: Scope, own: Class | None
) -> Scope:
    """Return the scope of a function, in which parameters and variables hide outer names."""
    args = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    scope = Scope({arg.arg: None for arg in args}, outer, own)
    scope.kinds = {arg.arg: arg.annotation for arg in args if arg.annotation is not None}
    for part in own_nodes(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            scope.names[part.id] = None
    return scope


@cache
def own_nodes(node: ast.AST) -> tuple[ast.AST, ...]:
    """Return what is in a function, without the functions and classes that are defined in it."""
    found: list[ast.AST] = []
    waiting = [*ast.iter_child_nodes(node)]
    while waiting:
        child = waiting.pop()
        found.append(child)
        if not isinstance(child, (*FunctionNode, ast.ClassDef, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(child))
    return tuple(found)


def _own(scope: Scope | None) -> Class | None:
    while scope is not None and scope.own is None:
        scope = scope.outer
    return None if scope is None else scope.own


def _is_of_self(node: ast.AST) -> bool:
    """Return True for a member of ``self`` or ``super()``, which can be defined elsewhere."""
    return isinstance(node, ast.Attribute) and (
        _name_of(node.value) in ("self", "cls") or isinstance(node.value, ast.Call)
    )


def _name_of(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def _unsubscripted(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Subscript) else node
