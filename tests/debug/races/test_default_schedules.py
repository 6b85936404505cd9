"""The loops of default schedules of operators are proved to be independent at every stage."""

from collections.abc import Callable

import pytest

from irkit import te, topi
from irkit.autoschedule import auto_schedule
from irkit.debug import races_of_steps
from irkit.ir import PrimFunc
from irkit.phases import DEFAULT
from tests.draws import sampled

pytest.importorskip("z3")


def conv() -> PrimFunc:
    x = te.placeholder((1, 8, 33, 33), name="x")
    w = te.placeholder((32, 8, 3, 3), name="w")
    y = topi.nn.conv(x, w, None, strides=(2, 2), pads=(1, 1, 1, 1))
    return te.create_prim_func([x, w, topi.nn.relu(y)])


def matmul() -> PrimFunc:
    x, w = te.placeholder((64, 100), name="x"), te.placeholder((100, 300), name="w")
    return te.create_prim_func([x, w, topi.matmul(x, w)])


def softmax() -> PrimFunc:
    x = te.placeholder((300, 500), name="x")
    return te.create_prim_func([x, topi.nn.softmax(x, axis=1)])


def row_sums() -> PrimFunc:
    x = te.placeholder((700, 900), name="x")
    return te.create_prim_func([x, topi.sum(x, axis=1)])


@pytest.mark.parametrize("make", sampled([matmul, conv, softmax, row_sums], every=2))
def test_every_loop_of_a_default_schedule_is_proved_at_every_stage(
    make: Callable[[], PrimFunc],
) -> None:
    scheduled = auto_schedule(make())
    found = [each for stage in races_of_steps(DEFAULT.steps(scheduled)) for each in stage.loops]
    assert found
    assert not [str(each) for each in found if each.status != "independent"]
