"""Messages for runs that ended at a dimension which they measured, or with state half written."""

from collections.abc import Iterator, Mapping

from irkit.codegen.executor_plan import (
    ExecutorPlan,
    Repeat,
    TensorPlace,
    iteration_of,
    refusal,
)


def measured_refusal(plan: ExecutorPlan, status: int, sizes: Mapping[str, int]) -> str:
    """Return the message for a run that ended at a measured dimension: ``status`` is the number of
    the dimension, from 1, and above 32 bits that of its step that refuses it, or 0. ``sizes`` are
    those that the run has stored."""
    each = plan.measured[(status & 0xFFFFFFFF) - 1]
    if status >> 32:
        found = f"with the rows of {each.what}, {refusal(each.steps[(status >> 32) - 1])}"
    else:
        room = each.most if isinstance(each.most, int) else sizes[each.most]
        found = (
            f"{each.what} makes {sizes[each.name]} rows, and has room for {room}: the size of its "
            "outputs depends on data, and is limited"
        )
    inside = [
        f", in iteration {sizes[iteration_of(number)]} of loop {region.name!r}"
        for number in reversed(plan.measuring_loops)
        if isinstance(region := plan.regions[number], Repeat)
        and region.begin <= each.after < region.end
    ]
    return f"{found}{''.join(inside)}{undefined_state(plan, each.after)}"


def undefined_state(plan: ExecutorPlan, call: int) -> str:
    """Return what to say of state behind the message for a run that ended after the kernel call of
    a number, or in it: nothing, unless the run may have written to state."""
    around = [
        region
        for region in plan.regions
        if isinstance(region, Repeat) and region.begin <= call < region.end
    ]
    done = max([call + 1, *(region.end for region in around)])
    written = dict.fromkeys(_written(plan, done))
    names = [
        plan.inputs[pair.param].name
        for pair in plan.state
        if TensorPlace("output", pair.result) in written
    ]
    return f"; what the state {', '.join(names)} holds now is undefined" if names else ""


def _written(plan: ExecutorPlan, done: int) -> Iterator[TensorPlace]:
    """Yield the places that the calls before ``done`` use, and that loops around or before them
    copy to: among the outputs, those that may have been written."""
    for call in plan.calls[:done]:
        yield from call.args
    for region in plan.regions:
        if isinstance(region, Repeat) and region.begin < done:
            yield from (copy.to for copy in (*region.enter, *region.carry, *region.rows))
