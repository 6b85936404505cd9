"""The guilty pass, and the guilty rewrite inside it."""

import time
from importlib import import_module
from typing import Any, cast

import numpy as np
import pytest

from irkit import te, topi
from irkit.core import IRKitError, IRModule, rewrite
from irkit.debug import CheckOptions, Culprit, bisect, culprit_of, find_guilty_step
from irkit.graph import Builder, GraphFunc, Op
from irkit.ir import Add, Const, For, Let, PrimFunc, Sub, Var, parse
from irkit.phases import DEFAULT, GRAPH
from irkit.transform import AnyPass, define_pass
from tests.draws import sampled
from tests.passes.loop.kernels import kernel

SUMS = """
def sums(A: f32[8], C: f32[8], D: f32[8]):
    for i in serial(0, 8):
        C[i] = A[i] + f32(1.0)
    for i in serial(0, 8):
        D[i] = A[i] + f32(2.0)
    for i in serial(0, 8):
        C[i] = C[i] + D[i]
"""


@define_pass
def subtract_two(func: PrimFunc) -> PrimFunc:
    """Rewrite every sum; wrong for a sum with 2."""

    def turn(node: Add) -> Add | Sub | None:
        if isinstance(node.b, Const) and node.b.value == 2.0:
            return Sub(node.a, node.b, node.dtype)
        return Add(node.b, node.a, node.dtype) if node.dtype.is_float else None

    return rewrite(func, turn, on=Add)


@define_pass
def rename_in_two_steps(func: PrimFunc) -> PrimFunc:
    """Replace a variable first where it is bound, then where it is used; half does not verify."""
    new = Var("u")

    def bind(let: Let) -> Let:
        return let.replace(var=new, value=let.value + 1)

    def use(var: Var) -> Var | None:
        return new if var.name == "t" else None

    return rewrite(rewrite(func, bind, on=Let), use, on=Var)


def found(p: AnyPass, func: PrimFunc, **how: Any) -> Culprit:
    culprit = bisect(DEFAULT.insert(p, phase=0), func, **how)
    assert culprit is not None
    return culprit


@pytest.mark.long
def test_the_default_phases_have_no_culprit() -> None:
    assert all(bisect(DEFAULT, kernel(name)) is None for name in ("MATMUL", "SOFTMAX"))


def test_one_rewrite_of_three_is_named_with_its_change_and_the_line_of_its_rule() -> None:
    culprit = found(subtract_two, parse(SUMS.strip()))
    assert culprit.verdict.name == "subtract-two"
    assert culprit.of == 3
    (rewrite_,) = culprit.rewrites
    assert rewrite_.number == 1
    assert isinstance(rewrite_.after, Sub)
    assert rewrite_.rule == "subtract_two.<locals>.turn"
    assert rewrite_.span is not None
    assert rewrite_.span.file == __file__
    with open(__file__, encoding="utf-8") as source:
        assert "def turn(" in source.readlines()[rewrite_.span.line - 1]
    changed = [line for line in culprit.diff() if line[0] in "+-"][2:]
    assert changed == [
        "-        D[i_1] = A[i_1] + 2.0",
        "+        D[i_1] = A[i_1] - 2.0",
    ]
    assert "rewrite 2 of 3" in str(culprit)


def test_the_other_rewrites_of_a_pass_of_ones_own_have_a_number_of_trust() -> None:
    func = parse(SUMS.strip())
    own = CheckOptions(trust_in=frozenset({"subtract-two"}))
    step = find_guilty_step(DEFAULT.insert(subtract_two, phase=0), func, own)
    assert step is not None
    culprit = culprit_of(step, own)
    assert culprit.trust is not None
    assert culprit.trust.killed == culprit.trust.tried > 0
    assert f"without it, {culprit.trust}" in str(culprit)
    assert culprit_of(step, CheckOptions()).trust is None


def test_rewrites_that_only_verify_together_are_one_group() -> None:
    func = parse("def f(A: f32[9], C: f32[8]):\n    t: i64 = 3\n    C[t] = A[t]\n    C[0] = A[t]\n")
    culprit = found(rename_in_two_steps, func)
    assert len(culprit.rewrites) > 1
    assert culprit.good is not None
    assert culprit.rewrites[0].number == 0


def test_a_pass_without_rewrites_is_named_as_a_whole() -> None:
    @define_pass
    def first_loop_only(func: PrimFunc) -> PrimFunc:
        """Drop everything but the first loop."""
        return func.replace(body=func.body.stmts[0])

    culprit = found(first_loop_only, parse(SUMS.strip()))
    assert culprit.verdict.name == "first-loop-only"
    assert culprit.rewrites == ()
    assert "reports no rewrites" in str(culprit)


def test_a_rewrite_that_does_not_verify_is_found_too() -> None:
    @define_pass
    def forget(func: PrimFunc) -> PrimFunc:
        """Use another variable in the second loop."""
        loops = list[For]()

        def rule(loop: For) -> For:
            loops.append(loop)
            return loop.replace(var=Var("j")) if len(loops) == 2 else loop.replace(end=loop.end + 0)

        return rewrite(func, rule, on=For)

    culprit = found(forget, parse(SUMS.strip()))
    assert culprit.verdict.status == "failed"
    assert [each.number for each in culprit.rewrites] == [1]


def test_a_pass_that_raises_is_found_with_the_rewrites_before() -> None:
    @define_pass
    def fail(func: PrimFunc) -> PrimFunc:
        """Raise an exception."""
        raise RuntimeError("cannot")

    culprit = found(fail, kernel("MATMUL"))
    assert culprit.verdict.name == "fail"
    assert "RuntimeError: cannot" in str(culprit)


def test_a_pass_that_exits_is_found_and_does_not_end_the_process() -> None:
    @define_pass
    def leave(func: PrimFunc) -> PrimFunc:
        """Raise SystemExit."""
        raise SystemExit(0)

    assert found(leave, kernel("MATMUL")).verdict.name == "leave"


def test_the_function_of_a_module_is_named() -> None:
    module = IRModule({"matmul": kernel("MATMUL"), "sums": parse(SUMS.strip())})
    culprit = bisect(DEFAULT.insert(subtract_two, phase=0), module)
    assert culprit is not None
    assert culprit.verdict.function == "sums"


def test_inputs_can_be_given() -> None:
    ones = {"A": np.ones(8, np.float32)}
    assert found(subtract_two, parse(SUMS.strip()), inputs=ones).verdict.inputs == "given"


@pytest.mark.parametrize("name", sampled(["MATMUL", "TILED_MATMUL", "SOFTMAX"], every=2))
def test_a_miscompiled_kernel_is_bisected_in_seconds(name: str) -> None:
    @define_pass
    def shorten(func: PrimFunc) -> PrimFunc:
        """Drop the last iteration of every loop."""
        return rewrite(func, lambda loop: loop.replace(end=loop.end - 1), on=For)

    started = time.process_time()  # Other tests run beside this one.
    culprit = bisect(DEFAULT.insert(shorten, phase=2), kernel(name))
    # At most 2 s on an idle processor of its own; two that share a core take twice as long.
    assert time.process_time() - started < 5
    assert culprit is not None
    assert len(culprit.rewrites) == 1


def test_a_rule_that_reports_itself_is_found_by_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    vectorize = import_module("irkit.passes.loop.loops.vectorize_loops")
    monkeypatch.setattr(vectorize, "lane_conflict", lambda *_: None)
    culprit = bisect(DEFAULT, kernel("SHIFTED"))
    assert culprit is not None
    assert culprit.verdict.name == "vectorize-loops"
    assert culprit.rewrites[0].span is not None
    assert culprit.rewrites[0].span.file.endswith("vectorize_loops.py")


def test_the_guilty_rewrite_of_a_graph_pass_is_named() -> None:
    @define_pass
    def forget_relu(func: GraphFunc) -> GraphFunc:
        """Turn every relu and tanh into abs."""

        def rule(op: Op) -> Op | None:
            return op.replace(name="abs") if op.name in ("relu", "abs") else None

        return rewrite(func, rule, on=Op)

    b = Builder("main")
    x = b.param("x", (4,))
    func = b.finish(b.op("relu", b.op("abs", x)), b.op("relu", x))
    culprit = bisect(GRAPH.insert(forget_relu, phase=0), IRModule({"main": func}))
    assert culprit is not None
    assert culprit.verdict.name == "forget-relu"
    assert culprit.verdict.buffer == "relu_1"
    assert len(culprit.rewrites) == 1
    assert culprit.rewrites[0].before.name == "relu"


def test_a_wrong_step_of_the_automatic_schedule_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = te.placeholder((5, 2), name="A"), te.placeholder((2, 19), name="B")
    func = te.create_prim_func([a, b, topi.matmul(a, b)])
    assert bisect(DEFAULT, func, schedule="auto", samples=1) is None
    monkeypatch.setattr("irkit.schedule.primitives.loops.split._guard", lambda body, _: body)
    assert bisect(DEFAULT, func, schedule="none", samples=1) is None
    culprit = bisect(DEFAULT, func, schedule="auto", samples=1)
    assert culprit is not None
    assert culprit.verdict.name == "sch.split"


def test_a_schedule_is_steps_or_one_of_two_words() -> None:
    with pytest.raises(IRKitError, match="schedule is 'best'; expected 'auto', 'none' or"):
        bisect(DEFAULT, parse(SUMS), schedule=cast(Any, "best"))
