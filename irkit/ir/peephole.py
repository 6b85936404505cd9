"""Peephole rewriting as data: rules that pair a pattern with its replacement.

Example::

    x, y = hole("x", ANY_INTEGER), hole("y", ANY_INTEGER)
    RULES = Rules(
        "arithmetic",
        peephole("add-zero", x + 0, x, commutative=True),
        peephole("subtract-itself", x - x, lambda x: const(0, x.dtype)),
    )
    rewrite(func, RULES)
"""

import inspect
from collections.abc import Callable
from itertools import product
from typing import Any, cast

from irkit.core import DTypeError, IRKitError, Node, Rule, Span, fields, postorder, with_fields
from irkit.ir.dtype import DType
from irkit.ir.expr import OPERATIONS, Binary, Const, Expr, const
from irkit.ir.pattern import Env, Hole, Match, Slots, match_node

_COMMUTING = tuple(cls for cls, row in OPERATIONS.items() if row.commutes)
_MAX_SWAPPED = 4
Build = Callable[[Env], Expr]


def peephole(
    name: str,
    pattern: Expr,
    into: Expr | Callable[..., Expr | None],
    *,
    where: Callable[..., bool] | None = None,
    commutative: bool = False,
) -> Rule:
    """Return a rule that replaces what matches ``pattern`` by ``into``.

    ``into`` is an expression over the holes of the pattern, or a function that takes some of them
    by name; ``where`` also takes some of them. ``commutative`` matches the operands of commutative
    operations in either order.

    Raises: IRKitError if the rule is inconsistent; the message names it.
    """
    span = _caller(name)
    try:
        slots = Slots()
        orders = _orders(pattern) if commutative else [pattern]
        matches = tuple(match_node(each, slots) for each in orders)
        if isinstance(pattern, (Hole, Const)):
            raise IRKitError("its pattern is not an operation")
        build = _template(into, slots) if isinstance(into, Expr) else _call(into, slots)
        if isinstance(into, Expr) and into.dtype != pattern.dtype:
            raise IRKitError("its replacement has another type than its pattern")
        guard = None if where is None else _call(where, slots)
    except IRKitError as error:
        raise IRKitError(f"rule {name!r}: {error.message}", hint=error.hint, span=span) from error
    apply = _applier(name, span, matches, build, guard, slots)
    return Rule(name, (type(pattern),), apply, span, pattern)


def _applier(
    name: str,
    span: Span,
    matches: tuple[Match, ...],
    build: Callable[[Env], Expr | None],
    guard: Callable[[Env], Any] | None,
    slots: Slots,
) -> Callable[[Any], Expr | None]:
    blank: Env = [None] * slots.size

    def apply(node: Expr) -> Expr | None:
        for match in matches:
            env = blank[:]
            env[0] = node.dtype.lanes
            if match(node, env) and (guard is None or guard(env)):
                result = build(env)
                if result is not None and result.dtype != node.dtype:
                    raise IRKitError(
                        f"rule {name!r} gave {result.dtype} for an expression of {node.dtype}",
                        span=span,
                    )
                return result
        return None

    return apply


def _call(function: Callable[..., Any], slots: Slots) -> Callable[[Env], Any]:
    """Call a function with the contents of the holes that it names."""
    names = list(inspect.signature(function).parameters)
    unknown = [name for name in names if name not in slots.holes]
    if unknown:
        known = ", ".join(slots.holes) or "none"
        raise IRKitError(f"there is no hole {unknown[0]!r} in its pattern, which has: {known}")
    at = [slots.of_hole(slots.holes[name]) for name in names]
    return lambda env: function(*[env[slot] for slot in at])


def _template(into: Expr, slots: Slots) -> Callable[[Env], Expr | None]:
    """Compile a replacement; at run time it returns None if a constant does not fit the matched
    type."""
    holes = {node for node in postorder(into) if isinstance(node, Hole)}
    for found in holes:
        if slots.holes.get(found.name) is not found:
            raise IRKitError(f"hole {found.name!r} of its replacement is not in its pattern")
    bound = set(slots.types)
    match_node(into, slots)  # Replacements have the same restrictions as patterns.
    if set(slots.types) - bound:
        raise IRKitError("a type of its replacement is left open by its pattern")
    build = _build(into, slots)

    def built(env: Env) -> Expr | None:
        try:
            return build(env)
        except DTypeError:
            return None

    return built


def _build(into: Expr, slots: Slots) -> Build:
    if isinstance(into, Hole):
        at = slots.of_hole(into)
        return lambda env: cast(Expr, env[at])
    typed = _type(into.dtype, slots)
    if isinstance(into, Const):
        value = into.value
        return lambda env: const(value, typed(env))
    cls = type(into)
    parts: list[Callable[[Env], Any]] = []
    for field in fields(cls):
        value = getattr(into, field.name)
        if field.kind == "child":
            parts.append(_build_held(value, slots))
        else:
            parts.append(typed if field.name == "dtype" else lambda env, value=value: value)
    return lambda env: cls(*[part(env) for part in parts])


def _build_held(value: Any, slots: Slots) -> Callable[[Env], Any]:
    if value is None:
        return lambda env: None
    if not isinstance(value, tuple):
        return _build(value, slots)
    builds = [_build(item, slots) for item in cast(tuple[Expr, ...], value)]
    return lambda env: tuple([build(env) for build in builds])


def _type(dtype: DType, slots: Slots) -> Callable[[Env], DType]:
    if dtype in slots.types:
        at = slots.types[dtype]
        return lambda env: cast(DType, env[at])
    return lambda env: dtype.with_lanes(env[0])


def _orders(pattern: Expr) -> list[Expr]:
    """Return the pattern with the operands of each commutative operation in either order."""
    nodes = [n for n in postorder(pattern) if isinstance(n, _COMMUTING) and n.a is not n.b]
    if len(nodes) > _MAX_SWAPPED:
        raise IRKitError(f"its pattern has more than {_MAX_SWAPPED} operations to swap")
    return [
        _swapped(pattern, {id(n) for n, swap in zip(nodes, chosen, strict=True) if swap})
        for chosen in product((False, True), repeat=len(nodes))
    ]


def _swapped(pattern: Expr, chosen: set[int]) -> Expr:
    new: dict[int, Node] = {}
    for node in postorder(pattern):
        made = with_fields(node, new)
        if id(node) in chosen:
            assert isinstance(made, Binary)
            made = made.replace(a=made.b, b=made.a)
        if made is not node:
            new[id(node)] = made
    return cast(Expr, new.get(id(pattern), pattern))


def _caller(name: str) -> Span:
    """Return where the rule is defined: the caller of ``peephole``."""
    frame = inspect.currentframe()
    for _ in range(2):
        frame = None if frame is None else frame.f_back
    if frame is None:
        return Span("python", name)
    return Span("python", name, frame.f_code.co_filename, frame.f_lineno)
