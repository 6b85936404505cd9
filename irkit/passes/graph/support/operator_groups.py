"""Groups of operators as functions of their own, each applied in place of its last operator."""

from collections.abc import Iterable, Sequence

import msgspec

from irkit.core import Attrs, UniqueNames, substitute
from irkit.graph import (
    Apply,
    ArrayData,
    Bind,
    Body,
    Constant,
    GraphFunc,
    Lambda,
    Op,
    Value,
    bindings_of,
    constants_of,
    op_spec,
    type_of,
    used_inside,
)

RANK = {
    "elementwise": 0,
    "broadcast": 1,
    "injective": 2,
    "reduction": 3,
    "complex": 4,
    "opaque": 5,
}
"""Kinds of operators, from those that fit anywhere to those that decide how a group runs."""


class OperatorGroup(msgspec.Struct, frozen=True):
    """Operators that become one function: its results are those of the last member.

    ``members`` are in the order of the function, ``attrs`` those of the lambda.
    """

    members: tuple[Value, ...]
    attrs: Attrs
    name: str


def grouped(func: GraphFunc, groups: Sequence[OperatorGroup]) -> GraphFunc:
    """Return a function in which each group is an applied lambda; constants of one element are
    copied into it, other values from outside are its parameters."""
    return _Rebuild(func, groups).result() if groups else func


class _Rebuild:
    def __init__(self, func: GraphFunc, groups: Sequence[OperatorGroup]) -> None:
        self.func, self.known = func, constants_of(func)
        self.bound = bindings_of(func)
        self.names = UniqueNames([value.name for value in (*func.params, *self.bound)])
        self.group_of = {value: group for group in groups for value in group.members}

    def result(self) -> GraphFunc:
        bindings: list[Bind] = []
        for bind in self.func.body.bindings:
            group = self.group_of.get(bind.var)
            if group is None:
                bindings.append(bind)
            elif bind.var is group.members[-1]:
                bindings += self._applied(group)
        return self.func.replace(body=self.func.body.replace(bindings=tuple(bindings)))

    def _applied(self, group: OperatorGroup) -> tuple[Bind, Bind]:
        """Return the lambda of a group, and its application under the name of the last member."""
        sink = self.bound[group.members[-1]]
        inside = [self.bound[member] for member in group.members]
        outer = _outer(inside)
        copied: list[Bind] = []
        given: dict[Value, Value] = {}
        for value in outer:
            data = self.known.get(value)
            given[value] = Value(self.names(value.name), value.type)
            if data is not None and _is_scalar(data):
                copied.append(Bind(given[value], Constant(data), self.bound[value].span))
        inlined = {bind.var for bind in copied}
        args = [value for value in outer if given[value] not in inlined]
        given[sink.var] = Value(self.names(sink.var.name), sink.var.type)
        body = Body((*copied, *inside), sink.var)
        code = Lambda(tuple(given[arg] for arg in args), substitute(body, given), group.attrs)
        function = Value(self.names(group.name), type_of(code))
        return (
            Bind(function, code, _anchor(inside).span),
            Bind(sink.var, Apply(function, tuple(args)), sink.span),
        )


def words_of(inside: Iterable[Bind]) -> list[str]:
    """Return the names of the operators of a group, in order; of many, the first."""
    words = [bind.step.name for bind in inside if isinstance(bind.step, Op)]
    return [*words[:6], *(["more"] if len(words) > 6 else [])]


def _outer(inside: Iterable[Bind]) -> list[Value]:
    """Return the values from outside that a group uses, in order of first use."""
    own = {bind.var for bind in inside}
    used = (value for bind in inside for value in used_inside(bind.step))
    return list(dict.fromkeys(value for value in used if value not in own))


def _is_scalar(data: ArrayData) -> bool:
    return all(extent == 1 for extent in data.shape)


def _anchor(inside: list[Bind]) -> Bind:
    """Return the operator that decides how a group runs: the first of the highest kind."""
    return max(
        inside,
        key=lambda bind: RANK[op_spec(bind.step.name).kind] if isinstance(bind.step, Op) else 0,
    )
