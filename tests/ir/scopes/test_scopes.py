"""Memory scopes that a program defines: their rules hold in text, schedules and native code."""

from collections.abc import Iterator

import numpy as np
import pytest

from irkit import build, lower
from irkit.codegen import complete_target, emit
from irkit.core import IRKitError, ScheduleError, Target, same
from irkit.ir import (
    F32,
    MemoryScope,
    define_scope,
    interpret,
    known_scopes,
    memory_scope,
    parse,
    script,
    verify,
)
from irkit.ir.scopes.registry import _DEFINED  # pyright: ignore[reportPrivateUsage]
from irkit.schedule import Schedule

COPY = """def f(A: f32[64], C: f32[64]):
    T = alloc(f32[64], scope="test.pad")
    for i in serial(0, 64):
        with block("T"):
            v = axis.spatial(64, i)
            T[v] = A[v] + f32(1.0)
    for i in serial(0, 64):
        with block("C"):
            v = axis.spatial(64, 63 - i)
            C[v] = T[v]
"""
THREADS = """def f(A: f32[8], C: f32[8]):
    for t in thread(0, 8, "threadIdx.x"):
        T = alloc(f32[8], scope="test.pad")
        T[t] = A[t]
        evaluate(barrier())
        C[t] = T[7 - t]
"""


@pytest.fixture(autouse=True)
def no_scope_stays() -> Iterator[None]:
    yield
    _DEFINED.clear()


def native(text: str) -> str:
    return emit([lower(parse(text))], complete_target(Target("llvm")))


def test_a_scope_is_read_and_printed_once_it_is_defined() -> None:
    with pytest.raises(IRKitError, match=r"no memory scope 'test\.pad'"):
        parse(COPY)
    row = define_scope(MemoryScope("test.pad", "a scratchpad"))
    assert define_scope(MemoryScope("test.pad", "a scratchpad")) is row
    assert memory_scope("test.pad") is row
    assert row in known_scopes()
    func = parse(COPY)
    assert verify(func) == []
    assert same(parse(script(func)), func)
    given, native_out, meant = np.arange(64, dtype=np.float32), *np.zeros((2, 64), np.float32)
    build(func)(given, native_out)
    interpret(func, given, meant)
    assert (native_out == given + 1).all()
    assert (meant == native_out).all()


def test_two_scopes_of_a_name_are_refused() -> None:
    define_scope(MemoryScope("test.pad"))
    with pytest.raises(IRKitError, match="already is a memory scope"):
        define_scope(MemoryScope("test.pad", align=64))
    with pytest.raises(IRKitError, match="already is a memory scope"):
        define_scope(MemoryScope("shared"))


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (lambda: MemoryScope("Pad"), "lower case"),
        (lambda: MemoryScope("pad", align=48), "power of two"),
        (lambda: MemoryScope("pad", most_bytes=-1), "at most -1"),
        (lambda: MemoryScope("pad", types=("f33",)), "f33"),
        (lambda: MemoryScope("pad", place="disk"), "lies in 'disk'"),  # pyright: ignore[reportArgumentType]
    ],
)
def test_what_is_no_scope_is_refused(made: object, reason: str) -> None:
    assert callable(made)
    with pytest.raises(IRKitError, match=reason):
        made()


def test_a_buffer_of_another_type_is_found_and_refused() -> None:
    define_scope(MemoryScope("test.pad", types=("i8", "i32")))
    (problem,) = verify(parse(COPY))
    assert "scope 'test.pad' holds i8 or i32, found f32" in str(problem)
    sch = Schedule(parse(COPY.replace(', scope="test.pad"', "")))
    before = sch.func
    with pytest.raises(ScheduleError, match=r"set_scope: buffer 'T': scope 'test\.pad' holds"):
        sch.set_scope(sch.get_block("T"), "test.pad")
    with pytest.raises(ScheduleError, match=r"cache_read: buffer .* holds i8 or i32, found f32"):
        sch.cache_read(sch.get_block("C"), "T", "test.pad")
    assert sch.func is before
    row = memory_scope("test.pad")
    assert row is not None
    assert row.type_problem(F32.with_lanes(4)).endswith("found f32")


def test_native_code_holds_the_size() -> None:
    define_scope(MemoryScope("test.pad", most_bytes=255))
    with pytest.raises(IRKitError, match=r"buffer 'T\w*': .* at most 255 bytes, found 256"):
        native(COPY)
    with pytest.raises(IRKitError, match="constant size"):
        native(COPY.replace("64", "n"))


def test_a_part_that_lowering_makes_small_fits() -> None:
    define_scope(MemoryScope("test.pad", most_bytes=32))
    sch = Schedule(parse(COPY.replace(', scope="test.pad"', "").replace("63 - i", "i")))
    block = sch.get_block("C")
    loop, _ = sch.split(sch.get_loops(block)[0], [None, 8])
    sch.compute_at(sch.get_block("T"), loop)
    sch.set_scope(sch.get_block("T"), "test.pad")
    assert "alloca [8 x float]" in emit([lower(sch.func)], complete_target(Target("llvm")))


@pytest.mark.parametrize(
    ("rules", "found"),
    [
        (MemoryScope("test.pad"), "alloca [64 x float], align 64"),
        (MemoryScope("test.pad", align=4096), "alloca [64 x float], align 4096"),
        (MemoryScope("test.pad", place="stack"), "alloca [64 x float]"),
        (MemoryScope("test.pad", place="heap"), "@aligned_alloc(i64 64, i64"),
        (MemoryScope("test.pad", place="heap", align=256), "@aligned_alloc(i64 256, i64"),
    ],
)
def test_native_code_holds_place_and_alignment(rules: MemoryScope, found: str) -> None:
    define_scope(rules)
    text = native(COPY)
    assert found in text
    assert ("alloca [64" in text) == (rules.place != "heap")


def test_a_stack_that_is_full_is_an_error() -> None:
    define_scope(MemoryScope("test.pad", place="stack"))
    assert "alloca [50000 x float]" in native(COPY.replace("64", "50000").replace("63", "49999"))
    with pytest.raises(IRKitError, match="lies on the stack, where 262144 bytes are left"):
        native(COPY.replace("64", "70000").replace("63", "69999"))


@pytest.mark.parametrize("shared", [False, True])
def test_threads_share_what_a_shared_scope_holds(shared: bool) -> None:
    define_scope(MemoryScope("test.pad", shared=shared))
    given, out, meant = np.arange(8, dtype=np.float32), *np.zeros((2, 8), np.float32)
    interpret(parse(THREADS), given, meant)
    assert (meant == given[::-1]).all() == shared
    if shared:
        build(parse(THREADS))(given, out)
        assert (out == meant).all()
