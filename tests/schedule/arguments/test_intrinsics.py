"""Tensor intrinsics compute what they describe, or are refused."""

import numpy as np
import pytest

from irkit.core import ScheduleError
from irkit.ir import verify
from irkit.schedule import TensorIntrin, builtin_intrinsics
from tests.schedule.primitives.blocks.programs import run


@pytest.mark.parametrize("intrin", list(builtin_intrinsics()), ids=lambda each: each.name)
def test_an_intrinsic_computes_what_it_describes(intrin: TensorIntrin) -> None:
    assert verify(intrin.desc) == verify(intrin.impl) == []
    for found, wanted in zip(run(intrin.impl), run(intrin.desc), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_an_intrinsic_whose_functions_differ_is_refused() -> None:
    found = builtin_intrinsics().get("dot_4_i8")
    other = builtin_intrinsics().get("dot_4_u8i8")
    with pytest.raises(ScheduleError, match="different buffers"):
        TensorIntrin("mixed", found.desc, other.impl)
