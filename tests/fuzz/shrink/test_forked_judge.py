"""A sample that crashes or hangs is judged in a fork."""

import time

from irkit.fuzz.shrink.forked_judge import judge_in_fork
from irkit.ir import PrimFunc
from irkit.processes import Limits
from irkit.transform import define_pass
from tests.fuzz.shrink.crashing_pass import crash
from tests.fuzz.shrink.test_make_small import drawn, with_pass


@define_pass
def never_end(func: PrimFunc) -> PrimFunc:
    """Sleep for longer than any limit."""
    time.sleep(1e6)
    return func


def test_a_sample_judged_in_a_fork_can_crash_or_hang() -> None:
    sample = drawn("programs", 0)
    assert judge_in_fork(sample).ok
    crashed = judge_in_fork(with_pass(sample, crash))
    assert (crashed.status, crashed.tier) == ("crash", "lower")
    assert "SIGSEGV" in crashed.message
    hung = judge_in_fork(with_pass(sample, never_end), Limits(seconds=0.3))
    assert (hung.status, hung.tier) == ("hang", "lower")
