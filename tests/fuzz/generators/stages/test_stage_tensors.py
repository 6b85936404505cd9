"""Random schedules of random programs: each primitive is refused or keeps the meaning, bit."""

from hypothesis import given

from irkit.fuzz.generators.stages.stage_tensors import stage_programs
from irkit.fuzz.picks import Picks, picks
from irkit.ir import verify
from tests.fuzz.generators.schedule_draws_programs import FEW


@FEW
@given(picks())
def test_a_program_of_stages_is_valid(made: Picks) -> None:
    assert verify(stage_programs(made)) == []
