"""An integer may differ where its float may lie on the other side of a half."""

import numpy as np

from irkit.core import IRModule, rewrite
from irkit.debug import check
from irkit.graph import Bind, GraphFunc, Op, parse
from irkit.phases import GRAPH
from irkit.transform import define_pass

RNG = np.random.default_rng(0)
WEIGHTS = ", ".join(f"{number:.4f}" for number in RNG.normal(size=64 * 8))
QUANTIZED = f"""\
def main(x: f32[50, 64]):
    w: f32[64, 8] = constant([{WEIGHTS}])
    s: f32[1] = constant([0.01])
    z: i32[1] = constant([7])
    y = matmul(x, w)
    q = divide(y, s)
    r = round(q)
    c = cast(r, dtype="i32")
    b = add(z, c)
    return b
"""


def statuses(*passes: object) -> dict[str, str]:
    steps = GRAPH.with_passes([(0, each) for each in passes]).steps(
        IRModule({"main": parse(QUANTIZED)})
    )
    return {each.name: each.status for each in check(steps) if each.changed}


def replaced(func: GraphFunc, old: str, new: str) -> GraphFunc:
    def change(bind: Bind) -> Bind | None:
        step = bind.step
        if not isinstance(step, Op) or step.name != old:
            return None
        return bind.replace(step=step.replace(name=new))

    return rewrite(func, change, on=Bind)


def test_a_sum_in_another_order_can_move_a_rounded_number_by_one() -> None:
    found = statuses()
    assert found["lower-to-loops"] == "rounds differently"
    assert "differs" not in found.values()


@define_pass(changes_rounding=True)
def round_down(func: GraphFunc) -> GraphFunc:
    """Round down where the program rounds to the nearest."""
    return replaced(func, "round", "floor")


def test_a_wrong_rounding_is_still_named() -> None:
    assert statuses(round_down)["round-down"] == "differs"


@define_pass
def says_nothing_of_rounding(func: GraphFunc) -> GraphFunc:
    """Round down, without a declaration."""
    return replaced(func, "round", "floor")


def test_without_a_declaration_integers_are_exact() -> None:
    assert statuses(says_nothing_of_rounding)["says-nothing-of-rounding"] == "differs"
