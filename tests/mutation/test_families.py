"""Families of modules get equally many mutants."""

from tests.mutation.changes.modules import FAMILIES
from tests.mutation.changes.mutant import mutants_by_turns
from tests.mutation.changes.sites import sites

FAMILIES_OF_THE_ISSUE = {
    "flatten",
    "vectorize",
    "unroll",
    "simplify",
    "bounds",
    "thread binding",
    "storage reuse",
    "fusion",
    "ONNX conversion",
    "code generation",
}


def test_each_family_is_changed_as_often_as_another() -> None:
    assert set(FAMILIES) > FAMILIES_OF_THE_ISSUE
    families = list(FAMILIES.values())
    assert all(sum(map(len, map(sites, modules))) > 100 for modules in families)
    everything = [module for modules in families for module in modules]
    assert len(set(everything)) == len(everything)
    made = list(mutants_by_turns(1, 3 * len(families), families))
    assert made == list(mutants_by_turns(1, 3 * len(families), families))
    for modules in families:
        assert sum(mutant.module in modules for mutant in made) == 3
