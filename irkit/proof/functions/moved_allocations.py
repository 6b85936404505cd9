"""Allocations in other places: further in, or further out."""

from collections.abc import Callable
from typing import Any, cast

import msgspec

from irkit.core import symbols_used, walk
from irkit.ir import Allocate, Buffer, Stmt
from irkit.proof.functions.scope import NotShown, Scope


class _EndOfLife(msgspec.Struct, frozen=True, eq=False):
    """Stands behind the statements of a moved allocation of the side after."""

    buffer: Buffer


class MovedAllocations:
    """Allocations that one side has met and the other not yet; lists of statements have the next
    one last. Buffers belong together by their names, which is a guess: what is wrong is not shown
    to be equal."""

    def __init__(self, scope: Scope, same_memory: Callable[[Allocate, Allocate], None]) -> None:
        self.scope = scope
        self.same_memory = same_memory
        self.old: dict[str, tuple[Allocate, int]] = {}
        self.new: dict[str, tuple[Allocate, int]] = {}

    def copy(self) -> tuple[dict[str, tuple[Allocate, int]], dict[str, tuple[Allocate, int]]]:
        return dict(self.old), dict(self.new)

    def restore(
        self, known: tuple[dict[str, tuple[Allocate, int]], dict[str, tuple[Allocate, int]]]
    ) -> None:
        """Go back to what ``copy`` has returned."""
        self.old, self.new = dict(known[0]), dict(known[1])

    def moved(self, old: list[Stmt], new: list[Stmt]) -> bool:
        """Step into an allocation that the other side has elsewhere; False if there is none."""
        last: Any = new[-1] if new else None
        if isinstance(last, _EndOfLife):
            new.pop()
            self.scope.lifetimes.end(last.buffer)
            return True
        a, b = old[-1] if old else None, last
        if isinstance(a, Allocate) and isinstance(b, Allocate) and _name(a) == _name(b):
            return False
        if isinstance(b, Allocate) and _name(b) in self.old:
            self._inwards(new, b)
        elif isinstance(a, Allocate) and _name(a) in self.new:
            self._outwards(old, a)
        elif isinstance(a, Allocate) and a.buffer in symbols_used(a.body) and _allocates(new, a):
            old[-1] = a.body
            self.old[_name(a)] = a, len(self.scope.lifetimes.loops)
        elif isinstance(b, Allocate) and b.buffer in symbols_used(b.body) and _allocates(old, b):
            new[-1] = b.body
            self.new[_name(b)] = b, len(self.scope.lifetimes.loops)
        else:
            return False
        return True

    def _inwards(self, new: list[Stmt], inner: Allocate) -> None:
        """Take memory that is allocated further in for that of the side before."""
        outer, depth = self.old[_name(inner)]
        self._check(outer, inner, depth, ("thread",))
        self.same_memory(outer, inner)
        if depth == len(self.scope.lifetimes.loops):
            # Nothing was stored since the other one; a second one would be other memory.
            del self.old[_name(inner)]
            new[-1] = inner.body
            return
        is_flat = outer.buffer in self.scope.before.flat
        if is_flat or not self.scope.lifetimes.begin(outer.buffer):
            raise NotShown(f"{inner.buffer.name} is allocated twice")
        new[-1] = cast(Stmt, _EndOfLife(outer.buffer))
        new.append(inner.body)

    def _outwards(self, old: list[Stmt], inner: Allocate) -> None:
        """Take memory that is allocated further out for that of the side before: no iteration of a
        loop without an order may share it with another."""
        outer, depth = self.new[_name(inner)]
        self._check(inner, outer, depth, ("thread", "parallel", "vectorized"))
        self.same_memory(inner, outer)
        old[-1] = inner.body

    def _check(self, a: Allocate, b: Allocate, depth: int, kinds: tuple[str, ...]) -> None:
        name = a.buffer.name
        if a.attrs != b.attrs:
            raise NotShown(f"the attributes of {name} changed")
        if any(kind in kinds for _, kind in self.scope.lifetimes.loops[depth:]):
            raise NotShown(f"the allocation of {name} left a loop, or entered one over threads")


def _name(allocate: Allocate) -> str:
    return allocate.buffer.name


def _allocates(stmts: list[Stmt], wanted: Allocate) -> bool:
    """Return True if statements allocate memory of the name of another allocation."""
    return any(
        _name(each) == _name(wanted)
        for stmt in stmts
        if isinstance(stmt, Stmt)  # pyright: ignore[reportUnnecessaryIsInstance] -- or an end of life
        for each in walk(stmt, Allocate)
    )
