"""Bugs that nobody thought of: a seeded mutator of the source of passes.

It changes one operator, constant, condition or order of operands in one function. The functions of
a pass are those of its file, and of the files that only it rests on.
"""

import ast
import inspect
import random
import signal
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FrameType, FunctionType
from typing import Any

from tests.debug.bugs import code_of, function_at

# Whose fault it may be: some files serve two passes.
FILES: dict[str, tuple[str, ...]] = {
    "loop.compact_buffers": ("compact-buffers",),
    "loop.boxes": ("compact-buffers", "plan-allocations"),
    "loop.eliminate_common_subexpressions": ("eliminate-common-subexpressions",),
    "loop.flatten_buffers": ("flatten-buffers",),
    "loop.hoist_first_iterations": ("hoist-first-iterations",),
    "loop.lower_blocks": ("lower-blocks",),
    "loop.lower_init_blocks": ("lower-init-blocks",),
    "loop.narrow_indices": ("narrow-indices",),
    "loop.plan_allocations": ("plan-allocations",),
    "loop.carried_values": ("plan-allocations",),
    "loop.remove_no_ops": ("remove-no-ops",),
    "loop.simplify": ("simplify",),
    "loop.unroll_loops": ("unroll-loops",),
    "loop.vectorize_loops": ("vectorize-loops",),
    "loop.vector_expr": ("vectorize-loops",),
}
_OTHER: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


class Endless(BaseException):
    """A mutant took too long; no ``except Exception`` in a pass may stop this."""


class Mutant:
    """One change at one place of one function."""

    def __init__(self, module: str, qualname: str, site: int) -> None:
        self.module, self.qualname, self.site = module, qualname, site
        self.blamed = FILES[module]
        self.line = 0
        self.what = ""

    def __repr__(self) -> str:
        return f"{self.module}.{self.qualname}, line {self.line}: {self.what}"

    @contextmanager
    def planted(self) -> Generator[None]:
        """Run with the change in place."""
        module = import_module(f"irkit.passes.{self.module}")
        function = function_at(module, self.qualname)
        tree = ast.parse(inspect.getsource(module))
        target = _definition(tree, self.qualname)
        sites = list(_sites(target))
        node, self.what = sites[self.site]
        self.line = getattr(node, "lineno", 0)
        _change(node, self.what)
        whole = compile(ast.fix_missing_locations(tree), module.__file__ or "", "exec")
        good = function.__code__
        function.__code__ = code_of(whole, good.co_qualname)
        try:
            yield
        finally:
            function.__code__ = good


def mutants(seed: int, count: int) -> list[Mutant]:
    """Draw places at random, each once."""
    rng = random.Random(seed)
    everywhere = [
        Mutant(module, qualname, site)
        for module in FILES
        for qualname, sites in _functions(module)
        for site in range(sites)
    ]
    return rng.sample(everywhere, count)


def _functions(name: str) -> Iterator[tuple[str, int]]:
    module = import_module(f"irkit.passes.{name}")
    tree = ast.parse(inspect.getsource(module))
    for node in tree.body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        for each in inner:
            if isinstance(each, ast.FunctionDef):
                prefix = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
                qualname = prefix + each.name
                found: Any = function_at(module, qualname)
                assert isinstance(found, FunctionType)
                yield qualname, len(list(_sites(each)))


def _definition(tree: ast.Module, qualname: str) -> ast.AST:
    at: Any = tree
    for part in qualname.split("."):
        at = next(node for node in at.body if getattr(node, "name", None) == part)
    return at


def _sites(root: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """List the places that can be changed, annotations, docstrings and messages apart."""
    assert isinstance(root, ast.FunctionDef)
    waiting: list[ast.AST] = list(root.body)
    while waiting:
        node = waiting.pop(0)
        match node:
            case ast.Raise() | ast.Expr(ast.Constant()) | ast.Assert():
                continue
            case ast.Call(func=ast.Name("remark")):
                continue
            case ast.AnnAssign(value=value):
                waiting += [] if value is None else [value]
                continue
            case ast.FunctionDef(body=body):
                waiting += body
                continue
            case ast.Compare(ops=[op]) if type(op) in _OTHER:
                yield node, "comparison"
            case ast.BinOp(op=op) if type(op) in _OTHER:
                yield node, "operator"
            case ast.BoolOp():
                yield node, "and or"
            case ast.Constant(int() | bool()):
                yield node, "constant"
            case ast.If() | ast.IfExp() | ast.While():
                yield node, "condition"
            case ast.Call(args=[_, _, *_]) if not any(
                isinstance(arg, ast.Starred) for arg in node.args
            ):
                yield node, "order of arguments"
            case _:
                pass
        waiting += list(ast.iter_child_nodes(node))


def _change(node: Any, what: str) -> None:
    match what:
        case "comparison":
            node.ops[0] = _OTHER[type(node.ops[0])]()
        case "operator" | "and or":
            node.op = _OTHER[type(node.op)]()
        case "constant":
            node.value = not node.value if isinstance(node.value, bool) else node.value + 1
        case "condition":
            node.test = ast.UnaryOp(ast.Not(), node.test)
        case _:
            node.args[:2] = node.args[1::-1]


@contextmanager
def at_most(seconds: float) -> Generator[None]:
    """Stop what takes longer. Only in the main thread."""

    def stop(signum: int, frame: FrameType | None) -> None:
        raise Endless

    old = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
