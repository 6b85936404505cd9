"""A change that no case shows is compared with the original: is it equivalent?"""

import pytest

from tests.mutation.changes.mutant import Mutant, mutants
from tests.mutation.changes.sites import sites
from tests.mutation.runs.fuzz_runs import fuzz_changes
from tests.mutation.runs.fuzz_score import fuzz_score, fuzz_table
from tests.mutation.trials.messages import Equivalence, FuzzOrder


def mutant_of(module: str, text: str) -> Mutant:
    """Find a mutant by a part of its change."""
    found = [each for each in mutants(0, len(sites(module)), [module]) if text in each.what]
    assert len(found) == 1, [each.what for each in found]
    return found[0]


@pytest.mark.long
def test_a_mutant_that_is_not_found_is_compared_with_the_original() -> None:
    wide = "loop.var.dtype != I64 or not bounds_fit  ->  True"
    shown = "logical_or(logical_not(path.whole), holds)  ->"  # In a pass that runs only on request.
    changes = [
        mutant_of("irkit.passes.loop.cleanup.narrow_indices", wide),
        mutant_of("irkit.passes.loop.storage.instrument_bounds", shown),
    ]
    results = list(fuzz_changes(changes, FuzzOrder(kinds=("programs",), count=12)))
    assert not any(result.result.found for result in results)
    assert [result.result.number for result in results] == [12, 12]
    compared = [result.equivalence for result in results if result.equivalence is not None]
    assert [each.status for each in compared] == ["means the same", "never reached"]
    assert [each.of for each in compared] == [12, 12]
    assert fuzz_table(results).row_count == 2
    score = fuzz_score(results)
    assert "1 lower programs differently and mean the same, 1 are never reached" in score


@pytest.mark.parametrize(
    ("equivalence", "status", "text"),
    [
        (Equivalence(), "never reached", "not compared"),
        (Equivalence(9, 2), "means the same", "2 of 9 lowered differently, and mean the same"),
        (Equivalence(9, 0), "never reached", "none of 9 lowered differently; never reached"),
        (
            Equivalence(9, 0, 5, 3),
            "changes nothing",
            "none of 9 lowered differently; reached 5 times, with another value 3 times",
        ),
    ],
)
def test_equivalence_is_stated_in_words(equivalence: Equivalence, status: str, text: str) -> None:
    assert (equivalence.status, str(equivalence)) == (status, text)
