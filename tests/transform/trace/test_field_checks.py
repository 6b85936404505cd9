"""A checker that remembers what passed says the same as the checks of each field."""

import random
from typing import Any, Literal

import msgspec

from irkit.core import field_checker
from irkit.core.field_checks import field_predicates


class Held(msgspec.Struct, frozen=True):
    kind: Literal["serial", "parallel", 1]
    count: int
    name: str | None
    items: tuple[int, ...]
    several: tuple[int | str, ...] | None
    pair: tuple[int, str]
    nested: tuple[tuple[int, ...], ...]
    either: tuple[int, ...] | tuple[str, ...]


class Ordered(msgspec.Struct, frozen=True, kw_only=True):
    first: int
    second: str


PARTS: tuple[Any, ...] = (None, True, 1, 2, 1.5, "serial", "x", b"x", ())


def drawn(chance: random.Random, depth: int = 0) -> Any:
    if depth < 3 and chance.random() < 0.5:
        alike = chance.random() < 0.7
        made = [drawn(chance, depth + 1) for _ in range(chance.randrange(4))]
        return tuple(made[:1] * 2 if alike else made)
    return chance.choice(PARTS)


def test_what_is_remembered_decides_as_the_checks_of_each_field_do() -> None:
    chance = random.Random(5)
    right = ["serial", 3, None, (1, 2), (1, "x"), (1, "x"), ((1,), ()), ("x",)]
    outcomes = set[int | None]()
    checker, predicates = field_checker(Held), field_predicates(Held)
    for _ in range(8_000):
        values: list[Any] = list(right)
        for at in range(len(right)):
            if chance.random() < 0.1:
                values[at] = drawn(chance)
        wrong = [at for at, (_, check) in enumerate(predicates) if not check(values[at])]
        found = checker.wrong(values)
        assert found == (wrong[0] if wrong else None), values
        outcomes.add(found)
    assert outcomes == {None, *range(len(right))}


def test_structs_of_either_kind_are_made_from_values_in_order() -> None:
    assert field_checker(Ordered).make(1, "x") == Ordered(first=1, second="x")
    assert field_checker(Ordered).wrong([1, 2]) == 1
