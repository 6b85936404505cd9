"""Random programs give the same bits before and after every pass."""

from hypothesis import given, settings, strategies as st

from irkit.core import same
from irkit.fuzz.generators.loops.loop_functions import arguments, prim_funcs
from irkit.ir import PrimFunc, interpret, parse, script
from irkit.passes import loop
from irkit.phases import DEFAULT
from tests.draws import few_or_all

ANY_STAGE = (
    "canonicalize_loops",
    "convert_for_loops_to_serial",
    "hoist_if_then_else",
    "plan_allocations",
    "remove_no_ops",
    "simplify",
    "unroll_loops",
)
AFTER_BLOCKS = (
    "loop_partition",
    "compact_buffers",
    "flatten_buffers",
    "narrow_indices",
    "hoist_first_iterations",
    "rewrite_unsafe_selects",
    "eliminate_common_subexpressions",
)


def outcome(func: PrimFunc) -> list[bytes]:
    arrays = arguments(func)
    interpret(func, *arrays)
    return [getattr(array, "tobytes", lambda a=array: repr(a).encode())() for array in arrays]


@settings(max_examples=few_or_all(24, 60), deadline=None, derandomize=True)
@given(prim_funcs(), st.sampled_from(ANY_STAGE))
def test_a_pass_that_needs_nothing_keeps_the_results(func: PrimFunc, name: str) -> None:
    after = getattr(loop, name)(func)
    assert outcome(after) == outcome(func)
    assert same(parse(script(after)), after)


@settings(max_examples=few_or_all(24, 60), deadline=None, derandomize=True)
@given(prim_funcs(blocks=False), st.sampled_from(AFTER_BLOCKS))
def test_a_pass_over_loops_without_blocks_keeps_the_results(func: PrimFunc, name: str) -> None:
    assert outcome(getattr(loop, name)(func)) == outcome(func)


@settings(max_examples=few_or_all(12, 30), deadline=None, derandomize=True)
@given(prim_funcs())
def test_every_phase_keeps_the_results(func: PrimFunc) -> None:
    expected = outcome(func)
    for step in DEFAULT.steps(func):
        if step.changed:
            assert outcome(step.after) == expected, step.name
