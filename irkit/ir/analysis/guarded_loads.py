"""The conditions under which the loads of an expression are performed."""

from typing import NamedTuple

from irkit.core import IRKitError, children, deep_recursion, postorder
from irkit.ir.buffer import Load
from irkit.ir.build import logical_and, logical_not
from irkit.ir.conditional import Conditional
from irkit.ir.expr import And, Expr, Or

VISITS = 64
"""How often, on average, a shared part can be visited."""


class GuardPath(NamedTuple):
    """The conditions that lead to a part of an expression, innermost first."""

    cond: Expr
    above: "GuardPath | None"
    whole: Expr | None
    """The conjunction of all of them, which many parts share; None if one is a vector."""

    def under(self, cond: Expr) -> "GuardPath":
        """Return the path with a condition that is evaluated where all of these hold."""
        if self.whole is None or cond.dtype.lanes > 1:
            return GuardPath(cond, self, None)
        return GuardPath(cond, self, logical_and(self.whole, cond))


class GuardedLoad(NamedTuple):
    """A load, and the conditions under which it is performed."""

    load: Load
    path: GuardPath | None


def path_conditions(path: GuardPath | None) -> list[Expr]:
    """Return the conditions of a path, outermost first."""
    found: list[Expr] = []
    while path is not None:
        found.append(path.cond)
        path = path.above
    return found[::-1]


def guard_path(cond: Expr) -> GuardPath:
    """Return the path of one condition."""
    return GuardPath(cond, None, cond if cond.dtype.lanes == 1 else None)


def guarded_loads(root: Expr, path: GuardPath | None = None) -> list[GuardedLoad]:
    """Return the loads of an expression in execution order, the loads in its indices before it.

    A load that certainly ran before, under fewer conditions, is left out. Raises: IRKitError if
    nested choices share so many others that there are too many paths.
    """
    finder = _LoadFinder(root)
    with deep_recursion:
        finder.visit(root, path)
    return finder.found


class _LoadFinder:
    def __init__(self, root: Expr) -> None:
        order = postorder(root)
        self.loading: set[int] = set()
        for node in order:
            if isinstance(node, Load) or any(id(c) in self.loading for c in children(node)):
                self.loading.add(id(node))
        self.left = VISITS * (len(order) + VISITS)
        self.seen: dict[int, list[GuardPath | None]] = {}
        self.found: list[GuardedLoad] = []

    def visit(self, node: Expr, path: GuardPath | None) -> None:
        if id(node) not in self.loading or self._is_known(node, path):
            return
        for part, under in _parts(node, path):
            self.visit(part, under)
        if isinstance(node, Load):
            self.found.append(GuardedLoad(node, path))

    def _is_known(self, node: Expr, path: GuardPath | None) -> bool:
        """Return True if a part was visited under conditions that lie on this path."""
        self.left -= 1
        if self.left < 0:
            raise IRKitError(
                "choices that guard loads share so many others that there are too many to check",
                hint="Name the shared ones with let.",
            )
        known = self.seen.setdefault(id(node), [])
        if None in known:
            return True
        at = path
        while at is not None and known:
            if any(at is other for other in known):
                return True
            at = at.above
        known.append(path)
        return False


def _parts(node: Expr, path: GuardPath | None) -> list[tuple[Expr, GuardPath | None]]:
    """Return the operands in evaluation order, each with its conditions."""
    match node:
        case Conditional(cond, then, otherwise):
            yes, no = _also(path, cond), _also(path, logical_not(cond))
            return [(cond, path), (then, yes), (otherwise, no)]
        case And(a, b):
            return [(a, path), (b, _also(path, a))]
        case Or(a, b):
            return [(a, path), (b, _also(path, logical_not(a)))]
        case _:
            return [(child, path) for child in children(node) if isinstance(child, Expr)]


def _also(path: GuardPath | None, cond: Expr) -> GuardPath:
    return guard_path(cond) if path is None else path.under(cond)
