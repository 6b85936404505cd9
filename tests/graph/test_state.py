"""Results that are written over parameters: what the verifier refuses, and what passes keep."""

import pytest

from irkit.core import IRKitError, IRModule
from irkit.graph import StatePair, parse, results_of, script, state_pairs, verify, with_state
from irkit.passes.graph import fuse_ops, move_transposes, simplify_graph

STEP = """\
@attrs(state=((0, 0),))
def main(h: f32[4], x: f32[4]):
    a: f32[4] = multiply(h, x)
    b: f32[4] = exp(a)
    c: f32[4] = add(a, x)
    r: (f32[4], f32[4]) = (c, b)
    return r
"""


def problems(text: str) -> str:
    return "\n".join(map(str, verify(parse(text))))


def test_pairs_are_written_and_read_back() -> None:
    func = parse(STEP)
    assert verify(func) == []
    assert state_pairs(func) == (StatePair(0, 0),)
    assert script(func) == STEP
    assert script(with_state(with_state(func, ()), (StatePair(0, 0),))) == STEP
    assert [value.name for value in results_of(func)] == ["c", "b"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("exp(a)", "exp(h)", ""),
        (
            "add(a, x)\n",
            "add(a, x)\n    d: f32[4] = exp(h)\n",
            "'d' reads parameter 'h', which 'c'",
        ),
        ("= (c, b)", "= (c, h)", "'r' stands for parameter 'h', or holds it"),
        (
            "= (c, b)",
            "= (x, b)",
            "result 'x' cannot be written over parameter 'h': no step computes it",
        ),
        ("((0, 0),)", "((0, 2),)", "but there are 2 parameters and 2 results"),
        ("((0, 0),)", "((0, 0), (0, 1))", "names a parameter in two pairs"),
        ("((0, 0),)", "((0, 0), (1, 0))", "names a result in two pairs"),
        ("((0, 0),)", "(0, 0)", "must list pairs of a parameter and a result"),
        ("h: f32[4]", "h: f32[1]", "'h', whose type differs"),
        (
            "r: (f32[4], f32[4]) = (c, b)",
            "p: (f32[4], f32[4]) = (b, b)\n    r: (f32[4], (f32[4], f32[4])) = (c, p)",
            "state numbers results that are tensors, and 'p' holds several",
        ),
    ],
)
def test_what_cannot_be_written_in_place_is_refused(old: str, new: str, said: str) -> None:
    assert old in STEP
    found = problems(STEP.replace(old, new))
    assert said in found
    assert bool(said) == bool(found)


LATER = """\
@attrs(state=((0, 0),))
def main(h: f32[4], x: f32[4]):
    a: f32[4] = identity(h)
    b: f32[4] = relu(h)
    c: f32[4] = exp(x)
    d: f32[4] = multiply(c, a)
    e: f32[4] = add(d, b)
    r: (f32[4], f32[4]) = (c, e)
    return r
"""


def test_passes_leave_reads_before_the_overwrite() -> None:
    func = parse(LATER)
    assert verify(func) == []
    after = fuse_ops(simplify_graph(func))
    assert verify(after) == []
    assert "identity(h)" in script(after)
    # Without the pair, both change.
    free = fuse_ops(simplify_graph(with_state(func, ())))
    assert "identity(h)" not in script(free)
    assert script(free).count("fused=True") == 1


def test_rules_do_not_move_a_read_behind_the_overwrite() -> None:
    func = parse("""\
@attrs(state=((0, 1),))
def main(h: f32[2, 3], x: f32[2, 3]):
    a: f32[3, 2] = transpose(h, axes=(1, 0))
    c: f32[2, 3] = exp(x)
    d: f32[3, 2] = relu(a)
    e: f32[2, 3] = transpose(a, axes=(1, 0))
    r: (f32[3, 2], f32[2, 3], f32[2, 3]) = (d, c, e)
    return r
""")
    assert verify(func) == []
    assert move_transposes(func) is func
    assert move_transposes(with_state(func, ())) is not func


def test_a_module_is_checked_too() -> None:
    module = IRModule({"main": parse(STEP.replace("exp(a)", "exp(h)").replace("(c, b)", "(b, b)"))})
    assert verify(module) == []
    with pytest.raises(IRKitError, match="must list pairs"):
        state_pairs(parse(STEP.replace("((0, 0),)", '"h"')))
