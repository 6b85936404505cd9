"""Proofs of rules whose pattern is data: each instance of the pattern equals what the rule makes
of it.

The open types of a pattern become each type of their kind. A hole becomes a variable, which stands
for any expression; a hole for a constant becomes each constant of 8 bits and, of wider types, those
at which arithmetic may go wrong. So a proof is for all values of the variables, and at 8 bits for
all constants too.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any, cast

import msgspec

from irkit.core import DTypeError, IRKitError, Rule, fields, walk
from irkit.ir import (
    ANY,
    ANY_FLOAT,
    ANY_INTEGER,
    BF16,
    BOOL,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Const,
    DType,
    Expr,
    Hole,
    Var,
    const,
)
from irkit.ir.arith import claim_of
from irkit.proof.outcome import Proved, Refuted
from irkit.proof.prove import prove_claim
from irkit.proof.texts import claim_text

_INTEGERS = (I8, U8, I16, U16, I32, U32, I64, U64)
_FLOATS = (F16, BF16, F32, F64)
_TYPES: dict[DType, tuple[DType, ...]] = {
    ANY_INTEGER: _INTEGERS,
    ANY_FLOAT: _FLOATS,
    ANY: (*_INTEGERS, *_FLOATS, BOOL),
}
MOST_INSTANCES = 1 << 16
"""Instances of a rule for one choice of its types: two constants of 8 bits."""
SECONDS = 5.0


class RuleProof(msgspec.Struct, frozen=True):
    """What came of the proof of a rule.

    ``proved`` counts the instances proved, by the types of the pattern; ``refuted`` is the claim
    of an instance that is wrong, with its values, or empty; ``unknown`` are reasons.
    """

    rule: str
    proved: Mapping[str, int]
    refuted: str = ""
    unknown: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Return True if every instance tried was proved, and there was one."""
        return bool(self.proved) and not self.refuted and not self.unknown


def proved_rules(*rules: Rule, seconds: float = SECONDS) -> tuple[Rule, ...]:
    """Return the rules, once each is proved: ``RULES = proved_rules(peephole(...), ...)``.

    ``seconds`` is the time for each way to prove an instance, as in :func:`prove_equal`.

    Raises: IRKitError that names the rule and the values for which it is wrong, or the reason why
    there is no proof.
    """
    for rule in rules:
        found = prove_rule(rule, seconds=seconds)
        if not found.ok:
            what = f"is wrong: {found.refuted}" if found.refuted else "is not proved"
            reasons = "; ".join(found.unknown[:3]) or "no instance of its pattern fires"
            raise IRKitError(
                f"rule {rule.name!r} {what}",
                hint="" if found.refuted else f"The reason: {reasons}.",
                span=rule.span,
            )
    return rules


def prove_rule(rule: Rule, *, seconds: float = SECONDS) -> RuleProof:
    """Prove each instance of a rule; the first wrong one ends the search.

    Raises: IRKitError as :func:`prove_equal`; whatever functions of the rule raise.
    """
    pattern = rule.pattern
    if not isinstance(pattern, Expr):
        return RuleProof(rule.name, {}, unknown=("it has no pattern that is data",))
    proved: dict[str, int] = {}
    unknown: dict[str, None] = {}
    for types in _type_choices(pattern):
        name = ", ".join(map(str, dict.fromkeys(types.values()))) or str(pattern.dtype)
        for before in islice(_instances(pattern, types), MOST_INSTANCES):
            after = rule.apply(before)
            if after is None:
                continue
            assert isinstance(after, Expr)
            claim = claim_of(before, after, {}, ())
            outcome = prove_claim(claim, seconds=seconds)
            if isinstance(outcome, Refuted):
                text = f"{claim_text(claim)} ({before.dtype}), but at {outcome}"
                return RuleProof(rule.name, proved, text, tuple(unknown))
            if isinstance(outcome, Proved):
                proved[name] = proved.get(name, 0) + 1
            else:
                unknown[f"{claim_text(claim)} ({before.dtype}): {outcome.reason}"] = None
    return RuleProof(rule.name, proved, "", tuple(unknown))


def _type_choices(pattern: Expr) -> Iterator[dict[DType, DType]]:
    """Yield types for the open types of a pattern, in every combination."""
    found = {node.dtype: None for node in walk(pattern, Expr) if node.dtype in _TYPES}
    for chosen in product(*(_TYPES[each] for each in found)):
        yield dict(zip(found, chosen, strict=True))


def _instances(pattern: Expr, types: Mapping[DType, DType]) -> Iterator[Expr]:
    """Yield the instances of a pattern at some types; none where an operation has no such type."""
    holes = {node.name: node for node in walk(pattern, Hole)}
    constants = {name: each for name, each in holes.items() if each.on is Const}
    if any(each.on not in (Const, Expr, Var, Hole) for each in holes.values()):
        return
    many = len(constants) > 1
    values = [_constants(types.get(each.dtype, each.dtype), many) for each in constants.values()]
    for chosen in product(*values):
        filled: dict[str, Expr] = dict(zip(constants, chosen, strict=True))
        for name, each in holes.items():
            filled.setdefault(name, Var(name, types.get(each.dtype, each.dtype)))
        try:
            yield _filled(pattern, filled, types)
        except (DTypeError, OverflowError):
            return


def _filled(node: Expr, holes: Mapping[str, Expr], types: Mapping[DType, DType]) -> Any:
    if isinstance(node, Hole):
        return holes[node.name]
    if isinstance(node, Const):
        return const(cast(float, node.value), _type(node.dtype, types))
    changed: dict[str, Any] = {}
    for field in fields(type(node)):
        value = getattr(node, field.name)
        if field.kind == "child" and isinstance(value, tuple):
            parts = cast("tuple[Expr, ...]", value)
            changed[field.name] = tuple([_filled(each, holes, types) for each in parts])
        elif field.kind == "child" and value is not None:
            changed[field.name] = _filled(value, holes, types)
        elif field.name == "dtype":
            changed["dtype"] = _type(cast(DType, value), types)
    return node.replace(**changed)


def _type(dtype: DType, types: Mapping[DType, DType]) -> DType:
    return types.get(dtype, dtype)


def _constants(dtype: DType, many: bool) -> Sequence[Const]:
    """Return the constants to try: of 8 bits all of them, otherwise those at the edges."""
    if dtype.is_bool:
        return [Const(False, dtype), Const(True, dtype)]
    if dtype.is_float:
        return [Const(value, dtype) for value in (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.0)]
    if dtype.bits == 8:
        return [Const(value, dtype) for value in range(dtype.low, dtype.high + 1)]
    powers = [1 << bit for bit in range(0, dtype.bits, 8 if many else 1)]
    near = [each + step for each in powers for step in (-1, 0, 1)]
    edges = {*near, *(-each for each in near), 5, 6, 10, 100, dtype.low, dtype.high}
    return [Const(each, dtype) for each in sorted(edges) if dtype.low <= each <= dtype.high]
