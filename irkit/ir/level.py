"""The loop IR as a level: what the pass machinery must know about it, and the facts about loop
functions that passes need and give, each beside its definition.

With verification on, every pass that gives a fact is checked for it.
"""

from irkit.core import CHILDREN, STATEMENTS, Codec, Level, Node, Problem, analysis, same, walk
from irkit.ir.buffer import Buffer, Load
from irkit.ir.build import evaluates
from irkit.ir.dtype import DType, dtype
from irkit.ir.expr import Const, Var
from irkit.ir.function import PrimFunc
from irkit.ir.stmt import Axis, Block, For, LoopKind, Region, Stmt, Store
from irkit.ir.text.expr_printer import printed_classes
from irkit.ir.text.memo import Memo
from irkit.ir.text.names import symbols_in_order
from irkit.ir.text.printer import listing, script
from irkit.ir.text.reader import parse
from irkit.ir.text.stmt_printer import printed_statements
from irkit.ir.verify.statements import verify
from irkit.ir.verify.valid_expressions import valid_before
from irkit.transform import Fact

LOOP = "loop"
LOOP_NODES: tuple[type[Node], ...] = (
    PrimFunc,
    Buffer,
    Axis,
    Region,
    *printed_statements(),
    *printed_classes(),
)
LOOP_LEVEL = Level(
    name=LOOP,
    verify=verify,
    script=script,
    parse=parse,
    same=same,
    nodes=LOOP_NODES,
    signature=lambda func: func.params,
    listing=listing,
    symbols=symbols_in_order,
    memo=Memo,
    codecs=(Codec("dtype", DType, str, dtype),),
)


_LEAVES = frozenset({Var, Const})


@analysis
def _statements(func: PrimFunc) -> list[Stmt]:
    """Return the statements in text order; several facts ask for them after each pass."""
    found: list[Stmt] = []
    stack: list[Node] = [func.body]
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if isinstance(node, Stmt) and id(node) not in seen:
            seen.add(id(node))
            found.append(node)
            stack += STATEMENTS[node.__class__](node)[::-1]
    return found


def _blocks(func: PrimFunc) -> list[Problem]:
    return [
        Problem(f"block {block.name!r} is left", block)
        for block in _statements(func)
        if isinstance(block, Block)
    ]


def _init_blocks(func: PrimFunc) -> list[Problem]:
    return [
        Problem(f"block {block.name!r} has an init", block)
        for block in _statements(func)
        if isinstance(block, Block) and block.init is not None
    ]


def _deep_accesses(func: PrimFunc) -> list[Problem]:
    if _known_flat(func) or _all_flat(func.body):
        return []
    found = list[Problem]()
    stmt: Node = func
    for node in walk(func.body):
        if hasattr(node, "span"):
            stmt = node  # Expressions have no span; they follow the statement that contains them.
        if isinstance(node, (Load, Store)) and len(node.indices) != 1:
            message = f"buffer {node.buffer.name!r} is accessed with {len(node.indices)} indices"
            found.append(Problem(message, stmt))
    return found


def _known_flat(func: PrimFunc) -> bool:
    """Return True if a function that was found to be valid uses no buffer but those of one
    dimension: then each access has one index."""
    before, known = valid_before()
    if before is not func:
        return False
    for stmt in _statements(func):
        if isinstance(stmt, Block) or (isinstance(stmt, Store) and stmt.buffer.rank != 1):
            return False
        for child in CHILDREN[stmt.__class__](stmt):
            if child.expression:
                used = known.get(id(child))
                if used is None or any(isinstance(b, Buffer) and b.rank != 1 for b in used):
                    return False
    return True


def _all_flat(body: Stmt) -> bool:
    stack: list[Node] = [body]
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if id(node) not in seen:
            seen.add(id(node))
            if isinstance(node, (Load, Store)) and len(node.indices) != 1:
                return False
            below = CHILDREN[node.__class__](node)
            stack += [child for child in below if child.__class__ not in _LEAVES]
    return True


def _loops(func: PrimFunc, kind: LoopKind) -> list[Problem]:
    return [
        Problem(f"loop {loop.var.name!r} is {kind}", loop)
        for loop in _statements(func)
        if isinstance(loop, For) and loop.kind == kind
    ]


def _nested_parallel(func: PrimFunc) -> list[Problem]:
    return [
        Problem(f"parallel loop {inner.var.name!r} is inside {outer.var.name!r}", inner)
        for outer in _statements(func)
        if isinstance(outer, For) and outer.kind == "parallel"
        for inner in walk(outer.body, For)
        if inner.kind == "parallel"
    ]


def _threads(func: PrimFunc) -> list[Problem]:
    barriers = [
        Problem("a barrier is left", stmt)
        for stmt in _statements(func)
        if evaluates(stmt, "barrier")
    ]
    return _loops(func, "thread") + barriers


no_blocks = Fact("no_blocks", LOOP, _blocks)
no_init_blocks = Fact("no_init_blocks", LOOP, _init_blocks)
flat_access = Fact("flat_access", LOOP, _deep_accesses)
no_vectorized_loops = Fact("no_vectorized_loops", LOOP, lambda func: _loops(func, "vectorized"))
no_unrolled_loops = Fact("no_unrolled_loops", LOOP, lambda func: _loops(func, "unrolled"))
no_nested_parallel_loops = Fact("no_nested_parallel_loops", LOOP, _nested_parallel)
no_thread_loops = Fact("no_thread_loops", LOOP, _threads)
