"""A mutant: a module with one changed node of its syntax tree."""

import ast
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import islice, zip_longest
from typing import TypeVar

import msgspec

from tests.mutation.changes.coverage_probe import PROBE_NAME
from tests.mutation.changes.modules import MODULES
from tests.mutation.changes.sites import Site, sites
from tests.mutation.changes.source import source_of

_T = TypeVar("_T")
_Node = ast.expr | ast.stmt


class Mutant(msgspec.Struct, frozen=True):
    """A module with one changed node.

    ``definition`` is the innermost function or class around it, ``what`` the change as text, and
    ``nth`` counts equal changes before it in that definition: these three name it on another
    revision of irkit too.
    """

    module: str
    definition: str
    what: str
    nth: int
    line: int
    site: Site

    @property
    def name(self) -> str:
        """Return its line and what is changed."""
        return f"line {self.line}: {self.what}"

    @property
    def source(self) -> str:
        """Return the source of the module with the change."""
        tree, node, changed = _found(self.module, self.site)
        tree = ast.fix_missing_locations(_Replacement(node, changed).visit(tree))
        return ast.unparse(tree)


def mutants(seed: int | str, count: int, modules: Sequence[str] = MODULES) -> Iterator[Mutant]:
    """Draw mutants, no two alike; the same ones for the same ``seed``."""
    rng = random.Random(seed)
    known = [(module, at) for module in modules for at in range(len(sites(module)))]
    for module, at in rng.sample(known, min(count, len(known))):
        yield mutants_of(module)[at]


def mutants_by_turns(seed: int, count: int, families: Sequence[Sequence[str]]) -> Iterator[Mutant]:
    """Draw mutants from each of several lists of modules in turn, so that a list of large ones has
    no more than another."""
    each = [mutants(f"{seed} {at}", count, modules) for at, modules in enumerate(families)]
    turns = (found for turn in zip_longest(*each) for found in turn if found is not None)
    yield from islice(turns, count)


@cache
def mutants_of(module: str) -> tuple[Mutant, ...]:
    """Return all mutants of a module, in the order of its sites."""
    tree = ast.parse(source_of(module))
    nodes = list(ast.walk(tree))
    above = _above(tree)
    definitions = dict(_definitions(tree))
    alike, made = Counter[tuple[str, str]](), list[Mutant]()
    for number, how in sites(module):
        node = nodes[number]
        assert isinstance(node, (ast.expr, ast.stmt))
        definition, what = definitions[id(node)], _what(node, changed_node(node, how), above)
        nth = alike[definition, what]
        made.append(Mutant(module, definition, what, nth, node.lineno, (number, how)))
        alike[definition, what] += 1
    return tuple(made)


def _definitions(scope: ast.AST, within: str = "") -> Iterator[tuple[int, str]]:
    """Yield the nodes of a tree with the innermost definition around each."""
    for node in ast.iter_child_nodes(scope):
        is_named = isinstance(node, (ast.FunctionDef, ast.ClassDef))
        name = f"{within}.{node.name}".lstrip(".") if is_named else within
        yield id(node), name
        yield from _definitions(node, name)


def _what(node: _Node, changed: _Node, above: dict[int, ast.AST]) -> str:
    around = _around(node, above)
    before = ast.unparse(around)
    if around is _shown(node):
        return f"{before}  ->  {ast.unparse(_shown(changed))}"
    _Replacement(node, changed).visit(around)
    after = ast.unparse(around)
    _Replacement(changed, node).visit(around)
    return f"{before}  ->  {after}"


def with_probe(mutant: Mutant) -> str:
    """Return the original source with a probe at the changed place, or an empty string if it cannot
    have one. A call is not made twice, since it may have side effects."""
    tree, node, _ = _found(mutant.module, mutant.site)
    other_tree, other, changed = _found(mutant.module, mutant.site)
    kept, changed_expr = _around(node, _above(tree)), _around(other, _above(other_tree))
    changed_expr = _shown(changed) if changed_expr is _shown(other) else changed_expr
    if any(isinstance(inner, (ast.NamedExpr, ast.Yield, ast.Await)) for inner in ast.walk(kept)):
        return ""
    _Replacement(other, changed).visit(other_tree)
    nothing = ast.arguments([], [], None, [], [], None, [])
    both = [kept] if isinstance(kept, ast.Call) else [kept, changed_expr]
    lambdas: list[ast.expr] = [ast.Lambda(nothing, each) for each in both]
    probe = ast.Call(ast.Name(PROBE_NAME, ast.Load()), lambdas, [])
    made = ast.fix_missing_locations(_Replacement(kept, probe).visit(tree))
    try:
        source = ast.unparse(made)
        compile(source, mutant.module, "exec")
    except (SyntaxError, ValueError):  # Such as in a pattern of match.
        return ""
    return source


def as_it_is(module: str) -> str:
    """Return the source of a module with its lines laid out as in its mutants."""
    return ast.unparse(ast.parse(source_of(module)))


def _found(module: str, site: Site) -> tuple[ast.Module, _Node, _Node]:
    """Find a node in a tree of its own, and make its replacement."""
    number, how = site
    tree = ast.parse(source_of(module))
    node = next(node for at, node in enumerate(ast.walk(tree)) if at == number)
    assert isinstance(node, (ast.expr, ast.stmt))
    return tree, node, changed_node(node, how)


def _shown(node: _Node) -> ast.expr:
    """Return the expression that is changed."""
    found = node.test if isinstance(node, (ast.If, ast.While)) else node
    assert isinstance(found, ast.expr)
    return found


def _above(tree: ast.Module) -> dict[int, ast.AST]:
    return {id(below): each for each in ast.walk(tree) for below in ast.iter_child_nodes(each)}


def _around(node: _Node, above: dict[int, ast.AST]) -> ast.expr:
    """Return the expression that is changed; for a constant, the expression around it, since it
    says nothing by itself."""
    found = _shown(node)
    while isinstance(found, (ast.Constant, ast.UnaryOp, ast.Slice, ast.Tuple)) and (
        isinstance(node, ast.Constant)
    ):
        upper = above[id(found)]
        if not isinstance(upper, ast.expr):
            break
        found = upper
    return found


class _Replacement(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


def changed_node(node: _Node, how: str) -> _Node:
    """Return what a way to change a node puts in its place; what is below it stays the same."""
    made = _copy(node)
    match made:
        case ast.BinOp() if how == "exchange":
            made.left, made.right = made.right, made.left
        case ast.BinOp():
            setattr(made, "op", _named(how)())
        case ast.Compare():
            setattr(made, "ops", [_named(how)()])
        case ast.BoolOp() if how == "last":
            made.values = made.values[:-1]
            return made if len(made.values) > 1 else made.values[0]
        case ast.BoolOp():
            setattr(made, "op", _named(how)())
        case ast.UnaryOp():
            return made.operand
        case ast.If() | ast.IfExp() | ast.While() if how == "not":
            made.test = ast.UnaryOp(ast.Not(), made.test)
        case ast.If() | ast.IfExp():
            made.test = ast.Constant(how == "true")
        case ast.Constant(value=bool() as value):
            made.value = not value
        case ast.Constant(value=int() as value):
            made.value = value + 1 if how == "more" else value - 1
        case ast.Call():
            made.args = made.args[::-1]
        case _:
            raise AssertionError(how)
    return made


def _copy(node: _T) -> _T:
    cls: Callable[..., _T] = type(node)
    return cls(**vars(node))


def _named(name: str) -> Callable[[], ast.AST]:
    return getattr(ast, name)
