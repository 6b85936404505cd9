"""The range of an operation is the smallest one that holds all results, by trying all operands of 8
bits within ranges whose ends are at the edges of the types and around 0.

A range that is too wide is right, and costs what could have been proved with a smaller one. Where a
result can leave the type the range is the whole type, which is as docs/semantics.md has it.
"""

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from irkit.ir import I8, U8, Binary, Call, DType, Expr, FloorMod
from irkit.ir.arith import transfer as code
from irkit.ir.arith.interval import Pair, limits
from irkit.ir.reference import BINARY, call
from tests.proof.test_transfer_functions import operations

ENDS = (-128, -127, -9, -2, -1, 0, 1, 2, 7, 127, 128, 254, 255)
ALL = (
    *("Add", "Sub", "Mul", "FloorDiv", "Min", "Max", "Shr", "EQ", "NE", "LT", "LE", "GT", "GE"),
    *("abs", "sign", "truncdiv"),
)
"""Operations whose range is always the smallest."""
OF_NUMBERS = ((I8, "BitAnd"), (I8, "FloorMod"), (U8, "BitAnd"), (U8, "BitXor"), (U8, "FloorMod"))
"""Operations whose range is the smallest if both operands are known."""


def named(dtype: DType) -> dict[str, Expr]:
    return {
        name: node
        for name, node in operations(dtype)
        if isinstance(node, Binary) or (isinstance(node, Call) and len(node.args) <= 2)
    }


def results(node: Expr, dtype: DType) -> NDArray[np.int64]:
    """Compute an operation on all numbers of a type, in 64 bits.

    Shapes: [256, 256] by first and second operand, or [256, 1].
    """
    every = np.arange(dtype.low, dtype.high + 1, dtype=np.int64)
    a, b = every[:, None], every[None, :]
    if isinstance(node, Binary):
        return np.asarray(BINARY[type(node)](a, b)).astype(np.int64)
    assert isinstance(node, Call)
    return np.asarray(call(node.name, [a, b][: len(node.args)], dtype)).astype(np.int64)


def ranges(dtype: DType) -> list[Pair]:
    ends = [end for end in ENDS if dtype.low <= end <= dtype.high]
    return [(low, high) for low, high in product(ends, ends) if low <= high]


def wider(name: str, dtype: DType, *, known: bool = False) -> list[str]:
    """Return the ranges of an operation that are not the smallest; of operands that are ``known``,
    only where both ranges have a single number."""
    node = named(dtype)[name]
    table = results(node, dtype)
    assert isinstance(node, (Binary, Call))
    operands = (node.a, node.b) if isinstance(node, Binary) else node.args
    pairs = [(a, b) for a, b in product(ranges(dtype), ranges(dtype)) if table.shape[1] > 1]
    found: list[str] = []
    for a, b in pairs or [(a, (dtype.low, dtype.low)) for a in ranges(dtype)]:
        if known and (a[0] != a[1] or b[0] != b[1]):
            continue
        of = dict(zip(operands, (a, b), strict=False))
        within = table[a[0] - dtype.low : a[1] - dtype.low + 1]
        within = within[:, b[0] - dtype.low : b[1] - dtype.low + 1] if pairs else within
        whole = limits(node.dtype)
        low, high = int(within.min()), int(within.max())
        smallest = (low, high) if whole[0] <= low and high <= whole[1] else whole
        if code.transfer(node, of.__getitem__) != smallest:
            found.append(f"{a} {name} {b}: {code.transfer(node, of.__getitem__)}, not {smallest}")
    return found


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("dtype", [I8, U8], ids=str)
def test_a_range_is_the_smallest(name: str, dtype: DType) -> None:
    if name in named(dtype):
        assert wider(name, dtype) == []


@pytest.mark.parametrize(("dtype", "name"), OF_NUMBERS, ids=str)
def test_a_range_of_known_operands_is_one_number(dtype: DType, name: str) -> None:
    assert wider(name, dtype, known=True) == []


@pytest.mark.parametrize("dtype", [I8, U8], ids=str)
def test_a_remainder_is_nearer_to_0_than_the_divisor(dtype: DType) -> None:
    node = named(dtype)["FloorMod"]
    assert isinstance(node, FloorMod)
    for num, den in product(ranges(dtype), ranges(dtype)):
        low, high = code.transfer(node, {node.a: num, node.b: den}.__getitem__)
        assert low >= min(0, den[0] + 1), (num, den)
        assert high <= max(0, den[1] - 1), (num, den)


def test_a_range_that_is_too_wide_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(code.RULES, type(named(I8)["Min"]), lambda node, of: limits(node.dtype))
    assert wider("Min", I8)
