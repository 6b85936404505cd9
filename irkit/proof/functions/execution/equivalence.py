"""Two versions of a function, executed on symbolic memory and compared."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from irkit.core import deep_recursion
from irkit.ir import BOOL, I64, Buffer, Const, Expr, PrimFunc, Var, ge, logical_and, lt
from irkit.ir.arith import Claim
from irkit.proof.functions.execution.memory import KnownBounds, Memory, UnknownMemory, reach
from irkit.proof.functions.execution.sizes import assignments, chosen_sizes, open_sizes, scalars
from irkit.proof.functions.execution.state import StepBudget, SymbolicState
from irkit.proof.functions.execution.statements import Statements
from irkit.proof.functions.execution.terms import NotExecuted, Terms, Value
from irkit.proof.outcome import Proved
from irkit.proof.prover import Prover

MOST_STEPS = 1_500_000
"""Operations of both versions together, for all sizes."""
MOST_CLAIMS = 40
"""Values that are not plainly equal, and are left to the solver, for all sizes."""


class Executed(msgspec.Struct, frozen=True):
    """Result of an execution: ``equal`` if all elements end up equal.

    ``sizes`` are those that were tried, none if the signature has no open ones; ``reason`` is why
    not more is known.
    """

    equal: bool
    sizes: tuple[Mapping[str, int], ...] = ()
    reason: str = ""


def execute_step(before: PrimFunc, after: PrimFunc, prover: Prover) -> Executed:
    """Execute two versions of a function, and compare each element that they leave.

    Integer arguments stay unknown if the limits of loops do not depend on them; otherwise they are
    chosen like the open sizes.
    """
    with deep_recursion:
        found = _tried(before, after, prover, open_sizes(before))
        if not found.equal and not found.sizes and scalars(before):
            chosen = _tried(before, after, prover, (*open_sizes(before), *scalars(before)))
            found = chosen if chosen.equal else found
    return found


def _tried(before: PrimFunc, after: PrimFunc, prover: Prover, names: tuple[Var, ...]) -> Executed:
    steps = StepBudget(MOST_STEPS, MOST_CLAIMS)
    if not names:
        try:
            _Pair(before, after, prover, steps).check({})
        except NotExecuted as why:
            return Executed(False, (), why.reason)
        return Executed(True)
    done: list[Mapping[str, int]] = []
    for sizes in assignments(names, chosen_sizes(before, after)):
        shown = {var.name: size for var, size in sizes.items()}
        try:
            _Pair(before, after, prover, steps).check(sizes)
        except NotExecuted as why:
            if min(steps.left, steps.claims) < 0 and done:
                break
            at = ", ".join(f"{name} = {size}" for name, size in shown.items())
            return Executed(False, tuple(done), f"for {at}: {why.reason}")
        done.append(shown)
    return Executed(True, tuple(done))


class _Pair:
    """Two versions of a function for some sizes."""

    def __init__(
        self, before: PrimFunc, after: PrimFunc, prover: Prover, steps: StepBudget
    ) -> None:
        self.before, self.after, self.prover, self.steps = before, after, prover, steps
        self.terms = Terms()
        self.unknown = UnknownMemory()
        self.bounds = KnownBounds(self._follows)

    def check(self, sizes: Mapping[Var, int]) -> None:
        """Execute both and compare what they leave.

        Raises: NotExecuted if they differ, or cannot be followed.
        """
        if len(self.before.params) != len(self.after.params):
            raise NotExecuted("the signature changed")
        if self.before.attrs != self.after.attrs:
            raise NotExecuted("the attributes of the function changed")
        old = self._run(self.before, dict(sizes), is_after=False)
        others = _same_dims(self.before, self.after)
        known = {others.get(var, var): size for var, size in sizes.items()}
        new = self._run(self.after, known, is_after=True)
        if old.layouts != new.layouts:
            raise NotExecuted("the signature changed")
        if old.events != new.events:
            raise NotExecuted("assertions differ")
        for one, other in zip(old.memories, new.memories, strict=True):
            for at, a, b in self._unequal(one, other):
                if not self._proved(a, b, one):
                    raise NotExecuted(f"{one.name}[{at}] is not shown to be the same")

    def _unequal(self, one: Memory, other: Memory) -> Iterator[tuple[int, Value, Value]]:
        seen: set[tuple[object, object]] = set()
        for at in sorted(one.cells.keys() | other.cells.keys()):
            a, b = one.read(at, self.terms), other.read(at, self.terms)
            if a is b or (not isinstance(a, Expr) and not isinstance(b, Expr) and a == b):
                continue
            key = (id(a), id(b))
            if key not in seen:
                seen.add(key)
                yield at, a, b

    def _proved(self, a: Value, b: Value, memory: Memory) -> bool:
        self.steps.take_claim()
        dtype = memory.dtype
        x, y = self.terms.term(a, dtype), self.terms.term(b, dtype)
        return isinstance(self.prover.prove(Claim(x, y, {}, ())), Proved)

    def _follows(self, facts: list[Expr], index: Expr, extent: int) -> bool:
        """Return True if an index is inside an extent, given some conditions."""
        self.steps.take_claim()
        inside = logical_and(ge(index, 0), lt(index, Const(extent, I64)))
        claim = Claim(inside, Const(True, BOOL), {}, tuple(facts))
        return isinstance(self.prover.prove(claim), Proved)

    def _run(self, func: PrimFunc, sizes: dict[Var, int], *, is_after: bool) -> "_Left":
        state = SymbolicState(self.terms, self.steps, self.unknown, self.bounds, is_after=is_after)
        statements = Statements(state)
        values: dict[Var, Any] = dict(sizes)
        for number, param in enumerate(func.params):
            if isinstance(param, Var) and param not in values:
                start = self.unknown.of_param(number, param.name, param.dtype)
                values[param] = self.terms.element(start, self.terms.constant(0, I64))
        statements.bind(values)
        layouts: list[object] = []
        memories: list[Memory] = []
        for number, param in enumerate(func.params):
            if isinstance(param, Var):
                layouts.append(param.dtype)
                continue
            shape, strides = statements.layout(param)
            start = self.unknown.of_param(number, param.name, param.dtype)
            memory = Memory(param.name, reach(shape, strides), param.dtype, start, 0)
            statements.place(param, memory, shape, strides)
            memories.append(memory)
            layouts.append((shape, strides, param.dtype, param.scope, param.align))
        statements.run(func.body)()
        return _Left(memories, layouts, state.events)


class _Left(msgspec.Struct, frozen=True, eq=False):
    """What a run leaves: memory of the parameters, and assertions that may have failed."""

    memories: list[Memory]
    layouts: list[object]
    events: list[tuple[object, ...]]


def _same_dims(before: PrimFunc, after: PrimFunc) -> dict[Var, Var]:
    """Return the sizes and scalars of the second version by those of the first."""
    ours, theirs = (*open_sizes(before),), (*open_sizes(after),)
    if len(ours) != len(theirs):
        raise NotExecuted("the signature changed")
    found = dict(zip(ours, theirs, strict=True))
    for a, b in zip(before.params, after.params, strict=True):
        if isinstance(a, Buffer) != isinstance(b, Buffer):
            raise NotExecuted("the signature changed")
        if isinstance(a, Var) and isinstance(b, Var):
            found[a] = b
    return found
