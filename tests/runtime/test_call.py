"""Arguments are checked before anything is touched, and the message says what was wrong."""

import gc
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from irkit.codegen import host_target
from irkit.core import DTypeError, IRKitError, ShapeError, Target
from irkit.ir import (
    BF16,
    F32,
    I32,
    I64,
    Buffer,
    Const,
    DType,
    Expr,
    For,
    PrimFunc,
    Store,
    Var,
    cast,
    dtype,
    index,
    numpy_dtype,
)
from irkit.runtime import Kernel, compile_functions

i, n, m = Var("i"), Var("n"), Var("m")


def compiled(func: PrimFunc, level: int = 1) -> Kernel:
    return compile_functions({"main": func}, Target(opt_level=level))["main"]


def multiply(size: int | Expr, **attrs: Any) -> PrimFunc:
    a, b, c = (Buffer(name, (index(size),), F32) for name in "ABC")
    body = For(i, index(0), index(size), Store(c, (i,), a[i] * b[i]))
    return PrimFunc("mult", (a, b, c), body, tuple(attrs.items()))


FIXED, SYMBOLIC = compiled(multiply(8)), compiled(multiply(n))


def floats(*shape: int) -> Any:
    return np.arange(np.prod(shape), dtype="f4").reshape(shape)


class Subclass(np.ndarray[Any, Any]):
    pass


def read_only() -> Any:
    array = floats(8)
    array.flags.writeable = False
    return array


def misaligned() -> Any:
    return np.zeros(33, "u1")[1:].view("f4")


WRONG = [
    (lambda: [1.0] * 8, DTypeError, "must be a NumPy array, found list"),
    (lambda: None, DTypeError, "must be a NumPy array, found NoneType"),
    (lambda: np.float32(1), DTypeError, "must be a NumPy array, found float32"),
    (lambda: floats(8).view(Subclass), DTypeError, "must be a NumPy array, found Subclass"),
    (lambda: floats(8).astype("f8"), DTypeError, "must hold float32, found float64"),
    (lambda: floats(8).astype("i4"), DTypeError, "must hold float32, found int32"),
    (lambda: floats(8).astype(">f4"), DTypeError, "must hold float32, found >f4"),
    (lambda: floats(2, 4), ShapeError, r"must have 1 dimensions, found shape \(2, 4\)"),
    (lambda: np.array(1, "f4"), ShapeError, r"must have 1 dimensions, found shape \(\)"),
    (lambda: floats(9), ShapeError, "dimension 0 of .* must be 8.*; found 9"),
    (lambda: floats(0), ShapeError, "dimension 0 of .* must be 8.*; found 0"),
    (lambda: floats(16)[::2], ShapeError, "must be contiguous in row-major order"),
    (lambda: floats(8)[::-1], ShapeError, "must be contiguous in row-major order"),
    (misaligned, ShapeError, "must be aligned to 4 bytes"),
]


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize(("make", "error", "message"), WRONG)
@pytest.mark.parametrize("kernel", [FIXED, SYMBOLIC])
def test_a_wrong_array_is_rejected_by_name(
    kernel: Kernel, make: Any, error: type[Exception], message: str, place: int
) -> None:
    args = [floats(8), floats(8), np.full(8, -1, "f4")]
    result = args[2]
    args[place] = make()
    if kernel is SYMBOLIC and place == 0 and "dimension" in message and "must be 8" in message:
        message = "must be|dimension 0"  # The first array says what n is, so the second is wrong.
    with pytest.raises(error, match=message) as caught:
        kernel(*args)
    if "dimension 0 of" not in str(caught.value):
        assert f"argument {place + 1} ({'ABC'[place]!r}) of mult" in str(caught.value)
    assert (result == -1).all()


def test_a_read_only_array_may_be_read_but_not_written() -> None:
    FIXED(read_only(), floats(8), floats(8))
    with pytest.raises(ShapeError, match=r"argument 3 \('C'\) of mult is written .* read-only"):
        FIXED(floats(8), floats(8), read_only())


@pytest.mark.parametrize("count", [0, 2, 4])
def test_the_number_of_arguments_must_fit(count: int) -> None:
    with pytest.raises(TypeError, match=rf"mult takes 3 arguments \(A, B, C\), found {count}"):
        FIXED(*[floats(8)] * count)


def test_an_output_must_not_share_memory() -> None:
    memory = floats(20)
    with pytest.raises(ValueError, match=r"argument 3 \('C'\) .* overlaps argument 1 \('A'\)"):
        FIXED(memory[:8], floats(8), memory[7:15])
    with pytest.raises(ValueError, match=r"argument 3 \('C'\) .* overlaps argument 2 \('B'\)"):
        FIXED(floats(8), memory[:8], memory[:8])
    FIXED(memory[:8], memory[:8], memory[8:16])
    FIXED(memory[8:16], memory[8:16], memory[:8])
    FIXED(memory[:8], memory[16:20].repeat(2), memory[8:16])
    SYMBOLIC(memory[3:3], memory[3:3], memory[3:3])


def test_memory_may_be_shared_if_the_function_allows_it() -> None:
    shared = floats(8)
    compiled(multiply(8, noalias=False))(shared, shared, shared)
    assert shared.tolist() == [x * x for x in range(8)]


def test_repeated_and_computed_dimensions_must_agree() -> None:
    a = Buffer("A", (n, m), F32)
    b = Buffer("B", (m * 2 + 1, n), F32)
    kernel = compiled(PrimFunc("f", (a, b), Store(b, (index(0), index(0)), a[n - 1, m - 1])))
    good = np.zeros((7, 2), "f4")
    kernel(floats(2, 3), good)
    assert good[0, 0] == 5
    with pytest.raises(ShapeError, match=r"dimension 0 of argument 2 \('B'\) of f must be 7; fou"):
        kernel(floats(2, 3), np.zeros((6, 2), "f4"))
    with pytest.raises(ShapeError, match=r"must be 2 = n, from dimension 0 of argument 1 \('A'\)"):
        kernel(floats(2, 3), np.zeros((7, 3), "f4"))


def test_a_scalar_may_be_a_dimension() -> None:
    size = Var("size", I32)
    c = Buffer("C", (cast(size, I64),), F32)
    body = For(i, index(0), cast(size, I64), Store(c, (i,), cast(size, F32)))
    kernel = compiled(PrimFunc("f", (size, c), body))
    kernel(3, good := np.zeros(3, "f4"))
    assert good.tolist() == [3, 3, 3]
    with pytest.raises(ShapeError, match="must be 4; found 3"):
        kernel(4, good)


def test_a_narrow_shape_variable_must_hold_the_size() -> None:
    size = Var("size", dtype("i8"))
    a = Buffer("A", (size,), F32)
    kernel = compiled(PrimFunc("f", (a,), Store(a, (index(0),), Const(1.0, F32))))
    kernel(floats(127))
    with pytest.raises(ShapeError, match="is 128, which i8 does not hold"):
        kernel(floats(128))


def test_strides_must_be_as_declared() -> None:
    step = Var("step")
    a = Buffer("A", (n, index(3)), F32, strides=(step, index(2)))
    c = Buffer("C", (index(1),), F32)
    kernel = compiled(PrimFunc("f", (a, c), Store(c, (index(0),), a[n - 1, index(2)])))
    wide, got = floats(4, 8), np.zeros(1, "f4")
    kernel(wide[:, :6:2], got)
    assert got[0] == wide[3, 4]
    with pytest.raises(ShapeError, match=r"stride 1 of argument 1 \('A'\) of f must be 2; found 1"):
        kernel(wide[:, :3], got)
    with pytest.raises(ShapeError, match="whole elements"):
        kernel(np.lib.stride_tricks.as_strided(floats(99), (4, 3), (26, 8)), got)


SCALARS = [
    ("i8", 127, 128), ("i8", -128, -129), ("u8", 255, -1), ("u64", 2**64 - 1, 2**64),
    ("i64", -(2**63), 2**63), ("i32", np.int64(5), np.float64(5)), ("f32", 1, True),
    ("f64", np.float32(0.5), "0.5"), ("f16", 2.5, None), ("bf16", 2.5, 1j), ("bool", True, 1),
    ("bool", np.bool_(True), 0.0), ("i32", np.array(7), np.array([7])),
]  # fmt: skip


@pytest.mark.parametrize(("name", "good", "bad"), SCALARS)
def test_a_scalar_must_be_a_number_its_type_holds(name: str, good: Any, bad: Any) -> None:
    s, kind = Var("s", dtype(name)), dtype(name)
    c = Buffer("C", (index(1),), kind)
    kernel = compiled(PrimFunc("f", (s, c), Store(c, (index(0),), s)))
    got = np.zeros(1, numpy_dtype(kind))
    kernel(good, got)
    assert got[0] == good
    with pytest.raises(DTypeError, match=rf"argument 1 \('s'\) of f must be a number that {name}"):
        kernel(bad, got)


@pytest.mark.parametrize(
    ("kind", "codes"),
    [
        (F32, "f"), (BF16, ""), (I64, "lq"), (dtype("u64"), "LQ"), (I32, "i"), (dtype("f16"), "e"),
        (dtype("bool"), "?"), (dtype("i8"), "b"), (dtype("u16"), "H"), (dtype("f64"), "d"),
    ],
)  # fmt: skip
def test_only_the_declared_element_type_is_accepted(kind: DType, codes: str) -> None:
    c = Buffer("C", (index(2),), kind)
    kernel = compiled(PrimFunc("f", (c,), Store(c, (index(0),), c[index(1)])))
    taken = "".join(
        code for code in "?bBhHiIlLqQefdgFD" if _takes(kernel, np.zeros(2, np.dtype(code)))
    )
    assert taken == codes
    assert _takes(kernel, np.zeros(2, ml_dtypes.bfloat16)) == (kind == BF16)
    assert not _takes(kernel, np.zeros(2, ml_dtypes.float8_e4m3fn))
    assert not _takes(kernel, np.zeros(2, "M8[s]"))
    assert not _takes(kernel, np.zeros(2, object))
    assert not _takes(kernel, np.zeros(2, "U3"))


def _takes(kernel: Kernel, array: Any) -> bool:
    try:
        kernel(array)
    except DTypeError:
        return False
    return True


def test_a_kernel_outlives_its_module_and_other_kernels() -> None:
    kernel = compiled(multiply(4))
    for _ in range(20):
        compiled(multiply(3))
    gc.collect()
    got = np.zeros(4, "f4")
    kernel(floats(4), floats(4), got)
    assert got.tolist() == [0, 1, 4, 9]


def test_a_module_is_called_if_it_holds_one_kernel() -> None:
    other = multiply(4).replace(name="other")
    module = compile_functions({"main": multiply(4), "side": other}, host_target())
    assert list(module) == ["main", "side"]
    assert module["side"].name == "other"
    with pytest.raises(IRKitError, match="2 kernels"):
        module(floats(4), floats(4), floats(4))
    with pytest.raises(IRKitError, match="no kernel 'x'; it has: main, side"):
        module["x"]
    assert "define i32 @mult" in module["main"].source()
    assert ".globl\tother" in module.source("asm")
    with pytest.raises(IRKitError, match="expected 'llvm', 'asm' or 'c'"):
        module.source("ptx")  # pyright: ignore[reportArgumentType] -- the point of the test


def test_functions_that_share_a_name_are_called_by_their_keys() -> None:
    module = compile_functions({"a": multiply(4), "b": multiply(5)}, host_target())
    assert [module["a"].name, module["b"].name] == ["a", "b"]
    got = np.zeros(5, "f4")
    module["b"](floats(5), floats(5), got)
    assert got[4] == 16


def test_threads_compile_and_run_concurrently() -> None:
    def work(size: int) -> float:
        kernel = compiled(multiply(size))
        got = np.zeros(size, "f4")
        for _ in range(50):
            kernel(floats(size), floats(size), got)
        return float(got.sum())

    with ThreadPoolExecutor(4) as pool:
        sums = list(pool.map(work, range(1, 17)))
    assert sums == [sum(x * x for x in range(size)) for size in range(1, 17)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_calls_what_its_parent_compiled() -> None:
    code = (
        "import os, numpy as np\n"
        "from tests.runtime.test_call import FIXED, floats\n"
        "child = os.fork()\n"
        "got = np.zeros(8, 'f4')\n"
        "FIXED(floats(8), floats(8), got)\n"
        "assert got[7] == 49\n"
        "if child: assert os.waitpid(child, 0)[1] == 0; print('both')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "both\n", done.stderr


def test_the_gil_is_released_while_a_kernel_runs() -> None:
    c = Buffer("C", (index(1),), I64)
    count = Var("count")
    odd = c[index(0)] * 6364136223846793005 + i
    body = For(i, index(0), count, Store(c, (index(0),), odd))
    kernel = compiled(PrimFunc("spin", (count, c), body))
    runner = threading.Thread(target=kernel, args=(300_000_000, np.ones(1, "i8")))
    ticks = 0
    runner.start()
    while runner.is_alive():
        ticks += 1
        time.sleep(0.001)
    assert ticks > 2


def test_a_call_is_quick() -> None:
    args = floats(8), floats(8), floats(8)
    best = min(_seconds(FIXED, args) for _ in range(20))
    assert best < 10e-6  # About 0.6 us on a quiet machine.


def _seconds(kernel: Kernel, args: Any) -> float:
    start = time.perf_counter()
    for _ in range(200):
        kernel(*args)
    return (time.perf_counter() - start) / 200
