"""The judge decides whether a sample is right, and if not, which pass is guilty."""

import numpy as np
import pytest

from irkit import te
from irkit.core import rewrite
from irkit.debug import InputSet
from irkit.fuzz.generators import Sample
from irkit.fuzz.judge import judge, loops
from irkit.fuzz.judge.judge import primitive_in
from irkit.fuzz.judge.progress import tier_and_pass
from irkit.graph import Bind, GraphFunc, Op, parse as parse_graph
from irkit.ir import Add, For, PrimFunc, Sub, parse
from irkit.phases import DEFAULT, GRAPH
from irkit.schedule import Schedule
from irkit.transform import Pipeline, define_pass
from tests.fuzz.judge.samples import ADD, GRAPH_TEXT, sample_of

TIERS = ("interpreter", "lower", "lowered", "O0", "O3")


@define_pass()
def subtract_instead(func: PrimFunc) -> PrimFunc:
    """Subtract floats where they are added."""

    def swap(node: Add) -> Sub | None:
        return Sub(node.a, node.b, node.dtype) if node.dtype.is_float else None

    return rewrite(func, swap, on=Add)


@define_pass()
def lose_an_iteration(func: PrimFunc) -> PrimFunc:
    """End each loop one iteration too early."""
    return rewrite(func, lambda node: node.replace(end=node.end - 1), on=For)


@define_pass()
def run_past_the_end(func: PrimFunc) -> PrimFunc:
    """Run each loop one iteration too far."""
    return rewrite(func, lambda node: node.replace(end=node.end + 1), on=For)


@define_pass()
def raise_an_error(func: PrimFunc) -> PrimFunc:
    """Fail."""
    raise ZeroDivisionError(func.name)


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


def test_a_pass_that_lets_iterations_meet_is_found_although_all_numbers_agree() -> None:
    @define_pass()
    def mark_outermost(func: PrimFunc) -> PrimFunc:
        """Make the outermost loop parallel."""
        assert isinstance(func.body, For)
        return func.replace(body=func.body.replace(kind="parallel"))

    wrong = parse("""
def add(A: f32[5], C: f32[5]):
    for j in serial(0, 2):
        for i in serial(0, 5):
            C[i] = (A[i] if j == 0 else C[i] + f32(1.0))
""").replace(attrs=(("outputs", (1,)),))
    assert judge(sample_of(DEFAULT, wrong)).ok
    found = judge(sample_of(DEFAULT.insert(mark_outermost, phase=0), wrong))
    assert (found.status, found.tier, found.named) == ("races", "races", "mark-outermost")
    assert "two iterations of the parallel loop over 'j' meet: j = 0 writes C[0]" in found.message
    assert judge(sample_of(DEFAULT.insert(mark_outermost, phase=0))).ok


def test_numpy_counts_more_than_the_function_itself() -> None:
    wrong = subtract_instead(ADD)
    found = judge(sample_of(DEFAULT, wrong))
    assert (found.status, found.tier) == ("mismatch", "interpreter")
    assert "disagrees with NumPy: C[0] is -1.0, expected 1.0" in found.message


def test_a_function_too_large_for_llvm_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "_MOST_NODES", 5)
    assert judge(sample_of(DEFAULT)).status == "invalid"


def test_tiers_and_passes_are_reported_before_they_run() -> None:
    heard: list[str] = []
    judge(sample_of(DEFAULT), on_tier=heard.append)
    places = [tier_and_pass(each) for each in heard]
    assert tuple(tier for tier, named in places if not named) == TIERS
    told = [named for tier, named in places if named and tier == "lower"]
    assert told == list(DEFAULT.names)


@define_pass()
def read_before_relu(func: GraphFunc) -> GraphFunc:
    """Replace the result of relu by its operand."""

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
def test_text_reads_back_or_is_refused_with_a_location(text: str) -> None:
    found = judge(Sample("text", text, DEFAULT, damaged=True))
    assert found.ok, found.message
    assert found.fate in ("read back", "refused")


def test_undamaged_text_is_read() -> None:
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
def test_a_sound_sample_must_not_be_refused_by_the_interpreter(sound: bool, status: str) -> None:
    inputs = InputSet("ones", "given", (np.ones(5, np.float32), np.zeros(5, np.float32)))
    given = {"inputs": (inputs,), "expected": (None,), "allowed": ((None, None),)}
    assert judge(Sample("programs", OUTSIDE, DEFAULT, **given, sound=sound)).status == status


def test_an_exception_in_a_primitive_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    a = te.placeholder((8,), name="A")
    sch = Schedule(te.create_prim_func([a, te.compute((8,), lambda i: a[i] + 1.0, name="C")]))
    (loop,) = sch.get_loops(sch.get_block("C"))
    monkeypatch.setattr("irkit.schedule.methods.loops.split", None)
    with pytest.raises(TypeError) as caught:
        sch.split(loop, [None, 2])
    assert primitive_in(caught.value) == "sch.split"
    said = ValueError("what the one who drew it says")
    said.__cause__ = caught.value
    assert primitive_in(said) == "sch.split"
    assert primitive_in(ValueError("of nobody")) == ""
