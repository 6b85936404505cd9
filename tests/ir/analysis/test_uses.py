"""Uses and regions, compared with runs of random programs."""

from hypothesis import given

from irkit.ir import PrimFunc, access_regions, liveness, uses_of
from tests.ir.analysis.examples import MANY, symbols
from tests.ir.analysis.execution import Run
from tests.ir.analysis.programs import nests


@MANY
@given(nests())
def test_uses_and_regions_contain_every_access(func: PrimFunc) -> None:
    uses, lives = uses_of(func), liveness(func)
    for touch in Run(func).touches:
        own = {b for b in symbols(func) if uses.memory(b) is touch.memory}
        if touch.writes:
            assert any(touch.stmt in uses.writes(b) for b in own)
        assert any(touch.stmt in uses.of(b) for b in own)
        regions = access_regions(func)
        boxes = regions.writes(touch.stmt) if touch.writes else regions.reads(touch.stmt)
        assert any(uses.memory(box.buffer) is touch.memory for box in boxes)
        if uses.binder(touch.memory) is not None:
            assert touch.memory in lives.at(touch.stmt)
