"""The checks find no fault in the passes as they are, and no fault that was mended."""

import pytest

from irkit.fuzz import KERNELS
from irkit.transform.run import apply_here
from tests.draws import sampled
from tests.mutation.changes.catalogue import CATALOGUE
from tests.mutation.trials.check_programs import prints_of, try_programs
from tests.mutation.trials.programs import fixed_programs, steps_of


@pytest.mark.parametrize(
    "part", [slice(7, None, 30), pytest.param(slice(None), marks=pytest.mark.long)]
)
def test_the_passes_as_they_are_have_no_fault(part: slice) -> None:
    cases = [case for case in fixed_programs() if case.name not in KERNELS][part]
    found = try_programs(cases, {}, judge=False)
    assert not found.found, found.message
    assert len(found.differs) == len(cases)


def test_an_unchanged_lowering_needs_no_check() -> None:
    cases = fixed_programs()[:3]
    assert try_programs(cases, prints_of(cases)).differs == ()


@pytest.mark.long
def test_every_loop_pass_changes_one_of_the_fixed_programs() -> None:
    fired = {
        step.name
        for case in fixed_programs()
        for step in steps_of(case, apply_here)
        if step.changed
    }
    named = {name for bug in CATALOGUE for name in bug.guilty if bug.guilty[1:] == ()}
    assert named <= fired


# Faults of earlier passes, found by the programs of the catalogue.
MENDED = ("LANE_VIEWS", "VIEWED_INDEX", "CONV_PADDED", "FUSE")


@pytest.mark.parametrize("name", sampled(MENDED, every=2, first=1))
def test_a_mended_fault_stays_mended(name: str) -> None:
    case = next(case for case in fixed_programs() if case.name == name)
    found = try_programs([case], {}, judge=False)
    assert not found.found, found.message
