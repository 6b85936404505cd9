"""Samples that are tensor expressions: what NumPy computes from them is what must come out."""

from irkit import te
from irkit.debug import input_sets
from irkit.fuzz.generators.drawn import Allowed, Array, Sample, outputs_of
from irkit.fuzz.generators.features import features_of
from irkit.fuzz.picks import Picks
from irkit.fuzz.stage_draws import stage_tensors
from irkit.phases import DEFAULT


def draw_program(picks: Picks) -> Sample:
    """Draw a program of stages, and what NumPy makes of two sets of arguments."""
    tensors = stage_tensors(picks)
    func = te.create_prim_func(tensors)
    reference = te.numpy_reference(tensors)
    sets = tuple(input_sets(func, seed=picks.below(1 << 16), samples=1))
    expected: list[tuple[Array, ...]] = []
    for each in sets:
        found = reference(each.args)
        expected.append(tuple(found[place] for place in outputs_of(func)))
    exact: tuple[Allowed, ...] = (None,) * len(outputs_of(func))
    return Sample(
        "programs",
        func,
        DEFAULT,
        inputs=sets,
        expected=tuple(expected),
        allowed=(exact,) * len(sets),
        features=features_of(func),
    )
