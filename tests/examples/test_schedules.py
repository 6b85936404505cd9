"""The example schedules give right results, even where tiles do not fit, and replay."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import irkit
from examples.schedules import conv, elementwise, matmul, reductions
from irkit import Schedule
from irkit.core import same
from irkit.ir import PrimFunc
from tests.draws import sampled

FOLDER = Path(__file__).parents[2] / "examples" / "schedules"
AVX2 = {"rows": 6, "vectors": 2, "lanes": 8}


def numbers(*shape: int) -> Any:
    """Draw small whole numbers, whose sums and products are exact in any order."""
    return np.random.default_rng(0).integers(-3, 4, shape).astype(np.float32)


@pytest.mark.parametrize("n", [48, 61])
@pytest.mark.parametrize("tile", [{}, AVX2, {"pack_a": True}, {**AVX2, "pack_a": True}], ids=str)
def test_a_product_is_that_of_numpy(n: int, tile: dict[str, Any]) -> None:
    kernel = irkit.build(matmul.schedule(matmul.matmul(n), **tile).func)
    a, b, c = numbers(n, n), numbers(n, n).T.copy(), np.empty((n, n), np.float32)
    kernel(a, b, c)
    np.testing.assert_array_equal(c, a @ b)


@pytest.mark.parametrize("n", [48, 61])
@pytest.mark.parametrize("tile", [{}, AVX2], ids=["16 lanes", "8 lanes"])
def test_a_product_with_panels_is_that_of_numpy(n: int, tile: dict[str, Any]) -> None:
    width = {key: tile[key] for key in ("vectors", "lanes") if key in tile}
    kernel = irkit.build(matmul.schedule(matmul.matmul_prepacked(n, **width), **tile).func)
    a, b, c = numbers(n, n), numbers(n, n).T.copy(), np.empty((n, n), np.float32)
    kernel(a, matmul.panels(b, **width), c)
    np.testing.assert_array_equal(c, a @ b)


def test_panels_with_room_for_a_whole_tile_are_read_without_masks() -> None:
    func = matmul.schedule(matmul.matmul_prepacked(64)).func
    inner = str(irkit.lower(func)).split("for k in")[1].split("C_flat")[0]
    assert "mask" not in inner
    assert "if " not in inner


@pytest.mark.parametrize(("channels", "size"), [(32, 7), (64, 14), (32, 5)])
def test_convolutions_follow_each_other_in_their_layout(channels: int, size: int) -> None:
    func = conv.conv3x3(channels, size)
    kernel = irkit.build(conv.schedule(func, columns=conv.tile(size)).func)
    x, w = numbers(channels, size, size), numbers(channels, channels, 3, 3)
    once, twice = conv.blocked(np.zeros_like(x)), conv.blocked(np.zeros_like(x))
    kernel(conv.blocked(x), conv.filters(w), once[:, 1:-1, 1:-1, :])
    kernel(once, conv.filters(w), twice[:, 1:-1, 1:-1, :])
    np.testing.assert_array_equal(conv.plain(once), convolved(x, w))
    np.testing.assert_allclose(conv.plain(twice), convolved(convolved(x, w), w), rtol=1e-4)


def convolved(x: Any, w: Any) -> Any:
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))
    return np.tensordot(w, windows, axes=((1, 2, 3), (0, 3, 4)))


@pytest.mark.parametrize("n", [512, 1001])
@pytest.mark.parametrize("lanes", [8, 16])
def test_elementwise_results_are_those_of_numpy(n: int, lanes: int) -> None:
    a, b, d, c = numbers(n), numbers(n), numbers(n), np.empty(n, np.float32)
    irkit.build(elementwise.schedule(elementwise.add(n), lanes=lanes).func)(a, b, c)
    np.testing.assert_array_equal(c, a + b)
    func = elementwise.mul_add_relu(n)
    irkit.build(elementwise.schedule(func, lanes=lanes).func)(a, b, d, c)
    np.testing.assert_array_equal(c, np.maximum(a * b + d, 0))


@pytest.mark.parametrize("n", [4096, 5000])
def test_a_sum_is_that_of_numpy(n: int) -> None:
    a, s = numbers(n), np.empty(1, np.float32)
    irkit.build(reductions.schedule_total(reductions.total(n)).func)(a, s)
    assert s[0] == a.sum()


@pytest.mark.parametrize(("rows", "columns"), [(32, 128), (5, 100)])
def test_rows_are_normalised(rows: int, columns: int) -> None:
    x, g, b = numbers(rows, columns), numbers(columns), numbers(columns)
    y = np.empty_like(x)
    irkit.build(reductions.schedule_rows(reductions.softmax(rows, columns)).func)(x, y)
    powers = np.exp(x.astype(np.float64))
    np.testing.assert_allclose(y, powers / powers.sum(1, keepdims=True), rtol=1e-5)
    irkit.build(reductions.schedule_rows(reductions.layernorm(rows, columns)).func)(x, g, b, y)
    wide = x.astype(np.float64)
    scale = 1 / np.sqrt(wide.var(1, keepdims=True) + 1e-5)
    wanted = (wide - wide.mean(1, keepdims=True)) * scale * g + b
    np.testing.assert_allclose(y, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("make", "schedule"),
    [
        (lambda: matmul.matmul(48), matmul.schedule),
        (lambda: conv.conv3x3(32, 7), lambda func: conv.schedule(func, columns=7)),
        (lambda: elementwise.mul_add_relu(512), elementwise.schedule),
        (lambda: reductions.total(4096), reductions.schedule_total),
        (lambda: reductions.softmax(32, 128), reductions.schedule_rows),
    ],
    ids=["matmul", "conv", "elementwise", "total", "softmax"],
)
def test_the_trace_makes_the_same_again(
    make: Callable[[], PrimFunc], schedule: Callable[[PrimFunc], Schedule]
) -> None:
    done, again = schedule(make()), Schedule(make())
    done.trace.apply(again)
    assert same(again.func, done.func)


@pytest.mark.parametrize(
    ("name", "sizes"),
    sampled(
        [
            ("matmul", ["64"]),
            ("conv", ["32", "7"]),
            ("elementwise", ["5000"]),
            ("reductions", ["8", "64"]),
        ],
        every=2,
    ),
)
def test_the_file_runs_alone(name: str, sizes: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(FOLDER / f"{name}.py"), *sizes],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONPATH": str(FOLDER.parent.parent)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "sch.vectorize(" in done.stdout
    assert "as NumPy has it" in done.stdout
