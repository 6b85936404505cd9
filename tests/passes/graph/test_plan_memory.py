"""The plan of the arena is recorded as attributes."""

from irkit.graph import parse, recorded_plan
from irkit.passes.graph import plan_memory


def test_a_plan_is_read_back_as_it_was_recorded() -> None:
    func = parse(
        "def main(x: f32[64]):\n    a = exp(x)\n    b = exp(a)\n    c = exp(b)\n    return c\n"
    )
    after = plan_memory(func)
    plan = recorded_plan(after)
    assert plan is not None
    assert [(s.value, s.offset, s.size) for s in plan.slots] == [("a", 0, 256), ("b", 256, 256)]
    assert recorded_plan(func) is None
    assert plan_memory(after) is after
    assert recorded_plan(parse(after.script())) == plan
