"""Models of any size, with state, as C: the library of one runs all sizes and refuses the rest."""

import ctypes
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import irkit
from irkit.codegen import evaluate_sizes
from irkit.core import IRKitError, IRModule
from irkit.graph import Dimension, GraphFunc, parse, with_dimensions
from irkit.runtime import Model, build_library, write_sources
from tests.codegen.c.build import COMPILERS, need_sanitizers, needs_compiler
from tests.runtime.deploy.dlpack import CModel, Tensor, tensor

pytestmark = needs_compiler

SIZES = """
def main(x: f32[n, m], w: f32[m, 3], k: f32[n]):
    a: f32[n, 3] = matmul(x, w)
    b: f32[n + n, 3] = concat(a, a, axis=0)
    t: f32[n] = add(k, k)
    r: (f32[n + n, 3], f32[n]) = (b, t)
    return r
"""
CACHE = """
def main(past: f32[2, n, 3], x: f32[2, 1, 3], h: f32[2, 3]):
    present = concat(past, x, axis=1)
    s: f32[2, 3] = sum(present, axes=(1,), keepdims=False)
    g: f32[2, 3] = add(h, s)
    r = (present, g)
    return r
"""


def compiled(text: str, ranges: dict[str, tuple[int, int]], **options: Any) -> Model:
    func = parse(text)
    assert isinstance(func, GraphFunc)
    dims = {name: Dimension(name, *ends) for name, ends in ranges.items()}
    module = IRModule({"main": with_dimensions(func, dims)})
    return irkit.compile(module, target="c", keep_trace=False, **options)


@pytest.fixture(scope="module")
def sizes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CModel]:
    path = tmp_path_factory.mktemp("sizes") / "libsizes.so"
    model = compiled(SIZES, {"n": (0, 1 << 31), "m": (1, 9)}, memory_limit=5000)
    build_library(model, path, "shared", name="sizes")
    made = CModel(path, "sizes")
    assert made.code == 0
    yield made
    made.close()


def arguments(n: int, m: int) -> list[np.ndarray[Any, np.dtype[Any]]]:
    draw = np.random.default_rng(n * 10 + m)
    return [draw.standard_normal(shape).astype("f4") for shape in ((n, m), (m, 3), (n,))]


def test_shapes_are_asked_in_symbols_and_for_given_inputs(sizes: CModel) -> None:
    assert sizes.described("input") == [("x", (-1, -1)), ("w", (-1, 3)), ("k", (-1,))]
    assert sizes.symbols("input") == [["n", "m"], ["m", None], ["n"]]
    assert sizes.symbols("output") == [["(n + n)", None], ["n"]]
    assert sorted(sizes.dims()) == [("m", 1, 9), ("n", 0, 1 << 31)]
    assert sizes.output_shapes([tensor(each) for each in arguments(5, 2)]) == [(10, 3), (5,)]


@pytest.mark.parametrize("size", [(1, 1), (5, 2), (0, 3), (40, 9), (7, 4)])
def test_one_library_runs_all_sizes(sizes: CModel, size: tuple[int, int]) -> None:
    given = arguments(*size)
    b, t = np.full((2 * size[0], 3), 7, "f4"), np.full(size[0], 7, "f4")
    code = sizes.run_tensors([tensor(each) for each in given], [tensor(b), tensor(t)])
    assert code == 0, sizes.error
    np.testing.assert_allclose(b, np.concatenate([given[0] @ given[1]] * 2), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(t, given[2] + given[2])


def test_calls_are_refused_before_anything_is_written(sizes: CModel) -> None:
    b, t = np.full((400, 3), 7, "f4"), np.full(200, 7, "f4")

    def refused(given: list[Any], n: int = 4) -> str:
        out = [tensor(b[: 2 * n]), tensor(t[:n])]
        assert sizes.run_tensors([tensor(each) for each in given], out) == 1
        return sizes.error

    x, w, k = arguments(4, 2)
    assert "dimension 0 of w is 3, but m is 2" in refused([x, np.zeros((3, 3), "f4"), k])
    assert "dimension 0 of k is 5, but n is 4" in refused([x, w, np.zeros(5, "f4")])
    wide = [np.zeros((4, 10), "f4"), np.zeros((10, 3), "f4"), k]
    assert "dimension 1 of x is 10, but m must be from 1 to 9" in refused(wide)
    assert "more than the limit of 5000" in refused(arguments(150, 2), 150)
    assert "b has extent 10 on axis 0; expected 8" in refused([x, w, k], 5)
    assert "w has extent 4 on axis 1" in refused([x, np.zeros((2, 4), "f4"), k])
    assert (b == 7).all()
    assert (t == 7).all()
    told = sizes.function("model_error", ctypes.c_char_p)(sizes.handle).decode()
    assert told == sizes.error


def test_arithmetic_that_overflows_refuses_the_call(tmp_path: Path) -> None:
    model = compiled(
        "def main(x: f32[n, m, k, 1]):\n    r: f32[n, m, k, 1] = negative(x)\n    return r\n",
        dict.fromkeys("nmk", (0, 1 << 31)),
    )
    build_library(model, tmp_path / "libwide.so", "shared", name="wide")
    loaded = CModel(tmp_path / "libwide.so", "wide")
    for shape in ((1 << 30, 1 << 30, 1 << 30), (1 << 21, 1 << 20, 1 << 20), (1 << 22, 1 << 20, 1)):
        given = tensor(np.zeros((1, 1, 1, 1), "f4"))
        given.shape[0], given.shape[1], given.shape[2] = shape
        fits = shape[2] == 1
        if not fits:
            with pytest.raises(IRKitError, match="64 bits do not hold"):
                evaluate_sizes(model.plan.sizes, dict(zip("nmk", shape, strict=True)))
        said = loaded.output_shapes([given])
        assert said == [(*shape, 1)] if fits else "64 bits do not hold" in said
    loaded.close()


def cache_tensors(room: Any, length: int) -> Tensor:
    return tensor(room[:, :length], strides=True)


def test_state_and_caches_lie_in_the_memory_of_the_caller(tmp_path: Path) -> None:
    state = {"past": ("present", 1, 5), "h": "g"}
    model = compiled(CACHE, {"n": (0, 5)}, state=state)
    build_library(model, tmp_path / "libcell.so", "shared", name="cell")
    loaded = CModel(tmp_path / "libcell.so", "cell")
    room, h = np.full((2, 5, 3), 9, "f4"), np.zeros((2, 3), "f4")
    want, rows = np.zeros((2, 3), "f4"), np.zeros((2, 0, 3), "f4")

    def run(length: int, out: Any = None, state: Any = None, **others: Any) -> int:
        x = np.full((2, 1, 3), length + 1, "f4")
        given = [cache_tensors(room, length), tensor(x), tensor(h)]
        made = [cache_tensors(room, length + 1), tensor(h if state is None else state)]
        for at, other in others.items():
            given[int(at[1:])] = other
        return loaded.run_tensors(given, out or made)

    for length in range(5):
        assert run(length) == 0, loaded.error
        rows = np.concatenate([rows, np.full((2, 1, 3), length + 1, "f4")], axis=1)
        want = want + rows.sum(axis=1)
        np.testing.assert_array_equal(room[:, : length + 1], rows)
        assert (room[:, length + 1 :] == 9).all()
        np.testing.assert_array_equal(h, want)
    before = room.copy(), h.copy()
    longer = tensor(np.zeros((2, 6, 3), "f4"), strides=True)
    assert run(5, [longer, tensor(h)]) == 1
    assert "the cache present is full" in loaded.error
    assert run(3, state=np.zeros((2, 3), "f4")) == 1
    assert "g is written over h: expected the same memory" in loaded.error
    assert run(3, [cache_tensors(room.copy(), 4), tensor(h)]) == 1
    assert "present is written over past" in loaded.error
    packed = tensor(np.zeros((2, 3, 3), "f4"), strides=True)
    assert run(3, _0=packed) == 1
    assert "past is not contiguous, with room for its capacity" in loaded.error
    assert run(3, _0=tensor(room[:, :3])) == 1
    assert "past needs the strides of its capacity" in loaded.error
    assert run(3, _1=tensor(room.reshape(-1)[24:].reshape(2, 1, 3))) == 1
    assert "shares memory with x" in loaded.error
    np.testing.assert_array_equal(before[0], room)
    np.testing.assert_array_equal(before[1], h)
    loaded.close()


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_example_of_open_sizes_and_state_has_no_undefined_behaviour(
    compiler: str, tmp_path: Path
) -> None:
    need_sanitizers(compiler)
    model = compiled(CACHE, {"n": (1, 4)}, state={"past": ("present", 1, 5), "h": "g"})
    write_sources(model, tmp_path, name="cell")
    flags = "-std=c11 -ffp-contract=off -Wall -Wextra -Werror -O1 -fsanitize=address,undefined"
    command = [compiler, *flags.split(), "cell.c", "cell_weights.c", "main.c", "-o", "ex", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=120)
    done = subprocess.run(["./ex"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["present", "g"]
