"""Whether a loop carries values in a buffer from one iteration to another."""

from typing import Literal, NamedTuple

from irkit.core import Node, substitute, uses, walk
from irkit.ir.analysis.boxes import BoxSide, IndexBoxes, bound_inside, merged_sides
from irkit.ir.analysis.enclosing import in_order
from irkit.ir.arith import prove
from irkit.ir.buffer import Buffer, Load
from irkit.ir.build import as_int, ge, logical_not, lt, trip_count
from irkit.ir.expr import Expr, Var
from irkit.ir.function import PrimFunc
from irkit.ir.stmt import Block, For, If, Seq, Stmt, Store

MAX_ACCESSES = 64
Path = tuple[tuple[Stmt, int], ...]


class _Access(NamedTuple):
    node: Load | Store
    indices: tuple[Expr, ...]
    path: Path


class CarriedValues:
    """Values carried in buffers by the loops of one function.

    An iteration uses only what it computed itself if different iterations touch different elements,
    or if it has certainly written everything it reads before reading it.
    """

    def __init__(self, func: PrimFunc) -> None:
        self.boxes = IndexBoxes(func)
        self.ranges, self.axes = self.boxes.ranges, self.boxes.axes

    def reason(self, loop: For, buffer: Buffer) -> str | None:
        """Return why iterations may share values in a buffer, or None if they certainly do not."""
        accesses = self._accesses(loop.body, buffer)
        if accesses is None:
            return "it is used through a view, or in too many places"
        if self._apart(loop, accesses):
            return None
        for at, read in enumerate(accesses):
            if isinstance(read.node, Load) and not self._is_covered(loop, accesses[:at], read):
                return "an iteration may read what another one wrote"
        return None

    def _accesses(self, body: Stmt, buffer: Buffer) -> list[_Access] | None:
        found: list[_Access] = []
        stack: list[tuple[Node, Path]] = [(body, ())]
        while stack:
            node, path = stack.pop()
            if buffer in uses(node):
                if not isinstance(node, (Load, Store)) or len(found) >= MAX_ACCESSES:
                    return None
                found.append(_Access(node, node.indices, path))
            below: list[tuple[Node, Path]] = []
            for number, child in enumerate(in_order(node)):
                inner = (*path, (node, number)) if isinstance(node, Stmt) else path
                below.append((child, inner))
            stack.extend(reversed(below))
        return found

    def _apart(self, loop: For, accesses: list[_Access]) -> bool:
        """Return True if different iterations touch different elements."""
        inner = bound_inside(loop.body)
        for dim in range(len(accesses[0].indices) if accesses else 0):
            side = merged_sides(self.boxes.side(access.indices[dim], inner) for access in accesses)
            if side is None:
                continue
            for atom, factor in side.corner.terms.items():
                if self.boxes.sums.atom(atom) is loop.var and abs(factor) >= side.extent:
                    return True
        return not accesses

    def _is_covered(self, loop: For, earlier: list[_Access], read: _Access) -> bool:
        for write in earlier:
            if isinstance(write.node, Load) or write.node.mask is not None:
                continue
            at = _fork(write.path, read.path)
            if at is None:
                continue
            where = write.path[at][0]
            if isinstance(where, Seq) and self._covers(loop, write, read, at):
                return True
            if isinstance(where, Block) and self._starts(loop, where, write, read):
                return True
        return False

    def _starts(self, loop: For, block: Block, init: _Access, read: _Access) -> bool:
        """Return True if a block reads exactly the element that its init wrote in the same
        iteration."""
        inside = bound_inside(loop.body)
        reduced = [self.axes[axis.var] for axis in block.axes if axis.kind == "reduce"]
        if any(v not in inside for binding in reduced for v in walk(binding, Var)):
            return False
        pairs = zip(init.indices, read.indices, strict=True)
        return all(self._is_same(a, b) for a, b in pairs)

    def _covers(self, loop: For, write: _Access, read: _Access, at: int) -> bool:
        """Return True if a nest that is complete before the read has written everything that it
        reads."""
        if any(isinstance(stmt, Block) and _is_init(stmt, n) for stmt, n in write.path[at + 1 :]):
            return False
        written = self._written(write, at)
        if written is None or not self._surely_runs(write, read, at):
            return False
        shape = write.node.buffer.shape
        for index, whole, dim in zip(read.indices, written, shape, strict=True):
            if whole is True or _is_whole(whole, as_int(dim)):
                continue
            # The written box does not depend on the other loops, so they can be at any iteration.
            corner = map(self.boxes.sums.atom, whole.corner.terms)
            moving = {node for atom in corner for node in walk(atom, Var)}
            side = self.boxes.side(index, self.ranges.keys() - moving)
            if side is None or side.corner.key != whole.corner.key:
                return False
            if side.low < whole.low or side.high > whole.high:
                return False
        return True

    def _written(self, write: _Access, at: int) -> list[BoxSide | Literal[True]] | None:
        """Return the box that a nest of loops fills without gaps; True stands for a whole
        dimension."""
        loops = {s.var: s for s, _ in write.path[at + 1 :] if isinstance(s, For)}
        sizes = {var: trip_count(loop) for var, loop in loops.items()}
        found: list[BoxSide | Literal[True]] = []
        for index, dim in zip(write.indices, write.node.buffer.shape, strict=True):
            form = self.boxes.sums.sum_of(index)
            steps = [(factor, self.boxes.sums.atom(atom)) for atom, factor in form.terms.items()]
            used = [(f, v) for f, v in steps if isinstance(v, Var) and v in sizes]
            if len(steps) == 1 and not form.constant and self._is_all(steps[0], loops, dim):
                sizes.pop(used[0][1])
                found.append(True)
                continue
            reach = 1
            for factor, var in sorted(used, key=lambda pair: pair[0]):
                size = sizes.pop(var)
                if size is None or size < 1 or factor != reach:
                    return None
                reach *= size
            side = self.boxes.side(index, set(loops))
            if side is None or side.extent != reach:
                return None
            found.append(side)
        return found if all(size is not None and size > 0 for size in sizes.values()) else None

    def _is_all(self, step: tuple[int, Expr], loops: dict[Var, For], dim: Expr) -> bool:
        factor, var = step
        loop = loops.get(var) if isinstance(var, Var) else None
        if loop is None or factor != 1 or as_int(loop.begin) != 0:
            return False
        return self._is_same(loop.end, dim)

    def _is_same(self, a: Expr, b: Expr) -> bool:
        of = self.boxes.sums.sum_of
        return of(a).key == of(b).key

    def _surely_runs(self, write: _Access, read: _Access, at: int) -> bool:
        """Return True if all conditions around a write hold for every element that exists."""
        conds = self._conditions(write.path[at + 1 :])
        if not conds:
            return True
        facts = self._conditions(read.path)
        for index, dim in zip(write.indices, write.node.buffer.shape, strict=True):
            place = substitute(index, self.axes)
            facts += [ge(place, 0), lt(place, dim)]
        return all(prove(cond, self.ranges, facts) for cond in conds)

    def _conditions(self, path: Path) -> list[Expr]:
        found: list[Expr] = []
        for stmt, number in path:
            if isinstance(stmt, If):
                found.append(stmt.cond if number == 1 else logical_not(stmt.cond))
            elif isinstance(stmt, Block) and stmt.predicate is not None:
                found.append(stmt.predicate)
        return [substitute(cond, self.axes) for cond in found]


def _is_init(block: Block, number: int) -> bool:
    return block.init is not None and in_order(block)[number] is block.init


def _fork(a: Path, b: Path) -> int | None:
    """Return the depth at which two paths part, or None if one contains the other."""
    for at, ((_, x), (_, y)) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return at
    return None


def _is_whole(side: BoxSide, extent: int | None) -> bool:
    return (
        extent is not None and not side.corner.terms and side.low <= 0 and side.high >= extent - 1
    )
