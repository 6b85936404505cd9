"""A buffer is filled an iteration ahead if that changes no result."""

from typing import Any

import numpy as np
import pytest

import irkit
from irkit.core import Recorder, recording, walk
from irkit.ir import Allocate, PrimFunc, as_int, interpret, parse
from irkit.passes.loop import inject_double_buffers
from irkit.phases import DEFAULT

HEAD = "def f(A: f32[64], C: f32[64], n: i64):\n"
LOOP = """\
    for i in serial({begin}, n):
        T = alloc(f32[8], double_buffer=True)
        U = alloc(f32[8])
        for j in serial(0, 8):
            T[j] = A[j] * f32(i)
        for k in serial(0, 8):
            U[k] = T[7 - k]
        for k in serial(0, 8):
            C[k] = C[k] + U[k] * f32(i + 1)
"""


def arguments(n: int) -> list[Any]:
    return [np.arange(64, dtype="f4") % 7, np.ones(64, "f4"), n]


def outcome(func: PrimFunc, n: int) -> bytes:
    args = arguments(n)
    interpret(func, *args)
    return args[1].tobytes()


@pytest.mark.parametrize("split", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("begin", [0, -3, 2])
def test_any_number_of_iterations_gives_the_same(split: int, begin: int) -> None:
    func = parse(HEAD + LOOP.format(begin=begin))
    made = inject_double_buffers.using(split_loop=split)(func)
    assert 16 in [as_int(each.buffer.shape[0]) for each in walk(made, Allocate)]
    assert inject_double_buffers(made) is made
    for n in range(begin - 2, begin + 12):
        assert outcome(made, n) == outcome(func, n)


@pytest.mark.parametrize("split", [0, 1, 2])
def test_native_code_gives_the_same(split: int) -> None:
    func = parse(HEAD + LOOP.format(begin=0))
    pipeline = DEFAULT.replace(
        "inject-double-buffers", inject_double_buffers.using(split_loop=split)
    )
    kernel = irkit.build(func, pipeline=pipeline)
    for n in (0, 1, 2, 7):
        args = arguments(n)
        kernel(*args)
        assert args[1].tobytes() == outcome(func, n)


def test_an_even_split_makes_the_halves_constant() -> None:
    func = parse(HEAD + LOOP.format(begin=0))
    made = inject_double_buffers.using(split_loop=2)(func)
    assert "T[j_1 + 8]" in made.script()


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("serial(0, n)", "parallel(0, n)", "parallel"),
        ("A[j] * f32(i)", "C[j] * f32(i)", "reads 'C', which its loop writes"),
        ("U[k] = T[7 - k]", "T[k] = T[7 - k]", "not filled by statements that come before"),
        ("f32[8], double", "f32[n], double", "not constant"),
    ],
)
def test_a_buffer_that_cannot_be_doubled_is_left_alone_with_a_remark(
    old: str, new: str, why: str
) -> None:
    func = parse((HEAD + LOOP.format(begin=0)).replace(old, new))
    recorder = Recorder()
    with recording(recorder):
        made = inject_double_buffers(func)
    assert any(why in remark.text for remark in recorder.remarks)
    assert [as_int(e.buffer.shape[0]) for e in walk(made, Allocate)].count(16) == 0
    assert "double_buffer" not in made.script()
