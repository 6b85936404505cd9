"""LLVM 20 to 22.1 must not take an index that wraps around for consecutive."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

import irkit
from irkit.codegen import complete_target, emit, emit_c
from irkit.codegen.wrapping_loops import without_cure, wrapping_loops
from irkit.core import IRModule, Target
from irkit.ir import Buffer, PrimFunc, as_int, interpret, numpy_dtype, parse

ROOM = 512
"""Elements behind an array, for what wrong code writes there."""
PLACES = {
    "alone": "for j in serial(0, {n}):",
    "in one": "for i in serial(0, 16):\n for j in serial(0, {n}):",
    "in two": "for h in serial(0, 8):\n for i in serial(0, 16):\n  for j in serial(0, {n}):",
    "guarded": "for i in serial(0, 16):\n for j in serial(0, {n}):\n  if j < {n} - 2:",
    "alone guarded": "for j in serial(0, {n}):\n if j < {n} - 2:",
}
ROWS = {"alone": "0, 0", "alone guarded": "0, 0", "in two": "h, i"}
INDICES = {
    "remainder": "(j + {o}) % {n}",
    "i32 mask": "cast(cast(j + {o}, i32) & i32({n} - 1), i64)",
    "i64 mask": "j + {o} & {n} - 1",
    "u8": "cast(cast(j + {o}, u8) % u8({n}), i64)",
    "u32": "cast(cast(j + {o}, u32) % u32({n}), i64)",
    "shifts": "j + {o} << 64 - {k} >> 64 - {k} & {n} - 1",
    "reversed": "({o} - j) % {n}",
}
"""Indices that wrap around at n = 2**k."""


def program(
    place: str, index: str, *, store: bool = False, k: int = 5, offset: int = 3, dtype: str = "f32"
) -> PrimFunc:
    """Return a function that reads, or writes, rows moved by an offset."""
    n, row = 1 << k, ROWS.get(place, "0, i")
    moved = INDICES[index].format(n=n, k=k, o=offset)
    loops = PLACES[place].format(n=n).splitlines()
    read, written = ("j", moved) if store else (moved, "j")
    copied = f"{len(loops) * ' '}C[{row}, {written}] = A[{row}, j] + A[{row}, {read}]"
    body = "\n ".join([*loops, copied])
    return parse(f"def f(A: {dtype}[8, 16, {n}], C: {dtype}[8, 16, {n}]):\n {body}\n")


def family(indices: Iterable[str]) -> Iterator[PrimFunc]:
    for place, index in product(PLACES, indices):
        yield program(place, index, store=index in ("remainder", "u32"))
    for place, store in product(("in two", "guarded"), (False, True)):
        yield program(place, "i32 mask", store=store, offset=17)


def filled(shape: Sequence[int], dtype: Any, first: int) -> tuple[Any, Any]:
    """Return an array, and it with room behind it."""
    size = int(np.prod(shape))
    whole = (np.arange(size + ROOM) % 101 + first).astype(dtype)
    return whole[:size].reshape(shape), whole


def wrong(funcs: Sequence[PrimFunc]) -> list[int]:
    """Return which functions write something else natively than interpreted."""
    kernels = irkit.build(IRModule({f"f{at}": func for at, func in enumerate(funcs)}))
    found = list[int]()
    for at, func in enumerate(funcs):
        _, written = func.params
        assert isinstance(written, Buffer)
        shape = [as_int(dim) or 0 for dim in written.shape]
        dtype = numpy_dtype(written.dtype)
        read, (native, whole), (expected, right) = (filled(shape, dtype, k) for k in (0, 7, 7))
        kernels[f"f{at}"](read[0], native)
        interpret(func, read[0], expected)
        if not np.array_equal(whole, right):
            found.append(at)
    return found


def test_an_index_that_wraps_around_reads_and_writes_what_the_interpreter_does() -> None:
    assert wrong(list(family(["remainder", "i32 mask"]))) == []


@pytest.mark.long
def test_each_index_that_wraps_around_does_what_the_interpreter_does() -> None:
    assert wrong(list(family(INDICES))) == []
    for k, store in product((4, 6, 9), (False, True)):
        widths = [
            program("in two", "remainder", store=store, k=k, offset=offset, dtype=dtype)
            for offset, dtype in product((1, 7, (1 << k) - 1), ("i8", "i16", "f64"))
        ]
        assert wrong(widths) == []


def test_without_the_cure_llvm_takes_the_index_for_consecutive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("IRKIT_CACHE", "0")
    places = [("in two", False), ("in two", True), ("guarded", False)]
    funcs = [program(place, "remainder", store=store) for place, store in places]
    with without_cure():
        assert wrong(funcs) == [0, 1, 2]


def test_an_index_of_fewer_bits_wraps_beside_one_of_more() -> None:
    """No index has 32 bits here: LLVM takes no wrap in 12 bits for no wrap in 10."""
    func = parse("""
def f(A: f32[4096], B: f32[1024], C: f32[1500], b: i64):
    for j in serial(0, 1500):
        C[j] = A[(b * 8 + j + 3) % 4096] + B[(j + 3) % 1024]
""")
    a, b = np.arange(4096, dtype=np.float32), np.arange(1024, dtype=np.float32)
    native, expected = np.zeros((2, 1500), np.float32)
    irkit.build(func)(a, b, native, 5)
    interpret(func, a, b, expected, 5)
    np.testing.assert_array_equal(native, expected)


def names(text: str) -> set[str]:
    """Return the loops that LLVM must not vectorise."""
    return {var.name for var in wrapping_loops(parse(text))}


@pytest.mark.parametrize(
    ("index", "loops"),
    [
        ("(i + j) % 16", {"i", "j"}),
        ("(j & 7) + i", {"j"}),
        ("i * 8 + (j + 40) % 64", set[str]()),  # j + 40 < 64.
        ("(j + i * 16) // 16 % 4", {"i", "j"}),
        ("cast(I[j], i64) % 32", set[str]()),  # What is loaded does not move by steps.
        ("cast(cast(j, f32) * f32(1.5), i64) % 32", set[str]()),
        ("cast(cast(j + 250, u8), i64)", {"j"}),
        ("cast(cast(j, u8), i64)", set[str]()),
        ("cast(cast(j, u8) + u8(250), i64)", {"j"}),
        ("cast(cast(j, i8) + i8(50), i64)", set[str]()),
        ("cast(cast(j - 5, i32), i64) + 5", set[str]()),
        ("cast(cast(cast(j - 5, i32), u32) & u32(31), i64)", {"j"}),
        ("(j << 61) >> 61 & 7", {"j"}),
        ("j << 2", set[str]()),
        ("cast((cast(j, i32) * i32(268435456)) // i32(268435456), i64) + 8", {"j"}),
        ("truncmod(j + i, 4)", {"i", "j"}),
        ("min(j % 4, 3)", {"j"}),
    ],
)
def test_the_loops_with_which_the_index_wraps_are_found(index: str, loops: set[str]) -> None:
    function = f"""
def f(A: f32[512], I: i32[16], C: f32[16]):
    for i in serial(0, 8):
        for j in serial(0, 16):
            C[j] = A[{index}]
"""
    assert names(function) == loops


def test_a_variable_of_the_body_is_followed_where_a_loop_is_cut() -> None:
    text = """
def f(A: f32[32], C: f32[32]):
    for j in serial(0, 32):
        k: i64 = (j + 3) % 32
        C[j] = A[k]
"""
    assert list(wrapping_loops(parse(text)).values()) == [(0, 29, 32)]


@pytest.mark.parametrize(
    ("loop", "index", "ends"),
    [
        ("serial(0, 32)", "(j + 3) % 32", (0, 29, 32)),
        ("serial(-5, 20)", "(j + 3) & 15", (-5, -3, 13, 20)),
        ("serial(0, 64)", "cast(cast(j + 250, u8), i64)", (0, 6, 64)),
        ("serial(0, 32)", "(j + 3) % 32 + (j + 31) % 32", (0, 1, 29, 32)),
        ("serial(0, 64)", "j % 8", ()),  # That would be eight parts.
        ("serial(0, 32)", "(j + n) % 32", ()),  # Where it wraps around is not known.
        ("serial(0, n)", "(j + 3) % 32", ()),
    ],
)
def test_a_loop_is_cut_where_its_index_wraps(loop: str, index: str, ends: tuple[int, ...]) -> None:
    text = f"def f(A: f32[512], C: f32[512], n: i64):\n for j in {loop}:\n  C[j + 5] = A[{index}]\n"
    assert list(wrapping_loops(parse(text)).values()) == [ends]


def test_a_local_variable_that_counts_and_wraps_is_seen() -> None:
    counted = """
def f(A: f32[64], C: f32[64]):
    t = alloc(i32[1], scope="local")
    t[0] = i32(0)
    for j in serial(0, 64):
        C[j] = A[t[0]]
        t[0] = t[0] + i32(1) & i32(31)
"""
    passed = """
def f(A: f32[64], C: f32[64]):
    t = alloc(i64[1], scope="local")
    for j in serial(0, 64):
        k: i64 = (j + 3) % 32
        t[0] = k
        C[j] = A[t[0]]
"""
    assert names(counted) == names(passed) == {"j"}


def test_a_view_that_wraps_is_seen() -> None:
    text = """
def f(A: f32[64], C: f32[64]):
    for j in serial(0, 64):
        V = view(A, f32[1], offset=(j + 3) % 64)
        C[j] = V[0]
"""
    assert names(text) == {"j"}


@pytest.mark.parametrize("triple", ["", "aarch64-linux-gnu", "riscv64-linux-gnu", "wasm32"])
def test_only_the_loop_around_such_an_index_has_another_text(triple: str) -> None:
    text = """
def f(A: f32[8, 32], C: f32[8, 32], D: u8[32]):
    for i in serial(0, 8):
        for j in serial(0, 32):
            C[i, j] = A[i, {index}]
        for k in serial(0, 32):
            D[k] = D[k] & u8(15)
"""
    target = complete_target(Target(triple=triple))
    plain, wraps = (parse(text.format(index=index)) for index in ("31 - j", "(i + j) % 32"))
    cured = [emit([func], target) for func in (plain, wraps)]
    with without_cure():
        uncured = [emit([func], target) for func in (plain, wraps)]
    assert cured[0] == uncured[0]
    changed = [
        (new, old)
        for new, old in zip(cured[1].splitlines(), uncured[1].splitlines(), strict=True)
        if new != old
    ]
    assert [new.removeprefix(old) for new, old in changed] == 2 * [", !llvm.loop !2"]


def test_c_source_has_a_hint_for_clang_before_such_a_loop_only() -> None:
    text = "def f(A: f32[64], C: f32[64]):\n for j in serial(0, 64):\n  C[j] = A[{index}]\n"
    sources = [
        emit_c([parse(text.format(index=index))], Target("c"))
        for index in ("63 - j", "(j + 3) % 64")
    ]
    hint = "#if defined(__clang__)\n#pragma clang loop vectorize(disable)\n#endif\n    for ("
    assert [source.count(hint) for source in sources] == [0, 1]
