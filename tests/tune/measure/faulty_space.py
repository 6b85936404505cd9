"""A space whose candidates crash, hang, leak, or compute something else, as their decisions say."""

import os
import time
from collections.abc import Mapping
from typing import Any

from irkit.core import ScheduleError
from irkit.ir import PrimFunc, parse
from irkit.schedule import ScheduleTrace
from irkit.tune.space import Candidate, Group, RuleSpace


class FaultySpace(RuleSpace):
    """The default of the product of 9 x 16 x 5, except where ``fault`` says what is wrong."""

    name = "faulty"

    def __reduce__(self) -> tuple[Any, ...]:
        return FaultySpace, (self.func, self.machine, self.threads)

    @property
    def stages(self) -> Mapping[str, tuple[Any, ...]]:
        return {}

    def groups(self, values: Mapping[str, Any]) -> tuple[Group, ...]:
        return ()

    def derive(self, values: Mapping[str, Any]) -> Candidate:
        fault = values.get("fault")
        if fault == "crash":
            os.abort()
        if fault == "hang":
            time.sleep(1000)
        if fault == "leak":
            bytearray(1 << 40)
        if fault == "refused":
            raise ScheduleError("this is not legal")
        if fault in _CHANGES:
            return Candidate(_changed(self.func, *_CHANGES[fault]), ScheduleTrace())
        return super().derive({})


def _changed(func: PrimFunc, old: str, new: str) -> PrimFunc:
    text = func.script()
    assert old in text
    return parse(text.replace(old, new))


_CHANGES = {
    "wrong": ("f32(0.0)", "f32(1.0)"),
    "unwritten": ("serial(0, 9)", "serial(0, 8)"),
    "outside": ("9", "10"),
}
