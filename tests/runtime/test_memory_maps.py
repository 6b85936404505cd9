"""Memory-mapped files as arguments: read-only ones where a function only reads."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import irkit
from irkit.core import DTypeError, ShapeError
from irkit.debug import check
from irkit.ir import PrimFunc, interpret, parse
from irkit.phases import DEFAULT

SUM = parse("""def f(A: f32[n], C: f32[n], limit: i64):
    for i in serial(0, n):
        assert i < limit, ("index {}", i)
        C[i] = A[i] + f32(1.0)
""")
Run = Callable[..., object]
RUNS: list[Callable[[PrimFunc], Run]] = [
    irkit.build,
    lambda func: lambda *args: interpret(func, *args),
]


@pytest.fixture
def mapped(tmp_path: Path) -> Callable[[str], Any]:
    """Return a function that maps a file of eight numbers with a mode."""
    path = tmp_path / "numbers.npy"
    np.save(path, np.arange(8, dtype=np.float32))
    return lambda mode: np.load(path, mmap_mode=mode)


@pytest.mark.parametrize("make", RUNS, ids=["native", "interpreter"])
def test_a_read_only_file_can_be_read(make: Any, mapped: Callable[[str], Any]) -> None:
    run, result = make(SUM), np.zeros(8, np.float32)
    run(mapped("r"), result, 8)
    assert result.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize("make", RUNS, ids=["native", "interpreter"])
def test_writing_a_read_only_file_is_refused_with_the_remedy(
    make: Any, mapped: Callable[[str], Any]
) -> None:
    run = make(SUM)
    with pytest.raises(ShapeError, match=r"'C'. of f is written .* read-only") as caught:
        run(np.zeros(8, np.float32), mapped("r"), 8)
    assert "mode 'r+'" in caught.value.hint
    assert mapped("r").tolist() == list(range(8))


@pytest.mark.parametrize("make", RUNS, ids=["native", "interpreter"])
def test_a_file_mapped_for_writing_is_changed(make: Any, mapped: Callable[[str], Any]) -> None:
    array = mapped("r+")
    make(SUM)(np.zeros(8, np.float32), array, 8)
    array.flush()
    assert mapped("r").tolist() == [1.0] * 8


@pytest.mark.parametrize("make", RUNS, ids=["native", "interpreter"])
def test_other_errors_of_a_call_with_a_mapped_file_stay(
    make: Any, mapped: Callable[[str], Any]
) -> None:
    run, result = make(SUM), np.zeros(8, np.float32)
    with pytest.raises(irkit.IRKitError, match="index 5"):
        run(mapped("r"), result, 5)
    with pytest.raises(ShapeError, match="dimension 0"):
        run(mapped("r"), np.zeros(7, np.float32), 8)
    with pytest.raises(DTypeError, match="must be a NumPy array, found MaskedArray"):
        run(np.ma.masked_array(np.zeros(8, np.float32)), result, 8)


def test_check_takes_a_read_only_file(mapped: Callable[[str], Any]) -> None:
    inputs = {"A": mapped("r"), "C": mapped("r"), "limit": np.int64(8)}
    found = check(DEFAULT.steps(SUM), inputs, native=True)
    assert found
    assert all(each.status == "same" for each in found), found
    assert mapped("r").tolist() == list(range(8))
