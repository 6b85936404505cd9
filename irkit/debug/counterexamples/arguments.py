"""Inputs of a function that bring it to counterexamples of what a step changed."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from irkit.core import IRKitError
from irkit.debug.counterexamples.changed_values import changed_values
from irkit.debug.counterexamples.search import Counterexample, counterexamples
from irkit.debug.execution.edge_values import Array, edges_of
from irkit.debug.execution.inputs import InputSet, input_sets
from irkit.ir import PrimFunc, Var

MOST_PAIRS, MOST_FOUND = 8, 3
"""Pairs of expressions that are looked at, and those with counterexamples that become inputs."""


def counterexample_sets(
    func: PrimFunc, before: PrimFunc, after: PrimFunc, *, dims: Mapping[str, int], seed: int
) -> Iterator[InputSet]:
    """Yield inputs of ``func``, an earlier version of both, on which what a step stores may differ.

    For each pair of expressions there are two sets: one holds several counterexamples, one after
    the other, in the same place of each array; the other one holds a single one in all places.
    """
    edges = edges_of((before, after))
    number = found = 0
    for number, changed in enumerate(changed_values(before, after)):
        if number >= MOST_PAIRS or found >= MOST_FOUND:
            return
        rows = counterexamples(changed, edges, seed)
        if rows:
            found += 1
            for chosen in (rows, rows[:1]):
                made = _filled(func, chosen, dims, seed)
                if made is not None:
                    yield made


def _filled(
    func: PrimFunc, rows: Sequence[Counterexample], dims: Mapping[str, int], seed: int
) -> InputSet | None:
    """Return arguments that hold counterexamples, and ordinary numbers where they say nothing."""
    try:
        drawn = input_sets(func, dims=dims, seed=seed, samples=2)[-1]
    except IRKitError:
        return None
    args = drawn.copied()
    for number, param in enumerate(func.params):
        if isinstance(param, Var):
            scalars = _of(rows[:1], param.name)
            if scalars:
                args[number] = type(args[number])(scalars[0])
        else:
            _fill(args[number], _of(rows, param.name))
    shown = ", ".join(f"{origin.name} {value}" for origin, value in rows[0].values.items())
    return InputSet(f"where expressions differ ({shown})", "edges", tuple(args))


def _of(rows: Sequence[Counterexample], name: str) -> list[object]:
    return [value for row in rows for origin, value in row.values.items() if origin.name == name]


def _fill(array: Array, values: Sequence[object]) -> None:
    if values and array.size:
        array[...] = np.resize(np.array(values, array.dtype), array.shape)
