"""Functions of the seed corpus are valid samples."""

from irkit.fuzz.generators.programs.seed_functions import seed_functions
from irkit.ir import verify


def test_seed_functions_are_valid() -> None:
    assert len(seed_functions()) > 50
    assert all(verify(each.func) == [] for each in seed_functions())
