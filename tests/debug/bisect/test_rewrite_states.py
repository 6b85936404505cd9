"""The program after each rewrite of a pass."""

from irkit.core import Node, remark, rewrite, same
from irkit.debug import RewriteStates
from irkit.ir import Add, Const, PrimFunc, Store, parse
from irkit.transform import define_pass

THREE = """\
def f(A: f32[8]):
    A[0] = A[0] + f32(1.0)
    A[1] = A[1] + f32(2.0)
    A[2] = A[2] + f32(3.0)
"""


@define_pass
def double(func: PrimFunc) -> PrimFunc:
    """Double what is added, once for each store; refuse to leave only the first."""
    done: list[Store] = []

    def doubled(store: Node) -> Node | None:
        assert isinstance(store, Store)
        assert isinstance(store.value, Add)
        assert isinstance(store.value.b, Const)
        remark(store, f"adds {store.value.b.value}")
        twice = Const(2 * float(store.value.b.value), store.value.dtype)
        return store.replace(value=Add(store.value.a, twice, store.value.dtype))

    made = rewrite(func, doubled, on=Store, applied=lambda old, new: done.append(new))
    if len(done) == 1:
        raise ValueError("one alone is refused")
    return made


def lines(func: object) -> list[str]:
    assert isinstance(func, PrimFunc)
    return [line.split("+ ")[1] for line in func.script().splitlines()[1:]]


def test_each_state_has_the_rewrites_up_to_it_and_no_others() -> None:
    func = parse(THREE)
    made = RewriteStates(double, func)
    assert [each.number for each in made.rewrites] == [0, 1, 2]
    assert made.rewrites[0].span is not None
    assert made.rewrites[0].span.file == __file__
    assert [each.text for each in made.remarks] == ["adds 1.0", "adds 2.0", "adds 3.0"]
    nothing = made.after(0)
    assert nothing is not None
    assert same(nothing, func)
    assert made.after(1) is None
    assert lines(made.after(2)) == ["f32(2.0)", "f32(4.0)", "f32(3.0)"]
    assert lines(made.after(3)) == ["f32(2.0)", "f32(4.0)", "f32(6.0)"]


def test_a_state_that_the_pass_refuses_joins_the_next_one() -> None:
    made = RewriteStates(double, parse(THREE))
    shown = [[each.number for each in state.rewrites] for state in made.states(1, 3, 60)]
    assert shown == [[0, 1], [2]]


def test_many_rewrites_share_states_and_a_range_of_them_has_its_own() -> None:
    made = RewriteStates(double, parse(THREE))
    assert [len(state.rewrites) for state in made.states(1, 3, 2)] == [2, 1]
    (state,) = made.states(3, 3, 60)
    assert [each.number for each in state.rewrites] == [2]
