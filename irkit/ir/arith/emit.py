"""Write sums as expressions: positive terms first, factors on the right, constant last."""

from irkit.ir.arith.sums import Atoms, Product, Sum, is_region, normal
from irkit.ir.buffer import Ramp
from irkit.ir.dtype import DType
from irkit.ir.expr import Add, Broadcast, Const, Expr, Mul, Neg, Sub

Piece = tuple[Expr, int]


def emit(atoms: Atoms, found: Sum, dtype: DType) -> Expr:
    """Return a sum as an expression in canonical form, and the same sum twice as one object."""
    if len(found.terms) == 1 and not found.constant and dtype.lanes == 1:
        ((product, c),) = found.terms.items()
        if c == 1 and len(product) == 1:
            return atoms.shown[product[0]]
    found = normal(found, dtype)
    known = tuple(found.terms.items()), found.constant, dtype
    expr = atoms.emitted.get(known)
    if expr is None:
        if dtype.lanes > 1:
            expr = _vector(atoms, found, dtype)
        else:
            pieces = [(_product(atoms, p, dtype), c) for p, c in found.terms.items()]
            expr = _chain(pieces, found.constant, dtype)
        atoms.emitted[known] = expr
        atoms.enter(expr, found)
    return expr


def _product(atoms: Atoms, product: Product, dtype: DType) -> Expr:
    first, *rest = atoms.written.get(product, product)
    expr = _spread(atoms.shown[first], dtype)
    for factor in rest:
        expr = Mul(expr, _spread(atoms.shown[factor], dtype), dtype)
    return expr


def _spread(expr: Expr, dtype: DType) -> Expr:
    return expr if expr.dtype.lanes == dtype.lanes else Broadcast(expr, dtype)


def _number(value: int, dtype: DType) -> Expr:
    return _spread(Const(value, dtype.element), dtype)


def _scaled(expr: Expr, by: int, dtype: DType) -> Expr:
    return expr if by == 1 else Mul(expr, _number(by, dtype), dtype)


def _chain(pieces: list[Piece], constant: int, dtype: DType) -> Expr:
    start = next((at for at, (_, c) in enumerate(pieces) if c > 0), None)
    if (start is None and constant > 0) or not pieces:
        expr, constant = _number(constant, dtype), 0
    else:
        first, c = pieces.pop(start or 0)
        expr = _negated(first, c, dtype) if c < 0 else _scaled(first, c, dtype)
    for piece, c in pieces:
        if -dtype.high <= c < 0:
            expr = Sub(expr, _scaled(piece, -c, dtype), dtype)
        else:
            expr = Add(expr, _scaled(piece, c, dtype), dtype)
    if -dtype.high <= constant < 0:
        return Sub(expr, _number(-constant, dtype), dtype)
    return Add(expr, _number(constant, dtype), dtype) if constant else expr


def _negated(expr: Expr, c: int, dtype: DType) -> Expr:
    if c == -1 or dtype.kind == "u":
        return Neg(_scaled(expr, -c, dtype), dtype)
    return _scaled(expr, c, dtype)


def _vector(atoms: Atoms, found: Sum, dtype: DType) -> Expr:
    """Write a vector as one ramp for the lane number, one broadcast for scalars, and other
    vectors."""
    element = dtype.element
    lane = atoms.lane(dtype)
    base: dict[Product, int] = {}
    stride: dict[Product, int] = {}
    steps = 0
    pieces: list[Piece] = []
    for product, c in found.terms.items():
        varying = [factor for factor in product if factor in atoms.wide]
        if not varying:
            base[product] = c
        elif varying == [lane] and len(product) == 1:
            steps = c
        elif varying == [lane]:
            shown = tuple(k for k in atoms.written.get(product, product) if k != lane)
            rest = tuple(k for k in product if k != lane)
            atoms.written.setdefault(rest, shown)
            stride[rest] = c
        else:
            pieces.append((_product(atoms, product, dtype), c))
    foot = Sum(base, found.constant)
    if stride or steps:
        start = emit(atoms, foot, element)
        pieces.append((Ramp(start, emit(atoms, Sum(stride, steps), element), dtype), 1))
    elif base:
        pieces.append((Broadcast(emit(atoms, foot, element), dtype), 1))
    else:
        return _chain(pieces, found.constant, dtype)
    return _chain(pieces, 0, dtype)


def alike(atoms: Atoms, old: Expr, new: Expr) -> bool:
    """Return True if ``old``, whose atoms are simplified already, has the form of ``new``."""
    stack = [(old, new)]
    while stack:
        a, b = stack.pop()
        if a is b:
            continue
        if a.__class__ is not b.__class__ or a.dtype != b.dtype:
            return False
        if isinstance(a, (Add, Sub, Mul, Ramp)) and (a is old or _spelled(a)):
            assert isinstance(b, (Add, Sub, Mul, Ramp))
            stack += zip(_sides(a), _sides(b), strict=True)
        elif isinstance(a, (Neg, Broadcast)) and (a is old or _spelled(a)):
            assert isinstance(b, (Neg, Broadcast))
            stack.append((_inner(a), _inner(b)))
        elif isinstance(a, Const):
            if a != b:
                return False
        else:
            known, that = atoms.sums.get(id(a)), atoms.sums.get(id(b))
            if known is None or that is None or known.key != that.key:
                return False
    return True


def _spelled(node: Expr) -> bool:
    return is_region(node) or isinstance(node, (Mul, Ramp, Broadcast))


def _sides(node: Add | Sub | Mul | Ramp) -> tuple[Expr, Expr]:
    return (node.base, node.stride) if isinstance(node, Ramp) else (node.a, node.b)


def _inner(node: Neg | Broadcast) -> Expr:
    return node.a if isinstance(node, Neg) else node.value
