"""Sizes that would wrap around are refused before anything is written, and no others."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import irkit
from irkit.core import ShapeError
from irkit.debug.execution.guard_pages import GuardedPages
from irkit.ir import MemoryLimit, PrimFunc, interpret, parse
from irkit.processes import Limits
from irkit.processes.fork import run_in_fork

HOSTILE = (
    0, 1, 2, 3, 2**16, 2**21, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 3037000500, 3037000499,
    2**33, 2**61, 2**62 - 1, 2**62, 2**62 + 1, 2**63 - 16, 2**63 - 4, 2**63 - 1,
)  # fmt: skip
MOST_ELEMENTS = 64
Tree = int | str | tuple[str, "Tree", "Tree"]


class Refused(Exception):
    """An exact value that the type of sizes does not hold."""


def text_of(tree: Tree) -> str:
    if not isinstance(tree, tuple):
        return str(tree)
    sign, a, b = tree
    one, two = text_of(a), text_of(b)
    return f"min({one}, {two})" if sign == "min" else f"({one} {sign} {two})"


def exact(tree: Tree, given: dict[str, int]) -> int:
    """Return the value of a size in whole numbers. Raises: Refused for an operand of a division or
    a minimum that i64 does not hold."""
    if isinstance(tree, int):
        return tree
    if isinstance(tree, str):
        return given[tree]
    sign, a, b = tree
    one, two = exact(a, given), exact(b, given)
    match sign:
        case "+":
            return one + two
        case "-":
            return one - two
        case "*":
            return one * two
        case _:
            one, two = held(one), held(two)
            return min(one, two) if sign == "min" else one // two if two else 0


def held(value: int) -> int:
    if not -(2**63) <= value < 2**63:
        raise Refused
    return value


def wrapped(tree: Tree, given: dict[str, int]) -> int:
    """Return the value of a size modulo 2**64, the shape that once was accepted."""
    if not isinstance(tree, tuple):
        return exact(tree, given)
    one, two = (wrapped(each, given) for each in tree[1:])
    value = exact((tree[0], one, two), given)
    return (value + 2**63) % 2**64 - 2**63


def terms(tree: Tree, given: dict[str, int]) -> int:
    """Return the sum of the absolute values of the terms of a size. Larger terms than 2**110 that
    cancel are refused too."""
    if not isinstance(tree, tuple):
        return exact(tree, given)
    one, two = (terms(each, given) for each in tree[1:])
    return one * two if tree[0] == "*" else one + two


def drawn_size(draw: random.Random, depth: int = 3) -> Tree:
    if depth == 0 or draw.random() < 0.2:
        return draw.choice(["n", "n", "m", draw.choice([1, 2, 3, 4, 15, 16])])
    sign = draw.choice(["*", "*", "*", "+", "+", "-", "//", "min"])
    right = draw.choice([2, 4, 16]) if sign == "//" else drawn_size(draw, depth - 1)
    return sign, drawn_size(draw, depth - 1), right


def loops_over(dims: Sequence[str], form: str) -> str:
    """Return a function that fills an array, by one loop for each dimension, by one for all, or by
    loops over blocks of 16."""
    head = f"def f(n: i64, m: i64, C: f32[{', '.join(dims)}]):\n"
    if form == "fused" and len(dims) == 2:
        return (
            f"{head}    for p in serial(0, {dims[0]} * {dims[1]}):\n"
            f"        C[p // {dims[1]}, p % {dims[1]}] = f32(1.0)\n"
        )
    lines, indent = [head], "    "
    for axis, dim in enumerate(dims):
        if form == "blocked":
            lines.append(f"{indent}for o{axis} in serial(0, ({dim} + 15) // 16):\n")
            lines.append(f"{indent}    for r{axis} in serial(0, 16):\n")
            lines.append(f"{indent}        if o{axis} * 16 + r{axis} < {dim}:\n")
            indent += "            "
        else:
            lines.append(f"{indent}for i{axis} in serial(0, {dim}):\n")
            indent += "    "
    names = [f"o{k} * 16 + r{k}" if form == "blocked" else f"i{k}" for k in range(len(dims))]
    return "".join([*lines, f"{indent}C[{', '.join(names)}] = f32(1.0)\n"])


def guarded(shape: Sequence[int]) -> Any:
    """Return an array of zeros that ends where its memory does."""
    pages = GuardedPages(1)
    end = pages.size - 4 * int(np.prod(shape))
    array: Any = np.ndarray(tuple(shape), "f4", buffer=pages.bytes, offset=end)
    array[...] = 0
    return array


def agrees(run: Callable[..., object], trees: Sequence[Tree], given: dict[str, int]) -> int | None:
    """Call with the array that sizes modulo 2**64 fit; return 1 if the call is refused, 0 if it
    fills the array, and None if there is no such array."""
    shape = [wrapped(tree, given) for tree in trees]
    sizes = [size for size in shape if size]
    count = 0 if len(sizes) < len(shape) else np.prod(sizes, dtype=object)
    if min(shape) < 0 or count > MOST_ELEMENTS or np.prod(sizes, dtype=object) * 4 >= 2**63:
        return None
    try:
        right = [exact(tree, given) for tree in trees] == shape
    except Refused:
        right = False
    if not count and len(sizes) > 0 and max(sizes) > 2**20 and right:
        return None  # Nothing to do, in many empty iterations.
    array = guarded(shape)
    try:
        run(given["n"], given["m"], array)
    except ShapeError:
        huge = any(terms(tree, given) >= 2**110 for tree in trees)
        assert huge or not right, (
            f"{[text_of(tree) for tree in trees]} at {given} is {shape}, was refused"
        )
        return 1
    assert right, f"{[text_of(tree) for tree in trees]} at {given} was accepted as {shape}"
    assert (array == 1).all()
    return 0


def compare(seed: int, count: int, native: bool = True) -> tuple[int, int]:
    """Draw shapes and sizes; return how many calls were accepted and how many refused."""
    draw, found = random.Random(seed), [0, 0]
    for _ in range(count):
        trees = [drawn_size(draw) for _ in range(draw.choice([1, 1, 2]))]
        form = draw.choice(["loops", "fused", "blocked"])
        func = parse(loops_over([text_of(tree) for tree in trees], form))
        run: Callable[..., object] = irkit.build(func) if native else interpreted(func)
        for _ in range(40):
            given = {name: draw.choice(HOSTILE) for name in ("n", "m")}
            told = agrees(run, trees, given)
            if told is not None:
                found[told] += 1
    return found[0], found[1]


def in_child(seed: int, count: int) -> tuple[int, int]:
    """Compare native code in a child process, which an access beyond an array would kill."""
    told = run_in_fork(
        lambda: " ".join(map(str, compare(seed, count))).encode(), Limits(None, None)
    )
    accepted, refused = told.split()
    return int(accepted), int(refused)


def interpreted(func: PrimFunc) -> Callable[..., object]:
    return lambda *args: interpret(func, *args)


def test_drawn_sizes_are_refused_where_whole_numbers_leave_64_bits() -> None:
    accepted, refused = in_child(1, 12)
    assert accepted > 10
    assert refused > 10


def test_the_interpreter_refuses_the_same() -> None:
    accepted, refused = compare(2, 60, native=False)
    assert accepted > 50
    assert refused > 50


@pytest.mark.long
def test_ten_thousand_drawn_shapes() -> None:
    for seed in range(40):
        in_child(1000 + seed, 250)


@pytest.mark.parametrize("shape", ["n * n", "n * n * n", "n * 4", "n + 1, n * n", "n, n * n"])
def test_a_shape_that_wraps_around_to_an_empty_one_is_refused(shape: str) -> None:
    kernel = irkit.build(parse(loops_over(shape.split(", "), "loops").replace("m: i64, ", "")))
    place = {"n * 4": 2**62}.get(shape, 2**32)
    sizes = {"n": place, "n + 1": place + 1}
    array = np.zeros([sizes.get(dim, 0) for dim in shape.split(", ")], "f4")
    with pytest.raises(ShapeError, match=r"must be \d{20,}; found 0"):
        kernel(place, array)


@pytest.mark.parametrize("size", [2**31, 2**32, 2**60])
def test_large_extents_of_an_empty_array_are_legal(size: int) -> None:
    text = (
        "def f(A: f32[n, m, k], C: f32[n, m, k]):\n"
        "    for p in serial(0, n * m):\n"
        "        for q in serial(0, k):\n"
        "            C[p // m, p % m, q] = A[p // m, p % m, q]\n"
    )
    kernel = irkit.build(parse(text))
    for shape in ((size, 2**60 // size, 0), (size, 0, 2**60 // size)):
        kernel(np.zeros(shape, "f4"), np.zeros(shape, "f4"))


def test_an_extent_that_a_loop_variable_scales_is_checked_at_the_allocation() -> None:
    text = (
        "def f(n: i64, K: i64[1], C: f32[4]):\n"
        "    for i in serial(0, 4):\n"
        "        T = alloc(f32[n * i + 8])\n"
        "        T[K[0]] = f32(1.0)\n"
        "        C[i] = T[K[0]]\n"
    )
    func = parse(text)
    for run in (irkit.build(func), interpreted(func)):
        with pytest.raises((ShapeError, MemoryError, MemoryLimit)):
            run(2**62 + 1, np.zeros(1, "i8"), np.zeros(4, "f4"))
        with pytest.raises(ShapeError, match="a size that i64 does not hold"):
            run(2**63 - 1, np.zeros(1, "i8"), np.zeros(4, "f4"))
        array = np.zeros(4, "f4")
        run(3, np.full(1, 7), array)
        assert (array == 1).all()


def test_cancelling_terms_do_no_harm() -> None:
    kernel = irkit.build(parse(loops_over(["n * 4 - n * 3 - m"], "loops")))
    array = np.zeros(3, "f4")
    kernel(2**62 + 3, 2**62, array)
    assert (array == 1).all()


def test_constant_shapes_have_no_check() -> None:
    kernel = irkit.build(
        parse("def f(C: f32[8]):\n    for i in serial(0, 8):\n        C[i] = 1.0\n")
    )
    assert "-32768" not in kernel.source("llvm")
