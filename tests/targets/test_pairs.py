"""Random programs on everything that runs code for a target here give the interpreter's bits."""

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest

import irkit
from irkit.debug.targets import TargetCall, TargetOutcome
from irkit.ir import parse
from tests.targets import pairs
from tests.targets.pairs import EXECUTORS, executor_of, run_batch, run_executors, wanted_cases

ROOT = Path(irkit.__file__).parent
CASES = int(os.environ.get("IRKIT_PAIRS", "5000"))
executors = pytest.mark.parametrize("name", EXECUTORS, ids=lambda name: name.partition(" ")[0])


def need(name: str) -> None:
    missing = executor_of(name).missing
    if missing:
        pytest.skip(missing)


@executors
def test_twenty_cases(name: str) -> None:
    need(name)
    found = run_batch(name, 0, size=20)
    assert found.wrong == []
    assert found.ran >= 10


@pytest.mark.long
@executors
def test_thousands_of_cases(name: str) -> None:
    """Each version of irkit has a folder in ``out``, where a run that was stopped goes on."""
    need(name)
    digest = hashlib.sha256()
    for path in sorted(ROOT.rglob("*.py")):
        digest.update(path.read_bytes())
    folder = ROOT.parent / "out" / "pairs" / digest.hexdigest()[:16]
    found = run_executors([name], folder, CASES, until=float("inf"))[name]
    assert [text for each in found for text in each.wrong] == []
    assert sum(each.ran for each in found) >= wanted_cases(name, CASES)
    away = sum(each.away for each in found)
    assert away * 20 <= sum(each.ran for each in found)  # qemu 7.2 stops at some vectors of RISC-V.


def test_oclgrind_computes_with_bools_in_vectors() -> None:
    """Of optimised code it computes these operations on vectors of i1 wrong."""
    need("opencl@oclgrind")
    func = parse(
        "def f(A: i32[4], B: i32[3], C: i64[4]):\n"
        "    taken: boolx4 = C[ramp(0, 1, 4)] >= broadcast(4, 4)\n"
        "    store(A, (ramp(0, 1, 4),), broadcast(i32(2), 4), mask=taken)\n"
        "    store(A, (ramp(0, 1, 4),), broadcast(i32(3), 4), mask=not taken)\n"
        "    over: boolx3 = C[ramp(0, 1, 3)] > ramp(0, 1, 3)\n"
        "    B[ramp(0, 1, 3)] = select(over, broadcast(i32(-4), 3), broadcast(i32(1), 3))\n"
    )
    args = np.zeros(4, "i4"), np.zeros(3, "i4"), np.array([2, -3, 7, 8])
    (found,) = executor_of("opencl@oclgrind").run([TargetCall(func, args)])
    assert [each.tolist() for each in found.arrays[:2]] == [[3, 3, 2, 2], [-4, 1, -4]]


def test_half_of_the_cases_of_floats_hold_fractions() -> None:
    cases = pairs.batch_cases(1, size=60)
    floats = [
        each
        for case in cases
        for each in case.args
        if getattr(each, "dtype", None) is not None and each.dtype.kind == "f" and each.size > 3
    ]
    with_fractions = [each for each in floats if (each != each.round()).any()]
    assert len(with_fractions) * 2 >= len(floats)


def test_a_wrong_bit_and_a_wrong_end_are_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    func = parse("def f(A: f32[2]):\n    A[0] = A[1]\n")
    case = pairs.Case(func, func, ())
    right = TargetOutcome("ran", (np.array([1.0, np.nan], "f4"),))
    for found, wrong in (
        (right, 0),
        (TargetOutcome("ran", (np.array([np.nextafter(1, 2), np.nan], "f4"),)), 0),
        (TargetOutcome("ran", (np.array([1.0000001, np.nan], "f4"),)), 1),
        (TargetOutcome("ran", (np.array([1.0, -0.0], "f4"),)), 1),
        (TargetOutcome("stopped", right.arrays), 1),
        (TargetOutcome("failed", message="qemu: Assertion failed"), 0),
    ):
        result = pairs.BatchResult("x", 0)
        pairs._count(result, case, right, found)
        assert len(result.wrong) == wrong
        assert result.away == (found.end == "failed")


def test_a_run_goes_on_where_it_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = list[tuple[str, int]]()

    def batch(name: str, number: int) -> pairs.BatchResult:
        made.append((name, number))
        return pairs.BatchResult(name, number, ran=200 if name != "refuses" else 0)

    monkeypatch.setattr(pairs, "run_batch", batch)
    run_executors(["a", "b"], tmp_path, 300, until=float("inf"))
    assert made == [("a", 0), ("b", 0), ("a", 1), ("b", 1)]
    made.clear()
    found = run_executors(["a", "refuses"], tmp_path, 500, until=float("inf"))
    assert made == [("refuses", 0), ("refuses", 1), ("a", 2), ("refuses", 2), ("refuses", 3),
                    ("refuses", 4)]  # fmt: skip
    assert [len(each) for each in found.values()] == [3, 5]
    text = pairs.table([("a", found["a"], ""), ("refuses", found["refuses"], "no time")])
    assert "| a | 600 | 600 | 0 |" in text
    assert "not run: no time" in text
