"""Verdicts on passes over modules: functions that go, change or call something else."""

from collections.abc import Callable

import pytest

from irkit.core import IRModule, rewrite
from irkit.debug import Verdict, check
from irkit.graph import GRAPH_LEVEL, Invoke, parse_module
from irkit.ir import LOOP_LEVEL, Add, Sub
from irkit.transform import Phase, Pipeline, define_pass

LOOPS = """
def one(A: f32[4], C: f32[4]):
    for i in serial(0, 4):
        C[i] = A[i] + f32(1.0)

def two(A: f32[4], C: f32[4]):
    for i in serial(0, 4):
        C[i] = A[i] * f32(2.0)
"""
GRAPH = """
def main(x: f32[4], y: f32[4]):
    a: f32[4] = call("difference", x, y)
    b: f32[4] = call("difference", a, y)
    return b

def difference(A: f32[4], B: f32[4], C: f32[4]):
    for i in serial(0, 4):
        C[i] = A[i] - B[i]
"""
Change = Callable[[IRModule], IRModule]


def judged(text: str, change: Change) -> list[Verdict]:
    @define_pass
    def over_the_module(mod: IRModule) -> IRModule:
        return change(mod)

    level = LOOP_LEVEL if text is LOOPS else GRAPH_LEVEL
    module = parse_module(text.strip())
    found = check(Pipeline(level, (Phase(0, "only", (over_the_module,)),)).steps(module))
    assert all(each.changed for each in found)
    return list(found)


def dropped(mod: IRModule) -> IRModule:
    return mod.with_functions({"two": None})


def renamed(mod: IRModule) -> IRModule:
    return mod.with_functions({"two": None, "three": mod["two"].replace(name="three")})


def exchanged(mod: IRModule) -> IRModule:
    one, two = mod["one"], mod["two"]
    return mod.with_functions({"one": two.replace(name="one"), "two": one.replace(name="two")})


def fewer_parameters(mod: IRModule) -> IRModule:
    two = mod["two"]
    return mod.with_functions({"two": two.replace(params=two.params[::-1])})


def added(mod: IRModule) -> IRModule:
    return mod.with_functions({"three": mod["two"].replace(name="three")})


@pytest.mark.parametrize("change", [dropped, renamed, exchanged, fewer_parameters])
def test_a_module_that_loses_or_changes_a_function_is_wrong(change: Change) -> None:
    assert any(each.is_wrong for each in judged(LOOPS, change))


def test_the_message_names_the_function_that_is_gone() -> None:
    (found,) = judged(LOOPS, renamed)
    assert found.message == "function 'two' is gone; new are 'three'"


def test_a_function_may_be_added() -> None:
    (found,) = judged(LOOPS, added)
    assert found.status == "same"


def calls_changed(change: Callable[[Invoke], Invoke]) -> Change:
    return lambda mod: mod.with_functions({"main": rewrite(mod["main"], change, on=Invoke)})


def test_arguments_of_a_call_count() -> None:
    swapped = calls_changed(lambda call: call.replace(args=call.args[::-1]))
    (found,) = judged(GRAPH, swapped)
    assert found.status == "differs"


def test_a_kernel_that_changes_is_named() -> None:
    def plus(mod: IRModule) -> IRModule:
        made = rewrite(mod["difference"], lambda e: Add(e.a, e.b, e.dtype), on=Sub)
        return mod.with_functions({"difference": made})

    assert [each.function for each in judged(GRAPH, plus) if each.is_wrong] == ["difference"]


def test_a_helper_may_be_renamed_with_its_calls() -> None:
    def moved(mod: IRModule) -> IRModule:
        made = calls_changed(lambda call: call.replace(function="minus"))(mod)
        helper = mod["difference"].replace(name="minus")
        return made.with_functions({"difference": None, "minus": helper})

    (found,) = judged(GRAPH, moved)
    assert found.status == "same"
