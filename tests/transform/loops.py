"""Small loop functions and a level for the tests of the pass machinery."""

from irkit.core import Level, Problem, any_node, rewrite
from irkit.ir import F32, I64, Buffer, Const, For, PrimFunc, Stmt, Store, Var
from irkit.transform import Fact


def function(name: str = "f", kind: str = "unrolled", extent: int = 4) -> PrimFunc:
    """Return ``for i: C[i] = 1.0``."""
    c, i = Buffer("C", (Const(4, I64),), F32), Var("i")
    body: Stmt = Store(c, (i,), Const(1.0, F32))
    return PrimFunc(name, (c,), For(i, Const(0, I64), Const(extent, I64), body, kind))  # pyright: ignore


def verify(func: PrimFunc) -> list[Problem]:
    """Reject loops that end at a negative number."""
    return [
        Problem("a loop ends below 0", node)
        for node in [func.body]
        if isinstance(node, For) and isinstance(node.end, Const) and node.end.value < 0
    ]


LOOP = Level(
    "loop",
    verify,
    lambda func, names=None: repr(func),
    lambda text: text,
    lambda a, b: a is b,
    (PrimFunc, For, Store, Buffer, Var, Const),
    signature=lambda func: func.params,
)


def _no_loops_of(kind: str) -> Fact:
    def holds(func: PrimFunc) -> list[Problem]:
        found = any_node(func, For, lambda loop: loop.kind == kind)
        return [Problem(f"a loop is {kind}")] if found else []

    return Fact(f"no_{kind}_loops", "loop", holds)


no_unrolled = _no_loops_of("unrolled")
no_parallel = _no_loops_of("parallel")


def with_kind(func: PrimFunc, kind: str) -> PrimFunc:
    """Set the kind of all loops."""
    return rewrite(func, lambda loop: loop.replace(kind=kind), on=For)


def with_end(func: PrimFunc, end: int) -> PrimFunc:
    """Set the end of all loops."""
    return rewrite(func, lambda loop: loop.replace(end=Const(end, I64)), on=For)
