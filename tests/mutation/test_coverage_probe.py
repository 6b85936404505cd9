"""A probe at a place counts how often it is reached with another value."""

import numpy as np

from tests.mutation.changes.coverage_probe import PROBE_NAME, CoverageProbe
from tests.mutation.changes.modules import FAMILIES
from tests.mutation.changes.mutant import as_it_is, mutants_by_turns, with_probe
from tests.mutation.test_equivalence import mutant_of


def test_a_probe_counts_other_values_and_returns_the_original() -> None:
    probe = CoverageProbe()
    assert probe(lambda: 1) == 1
    assert probe(lambda: 1, lambda: 1) == 1
    assert probe(lambda: 1, lambda: 2) == 1
    assert probe(lambda: 1, lambda: True) == 1
    assert probe(lambda: 1, lambda: 1 // 0) == 1
    assert probe(lambda: np.arange(3), lambda: np.arange(3)).tolist() == [0, 1, 2]
    assert (probe.reached, probe.other) == (6, 3)


def test_probed_source_is_that_of_the_module_with_one_probe() -> None:
    for mutant in mutants_by_turns(5, 24, list(FAMILIES.values())):
        source = with_probe(mutant)
        if source:
            assert source.count(PROBE_NAME) == 1
            compile(source, mutant.module, "exec")
        assert source != mutant.source
        assert as_it_is(mutant.module) != mutant.source


def test_a_constant_is_probed_with_the_expression_around_it() -> None:
    mutant = mutant_of("irkit.passes.loop.cleanup.remove_no_ops", "self._counts[symbol] > 1")
    assert mutant.what == "self._counts[symbol] > 0  ->  self._counts[symbol] > 1"
    asked = "lambda: self._counts[symbol] > 0, lambda: self._counts[symbol] > 1"
    assert f"{PROBE_NAME}({asked})" in with_probe(mutant)
