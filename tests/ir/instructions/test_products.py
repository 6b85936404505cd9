"""The meanings of fused products and of products of tiles, against numbers without rounding."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from irkit.ir import (
    BF16,
    Instruction,
    Store,
    expand_instructions,
    find_instruction,
    interpret,
    numpy_dtype,
    parse,
    script,
    verify,
)

LANES = 2048


def known(name: str) -> Instruction:
    row = find_instruction(name)
    assert row is not None
    return row


def drawn(seed: int) -> tuple[NDArray[Any], ...]:
    """Draw sums and factors of f16 by their bits, and factors whose product almost cancels."""
    random = np.random.default_rng(seed)
    acc, a, b = np.frombuffer(random.bytes(6 * LANES), np.float16).reshape(3, LANES).copy()
    with np.errstate(all="ignore"):
        near = -(a.astype(np.float64) * b).astype(np.float16)
    acc = np.where(random.random(LANES) < 0.3, near, acc)
    # A large product next to the least sums makes numbers next to ties.
    acc = np.where(random.random(LANES) < 0.3, random.choice([-1, 1], LANES) * 2.0**-24, acc)
    return acc.astype(np.float16), a, b


def nearest(exact: Fraction) -> np.float16:
    """Return the number of f16 nearest to another one, of two the even one."""
    low, high = 0, 0x7C00  # Bits of 0 and of infinity, which stands for 65536.
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if size_of(middle) <= abs(exact) else (low, middle)
    above, below = size_of(high) - abs(exact), abs(exact) - size_of(low)
    bits = high if above < below or (above == below and high % 2 == 0) else low
    return np.uint16(bits | (0x8000 if exact < 0 else 0)).view(np.float16)


def size_of(bits: int) -> Fraction:
    return Fraction(65536) if bits == 0x7C00 else Fraction(float(np.uint16(bits).view(np.float16)))


def fused(text: str, acc: NDArray[Any], a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Run the meaning of the instruction of 32 lanes on any number of lanes."""
    out = np.empty(LANES, np.float16)
    interpret(
        parse(text.replace("32]", f"{LANES}]").replace("0, 32)", f"0, {LANES})")), acc, a, b, out
    )
    return out


def wrong_lanes(text: str, seed: int) -> int:
    acc, a, b = drawn(seed)
    found, wrong = fused(text, acc, a, b), 0
    for n in range(LANES):
        if all(np.isfinite([acc[n], a[n], b[n]])):
            product = Fraction(float(a[n])) * Fraction(float(b[n]))
            wrong += bool(nearest(product + Fraction(float(acc[n]))) != found[n])
    return wrong


def test_a_product_of_f16_is_rounded_once() -> None:
    text = script(known("x86_vfmaddph_512").meaning)
    assert sum(wrong_lanes(text, seed) for seed in range(3)) == 0


def test_ties_that_a_second_rounding_would_make_are_seen() -> None:
    text = script(known("x86_vfmaddph_512").meaning)
    twice = text[: text.index("cast(select(")] + "cast(total, f16)\n"
    assert wrong_lanes(twice, 0) > 0


@pytest.mark.parametrize(
    ("acc", "a", "b", "wanted"),
    [
        (np.inf, 1, 1, np.inf),
        (-np.inf, 1, 1, -np.inf),
        (np.inf, -np.inf, 1, np.nan),
        (0, np.inf, 0, np.nan),
        (np.nan, 1, 1, np.nan),
        (-0.0, -0.0, 1, -0.0),
        (0.0, -0.0, 1, 0.0),
        (65504, 1, 16, np.inf),  # A tie, and 65536 is even.
        (65504, 1, 15.99, 65504),
        (-(2.0**-24), 240, 273, 65504),  # 65520 less a little: no tie.
        (0, 2.0**-12, 2.0**-13, 0),  # A tie below the least number.
        (2.0**-24, 2.0**-12, 2.0**-12, 2.0**-23),
    ],
)
def test_edges_of_f16(acc: float, a: float, b: float, wanted: float) -> None:
    given = [np.full(32, each, np.float16) for each in (acc, a, b)]
    out = np.empty(32, np.float16)
    interpret(known("x86_vfmaddph_512").meaning, *given, out)
    assert np.array_equal(out, np.full(32, wanted, np.float16), equal_nan=True)
    assert (np.signbit(out) == np.signbit(wanted)).all() or np.isnan(wanted)


@pytest.mark.parametrize(
    ("name", "a", "b"),
    [
        ("tdpbssd", np.int8, np.int8),
        ("tdpbsud", np.int8, np.uint8),
        ("tdpbusd", np.uint8, np.int8),
        ("tdpbuud", np.uint8, np.uint8),
    ],
)
def test_a_product_of_tiles_of_bytes(name: str, a: type[Any], b: type[Any]) -> None:
    random = np.random.default_rng(0)
    left = np.frombuffer(random.bytes(1024), a).reshape(16, 64)
    right = np.frombuffer(random.bytes(1024), b).reshape(64, 16)
    acc = random.integers(-(2**31), 2**31, (16, 16)).astype(np.int32)
    groups = right.reshape(16, 4, 16).transpose(0, 2, 1).reshape(-1)
    out = np.empty(256, np.int32)
    interpret(known(f"x86_{name}_16x16x64").meaning, acc.ravel(), left.ravel(), groups, out)
    with np.errstate(over="ignore"):
        wanted = acc + left.astype(np.int32) @ right.astype(np.int32)
    assert (out.reshape(16, 16) == wanted).all()


def bf16_tiles(acc: NDArray[Any], left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    groups = right.reshape(16, 2, 16).transpose(0, 2, 1).reshape(-1)
    bf16, out = numpy_dtype(BF16), np.empty(256, np.float32)
    row = known("x86_tdpbf16ps_16x16x32")
    given = acc.astype(np.float32).ravel(), left.astype(bf16).ravel(), groups.astype(bf16)
    interpret(row.meaning, *given, out)
    return out.reshape(16, 16)


def test_a_product_of_tiles_of_bf16() -> None:
    random = np.random.default_rng(0)
    left, right, acc = (random.integers(-8, 9, s) for s in ((16, 32), (32, 16), (16, 16)))
    assert (bf16_tiles(acc, left, right) == acc + left @ right).all()


def test_tiles_add_even_and_odd_neighbours_apart_and_take_no_denormals() -> None:
    left, right, acc = np.zeros((16, 32)), np.zeros((32, 16)), np.zeros((16, 16))
    left[0, :4], right[:4, 0] = [2.0**30, 1, -(2.0**30), 1], 1
    acc[0, 0] = 2.0**-20  # Alone, the odd ones are 2, and 2 + 2**-20 is a number of f32.
    left[1, 0], right[0, 1] = 2.0**-130, 2.0**100
    acc[2, 2] = 2.0**-130
    found = bf16_tiles(acc, left, right)
    assert found[0, 0] == 2 + 2.0**-20
    assert found[1, 1] == 0
    assert found[2, 2] == 0


def test_loops_of_a_tile_take_the_place_of_a_call() -> None:
    every, sums = "ramp(0, 1, 1024)", "ramp(0, 1, 256)"
    called = f"x86_tdpbusd_16x16x64(c[{sums}], a[{every}], b[{every}])"
    func = parse(f"def f(a: u8[1024], b: i8[1024], c: i32[256]):\n    c[{sums}] = {called}\n")
    loops = expand_instructions(func)
    assert verify(func) == verify(loops) == []
    assert isinstance(func.body, Store)
    random = np.random.default_rng(0)
    a, b = random.integers(0, 100, (2, 1024))
    c, d = np.zeros((2, 256), np.int32)
    interpret(func, a.astype(np.uint8), b.astype(np.int8), c)
    interpret(loops, a.astype(np.uint8), b.astype(np.int8), d)
    assert c.any()
    assert (c == d).all()
