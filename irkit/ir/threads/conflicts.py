"""Whether different threads of a nest can touch the same element between two barriers."""

from collections.abc import Iterable, Sequence

from irkit.core import children, walk
from irkit.ir.analysis import (
    Access,
    ConflictTest,
    accesses_in,
    axis_values,
    memory_owners,
    uses_of,
)
from irkit.ir.arith import IndexSums, Interval, loop_ranges
from irkit.ir.buffer import Buffer
from irkit.ir.build import as_int, is_thread_loop, nested, seq, trip_count
from irkit.ir.expr import EQ, Expr, Var
from irkit.ir.function import PrimFunc
from irkit.ir.scoped_rewriter import conjuncts
from irkit.ir.stmt import Evaluate, For, If, Let, Stmt, Store
from irkit.ir.threads.digits import thread_digits, value_of

MAX_PAIRS = 1 << 14
Path = tuple[For, ...]  # The loops around a place, from the outermost of its nest inwards.
Guards = frozenset[tuple[Var, int]]
GuardedAccess = tuple[Access, Guards]
AccessPlace = tuple[Stmt | Expr, Path]


class ThreadConflicts:
    """Conflicts between threads in the nests of one function.

    Two threads do not conflict if, loop by loop from the outside in, different iterations do not,
    assuming that all loops further out are in the same iteration. Loops around only one of the
    places, and thread loops further in, can be at any iteration. Serial loops around both are in
    the same iteration. A thread loop whose variable is divided, as in ``t // 4`` and ``t % 4``, is
    taken as loops over its digits.
    """

    def __init__(self, func: PrimFunc) -> None:
        lets = {let.var: let.value for let in walk(func.body, Let)}
        self._digits = thread_digits(func.body)
        numbers = {var: value_of(digits) for var, digits in self._digits.items()}
        ranges = loop_ranges(func)
        for digits in self._digits.values():
            ranges.update(
                (loop.var, Interval(0, (trip_count(loop) or 1) - 1)) for loop, _ in digits
            )
        self._sums = IndexSums(ranges, numbers | lets | axis_values(func))
        self._memory = uses_of(func).memory
        self._stored = {self._memory(store.buffer) for store in walk(func.body, Store)}
        self._changing = {
            buffer for buffer in _buffers(func) if self._memory(buffer) in self._stored
        }
        self._own = memory_owners(func).own
        self._known: dict[int, tuple[Stmt | Expr, list[GuardedAccess]]] = {}

    def between(self, a: AccessPlace, b: AccessPlace) -> bool:
        """Return True if a thread at ``a`` and another one at ``b`` can touch the same element, one
        of them writing."""
        (left, left_path), (right, right_path) = a, b
        ones, others = self._accesses(left), self._accesses(right)
        if not any(access.writes for access, _ in (*ones, *others)):
            return False
        common = common_path(left_path, right_path)
        for level, loop in enumerate(common):
            if is_thread_loop(loop):
                free = [inner for inner in common[level + 1 :] if is_thread_loop(inner)]
                free += [*left_path[len(common) :], *right_path[len(common) :]]
                if self._meet(loop, free, (left, right), ones, others):
                    return True
        return False

    def _accesses(self, at: Stmt | Expr) -> list[GuardedAccess]:
        if id(at) not in self._known:
            found: list[GuardedAccess] = []
            stack: list[tuple[Stmt | Expr, Guards]] = [(at, frozenset())]
            while stack:
                part, guards = stack.pop()
                if isinstance(part, If):
                    stack += [(part.cond, guards), (part.then, guards | _numbers(part.cond))]
                    stack += [] if part.otherwise is None else [(part.otherwise, guards)]
                    continue
                below = [c for c in children(part) if isinstance(c, (Stmt, Expr))]
                if any(isinstance(c, Stmt) for c in below):
                    stack += [(c, guards) for c in below]
                else:
                    accesses = accesses_in(part, self._sums, self._memory)
                    found += [(access, guards) for access in accesses]
            self._known[id(at)] = at, found
        return self._known[id(at)][1]

    def _meet(
        self,
        loop: For,
        free: Sequence[For],
        parts: Sequence[Stmt | Expr],
        ones: list[GuardedAccess],
        others: list[GuardedAccess],
    ) -> bool:
        count = trip_count(loop)
        if count is not None and count <= 1:
            return False
        own = self._own(loop)
        pairs = [
            (x, y)
            for x, at in ones
            for y, there in others
            if x.memory is y.memory and x.memory not in own and (x.writes or y.writes)
            if not _is_one(loop, at & there)
        ]
        if len(pairs) > MAX_PAIRS:
            return True
        body: Stmt = seq(*(Evaluate(x) if isinstance(x, Expr) else x for x in parts))
        for inner in free:
            body = inner.replace(body=body)
        # Memory that any thread writes can have another value at the time of the other access.
        changing = self._changing | {b for b in _buffers(body) if self._memory(b) in own}
        for var in [inner.var for inner in walk(body, For)]:
            body = nested([digit for digit, _ in self._digits.get(var, ())], body)
        # The threads differ in a digit, and agree in those above it.
        levels = [digit for digit, _ in self._digits.get(loop.var, ())]
        for at, digit in enumerate(levels or [loop]):
            lower = nested(levels[at + 1 :], loop.replace(body=body) if levels else body)
            extent = trip_count(digit)
            test = ConflictTest(digit.replace(body=lower), extent, self._sums, changing, True)
            if not all(test.apart(x, y) for x, y in pairs):
                return True
        return False


def _buffers(root: PrimFunc | Stmt) -> Iterable[Buffer]:
    for node in walk(root):
        buffer = getattr(node, "buffer", None)
        if isinstance(buffer, Buffer):
            yield buffer


def _numbers(cond: Expr) -> Guards:
    """Return the variables that a condition fixes to a number, with that number."""
    sides = [(c.a, c.b) for c in conjuncts(cond) if isinstance(c, EQ)]
    pairs = [(x, as_int(y)) for a, b in sides for x, y in ((a, b), (b, a))]
    return frozenset((x, y) for x, y in pairs if isinstance(x, Var) and y is not None)


def _is_one(loop: For, guards: Guards) -> bool:
    """Return True if conditions leave only one iteration of a loop."""
    return any(var is loop.var for var, _ in guards)


def common_path(a: Path, b: Path) -> Path:
    """Return the loops around two places that are the same, from the outermost inwards."""
    for at, (x, y) in enumerate(zip(a, b, strict=False)):
        if x is not y:
            return a[:at]
    return min(a, b, key=len)
