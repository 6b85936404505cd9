""""""

import pytest

from irkit.core import IRKitError, Target, as_target


def test_the_fields_of_a_target_are_checked() -> None:
    assert as_target("llvm") == Target()
    assert Target(features="+avx2,-fma").features == ("+avx2", "-fma")  # pyright: ignore
    for wrong in ({"kind": "x"}, {"features": ("avx",)}, {"opt_level": 4}):
        with pytest.raises(IRKitError):
            Target(**wrong)  # pyright: ignore
