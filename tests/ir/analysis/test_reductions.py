"""Accumulations and identities, compared with runs in every order."""

from itertools import permutations
from typing import Any

import numpy as np
import pytest

from irkit.core import walk
from irkit.ir import (
    BOOL,
    F32,
    I8,
    I64,
    OPERATIONS,
    U8,
    Binary,
    Block,
    Const,
    DType,
    Scalar,
    const,
    interpret,
    parse,
)
from irkit.ir.analysis import IDENTITIES, accumulates, accumulation_of, identity_of, reductions
from irkit.ir.arith import fold


def values(dtype: DType) -> list[Scalar]:
    if dtype.is_bool:
        return [False, True]
    if dtype.is_float:
        return [0.0, 1.5, -2.0, float("inf"), -float("inf"), 65504.0]
    return [dtype.low, dtype.low + 1, 0, 1, 5, dtype.high - 1, dtype.high]


def combined(operation: type[Binary], a: Scalar, b: Scalar, dtype: DType) -> Scalar:
    found = fold(operation(const(a, dtype), const(b, dtype), dtype))
    assert isinstance(found, Const)
    return found.value


def cases() -> list[tuple[type[Binary], DType]]:
    return [
        (operation, dtype)
        for operation in IDENTITIES
        for dtype in (BOOL, I8, I64, U8, F32)
        if dtype.kind in OPERATIONS[operation].kinds
    ]


def check_identity(operation: type[Binary], dtype: DType) -> None:
    identity = identity_of(operation, dtype)
    assert isinstance(identity, Const)
    assert identity.dtype == dtype
    for value in values(dtype):
        assert combined(operation, value, identity.value, dtype) == value
        assert combined(operation, identity.value, value, dtype) == value


@pytest.mark.parametrize(("operation", "dtype"), cases())
def test_an_identity_changes_no_value(operation: type[Binary], dtype: DType) -> None:
    check_identity(operation, dtype)


@pytest.mark.parametrize(("operation", "dtype"), [c for c in cases() if c[1] != F32])
def test_an_operation_of_the_table_takes_values_in_any_order(
    operation: type[Binary], dtype: DType
) -> None:
    for a in values(dtype):
        for b in values(dtype):
            ab = combined(operation, a, b, dtype)
            assert ab == combined(operation, b, a, dtype)
            for c in values(dtype):
                bc = combined(operation, b, c, dtype)
                assert combined(operation, ab, c, dtype) == combined(operation, a, bc, dtype)


# Updates of C by step k of a reduction, and whether they are accumulations.
UPDATES = {
    "C[0] = C[0] + A[k]": True,
    "C[0] = A[k] * 2 + C[0]": True,
    "C[1] = C[1] * A[k]": True,
    "C[1] = max(C[1], A[k] - A[0])": True,
    "C[2] = min(A[k] * A[k], C[2])": True,
    "C[2] = C[2] ^ A[k] & 3": True,
    "C[0] = C[0] - A[k]": False,
    "C[0] = A[k] - C[0]": False,
    "C[0] = C[0] + C[0] + A[k]": False,
    "C[0] = C[0] + C[0]": False,
    "C[0] = C[1] + A[k]": False,
    "C[0] = C[0] + V[0] * A[k]": False,
    "C[C[3] % 4] = C[C[3] % 4] + A[k]": False,
    "C[k % 2] = C[k % 2] + C[k % 2 + 1]": False,
    "C[0] = A[k]": False,
}
CONDITIONS = {"A[k] > 1": True, "C[0] < 4": False, "V[1] < 4": False, "": True}
FUNC = """\
def f(A: i64[4], C: i64[8]):
    V = view(C, i64[8], offset=0)
"""


def check_update(update: str, condition: str) -> tuple[bool, bool]:
    """Return whether an update is an accumulation with and without condition; if so, check that
    every order of the steps gives the same."""
    where = f"            where({condition})\n" if condition else ""
    block = f'    for k_0 in serial(0, 4):\n        with block("C"):\n{{}}            {update}\n'
    head = "            k = axis.reduce(4, k_0)\n"
    func = parse(FUNC + block.format(head + where))
    (found,) = walk(func.body, Block)
    whole = accumulates(func, found)
    if condition:
        inner = update.replace("C[", "C[", 1)
        lines = f"            if {condition}:\n                {inner}\n"
        func = parse(FUNC + block.format(head).replace(f"            {update}\n", lines))
        (found,) = walk(func.body, Block)
    inside = accumulation_of(func, found) is not None
    if whole or inside:
        results = {tuple(steps(update, condition, order)) for order in permutations(range(4))}
        assert len(results) == 1, (update, condition)
    return whole, inside


def steps(update: str, condition: str, order: tuple[int, ...]) -> list[int]:
    lines = [FUNC]
    for k in order:
        pad = "    "
        if condition:
            lines.append(f"    if {condition}:\n".replace("[k]", f"[{k}]"))
            pad = "        "
        made = update.replace("[k]", f"[{k}]").replace("k % 2", f"({k} % 2)")
        lines.append(f"{pad}{made}\n")
    given = np.array([3, 1, 2, 5]), np.array([1, 2, 7, 1, 0, 0, 0, 0])
    interpret(parse("".join(lines)), *given)
    return given[1].tolist()


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("update", UPDATES)
def test_an_accumulation_gives_the_same_in_any_order(update: str, condition: str) -> None:
    expected = UPDATES[update] and CONDITIONS[condition]
    # A condition on the same element decides differently in another order.
    assert check_update(update, condition) == (expected, expected)


def test_a_condition_is_part_of_an_accumulation_but_does_not_only_accumulate() -> None:
    func = parse(
        "def f(A: i64[4], C: i64[8]):\n    for k in serial(0, 4):\n"
        '        with block("C"):\n            v = axis.reduce(4, k)\n'
        "            if A[v] > 1:\n                C[0] = C[0] + A[v]\n"
    )
    (block,) = walk(func.body, Block)
    found = accumulation_of(func, block)
    assert found is not None
    assert found.cond is not None
    assert not accumulates(func, block)


def check_all_identities() -> None:
    for operation, dtype in cases():
        check_identity(operation, dtype)


@pytest.mark.parametrize("operation", IDENTITIES)
def test_a_planted_identity_is_found(
    operation: type[Binary], monkeypatch: pytest.MonkeyPatch
) -> None:
    right = IDENTITIES[operation]

    def wrong(dtype: DType) -> Scalar:
        return not right(dtype) if dtype.is_bool else 3

    monkeypatch.setitem(IDENTITIES, operation, wrong)
    with pytest.raises(AssertionError):
        check_all_identities()


def check_all_updates() -> None:
    for update in UPDATES:
        check_update(update, "")


@pytest.mark.parametrize(
    "bug",
    [
        ("same_place", lambda a, b: True),
        ("same_place", lambda a, b: a.buffer is b.buffer),
        ("walk", lambda root, on: iter(())),
    ],
)
def test_a_planted_bug_in_accumulations_is_found(bug: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reductions, *bug)
    with pytest.raises(AssertionError):
        check_all_updates()
