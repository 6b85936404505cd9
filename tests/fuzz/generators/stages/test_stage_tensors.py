"""Random stages are valid programs."""

from hypothesis import given

from irkit import te
from irkit.fuzz.generators.stages.stage_tensors import stage_tensors
from irkit.fuzz.picks import Picks, picks
from irkit.ir import verify
from tests.fuzz.generators.schedules.hypothesis_settings import FEW


@FEW
@given(picks())
def test_a_program_of_stages_is_valid(made: Picks) -> None:
    assert verify(te.create_prim_func(stage_tensors(made))) == []
