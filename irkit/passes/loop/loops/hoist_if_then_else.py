"""Move a condition that is the same in every iteration out of its loop.

Before::

    def f(A: f32[8, 8], C: f32[8, 8], n: i64):
        for i in serial(0, 8):
            for j in serial(0, 8):
                if n < 4 and i < n:
                    C[i, j] = A[i, j]

After::

    def f(A: f32[8, 8], C: f32[8, 8], n: i64):
        if n < 4:
            for i in serial(0, 8):
                if i < n:
                    for j in serial(0, 8):
                        C[i, j] = A[i, j]

A condition that reads memory stays: the loop may change what it reads.
"""

from irkit.core import any_node, deep_recursion, fresh, remark, rewrite, walk
from irkit.ir import Expr, For, If, Load, PrimFunc, Stmt, Var, conjuncts, logical_and
from irkit.transform import define_pass


@define_pass(idempotent=True)
def hoist_if_then_else(func: PrimFunc) -> PrimFunc:
    """Move the condition around the body of a loop out of it, if it is the same in every iteration;
    with an else, each branch gets a loop of its own."""

    def hoist(loop: For) -> Stmt | None:
        branch = loop.body
        if not isinstance(branch, If) or loop.kind == "thread":
            return None
        steady, varying = _sorted(branch, loop)
        if not steady or (branch.otherwise is not None and varying):
            if any_node(branch.cond, Load) and loop.var not in walk(branch.cond, Var):
                remark(branch, "the condition reads memory, which the loop may change: left inside")
            return None
        inside = branch.then
        if varying:
            inside = branch.replace(cond=logical_and(*varying))
        # The loops of the branches can hold conditions of their own now.
        then = loop.replace(body=inside)
        then = hoist(then) or then
        if branch.otherwise is None:
            return If(logical_and(*steady), then, None)
        otherwise = fresh(loop.replace(body=branch.otherwise))
        return If(logical_and(*steady), then, hoist(otherwise) or otherwise)

    with deep_recursion:
        return rewrite(func, hoist, on=For)


def _sorted(branch: If, loop: For) -> tuple[list[Expr], list[Expr]]:
    """Return the conditions that are the same in every iteration, and the others.

    Their order does not matter: only a load needs a guard, and conditions with loads stay inside.
    """
    steady: list[Expr] = []
    varying: list[Expr] = []
    for cond in conjuncts(branch.cond):
        changes = any_node(cond, Load) or loop.var in walk(cond, Var)
        (varying if changes else steady).append(cond)
    return steady, varying
