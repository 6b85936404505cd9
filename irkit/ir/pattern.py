"""Patterns of expressions: expressions with holes, compiled once to matching functions.

Write a pattern with the operators and build functions over holes, as in ``x * 1 + y``. A pattern
over scalars also matches vectors, lane by lane: all its nodes then have the same lanes, and a
constant in it stands for its broadcast.
"""

import struct
from collections.abc import Callable
from typing import Any, cast

from irkit.core import IRKitError, equal, fields, same_data
from irkit.ir.buffer import Ramp
from irkit.ir.dtype import DType, as_dtype
from irkit.ir.expr import Broadcast, Const, Expr, Var

# Types of impossible width: each stands for any type of its kind, the same throughout a rule.
ANY_INTEGER = DType("i", 1 << 10)
ANY_FLOAT = DType("f", 1 << 10)
ANY = DType("f", 1 << 11)
_OPEN = (ANY_INTEGER, ANY_FLOAT, ANY)

Env = list[Any]
Match = Callable[[Any, Env], bool]


class Hole(Var, frozen=True, gc=False, eq=False):
    """A placeholder for any expression of a type and class that satisfies ``where``.

    The same hole in two places stands for equal expressions.
    """

    on: type[Expr] = Expr
    where: Callable[[Any], bool] | None = None


def hole(
    name: str,
    dtype: DType | str = ANY,
    *,
    on: type[Expr] = Expr,
    where: Callable[[Any], bool] | None = None,
) -> Hole:
    """Return a hole; ``ANY``, ``ANY_INTEGER`` and ``ANY_FLOAT`` leave its type open."""
    if not name.isidentifier():
        raise IRKitError(f"a hole needs an identifier as its name, found {name!r}")
    return Hole(name, as_dtype(dtype), on, where)


class Slots:
    """Numbered slots for the results of a match: holes by name, then open types, then the lanes."""

    def __init__(self) -> None:
        self.holes: dict[str, Hole] = {}
        self.types: dict[DType, int] = {}
        self.size = 1

    def of_hole(self, found: Hole) -> int:
        """Return the slot of a hole.

        Raises: IRKitError if another hole has its name.
        """
        known = self.holes.setdefault(found.name, found)
        if known is not found:
            raise IRKitError(f"two holes are named {found.name!r}")
        return self._number(found.name)

    def of_type(self, dtype: DType) -> int:
        return self._number(dtype)

    def _number(self, key: str | DType) -> int:
        table = cast(dict[str | DType, int], self.types)
        if key not in table:
            table[key] = self.size
            self.size += 1
        return table[key]


def match_node(pattern: Expr, slots: Slots) -> Match:
    """Compile a pattern; slot 0 holds the lanes, set by the caller.

    Raises: IRKitError if it contains something that cannot be matched.
    """
    if isinstance(pattern, Hole):
        return _match_hole(pattern, slots)
    if isinstance(pattern, Const):
        return _match_const(pattern, slots)
    if isinstance(pattern, (Var, Broadcast, Ramp)) or pattern.dtype.lanes > 1:
        raise IRKitError(
            f"a pattern cannot contain {type(pattern).__name__}",
            hint="Use holes, and write patterns over scalars; they match vectors too.",
        )
    tests: list[tuple[str, Match]] = []
    data: list[tuple[str, Any]] = []
    for field in fields(type(pattern)):
        value = getattr(pattern, field.name)
        if field.kind in ("binder", "use"):
            raise IRKitError(
                f"a pattern cannot contain {type(pattern).__name__}, which refers to "
                f"{field.name!r}",
                hint="Write this rule as a function.",
            )
        if field.kind == "child":
            tests.append((field.name, _match_held(value, slots)))
        elif field.name != "dtype":
            data.append((field.name, value))
    return _match_class(type(pattern), tests, data, type_test(pattern.dtype, slots))


def _match_class(
    cls: type[Expr], tests: list[tuple[str, Match]], data: list[tuple[str, Any]], typed: Match
) -> Match:
    if len(tests) == 2 and not data:
        (name_a, test_a), (name_b, test_b) = tests

        def match_two(node: Any, env: Env) -> bool:
            return (
                node.__class__ is cls
                and test_b(getattr(node, name_b), env)  # Constants are on the right.
                and test_a(getattr(node, name_a), env)
                and typed(node.dtype, env)
            )

        return match_two

    def match(node: Any, env: Env) -> bool:
        return (
            node.__class__ is cls
            and all(same_data(getattr(node, name), value) for name, value in data)
            and all(test(getattr(node, name), env) for name, test in tests)
            and typed(node.dtype, env)
        )

    return match


def _match_held(value: Expr | tuple[Expr, ...] | None, slots: Slots) -> Match:
    """Match the value of a field: a node, several, or None."""
    if value is None:
        return lambda held, env: held is None
    if not isinstance(value, tuple):
        return match_node(value, slots)
    tests = [match_node(item, slots) for item in value]

    def match(held: Any, env: Env) -> bool:
        return len(held) == len(tests) and all(
            test(item, env) for test, item in zip(tests, held, strict=True)
        )

    return match


def _match_hole(found: Hole, slots: Slots) -> Match:
    at = slots.of_hole(found)
    typed = type_test(found.dtype, slots)
    cls, where = found.on, found.where

    def match(node: Any, env: Env) -> bool:
        known = env[at]
        if known is not None:
            return known is node or equal(known, node)
        if not isinstance(node, cls) or not typed(node.dtype, env):
            return False
        if where is not None and not where(node):
            return False
        env[at] = node
        return True

    return match


def _match_const(pattern: Const, slots: Slots) -> Match:
    if pattern.dtype is ANY or pattern.dtype == ANY:
        raise IRKitError(
            f"a pattern cannot contain {pattern.value!r} of any type",
            hint="Give the holes beside it ANY_INTEGER, ANY_FLOAT or a type.",
        )
    typed = type_test(pattern.dtype, slots)
    wanted = _bits(pattern.value)

    def match(node: Any, env: Env) -> bool:
        value = node.value if node.__class__ is Broadcast else node
        return value.__class__ is Const and _bits(value.value) == wanted and typed(node.dtype, env)

    return match


def _bits(value: object) -> object:
    if isinstance(value, float):
        return struct.pack("<d", value)
    return type(value), value


def type_test(wanted: DType, slots: Slots) -> Match:
    """Compile the test of a type: its kind, its lanes, and that an open type is the same
    everywhere."""
    if wanted not in _OPEN:

        def is_that(found: DType, env: Env) -> bool:
            return found.lanes == env[0] and (found == wanted or found.element == wanted)

        return is_that
    at = slots.of_type(wanted)

    def is_bound(found: DType, env: Env) -> bool:
        known = env[at]
        if known is not None:
            return known == found
        if found.lanes != env[0] or (
            wanted != ANY and not (found.is_integer if wanted is ANY_INTEGER else found.is_float)
        ):
            return False
        env[at] = found
        return True

    return is_bound
