"""Is a sample right, and if not, which pass is guilty?"""

import numpy as np
import pytest

from irkit.core import rewrite
from irkit.debug import InputSet
from irkit.fuzz.generators import Kind, Sample
from irkit.fuzz.judging import PROMISES, checked, judge, place_told
from irkit.fuzz.picks import picks_of
from irkit.fuzz.sample import draw_sample
from irkit.graph import Bind, Body, GraphFunc, Op
from irkit.graph import parse as parse_graph
from irkit.ir import BOOL, Add, Assert, Const, For, PrimFunc, Sub, parse, seq
from irkit.phases import DEFAULT, GRAPH
from irkit.transform import AnyPass, Pipeline, define_pass

ADD = parse("""
def add(A: f32[5], C: f32[5]):
    for i in serial(0, 5):
        with block("C"):
            v = axis.spatial(5, i)
            C[v] = A[v] + f32(1.0)
""").replace(attrs=(("outputs", (1,)),))
TIERS = ("interpreter", "lower", "lowered", "O0", "O3")


@define_pass()
def subtract_instead(func: PrimFunc) -> PrimFunc:
    """Take floats away from each other where they are added."""

    def swap(node: Add) -> Sub | None:
        return Sub(node.a, node.b, node.dtype) if node.dtype.is_float else None

    return rewrite(func, swap, on=Add)


@define_pass()
def lose_an_iteration(func: PrimFunc) -> PrimFunc:
    """Let each loop end one iteration too early."""
    return rewrite(func, lambda node: node.replace(end=node.end - 1), on=For)


@define_pass()
def run_past_the_end(func: PrimFunc) -> PrimFunc:
    """Let each loop run one iteration too far."""
    return rewrite(func, lambda node: node.replace(end=node.end + 1), on=For)


@define_pass()
def copy_everything(func: PrimFunc) -> PrimFunc:
    """Say that there is a change, where there is none."""
    return func.copied()


@define_pass(idempotent=True)
def exchange_operands(func: PrimFunc) -> PrimFunc:
    """Exchange what is added, each time anew."""
    return rewrite(func, lambda node: Add(node.b, node.a, node.dtype), on=Add)


@define_pass()
def raise_an_error(func: PrimFunc) -> PrimFunc:
    """Fail."""
    raise ZeroDivisionError(func.name)


def sample_of(pipeline: Pipeline, func: PrimFunc = ADD) -> Sample:
    given = np.arange(5, dtype=np.float32)
    inputs = InputSet("given", "given", (given, np.zeros(5, np.float32)))
    expected = ((given + 1,),)
    return Sample(
        "programs", func, pipeline, inputs=(inputs,), expected=expected, allowed=((0.0,),)
    )


def test_a_right_sample_runs_through_all_tiers() -> None:
    found = judge(sample_of(DEFAULT))
    assert found.ok
    assert found.tiers == TIERS
    assert judge(sample_of(DEFAULT), thorough=True).tiers == (*TIERS, "each pass")


@pytest.mark.parametrize(
    ("p", "status"),
    [
        (subtract_instead, "mismatch"),
        (lose_an_iteration, "mismatch"),
        (run_past_the_end, "failed"),
        (raise_an_error, "failed"),
    ],
)
def test_a_wrong_pass_is_found_before_native_code_runs_and_named(p: object, status: str) -> None:
    found = judge(sample_of(DEFAULT.insert(p, phase=2)))  # pyright: ignore[reportArgumentType]
    assert (found.status, found.named) == (status, p.name)  # pyright: ignore[reportAttributeAccessIssue]
    assert "O0" not in found.tiers


def test_what_numpy_says_counts_more_than_what_the_function_does() -> None:
    wrong = subtract_instead(ADD)
    found = judge(sample_of(DEFAULT, wrong))
    assert (found.status, found.tier) == ("mismatch", "interpreter")
    assert "disagrees with NumPy: C[0] is -1.0, expected 1.0" in found.message


def test_a_pass_that_lies_about_a_change_breaks_a_promise() -> None:
    sample = sample_of(DEFAULT.insert(copy_everything, phase=2))
    assert judge(sample).ok
    assert judge(sample, thorough=True).named == "copy-everything"


def test_what_became_too_large_for_llvm_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("irkit.fuzz.judging.loops._MOST_NODES", 5)
    assert judge(sample_of(DEFAULT)).status == "invalid"


def test_a_promise_may_be_asked_of_one_pass_whatever_the_number() -> None:
    sample = sample_of(DEFAULT.insert(exchange_operands, phase=1))
    asked = ("passes keep their word",)
    for number in range(4):
        found = judge(sample, promises=asked, number=number, about="exchange-operands")
        assert (found.status, found.named) == ("broken", "exchange-operands")
        assert judge(sample, promises=asked, number=number, about="lower-blocks").ok


def test_a_crash_has_a_tier_and_a_pass_because_they_are_told_before() -> None:
    heard: list[str] = []
    judge(sample_of(DEFAULT), told=heard.append)
    places = [place_told(each) for each in heard]
    assert tuple(tier for tier, named in places if not named) == TIERS
    told = [named for tier, named in places if named and tier == "lower"]
    assert told == list(DEFAULT.names)


GRAPH_TEXT = """
def main(x: f32[2, 3]):
    y: f32[2, 3] = relu(x)
    z: f32[2, 3] = add(y, x)
    return z
"""


@define_pass()
def read_before_relu(func: GraphFunc) -> GraphFunc:
    """Let what is added be what relu was given."""

    def leave_out(bind: Bind) -> Bind | None:
        match bind.step:
            case Op("relu"):
                return bind.replace(step=bind.step.replace(name="negative"))
            case _:
                return None

    return rewrite(func, leave_out, on=Bind)


def graph_sample(pipeline: Pipeline) -> Sample:
    given = np.array([[-2.0, 0.0, 1.0], [3.0, -4.0, 5.0]], np.float32)
    return Sample(
        "graphs",
        parse_graph(GRAPH_TEXT),
        pipeline,
        inputs=(InputSet("given", "given", (given,)),),
        expected=((np.maximum(given, 0) + given,),),
        allowed=((None,),),
    )


def test_a_graph_runs_through_all_tiers_and_a_wrong_pass_on_it_is_named() -> None:
    found = judge(graph_sample(GRAPH), thorough=True)
    assert found.ok, found.message
    assert {"interpreter", "lowered", "O0", "O3", "each pass"} <= set(found.tiers)
    wrong = judge(graph_sample(GRAPH.insert(read_before_relu, before="fold-constants")))
    assert (wrong.status, wrong.tier, wrong.named) == ("mismatch", "lowered", "read-before-relu")


@pytest.mark.parametrize("text", [ADD.script(), GRAPH_TEXT, "def f(A: f32[", "", "\x00", "x = 1\n"])
def test_text_reads_back_or_is_refused_with_its_place(text: str) -> None:
    found = judge(Sample("text", text, DEFAULT, damaged=True))
    assert found.ok, found.message
    assert found.fate in ("read back", "refused")


def test_text_that_is_not_damaged_reads() -> None:
    assert judge(Sample("text", GRAPH_TEXT, DEFAULT)).ok
    found = judge(Sample("text", GRAPH_TEXT.replace("return", "retrun"), DEFAULT))
    assert (found.status, found.tier) == ("failed", "interpreter")
    assert "what was printed does not read" in found.message


OUTSIDE = parse("""
def outside(A: f32[5], C: f32[5]):
    for i in serial(0, 5):
        C[i] = A[i + 1]
""")


@pytest.mark.parametrize(("sound", "status"), [(True, "failed"), (False, "invalid")])
def test_what_is_sound_must_not_be_refused_by_the_interpreter(sound: bool, status: str) -> None:
    inputs = InputSet("ones", "given", (np.ones(5, np.float32), np.zeros(5, np.float32)))
    given = {"inputs": (inputs,), "expected": (None,), "allowed": ((None, None),)}
    assert judge(Sample("programs", OUTSIDE, DEFAULT, **given, sound=sound)).status == status


@define_pass(idempotent=True)
def check_nothing(func: PrimFunc) -> PrimFunc:
    """Let everything pass."""
    return func


@define_pass()
def stop_everything(func: PrimFunc) -> PrimFunc:
    """Stop at once."""
    never = Assert(Const(False, BOOL), "stopped")
    return func.replace(body=seq(never, func.body))


@pytest.mark.parametrize("p", [check_nothing, stop_everything], ids=str)
def test_checks_of_bounds_must_stop_what_is_outside_and_nothing_else(
    p: AnyPass, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checked, "instrument_bounds", p)
    asked = ["bounds are checked"]
    found = [judge(sample_of(DEFAULT), native=False, promises=asked, number=n) for n in range(8)]
    wrong = [each for each in found if each.is_finding]
    assert wrong
    assert {each.named for each in wrong} == {p.name}


@pytest.mark.parametrize("name", PROMISES)
def test_the_promises_are_kept(name: str) -> None:
    for number in range(3):
        found = judge(draw_sample("programs", picks_of(number)), promises=[name], number=number)
        assert found.ok, found.message
        assert found.checks == (name,)


@pytest.mark.parametrize("name", ["print and parse", "passes keep their word", "lowers alike"])
@pytest.mark.parametrize("kind", ["graphs", "onnx"])
def test_models_keep_promises_too(kind: Kind, name: str) -> None:
    sample = draw_sample(kind, picks_of(1))
    found = judge(sample, promises=[name], native=False)
    assert found.ok, found.message
    assert found.checks == (name,)


@define_pass()
def copy_graph(func: GraphFunc) -> GraphFunc:
    """Give back another object that is the same."""
    return func.replace(body=Body(func.body.bindings, func.body.result))


def test_a_pass_over_graphs_that_changes_nothing_and_says_it_did_is_named() -> None:
    graph = parse_graph(GRAPH_TEXT)
    sample = Sample("graphs", graph, GRAPH.with_passes([(0, copy_graph)]))
    found = judge(sample, promises=["passes keep their word"], native=False, about="copy-graph")
    assert (found.status, found.named) == ("broken", "copy-graph")
