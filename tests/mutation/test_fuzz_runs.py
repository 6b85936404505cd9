"""Fuzzing finds seeded bugs, names the pass, and shrinks the case; crashes too."""

import pytest

from tests.mutation.changes.catalogue import CATALOGUE, FUZZED_ONLY
from tests.mutation.changes.seeded_bug import SeededBug
from tests.mutation.changes.source import source_of
from tests.mutation.runs.fuzz_runs import fuzz_changes
from tests.mutation.runs.fuzz_score import fuzz_score, fuzz_table
from tests.mutation.trials.fork_server import ForkServer, TrialOrder
from tests.mutation.trials.messages import FuzzOrder

FOUND_SOON = ("a lost last copy",)


def bug(name: str) -> SeededBug:
    return next(each for each in (*CATALOGUE, *FUZZED_ONLY) if each.name == name)


@pytest.mark.long
def test_seeded_bugs_are_found_named_and_shrunk() -> None:
    order = FuzzOrder(count=400, kinds=("programs",), seconds=2)
    results = list(fuzz_changes([bug(name) for name in FOUND_SOON], order))
    assert all(result.result.found and result.right for result in results)
    assert all(result.result.is_small for result in results)
    assert all("unroll-loops" in result.result.text for result in results)
    assert fuzz_table(results).row_count == 1
    assert fuzz_score(results).startswith("1 of 1 found, 1 within 10,000 cases")


@pytest.mark.long
def test_a_bug_in_code_generation_is_found_where_native_code_runs() -> None:
    order = FuzzOrder(count=400, kinds=("programs",), seconds=1)
    (result,) = fuzz_changes([bug("lanes apart taken for neighbours")], order)
    assert result.right
    assert result.result.tier in ("O0", "O3")


@pytest.mark.long
def test_bugs_in_reading_and_lowering_models_are_found() -> None:
    changes = [bug("bounds that are exchanged"), bug("padding that may be the largest")]
    order = FuzzOrder(count=300, kinds=("onnx",), seconds=1)
    results = list(fuzz_changes(changes, order))
    assert all(result.right for result in results)
    assert [result.result.tier for result in results] == ["interpreter", "lowered"]
    assert all(result.result.stages == 1 for result in results)


@pytest.mark.long
def test_a_primitive_that_raises_while_drawing_is_named_and_shrunk() -> None:
    module, change = "irkit.schedule.primitives.loops.fuse", ("$rest // $end", "$rest // None")
    raises = SeededBug("one", module, "fuse", *change, ("fuse",))
    (result,) = fuzz_changes([raises], FuzzOrder(count=400, kinds=("schedules",), seconds=20))
    assert result.right, result.result
    assert (result.result.tier, result.result.named) == ("draw", "sch.fuse")
    assert result.result.is_small
    assert "TypeError" in result.result.message


@pytest.mark.long
@pytest.mark.parametrize("seeded", FUZZED_ONLY, ids=lambda seeded: seeded.name)
def test_every_bug_that_no_fixed_program_shows_is_found_and_shrunk(seeded: SeededBug) -> None:
    (result,) = fuzz_changes([seeded], FuzzOrder(count=50_000))
    assert result.result.found
    assert result.right, (result.result.named, result.result.tier)
    assert result.result.is_small


@pytest.mark.parametrize(
    ("line", "status"),
    [
        pytest.param("import os; os.kill(os.getpid(), 11)", "crash", marks=pytest.mark.long),
        pytest.param("while True: pass", "hang", marks=pytest.mark.long),
    ],
)
def test_a_change_that_kills_the_process_is_found_with_its_case(line: str, status: str) -> None:
    module = "irkit.passes.loop.cleanup.remove_no_ops"
    anchor = "def remove_no_ops(func: PrimFunc) -> PrimFunc:\n"
    source = source_of(module)
    assert source.count(anchor) == 1
    # The first statement of the body, before its docstring.
    changed = source.replace(anchor, f"{anchor}    {line}\n")
    order = FuzzOrder(count=50, kinds=("programs",), seconds=0.1)
    server = ForkServer(0, -1)
    try:
        result = server.fuzz(TrialOrder(module, changed, seconds=8.0, fuzz=order))
        unchanged = server.fuzz(
            TrialOrder(module, source, fuzz=FuzzOrder(count=3, kinds=("programs",)))
        )
    finally:
        server.close()
    assert (result.status, result.number) == (status, 0)
    assert not unchanged.found
