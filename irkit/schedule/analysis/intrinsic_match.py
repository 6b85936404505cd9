"""Match a statement with the description of an intrinsic, and find the parts of buffers it works
on."""

from collections.abc import Mapping

import msgspec

from irkit.core import (
    Node,
    children,
    deep_recursion,
    fields,
    rewrite,
    same_data,
    substitute,
    symbols_bound,
    walk,
)
from irkit.ir import (
    Block,
    Buffer,
    Const,
    Expr,
    For,
    Interval,
    Let,
    Load,
    Seq,
    Stmt,
    Store,
    Var,
    as_int,
    is_const,
    prove,
    simplify,
)
from irkit.ir.analysis import axis_values


class MatchedPart(msgspec.Struct, frozen=True):
    """The part of a buffer that a parameter of the description is matched with: where it begins,
    and which dimension of the parameter each dimension is (None: its index is constant)."""

    buffer: Buffer
    begins: tuple[Expr, ...]
    dims: tuple[int | None, ...]


class Mismatch(Exception):
    """The reason why a statement does not match a description."""


def match_intrinsic(
    stmt: Stmt, desc: Stmt, params: tuple[Buffer, ...], ranges: Mapping[Var, Interval]
) -> dict[Buffer, MatchedPart]:
    """Match a statement with a description and return the part of a buffer for each parameter.

    Raises: Mismatch if the two compute different things.
    """
    matcher = _Matcher(params, ranges)
    matcher.stmts(_dissolved(stmt, ranges), _dissolved(desc, ranges))
    missing = [param.name for param in params if param not in matcher.parts]
    if missing:
        raise Mismatch(f"nothing matches the parameter {missing[0]!r}")
    return matcher.parts


def _dissolved(stmt: Stmt, ranges: Mapping[Var, Interval]) -> Stmt:
    """Replace blocks by their bodies, with axes replaced by their bindings."""
    for block in walk(stmt, on=Block):
        if block.init is not None:
            raise Mismatch(f"block {block.name!r} starts a reduction; decompose_reduction first")
        if block.predicate is not None and not prove(block.predicate, ranges):
            raise Mismatch(f"block {block.name!r} has a predicate")
    values: dict[Node, Node] = dict(axis_values(stmt).items())

    def dissolve(block: Block) -> Stmt:
        return block.body

    return substitute(rewrite(stmt, dissolve, on=Block), values)


class _Matcher:
    def __init__(self, params: tuple[Buffer, ...], ranges: Mapping[Var, Interval]) -> None:
        self.params = set(params)
        self.parts: dict[Buffer, MatchedPart] = {}
        self.ranges = ranges
        self.bound: dict[
            Node, Node
        ] = {}  # From variables of the description to those of the program.
        self.inner: set[Node] = set()
        self.matched: set[tuple[int, int]] = set()

    def stmts(self, ours: Stmt, theirs: Stmt) -> None:
        self.inner = set(symbols_bound(ours))
        with deep_recursion:
            self._match(ours, theirs)

    def _match(self, a: Node, b: Node) -> None:
        if type(a) is not type(b):
            raise Mismatch(f"expected {type(b).__name__}, found {type(a).__name__}")
        if a.expression:  # A shared operand is compared once.
            if (id(a), id(b)) in self.matched:
                return
            self.matched.add((id(a), id(b)))
        for ours, theirs in self._pair(a, b):
            self._match(ours, theirs)

    def _pair(self, a: Node, b: Node) -> list[tuple[Node, Node]]:
        """Compare two nodes, and list the pairs of children to compare next."""
        match a, b:
            case For(), For():
                if not (is_const(a.begin, 0) and is_const(b.begin, 0)):
                    raise Mismatch(f"loop {a.var.name!r} does not start at 0")
                if as_int(a.end) is None or as_int(a.end) != as_int(b.end):
                    raise Mismatch(f"loop {a.var.name!r} has a different extent")
                if a.kind == "thread":
                    raise Mismatch(f"loop {a.var.name!r} is a thread loop")
                self._bind(a.var, b.var)
                return [(a.body, b.body)]
            case Let(), Let():
                self._bind(a.var, b.var)
                return [(a.value, b.value), (a.body, b.body)]
            case (Store(), Store()) | (Load(), Load()):
                self._access(a, b)
                return [(a.value, b.value)] if isinstance(a, Store) and isinstance(b, Store) else []
            case Var(), Var():
                if self.bound.get(b) is not a:
                    raise Mismatch(f"expected {b.name!r}, found {a.name!r}")
                return []
            case Const(), Const():
                if a != b:
                    raise Mismatch(f"expected the constant {b.value}, found {a.value}")
                return []
            case Seq(), Seq():
                pass
            case Expr(), Expr():
                if a.dtype != b.dtype:
                    raise Mismatch(f"expected type {b.dtype}, found {a.dtype}")
                for field in fields(type(a)):
                    if field.kind == "data" and not same_data(
                        getattr(a, field.name), getattr(b, field.name)
                    ):
                        raise Mismatch(f"two {type(a).__name__} nodes differ")
            case _:
                raise Mismatch(f"a {type(a).__name__} cannot be matched")
        below, described = children(a), children(b)
        if len(below) != len(described):
            raise Mismatch(f"a {type(a).__name__} has a different number of children")
        return list(zip(below, described, strict=True))

    def _bind(self, ours: Var, theirs: Var) -> None:
        if ours.dtype != theirs.dtype:
            raise Mismatch(f"{ours.name!r} has a different type than in the description")
        self.bound[theirs] = ours

    def _access(self, a: Load | Store, b: Load | Store) -> None:
        if a.mask is not None or b.mask is not None:
            raise Mismatch("an access has a mask")
        if a.buffer.dtype != b.buffer.dtype:
            raise Mismatch(f"{a.buffer.name!r} has a different type than {b.buffer.name!r}")
        if b.buffer not in self.params:
            raise Mismatch(f"{b.buffer.name!r} is not a parameter of the description")
        part = self._part(a, b)
        known = self.parts.setdefault(b.buffer, part)
        alike = known.buffer is part.buffer and known.dims == part.dims
        if not alike or not all(
            self._is_zero(x - y) for x, y in zip(known.begins, part.begins, strict=True)
        ):
            raise Mismatch(f"{b.buffer.name!r} must be one part of one buffer")
        for param, other in self.parts.items():
            if param is not b.buffer and other.buffer is a.buffer:
                raise Mismatch(f"{a.buffer.name!r} already matches {param.name!r}")

    def _part(self, a: Load | Store, b: Load | Store) -> MatchedPart:
        """Find where the accessed part begins, and which dimension of the description each of its
        dimensions follows."""
        waiting = [
            (at, substitute(index, self.bound))
            for at, (index, dim) in enumerate(zip(b.indices, b.buffer.shape, strict=True))
            if as_int(dim) != 1
        ]
        begins: list[Expr] = []
        dims: list[int | None] = []
        for index in a.indices:
            plain = simplify(index, self.ranges)
            if not self._moves(plain):
                begins.append(plain)
                dims.append(None)
                continue
            gap = simplify(index - waiting[0][1], self.ranges) if waiting else plain
            if self._moves(gap) or not waiting:
                raise Mismatch(f"{a.buffer.name!r} is indexed differently than in the description")
            begins.append(gap)
            dims.append(waiting.pop(0)[0])
        if waiting:
            raise Mismatch(f"{a.buffer.name!r} has fewer dimensions than in the description")
        return MatchedPart(a.buffer, tuple(begins), tuple(dims))

    def _moves(self, index: Expr) -> bool:
        return any(node in self.inner for node in walk(index, on=Var)) or any(
            True for _ in walk(index, on=Load)
        )

    def _is_zero(self, gap: Expr) -> bool:
        return is_const(simplify(gap, self.ranges), 0)
