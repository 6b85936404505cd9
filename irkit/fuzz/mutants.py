"""Change the source of passes at random: an operator, a constant, a comparison, a condition or the
order of operands, one at a time."""

import ast
import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import islice, zip_longest
from typing import TypeVar

import msgspec

from irkit.fuzz.nursery import Nursery, Order, source_of
from irkit.fuzz.probe import NAME
from irkit.fuzz.trial import Finding

MODULES = (
    "irkit.passes.loop.bounds_checks",
    "irkit.passes.loop.boxes",
    "irkit.passes.loop.canonicalize_loops",
    "irkit.passes.loop.carried_values",
    "irkit.passes.loop.compact_buffers",
    "irkit.passes.loop.eliminate_common_subexpressions",
    "irkit.passes.loop.flatten_buffers",
    "irkit.passes.loop.hoist_first_iterations",
    "irkit.passes.loop.hoist_if_then_else",
    "irkit.passes.loop.loop_guards",
    "irkit.passes.loop.loop_partition",
    "irkit.passes.loop.loop_parts",
    "irkit.passes.loop.lower_blocks",
    "irkit.passes.loop.inject_virtual_threads",
    "irkit.passes.loop.lower_cross_thread_reduction",
    "irkit.passes.loop.lower_init_blocks",
    "irkit.passes.loop.lower_thread_loops",
    "irkit.passes.loop.narrow_indices",
    "irkit.passes.loop.plan_allocations",
    "irkit.passes.loop.remove_no_ops",
    "irkit.passes.loop.rewrite_unsafe_selects",
    "irkit.passes.loop.serialize_inner_parallel_loops",
    "irkit.passes.loop.simplify",
    "irkit.passes.loop.thread_barriers",
    "irkit.passes.loop.unify_thread_bindings",
    "irkit.passes.loop.unroll_loops",
    "irkit.passes.loop.vector_expr",
    "irkit.passes.loop.vectorize_loops",
    "irkit.passes.graph.eliminate_dead_nodes",
    "irkit.passes.graph.fold_batch_norm",
    "irkit.passes.graph.fold_constants",
    "irkit.passes.graph.fuse_ops",
    "irkit.passes.graph.lower_to_loops",
    "irkit.passes.graph.simplify_graph",
    "irkit.ir.arith.bounds",
    "irkit.ir.arith.choice",
    "irkit.ir.arith.division",
    "irkit.ir.arith.knowledge",
    "irkit.ir.arith.sums",
    "irkit.ir.arith.transfer",
    "irkit.ir.analysis.affine",
    "irkit.ir.analysis.apart",
    "irkit.ir.analysis.axes",
    "irkit.ir.analysis.numbering",
    "irkit.ir.analysis.uses",
    "irkit.ir.threads.conflicts",
    "irkit.ir.threads.nest",
    "irkit.ir.threads.split",
    "irkit.schedule.cache",
    "irkit.schedule.compute",
    "irkit.schedule.layout",
    "irkit.schedule.loops",
    "irkit.schedule.padding",
    "irkit.schedule.reduction",
    "irkit.graph.memory",
)
_WRITES = "irkit.codegen."
"""Where a text that is put together is no message, but what is made."""
_SAYS = frozenset({"remark", "ScheduleError", "CannotVectorize", "IRKitError", "Span"})
_OPERATORS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add,),
    ast.FloorDiv: (ast.Mod, ast.Mult),
    ast.Mod: (ast.FloorDiv,),
    ast.Div: (ast.Mult,),
    ast.LShift: (ast.RShift,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
    ast.USub: (ast.UAdd,),
}
_T = TypeVar("_T")
_Node = ast.expr | ast.stmt
Site = tuple[int, str]
"""The number of a node in a walk over its module, and how it is changed."""


class Mutant(msgspec.Struct, frozen=True):
    """A module with one changed node; ``what`` shows the change, and ``source`` has it."""

    module: str
    line: int
    what: str
    source: str
    site: Site


class Verdict(msgspec.Struct, frozen=True):
    """What became of a mutant.

    It is ``found``; or ``missed``, if it computes something else and the checks did not notice;
    or ``other``, if programs are lowered differently but mean the same; or ``unseen``, if no
    program is lowered differently, so that it may be equivalent.
    """

    mutant: Mutant
    finding: Finding

    @property
    def status(self) -> str:
        """Say which of the four it is."""
        if self.finding.found:
            return "found"
        if self.finding.missed:
            return "missed"
        return "other" if self.finding.differs else "unseen"


def mutants(seed: int | str, count: int, modules: Sequence[str] = MODULES) -> Iterator[Mutant]:
    """Draw mutants, no two alike; the same ones for the same ``seed``."""
    rng = random.Random(seed)
    known = [(module, site) for module in modules for site in sites(module)]
    for module, site in rng.sample(known, min(count, len(known))):
        yield _mutant(module, site)


def mutants_by_turns(seed: int, count: int, families: Sequence[Sequence[str]]) -> Iterator[Mutant]:
    """Draw mutants from each of several lists of modules in turn, so that a list of large ones has
    no more than another."""
    each = [mutants(f"{seed} {at}", count, modules) for at, modules in enumerate(families)]
    turns = (found for turn in zip_longest(*each) for found in turn if found is not None)
    yield from islice(turns, count)


def try_mutants(nursery: Nursery, chosen: Sequence[Mutant]) -> Iterator[Verdict]:
    """Try mutants, one at a time."""
    for mutant in chosen:
        yield Verdict(mutant, nursery.try_out(Order(mutant.module, mutant.source)))


@cache
def sites(module: str) -> tuple[Site, ...]:
    """List what can be changed in a module: no words, no types, no names, no messages."""
    tree = ast.parse(source_of(module))
    left = _left_alone(tree, texts=not module.startswith(_WRITES))
    found: list[Site] = []
    for number, node in enumerate(ast.walk(tree)):
        if id(node) not in left:
            found += [(number, how) for how in _ways(node)]
    return tuple(found)


def _left_alone(tree: ast.Module, *, texts: bool) -> set[int]:
    """List nodes that are types, messages, decorators, or run before anything is lowered; and
    ``texts`` that are put together."""
    skipped: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assert, ast.Raise, ast.Import, ast.ImportFrom)):
            skipped.append(node)
        elif isinstance(node, ast.JoinedStr):
            skipped += [node] if texts else []
        elif isinstance(node, ast.FunctionDef):
            every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            notes = [arg.annotation for arg in every] + [node.returns]
            skipped += [note for note in notes if note is not None] + node.decorator_list
            skipped += [] if node.name not in {"__repr__", "__str__"} else [node]
        elif isinstance(node, ast.ClassDef):
            skipped += [*node.keywords, *node.decorator_list]
        elif isinstance(node, ast.AnnAssign):
            skipped.append(node.annotation)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            skipped += [node] if node.func.id in _SAYS else []
    skipped += [stmt for stmt in tree.body if isinstance(stmt, (ast.Assign, ast.AnnAssign))]
    return {id(inner) for node in skipped for inner in ast.walk(node)}


def _ways(node: ast.AST) -> list[str]:
    match node:
        case ast.BinOp(op=op):
            ways = [cls.__name__ for cls in _OPERATORS.get(type(op), ())]
            same = isinstance(op, (ast.Add, ast.Mult, ast.BitOr, ast.BitAnd))
            return ways if same else [*ways, "exchange"]
        case ast.Compare(ops=[op]):
            return [cls.__name__ for cls in _OPERATORS.get(type(op), ())]
        case ast.BoolOp(op=op):
            return [*(cls.__name__ for cls in _OPERATORS[type(op)]), "last"]
        case ast.UnaryOp(op=ast.USub() | ast.Not()):
            return ["operand"]
        case ast.If() | ast.IfExp() | ast.While():
            return ["not"] + (["true", "false"] if not isinstance(node, ast.While) else [])
        case ast.Constant(value=bool()):
            return ["opposite"]
        case ast.Constant(value=int()):
            return ["more", "less"]
        case ast.Call(args=[_, _], keywords=[]):
            return ["exchange"]
        case _:
            return []


def _mutant(module: str, site: Site) -> Mutant:
    tree, node, changed = _found(module, site)
    around = _around(tree, node)
    before = ast.unparse(around)
    tree = ast.fix_missing_locations(_Exchange(node, changed).visit(tree))
    after = ast.unparse(_shown(changed) if around is _shown(node) else around)
    return Mutant(module, node.lineno, f"{before}  ->  {after}", ast.unparse(tree), site)


def probed(mutant: Mutant) -> str:
    """Give the source as it is, but with the place asked what it would give if it were changed;
    empty if it cannot be asked. A call is not made twice, since it may change something."""
    tree, node, _ = _found(mutant.module, mutant.site)
    other_tree, other, changed = _found(mutant.module, mutant.site)
    kept, asked = _around(tree, node), _around(other_tree, other)
    asked = _shown(changed) if asked is _shown(other) else asked
    if any(isinstance(inner, (ast.NamedExpr, ast.Yield, ast.Await)) for inner in ast.walk(kept)):
        return ""
    _Exchange(other, changed).visit(other_tree)
    nothing = ast.arguments([], [], None, [], [], None, [])
    both = [kept] if isinstance(kept, ast.Call) else [kept, asked]
    lambdas: list[ast.expr] = [ast.Lambda(nothing, each) for each in both]
    probe = ast.Call(ast.Name(NAME, ast.Load()), lambdas, [])
    made = ast.fix_missing_locations(_Exchange(kept, probe).visit(tree))
    try:
        source = ast.unparse(made)
        compile(source, mutant.module, "exec")
    except (SyntaxError, ValueError):  # Such as in a pattern of match.
        return ""
    return source


def as_it_is(module: str) -> str:
    """Give the source of a module with its lines as those of its mutants are."""
    return ast.unparse(ast.parse(source_of(module)))


def _found(module: str, site: Site) -> tuple[ast.Module, _Node, _Node]:
    """Find a node in a tree of its own, and make what takes its place."""
    number, how = site
    tree = ast.parse(source_of(module))
    node = next(node for at, node in enumerate(ast.walk(tree)) if at == number)
    assert isinstance(node, (ast.expr, ast.stmt))
    return tree, node, _changed(node, how)


def _shown(node: _Node) -> ast.expr:
    """Give the expression that is changed."""
    found = node.test if isinstance(node, (ast.If, ast.While)) else node
    assert isinstance(found, ast.expr)
    return found


def _around(tree: ast.Module, node: _Node) -> ast.expr:
    """Give the expression that is changed; of a constant what it stands in, since it says nothing
    by itself."""
    above = {id(below): each for each in ast.walk(tree) for below in ast.iter_child_nodes(each)}
    found = _shown(node)
    while isinstance(found, (ast.Constant, ast.UnaryOp, ast.Slice, ast.Tuple)) and (
        isinstance(node, ast.Constant)
    ):
        upper = above[id(found)]
        if not isinstance(upper, ast.expr):
            break
        found = upper
    return found


class _Exchange(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


def _changed(node: _Node, how: str) -> _Node:
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
