"""Patterns of operators with holes, and the search for a match.

Example::

    x, scale = hole("x"), known("scale")
    pattern = op("multiply", op("conv", x, known("w"), name="conv"), scale, commutative=True)
"""

from collections.abc import Callable, Iterator
from itertools import permutations
from typing import Any, TypeAlias

import msgspec
import numpy as np

from irkit.graph.nodes import Bind, Op, Value
from irkit.graph.ops import Array, OpOptions, attributes
from irkit.graph.patterns.graph_facts import GraphFacts
from irkit.graph.types import TensorType
from irkit.ir import DType, as_int


class ValuePattern(msgspec.Struct, frozen=True):
    """A place for any value that ``where`` accepts; the same name stands for the same value.

    With ``is_known`` the array of the value must be known at compile time.
    """

    name: str
    is_known: bool = False
    where: Callable[[Any], bool] | None = None


class OpPattern(msgspec.Struct, frozen=True):
    """An operator of one of ``operators``; ``where`` is asked about its attributes.

    ``dtype`` is the element type of its result, if that matters.
    """

    operators: tuple[str, ...]
    args: "tuple[Pattern, ...]"
    name: str = ""
    commutative: bool = False
    dtype: DType | None = None
    where: Callable[[OpOptions], bool] | None = None


class Either(msgspec.Struct, frozen=True):
    """One of several patterns, tried in order."""

    options: "tuple[Pattern, ...]"


Pattern: TypeAlias = ValuePattern | OpPattern | Either


def hole(name: str, where: Callable[[Value], bool] | None = None) -> ValuePattern:
    """Return a hole for any value."""
    return ValuePattern(name, where=where)


def known(name: str, where: Callable[[Array], bool] | None = None) -> ValuePattern:
    """Return a hole for a value whose array is known; ``where`` is asked about the array."""
    return ValuePattern(name, is_known=True, where=where)


def number(value: float) -> ValuePattern:
    """Return a hole for a constant all of whose elements round to one number."""

    def equal(array: Array) -> bool:
        return bool(array.size and np.all(array == np.asarray(value).astype(array.dtype)))

    return ValuePattern("", is_known=True, where=equal)


def op(
    operators: str,
    *args: Pattern,
    name: str = "",
    commutative: bool = False,
    dtype: DType | None = None,
    where: Callable[[OpOptions], bool] | None = None,
) -> OpPattern:
    """Return a pattern for an operator, or for one of several with spaces between."""
    return OpPattern(tuple(operators.split()), args, name, commutative, dtype, where)


def either(*options: Pattern) -> Either:
    """Return a pattern for what any of some patterns match."""
    return Either(options)


class Match(msgspec.Struct, frozen=True):
    """What a pattern matched: values of the holes, and bindings of operators, by name.

    ``inside`` has all matched bindings but the outermost.
    """

    facts: GraphFacts
    root: Bind
    values: dict[str, Value]
    bindings: dict[str, Bind]
    inside: tuple[Bind, ...] = ()

    def __getitem__(self, name: str) -> Value:
        return self.values[name]

    def __contains__(self, name: str) -> bool:
        return name in self.values or name in self.bindings

    @property
    def root_op(self) -> Op:
        """The operator that the whole pattern matched."""
        assert isinstance(self.root.step, Op)
        return self.root.step

    def array(self, name: str) -> Array:
        """Return the array of a known hole."""
        found = self.facts.array(self.values[name])
        assert found is not None
        return found

    def op(self, name: str) -> Op:
        """Return a named operator."""
        step = self.bindings[name].step
        assert isinstance(step, Op)
        return step


def match(pattern: Pattern, root: Bind, facts: GraphFacts) -> Match | None:
    """Return the first way in which a pattern matches what a binding computes, or None."""
    start = Match(facts, root, {}, {})
    return _solve([(pattern, root.var)], start)


Todo: TypeAlias = list[tuple[Pattern, Value]]


def _solve(todo: Todo, found: Match) -> Match | None:
    """Match the patterns still to do, and go back where a choice leads to nothing."""
    if not todo:
        return found
    (pattern, value), rest = todo[0], todo[1:]
    if isinstance(pattern, ValuePattern):
        after = _filled(pattern, value, found)
        return None if after is None else _solve(rest, after)
    if isinstance(pattern, Either):
        for option in pattern.options:
            after = _solve([(option, value), *rest], found)
            if after is not None:
                return after
        return None
    bind = found.facts.bound.get(value)
    if bind is None or not _is_of(pattern, bind):
        return None
    assert isinstance(bind.step, Op)
    bindings = {**found.bindings, pattern.name: bind} if pattern.name else found.bindings
    inside = found.inside if bind.var is found.root.var else (*found.inside, bind)
    grown = msgspec.structs.replace(found, bindings=bindings, inside=inside)
    for args in _orders(pattern, bind.step):
        after = _solve([*zip(pattern.args, args, strict=True), *rest], grown)
        if after is not None:
            return after
    return None


def _filled(pattern: ValuePattern, value: Value, found: Match) -> Match | None:
    """Return the match with a value in a hole, or None if it does not fit."""
    if pattern.name and found.values.get(pattern.name, value) is not value:
        return None
    subject: Any = value
    if pattern.is_known:
        subject = found.facts.array(value)
        if subject is None:
            return None
    if pattern.where is not None and not pattern.where(subject):
        return None
    if not pattern.name:
        return found
    return msgspec.structs.replace(found, values={**found.values, pattern.name: value})


def _is_of(pattern: OpPattern, bind: Bind) -> bool:
    step = bind.step
    if not isinstance(step, Op) or step.name not in pattern.operators:
        return False
    if len(step.args) != len(pattern.args):
        return False
    if pattern.dtype is not None and dtype_of_value(bind.var) != pattern.dtype:
        return False
    return pattern.where is None or pattern.where(attributes(step))


def _orders(pattern: OpPattern, step: Op) -> Iterator[tuple[Value, ...]]:
    return permutations(step.args) if pattern.commutative else iter((step.args,))


def extents_of(value: Value) -> "tuple[int | None, ...]":
    """Return the extents of a tensor, None for those that are symbolic.

    Raises: TypeError if it is no tensor.
    """
    if not isinstance(value.type, TensorType):
        raise TypeError(f"{value.name!r} is not a tensor")
    return tuple(as_int(extent) for extent in value.type.shape)


def dtype_of_value(value: Value) -> DType | None:
    """Return the element type of a tensor, or None for another value."""
    return value.type.dtype if isinstance(value.type, TensorType) else None
