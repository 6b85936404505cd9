"""Kernels on a CUDA device, as PTX by LLVM and as CUDA C by NVRTC: what they compute is what the
interpreter computes, or an error says why not."""

import os
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import irkit
from irkit.core import IRKitError
from irkit.fuzz import arguments
from irkit.ir import (
    I32,
    I64,
    Buffer,
    For,
    PrimFunc,
    Var,
    View,
    as_int,
    const,
    interpret,
    parse,
)
from tests.codegen.c.test_c_source import drawn as drawn_functions
from tests.codegen.device.programs import (
    ELEMENTWISE,
    PROGRAMS,
    SOFTMAX,
    assert_equal,
    drawn,
    expected,
    product,
)
from tests.targets.card import NVRTC, TEXTS, needs_card, on_card
from tests.targets.test_devices import REFUSED, launched, threaded

pytestmark = needs_card
EXAMPLES = int(os.environ.get("IRKIT_EXAMPLES", "20"))
texts = pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            each,
            marks=pytest.mark.skipif(
                each == "cuda" and not NVRTC,
                reason="there is no NVRTC: pip install nvidia-cuda-nvrtc-cu12",
            ),
        )
        for each in TEXTS
    ],
)


@texts
@pytest.mark.parametrize("func", PROGRAMS, ids=lambda func: func.name)
def test_a_launch_computes_what_the_interpreter_computes(func: PrimFunc, text: str) -> None:
    exact = func.replace(attrs=(*func.attrs, ("contract", False)))
    args = drawn(func)
    found = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    on_card(exact, text)(*found)
    # The interpreter's exp is NumPy's.
    assert_equal(func, found, expected(func, args), ulps=4 if func is SOFTMAX else 0)


@texts
def test_a_large_tiled_product_is_within_the_bound_of_its_sums(text: str) -> None:
    func = product(1024, 1024, 1024, tile=64, own=4, step=16)
    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal((1024, 1024)).astype("f4") for _ in range(2))
    c = np.full((1024, 1024), np.nan, "f4")
    on_card(func, text)(a, b, c)
    wide = a.astype("f8") @ b.astype("f8")
    bound = 1024 * 2.0**-24 * (np.abs(a).astype("f8") @ np.abs(b).astype("f8"))
    assert (np.abs(c - wide) <= bound).all()


@texts
@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 100_003])
def test_sizes_are_known_at_the_call(size: int, text: str) -> None:
    exact = ELEMENTWISE.replace(attrs=(("contract", False),))
    rng = np.random.default_rng(size)
    a, b = (rng.uniform(1, 2, size).astype("f4") for _ in range(2))
    c, s = np.zeros(size, "f4"), np.float32(1.25)
    on_card(exact, text)(size, a, b, c, float(s))
    np.testing.assert_array_equal(c, a * s + b / a)


def run_by(text: str) -> Callable[[PrimFunc, list[Any]], list[Any]]:
    def run(func: PrimFunc, args: list[Any]) -> list[Any]:
        on_card(func, text)(*args)
        return args

    return run


@texts
def test_random_programs_as_one_thread(text: str) -> None:
    functions = drawn_functions(EXAMPLES, 8)
    ran = [launched(threaded(func), run_by(text)) for func in functions]
    assert sum(ran) * 2 >= len(ran)


def spread(func: PrimFunc, blocks: int, threads: int) -> PrimFunc | None:
    """Return a function each of whose threads runs a function on memory of its own; None if its
    buffers have no constant sizes."""
    block, thread = Var("block", I32), Var("thread", I32)
    params, views = list[Buffer | Var](), list[tuple[Buffer, Buffer, int]]()
    for param in func.params:
        if isinstance(param, Var):
            params.append(param)
            continue
        dims = [as_int(dim) for dim in param.shape]
        if None in dims or param.strides is not None:
            return None
        whole = param.replace(shape=(const(blocks, I64), const(threads, I64), *param.shape))
        views.append((param, whole, int(np.prod([dim or 0 for dim in dims]))))
        params.append(whole)
    body = func.body
    for own, whole, size in views:
        number = block * const(threads, I32) + thread
        body = View(own, whole, number * const(size, I32), body)
    zero = const(0, I32)
    body = For(thread, zero, const(threads, I32), body, "thread", "threadIdx.x")
    body = For(block, zero, const(blocks, I32), body, "thread", "blockIdx.x")
    return PrimFunc(func.name, tuple(params), body, (("contract", False),))


@texts
def test_random_programs_in_every_thread_of_a_grid(text: str) -> None:
    blocks, threads, ran = 3, 37, 0
    for func in drawn_functions(EXAMPLES, 9):
        many = spread(func, blocks, threads)
        if many is None:
            continue
        runs = [arguments(func, seed=number) for number in range(6)]
        picked = [runs[number % 6] for number in range(blocks * threads)]
        given = [
            np.stack([np.ascontiguousarray(one[at]) for one in picked]).reshape(
                blocks, threads, *np.shape(runs[0][at])
            )
            if isinstance(param, Buffer)
            else runs[0][at]
            for at, param in enumerate(func.params)
        ]
        for one in runs:
            one[:] = [
                each if isinstance(param, Buffer) else runs[0][at]
                for at, (each, param) in enumerate(zip(one, func.params, strict=True))
            ]
        try:
            on_card(many, text)(*given)
        except IRKitError as error:
            if not any(words in str(error) for words in REFUSED):
                raise
            continue
        with np.errstate(all="ignore"):
            for one in runs:
                interpret(func, *one)
        ran += 1
        for number in range(blocks * threads):
            place = divmod(number, threads)
            found = [
                each[place] if isinstance(param, Buffer) else each
                for each, param in zip(given, func.params, strict=True)
            ]
            wanted = [np.asarray(each) for each in runs[number % 6]]
            assert_equal(func, [np.asarray(each) for each in found], wanted)
    assert ran * 10 >= EXAMPLES


def test_many_launches_of_one_kernel() -> None:
    kernel = on_card(ELEMENTWISE)
    a, c = np.ones(1000, "f4"), np.zeros(1000, "f4")
    for number in range(300):
        kernel(1000, a, a, c, float(number))
        assert (c == number + 1).all()


def test_threads_of_the_host_call_one_kernel_at_the_same_time() -> None:
    kernel, wrong = on_card(ELEMENTWISE), list[str]()

    def run(number: int) -> None:
        try:
            for _ in range(20):
                a, c = np.ones(5000, "f4"), np.zeros(5000, "f4")
                kernel(5000, a, a, c, float(number))
                if not (c == number + 1).all():
                    wrong.append(f"{number} got {c[:4]}")
        except Exception as error:
            wrong.append(repr(error))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong


def test_memory_that_the_device_lacks_is_an_error_and_later_calls_work() -> None:
    func = parse(
        "def f(C: f32[32]):\n"
        "    M = alloc(f32[1099511627776])\n"
        '    for t in thread(0, 32, "threadIdx.x"):\n'
        "        M[cast(t, i64) * 34359738368] = f32(1.0)\n"
        '    for t in thread(0, 32, "threadIdx.x"):\n'
        "        C[t] = M[cast(t, i64) * 34359738368]\n"
    )
    c = np.zeros(32, "f4")
    with pytest.raises(IRKitError, match="refuses cuMemAlloc_v2: out of memory"):
        on_card(func)(c)
    test_sizes_are_known_at_the_call(33, "ptx")


def test_a_launch_that_the_driver_refuses_is_an_error_and_later_calls_work() -> None:
    func = parse(
        "def f(n: i64, C: f32[1]):\n"
        '    for b in thread(0, n, "blockIdx.y"):\n'
        '        for t in thread(0, 32, "threadIdx.x"):\n'
        "            if b == 0 and t == 0:\n"
        "                C[0] = f32(1.0)\n"
    )
    kernel, c = on_card(func), np.zeros(1, "f4")
    with pytest.raises(IRKitError, match="refuses cuLaunchKernel: invalid argument"):
        kernel(70_000, c)
    kernel(65_535, c)
    assert c[0] == 1


def test_the_interpreter_and_the_card_agree_by_irkit_s_own_name_of_it() -> None:
    kernel = irkit.build(ELEMENTWISE, target="h100")
    assert ".target sm_90" in kernel.source("ptx")
