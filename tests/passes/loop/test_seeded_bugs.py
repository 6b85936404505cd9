"""Seeded bugs in the passes, each of which the checks must find."""

from importlib import import_module
from typing import Any

import pytest

from irkit.core import rewrite, substitute
from irkit.ir import (
    Block,
    Const,
    For,
    If,
    Load,
    PrimFunc,
    Stmt,
    Store,
    seq,
)
from irkit.ir.analysis import boxes, carried_values
from irkit.ir.arith import Interval
from irkit.passes import loop
from irkit.passes.loop.support import lane_vectorizer
from irkit.phases import DEFAULT
from irkit.transform import Pipeline, define_pass
from tests.passes.loop.kernels import KERNELS, kernel, results


def fault(pipeline: Pipeline = DEFAULT) -> str:
    """Lower every kernel with checks after each pass; return the first fault, or nothing."""
    for name in KERNELS:
        func = kernel(name)
        expected = results(func)
        try:
            for step in pipeline.steps(func):
                if step.changed and results(step.after) != expected:
                    return f"{name}: {step.name} changed the results"
        except Exception as error:
            return f"{name}: {error}"
    return ""


def inside(name: str) -> Any:
    """Return the module of a pass; in the folder, its name is the function."""
    return import_module(getattr(loop, name).function.__module__)


def under(self: Any, conds: Any, stmt: Stmt) -> Any:
    self.facts += conds
    return (yield stmt)


def fits(self: Any, node: Any, a: Any, b: Any) -> bool:
    self._within[id(node)] = Interval(0, 8)
    return True


BUGS: dict[str, tuple[Any, str, Any]] = {
    "lanes that meet go unnoticed": (
        inside("vectorize_loops"),
        "lane_conflict",
        lambda *_: None,
    ),
    "a loop that carries values goes unnoticed": (
        carried_values.CarriedValues,
        "reason",
        lambda *_: None,
    ),
    "strides are taken from the front": (
        inside("flatten_buffers"),
        "_strides",
        lambda buffer: (*buffer.shape[1:], Const(1, buffer.shape[0].dtype)),
    ),
    "masks are forgotten": (lane_vectorizer.LaneVectorizer, "both", lambda self, mask, cond: mask),
    "else runs in the lanes of then": (
        lane_vectorizer.LaneVectorizer,
        "neither",
        lambda self, mask, cond: self.both(mask, cond),
    ),
    "every condition is taken for the first iteration": (
        inside("hoist_first_iterations"),
        "_is_first",
        lambda *_: True,
    ),
    "everything fits 32 bits": (inside("narrow_indices")._Narrow, "_fits", fits),
    "a store is taken to change nothing": (
        inside("eliminate_common_subexpressions")._StatementRun,
        "_version",
        lambda self, expr: 0,
    ),
    "boxes are one too small": (
        boxes.BoxSide,
        "extent",
        property(lambda side: max(1, side.high - side.low)),
    ),
    "a fact outlives its branch": (inside("simplify")._Scope, "_under", under),
    "a vector load is taken to be safe": (lane_vectorizer, "is_in_bounds", lambda *_: True),
    "uses are not counted": (
        inside("remove_no_ops")._Uses,
        "__contains__",
        lambda self, symbol: False,
    ),
}


@define_pass
def lower_init_blocks(func: PrimFunc) -> PrimFunc:
    """Start the reduction at every step."""

    def lower(block: Block) -> Stmt | None:
        if block.init is None:
            return None
        return block.replace(init=None, body=seq(block.init, block.body))

    return rewrite(func, lower, on=Block)


@define_pass
def lower_blocks(func: PrimFunc) -> PrimFunc:
    """Forget the predicate."""

    def lower(block: Block) -> Stmt:
        return substitute(block.body, {axis.var: axis.binding for axis in block.axes})

    return rewrite(func, lower, on=Block)


@define_pass
def unroll_loops(func: PrimFunc) -> PrimFunc:
    """Use one variable for all copies."""

    def unroll(loop: For) -> Stmt | None:
        if loop.kind != "unrolled" or not isinstance(loop.begin, Const):
            return None
        return seq(*[loop.replace(kind="serial", end=loop.begin.replace(value=1))] * 2)

    return rewrite(func, unroll, on=For)


@define_pass
def remove_no_ops(func: PrimFunc) -> PrimFunc:
    """Treat every store of a value of the same buffer as a store of its own value."""

    def remove(store: Store) -> Stmt | None:
        return seq() if isinstance(store.value, Load) else None

    return rewrite(func, remove, on=Store)


@define_pass
def simplify(func: PrimFunc) -> PrimFunc:
    """Treat equalities as decided."""
    return rewrite(func, lambda stmt: stmt.then, on=If)


WRONG = (lower_init_blocks, lower_blocks, unroll_loops, remove_no_ops, simplify)


def test_the_passes_as_they_are_have_no_fault() -> None:
    assert fault() == ""


@pytest.mark.parametrize("bug", BUGS)
def test_a_seeded_bug_is_found(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*BUGS[bug])
    assert fault() != ""


@pytest.mark.parametrize("wrong", WRONG, ids=lambda p: p.doc)
def test_a_wrong_pass_in_place_of_the_right_one_is_found(wrong: Any) -> None:
    right = next(p for ph in DEFAULT.phases for p in ph.passes if p.name == wrong.name)
    held = define_pass(needs=right.needs, gives=right.gives)(wrong.function)
    assert fault(DEFAULT.replace(right.name, held)) != ""
