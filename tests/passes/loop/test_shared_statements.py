"""One statement object at two places: every pass of the pipeline treats each as a statement."""

from typing import Any

import numpy as np

from irkit.core import IRKitError, rewrite, symbols_bound, walk
from irkit.debug import InputSet, input_sets
from irkit.fuzz.generators.loops.loop_functions import loop_function
from irkit.fuzz.picks import picks_of
from irkit.ir import (
    F32,
    If,
    Let,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    Var,
    interpret,
    parse,
    replace_stmts,
    verify,
)
from irkit.phases import DEFAULT

MOST_STEPS = 30_000


def with_a_shared_statement(number: int) -> PrimFunc | None:
    """Return a drawn function in which one statement object stands twice in a row."""
    picks = picks_of(number)
    func = loop_function(picks)
    found: list[Stmt] = [each for each in walk(func.body, (Store, If)) if not symbols_bound(each)]
    if not found:
        return None
    stmt = picks.pick(found)
    return replace_stmts(func, {stmt: Seq((stmt, stmt))})


def results(func: PrimFunc, inputs: InputSet) -> list[Any]:
    args = inputs.copied()
    try:
        interpret(func, *args, max_steps=MOST_STEPS)
    except IRKitError as error:
        return [type(error)]
    return [np.asarray(each).tobytes() for each in args]


def test_the_pipeline_keeps_what_a_shared_statement_means() -> None:
    tried = 0
    for number in range(16):
        func = with_a_shared_statement(number)
        if func is None:
            continue
        inputs = input_sets(func, samples=1)[0]
        expected, tried = results(func, inputs), tried + 1
        for step in DEFAULT.steps(func):  # Which verifies each.
            assert isinstance(step.after, PrimFunc)
            if step.changed:
                assert results(step.after, inputs) == expected, (number, step.name)
    assert tried > 10


def test_what_a_rule_binds_at_both_places_is_renamed_at_the_second() -> None:
    func = parse("def f(C: f32[4]):\n    C[0] = C[0] + f32(1.0)\n")
    store = func.body
    assert isinstance(store, Store)

    def named(each: Store) -> Stmt:
        value = Var("v", F32)
        return Let(value, each.value, each.replace(value=value))

    made = rewrite(func.replace(body=Seq((store, store))), named)
    assert verify(made) == []
    assert isinstance(made.body, Seq)
    names = [each.var for each in walk(made.body, on=Let)]
    assert len(set(names)) == 2
