"""The nodes of a module that a mutant can change."""

import ast
from functools import cache

from irkit.core import IRKitError
from tests.mutation.changes import modules
from tests.mutation.changes.source import source_of

_WRITES = "irkit.codegen."
"""Modules in which a concatenated text is output, not a message."""
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
Site = tuple[int, str]
"""The number of a node in a walk over its module, and how it is changed."""


@cache
def sites(module: str) -> tuple[Site, ...]:
    """List the nodes of a module that can be changed: no strings, types, names or messages.

    Raises: IRKitError if there is no such module; it says which list names it.
    """
    try:
        tree = ast.parse(source_of(module))
    except IRKitError as error:
        named = f"{modules.lists_with(module)} of {modules.__file__}"
        raise IRKitError(f"{named}: {error.message}", hint=error.hint) from None
    left = _left_alone(tree, texts=not module.startswith(_WRITES))
    found: list[Site] = []
    for number, node in enumerate(ast.walk(tree)):
        if id(node) not in left:
            found += [(number, how) for how in _ways(node)]
    return tuple(found)


def _left_alone(tree: ast.Module, *, texts: bool) -> set[int]:
    """Return nodes that are types, messages, decorators, or run before anything is lowered; and
    ``texts`` that are concatenated."""
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
