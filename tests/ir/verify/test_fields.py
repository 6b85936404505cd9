"""The verifier reports problems and does not raise, whatever is in a field."""

import pickle
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from irkit.core import Node, Problem, binders, parts, uses, walk
from irkit.debug import IsolationPolicy
from irkit.ir import (
    F32,
    I64,
    LOOP_LEVEL,
    Add,
    Buffer,
    Const,
    DType,
    Evaluate,
    For,
    PrimFunc,
    Seq,
    Store,
    Var,
    parse,
    verify,
)
from irkit.transform import PassFailed, Phase, Pipeline, define_pass
from tests.draws import few_or_all
from tests.passes.loop.kernels import KERNELS, kernel

ONE = Const(1, I64)
NEVER = ([], [ONE], {}, b"x", object(), {1}, [None])  # Values that no field accepts.
JUNK = (
    *NEVER, None, True, -1, 1 << 70, 0.5, float("nan"), "", "i", (), (None,), (ONE, None), (3,),
    (("k", object()),), ((1, 2, 3),), ((None, None),), ONE, Var("v"), Buffer("B", (ONE,), F32),
    Seq(()), Evaluate(ONE), F32, DType("f", 33), DType("i", -1), DType(None, 1),
    DType("i", 64, "x"),
    PrimFunc("g", (), Seq(())), msgspec.UNSET, Add,
)  # fmt: skip


def copied(func: PrimFunc) -> PrimFunc:
    """Copy every node, so that a field broken here affects no other test."""
    return pickle.loads(pickle.dumps(func))


def everything(func: PrimFunc) -> list[Node]:
    found: dict[int, Node] = {}
    todo: list[Node] = [func]
    while todo:
        for node in walk(todo.pop()):
            new = [each for each in (node, *binders(node), *uses(node)) if id(each) not in found]
            found.update((id(each), each) for each in new)
            todo += [part for each in new if each.symbol for part in parts(each)]
    return list(found.values())


@settings(derandomize=True, deadline=None, max_examples=few_or_all(160, 400))
@given(st.data())
def test_any_wrong_field_value_is_a_problem_and_not_an_exception(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(KERNELS)))
    func = copied(kernel(name))
    nodes = everything(func)
    forbidden = False
    for _ in range(data.draw(st.integers(1, 2))):
        node = data.draw(st.sampled_from(nodes))
        field = data.draw(st.sampled_from(node.__struct_fields__))
        junk: Any = data.draw(st.sampled_from(JUNK))
        msgspec.structs.force_setattr(node, field, junk)
        forbidden = forbidden or any(junk is each for each in NEVER)
    found = verify(func)
    assert all(isinstance(each, Problem) and str(each) for each in found)
    assert found or not forbidden


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_a_valid_function_has_no_field_problems(name: str) -> None:
    assert verify(copied(kernel(name))) == []


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (Evaluate(Seq(())), "field 'value' of Evaluate holds a Seq; expected Expr"),  # type: ignore[arg-type]
        (Evaluate(None), "field 'value' of Evaluate holds None; expected Expr"),  # type: ignore[arg-type]
        (Evaluate(Add(ONE, 1, I64)), "field 'b' of Add holds a int; expected Expr"),  # type: ignore[arg-type]
        (Seq([Evaluate(ONE)]), "field 'stmts' of Seq holds a list; expected tuple[Stmt, ...]"),  # type: ignore[arg-type]
        (Seq((None, ONE)), "holds a tuple of None, Const; expected tuple[Stmt, ...]"),  # type: ignore[arg-type]
        (Evaluate(Const(1, DType("i", 7))), "Const holds DType(i, 7, 1)"),
    ],
)
def test_the_sentence_names_the_field_what_it_holds_and_what_was_expected(
    body: Any, words: str
) -> None:
    (problem,) = verify(PrimFunc("f", (), body))
    assert words in problem.message


def test_anything_but_a_loop_function_is_a_problem() -> None:
    assert "is not a function" in str(verify(None)[0])  # type: ignore[arg-type]


@define_pass
def forget_values(func: PrimFunc) -> PrimFunc:
    """Replace values by None."""
    loop = func.body
    assert isinstance(loop, For)
    assert isinstance(loop.body, Store)
    return func.replace(body=loop.replace(body=loop.body.replace(value=None)))


def test_a_pass_that_leaves_none_is_explained_with_a_folder(tmp_path: Any) -> None:
    func = parse("def f(C: f32[8]):\n    for i in serial(0, 8):\n        C[i] = f32(1.0)\n")
    pipeline = Pipeline(LOOP_LEVEL, (Phase(0, "all", (forget_values,)),))
    with (
        pytest.raises(PassFailed, match="field 'value' of Store holds None") as caught,
        IsolationPolicy(crash_dir=str(tmp_path)).running(lambda name, reason: None),
    ):
        pipeline.run(func)
    assert caught.value.kind == "problems"
    assert list(tmp_path.glob("irkit-crash-*"))
