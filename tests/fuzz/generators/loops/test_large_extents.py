"""Functions with extents beyond any memory: they run, or are refused, and never crash."""

from collections.abc import Callable

import msgspec
import numpy as np
import pytest

from irkit.core import rewrite, substitute, walk
from irkit.fuzz.generators.loops.large_extents import small_extents
from irkit.fuzz.generators.programs.program_samples import draw_large
from irkit.fuzz.generators.sample import Sample
from irkit.fuzz.generators.sample_file import parse_sample, sample_text
from irkit.fuzz.judge import judge
from irkit.fuzz.picks import picks_of
from irkit.ir import (
    Allocate,
    Call,
    Expr,
    MemoryLimit,
    PrimFunc,
    interpret,
    maximum,
    shape_vars,
    verify,
)
from irkit.passes.loop import flatten_buffers
from irkit.processes import Limits, run_in_fork
from irkit.transform import AnyPass, define_pass

SAMPLES = [draw_large(picks_of(seed)) for seed in range(40)]


def func_of(sample: Sample) -> PrimFunc:
    assert isinstance(sample.ir, PrimFunc)
    return sample.ir


def status_of(sample: Sample) -> str:
    found = run_in_fork(lambda: judge(sample).status.encode(), Limits(seconds=60, memory=8 << 30))
    return found.decode()


def test_samples_are_valid_and_run_with_small_extents() -> None:
    for sample in SAMPLES:
        func = func_of(sample)
        assert verify(func) == []
        assert set(small_extents(func)) == set(shape_vars(func))
        args = sample.inputs[0].copied()
        interpret(func, *args)
        assert np.array_equal(args[-1], sample.expected[0][0])  # pyright: ignore[reportOptionalSubscript] -- computed


def test_many_samples_fit_into_no_memory() -> None:
    refused = 0
    for sample in SAMPLES:
        try:
            interpret(func_of(sample), *sample.inputs[1].copied(), max_bytes=1 << 26)
        except MemoryLimit:
            refused += 1
    assert len(SAMPLES) // 4 < refused < len(SAMPLES)


def test_a_sample_reads_back_from_its_text() -> None:
    sample = SAMPLES[0]
    again = parse_sample(sample_text(sample, {}))
    assert again.may_lack_memory
    shapes = [[np.shape(arg) for arg in inputs.args] for inputs in sample.inputs]
    assert [[np.shape(arg) for arg in inputs.args] for inputs in again.inputs] == shapes


@pytest.mark.parametrize("seed", [0, 2, 24])
def test_each_way_of_running_agrees_or_refuses(seed: int) -> None:
    assert status_of(SAMPLES[seed]) == "ok"


def with_sizes(func: PrimFunc, change: Callable[[Expr], Expr]) -> PrimFunc:
    """Change the sizes of the flat buffers that a function allocates."""
    own = [each.buffer for each in walk(func, Allocate)]
    sizes = {each: each.replace(shape=(change(each.shape[0]),)) for each in own}
    return func.replace(body=substitute(func.body, dict(sizes)))


@define_pass()
def multiply_plainly(func: PrimFunc) -> PrimFunc:
    """Replace saturating products by plain ones."""

    def plain(node: Call) -> Expr:
        return node.args[0] * node.args[1]

    return with_sizes(func, lambda size: rewrite(size, plain, on=Call))


@define_pass()
def ask_for_more(func: PrimFunc) -> PrimFunc:
    """Allocate far more than needed."""
    return with_sizes(func, lambda size: maximum(size, 1 << 50))


def with_pass(sample: Sample, wrong: AnyPass) -> Sample:
    made = sample.pipeline.insert(wrong, after=flatten_buffers.name)
    return msgspec.structs.replace(sample, pipeline=made)


@pytest.mark.parametrize("seed", [0, 2, 7])
def test_a_size_that_wraps_around_is_a_finding(seed: int) -> None:
    assert status_of(with_pass(SAMPLES[seed], multiply_plainly)) == "failed"


def test_a_refusal_of_what_fits_is_a_finding() -> None:
    assert status_of(with_pass(SAMPLES[0], ask_for_more)) == "failed"
