"""What holds at a statement, and what symbols stand for before and after a step."""

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager

from irkit.core import Node, any_node, equal, rewrite, substitute, symbols_used, walk
from irkit.ir import (
    BOOL,
    I64,
    Allocate,
    And,
    Buffer,
    Const,
    Evaluate,
    Expr,
    Interval,
    Let,
    Load,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    Var,
    convert,
    dimension_vars,
    ge,
    logical_and,
    logical_or,
    lt,
)
from irkit.ir.arith import Claim, claim_of
from irkit.proof.functions.lifetimes import Lifetimes
from irkit.proof.functions.loads import PerformedLoad, as_index, covering, loads_of
from irkit.proof.functions.memory import FlatView, MemoryOf, size
from irkit.proof.functions.windows import BoxView, first_places
from irkit.proof.limits import limits_of
from irkit.proof.outcome import Proved, Refuted
from irkit.proof.prove import prove_claim
from irkit.proof.prover import Prover
from irkit.proof.texts import expr_text

LARGEST_SIZE = 64
"""Of a dimension, for values on which a function is run."""


class NotShown(Exception):
    """A difference that is not shown to change nothing; ``refuted`` if there are values for which
    two expressions differ."""

    def __init__(self, reason: str, refuted: Refuted | None = None) -> None:
        super().__init__(reason)
        self.reason, self.refuted = reason, refuted


class Side:
    """One side of a step: what its own symbols stand for, in those of the side before.

    ``flat`` has buffers that are read as one-dimensional memory, ``windows`` those that are a box
    in a buffer of the side before.
    """

    def __init__(self, func: PrimFunc) -> None:
        self.values: dict[Node, Node] = {}
        self.flat: dict[Buffer, FlatView] = {}
        self.windows: dict[Buffer, BoxView] = {}
        self.memory = MemoryOf(func)

    def read(self, expr: Expr) -> Expr:
        """Return an expression over the symbols of the side before."""
        made = substitute(expr, self.values) if self.values else expr
        if self.windows:
            made = rewrite(made, self._moved, on=Load)
        return rewrite(made, self._flattened, on=Load) if self.flat else made

    def _flattened(self, node: Load) -> Load | None:
        view = self.flat.get(node.buffer)
        return None if view is None else view.load(node)

    def _moved(self, node: Load) -> Load | None:
        window = self.windows.get(node.buffer)
        return None if window is None else window.load(node)

    def place(self, buffer: Buffer, indices: list[Expr]) -> tuple[Node, list[Expr]]:
        """Return the element of a store as one of the side before; indices were read already."""
        made = self.values.get(buffer, buffer)
        window = self.windows.get(made) if isinstance(made, Buffer) else None
        if window is not None:
            return window.buffer, window.places(indices)
        view = self.flat.get(made) if isinstance(made, Buffer) else None
        return (made, indices) if view is None else (view.memory, [view.place(indices)])

    def buffer(self, buffer: Buffer) -> Node:
        """Return the buffer of the side before."""
        return self.values.get(buffer, buffer)


class Scope:
    """Conditions and ranges that hold at the current statement of both sides, which are in the same
    state there."""

    def __init__(self, before: PrimFunc, after: PrimFunc, prover: Prover) -> None:
        self.before, self.after, self.prover = Side(before), Side(after), prover
        used = {node.buffer for node in walk(after.body, (Load, Store))}
        self.used_after = {buffer for buffer in used if buffer.rank > 1}
        self._flattened: dict[Buffer, Buffer] = {}
        self.facts: list[Expr] = []
        self.ranges: dict[Var, Interval] = {}
        self.pairs = 0
        self.loaded: list[PerformedLoad] = []
        """Loads that the side before has performed around the statement."""
        self.lifetimes = Lifetimes()
        self.windows: dict[Buffer, BoxView] = {}
        """Boxes of the side after, by the buffer of the side before."""
        self.unknown_guards = 0
        """Number of conditions around the statement that are not among the facts."""
        self.waiting: list[PerformedLoad] = []
        """Loads that the side after has performed, and the side before has yet to."""
        self.dims = dimension_vars(before.params)
        for param in before.params:
            for dim in () if isinstance(param, Var) else param.shape:
                if isinstance(dim, Var):
                    self.ranges[dim] = Interval(0, None)

    def equal(self, before: Expr, after: Expr, facts: Iterable[Expr] = ()) -> None:
        """Prove that two expressions over the symbols of the side before are equal.

        Raises: NotShown.
        """
        if equal(before, after):
            return
        self.pairs += 1
        claim = claim_of(before, after, self.ranges, (*self.facts, *facts))
        found = self.prover.prove(claim)
        if isinstance(found, Proved):
            return
        text = f"{expr_text(before)} became {expr_text(after)}"
        if isinstance(found, Refuted):
            # By the symbols of this claim, and with sizes that can be run, if there are some.
            small = self._small(claim)
            if small is None:
                raise NotShown(f"{text}, which differs for some values")
            raise NotShown(f"{text}, which differs at {small}", small)
        raise NotShown(f"{text}: {found.reason}")

    def _small(self, claim: Claim) -> Refuted | None:
        """Refute a claim by values with small dimensions, or else by any; return None if z3 does
        not find these values once more within its limits."""
        few = {var: Interval(0, LARGEST_SIZE) for var in self.dims if var in claim.ranges}
        for ranges in (claim.ranges | few, claim.ranges):
            found = prove_claim(Claim(claim.before, claim.after, ranges, claim.facts))
            if isinstance(found, Refuted):
                return found
        return None

    def holds(self, cond: Expr) -> bool:
        """Return True if a condition is proved to hold here."""
        if isinstance(cond, Const):
            return bool(cond.value)
        claim = claim_of(cond, Const(True, BOOL), self.ranges, self.facts)
        return isinstance(self.prover.prove(claim), Proved)

    def loads(self, before: Iterable[Expr], after: Iterable[Expr]) -> None:
        """Prove that expressions of a statement perform no new load, unless it is inside its
        buffer.

        Raises: NotShown.
        """
        old, new = loads_of(before), [*self.waiting, *loads_of(after)]
        known = [*self.loaded, *old]
        for each in new:
            if not self._covered(each, known) and not self._is_inside(each):
                raise NotShown(f"{expr_text(each.load)} may be a new load")
            conds = self.lifetimes.covering(each, self.facts)
            if conds is not None and not self._follows(logical_or(*conds), each):
                raise NotShown(f"{expr_text(each.load)} may read what no longer exists")
            window = self.windows.get(each.load.buffer)
            if window is not None and not self._follows(window.inside(each.load.indices), each):
                raise NotShown(f"{expr_text(each.load)} may be outside the smaller buffer")
        self.waiting.clear()

    def stored(self, buffer: Node, places: list[Expr]) -> None:
        """Note a store of one element, by the buffer and the indices of the side before.

        Raises: NotShown if it may be outside a buffer that has become smaller.
        """
        if not isinstance(buffer, Buffer):
            return
        window = self.windows.get(buffer)
        if window is not None and not self.holds(window.inside(places)):
            raise NotShown(f"a store may be outside the smaller buffer {buffer.name}")
        if not self.unknown_guards:
            self.lifetimes.stored(buffer, places, self.facts)

    def _covered(self, new: PerformedLoad, old: list[PerformedLoad]) -> bool:
        cond = covering(new, old)
        if cond is None:
            return False
        return isinstance(cond, Const) or self._follows(cond, new)

    def _is_inside(self, new: PerformedLoad) -> bool:
        """Return True if a load is proved to be inside its buffer wherever it is performed."""
        buffer = new.load.buffer
        if buffer.strides is not None or not new.is_plain:
            return False
        inside: list[Expr] = []
        for index, dim in zip(new.load.indices, buffer.shape, strict=True):
            at = as_index(index)
            inside += [ge(at, 0), lt(at, convert(self.before.read(dim), at.dtype))]
        return self._follows(logical_and(*inside), new)

    def _follows(self, cond: Expr, load: PerformedLoad) -> bool:
        """Return True if a condition is proved to hold wherever a load is performed."""
        performed = load.performed
        lanes = BOOL.with_lanes(max(cond.dtype.lanes, performed.dtype.lanes))
        sides = convert(cond, lanes), convert(Const(True, BOOL), lanes)
        claim = claim_of(*sides, self.ranges, (*self.facts, performed))
        self.pairs += 1
        return isinstance(self.prover.prove(claim), Proved)

    def flatten(self, buffer: Buffer, after: Buffer | None = None) -> FlatView:
        """Read a buffer of the side before as one-dimensional memory, on both sides; ``after`` is
        memory of the side after that stands for it.

        Raises: NotShown if it has gaps, or if the side after accesses it by several indices, which
        could leave a dimension and not the memory.
        """
        known = self.before.flat.get(buffer)
        if known is not None and after is None:
            return known
        if buffer in self.windows or buffer in self.lifetimes.stores:
            raise NotShown(f"{buffer.name} changed its place as well as its dimensions")
        several = any(self.after.buffer(each) is buffer for each in self.used_after)
        if buffer.strides is not None or (several and after is None):
            raise NotShown(f"{buffer.name} is not seen as one dimension")
        dims = tuple(self.before.read(dim) for dim in buffer.shape)
        memory = Buffer(buffer.name, (size(dims),), buffer.dtype, buffer.scope)
        view = FlatView(memory, Const(0, I64), dims)
        self.before.flat[buffer] = view
        self._flattened[memory] = buffer
        if after is None:
            self.after.flat[buffer] = view
        else:
            self.after.values[after] = memory
        return view

    def keeps(self, side: Side, value: Expr, var: Var, body: Stmt) -> bool:
        """Return True if a variable can be replaced by a value that it is bound to for a statement,
        because no use follows a write to memory that the value reads.

        ``value`` is over the symbols of the side before, the others over those of ``side``.
        """
        read = {self.memory(load.buffer) for load in walk(value, Load)}
        written = False
        for part in _in_order(body) if read else ():
            if written and var in symbols_used(part):
                return False
            writes = False
            for node in walk(part, (Store, Evaluate)):
                # At a barrier, other threads have their turn.
                barrier = isinstance(node, Evaluate)
                writes |= barrier or self.root(side, node.buffer) in read
            if writes and not isinstance(part, Store) and var in symbols_used(part):
                return False
            written |= writes
        return True

    def narrow(self, a: Allocate, b: Allocate) -> None:
        """Read memory of the side after as a box in that of the side before, which it becomes if
        each access agrees.

        Raises: NotShown if no box is seen.
        """
        ours, theirs = first_places(a), first_places(b)
        x, y = a.buffer, b.buffer
        if ours is None or theirs is None or len(ours) != len(theirs) or x in self.before.flat:
            raise NotShown(f"the shape of {x.name} changed")
        if (x.dtype, x.scope, x.align) != (y.dtype, y.scope, y.align) or x.strides or y.strides:
            raise NotShown(f"buffer {x.name} changed")
        begins = tuple(
            [
                as_index(self.before.read(i)) - as_index(self.after.read(j))
                for i, j in zip(ours, theirs, strict=True)
            ]
        )
        extents = tuple([self.after.read(dim) for dim in y.shape])
        box = y.copy()
        self.after.values[y] = box
        self.after.windows[box] = self.windows[x] = BoxView(x, begins, extents)

    def memory(self, buffer: Buffer) -> Buffer:
        """Return the parameter or allocation that a buffer of the side before is a part of."""
        return self.before.memory(self._flattened.get(buffer, buffer))

    def root(self, side: Side, buffer: Buffer) -> Node:
        """Return the parameter or allocation of the side before that a buffer of a side is a part
        of."""
        found = side.buffer(side.memory(buffer))
        window = side.windows.get(found) if isinstance(found, Buffer) else None
        if window is not None:
            return window.buffer
        return self._flattened.get(found, found) if isinstance(found, Buffer) else found

    @contextmanager
    def under(self, conds: Iterable[Expr]) -> Generator[None]:
        """Assume conditions within a ``with`` block; those that read memory are left out, because a
        store can change them."""
        count, loaded, unknown = len(self.facts), len(self.loaded), self.unknown_guards
        stack = list(conds)[::-1]
        while stack:
            cond = stack.pop()
            if isinstance(cond, And):
                stack += [cond.b, cond.a]
            elif any_node(cond, Load):
                self.unknown_guards += 1
            else:
                self.facts.append(cond)
        try:
            yield
        finally:
            del self.facts[count:]
            del self.loaded[loaded:]
            self.unknown_guards = unknown

    @contextmanager
    def counting(self, var: Var, begin: Expr, end: Expr) -> Generator[None]:
        """Assume within a ``with`` block that a variable runs over a range."""
        low, high = limits_of(begin, self.ranges)[0], limits_of(end, self.ranges)[1] - 1
        self.ranges[var] = Interval(low, max(low, high))
        sides = [convert(side, I64) for side in (var, begin, end)]
        limits = [] if isinstance(begin, Const) else [ge(sides[0], sides[1])]
        limits += [] if isinstance(end, Const) else [lt(sides[0], sides[2])]
        with self.under(limits):
            yield


def _in_order(stmt: Stmt) -> Iterator[Node]:
    """Yield what runs one after the other: values of ``let``, and statements that are no
    sequences."""
    stack = [stmt]
    while stack:
        match stack.pop():
            case Seq(inner):
                stack += inner[::-1]
            case Let(_, value, body):
                yield value
                stack.append(body)
            case other:
                yield other
