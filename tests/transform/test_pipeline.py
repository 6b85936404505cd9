import pickle

import msgspec
import pytest

from irkit.core import IRKitError, IRModule, Problem, remark, rewrite
from irkit.ir import F32, Add, Buffer, Const, For, PrimFunc, Store
from irkit.transform import (
    Fact,
    Order,
    PassFailed,
    Phase,
    Pipeline,
    VerificationFailed,
    define_pass,
)
from tests.transform.loops import (
    LOOP,
    function,
    no_parallel,
    no_unrolled,
    with_end,
    with_kind,
)


@define_pass(gives=(no_unrolled,))
def unroll(func: PrimFunc) -> PrimFunc:
    return with_kind(func, "parallel")


@define_pass(needs=(no_unrolled,), gives=(no_parallel,))
def serialize(func: PrimFunc, *, end: int = 4) -> PrimFunc:
    remark(func, "made serial")
    return with_end(with_kind(func, "serial"), end) if end != 4 else with_kind(func, "serial")


@define_pass(breaks=(no_unrolled,))
def undo(func: PrimFunc) -> PrimFunc:
    return with_kind(func, "unrolled")


@define_pass
def lying(func: PrimFunc) -> PrimFunc:
    return with_kind(func, "unrolled")


@define_pass
def drop_others(module: IRModule) -> IRModule:
    return module.with_functions({name: None for name in module if name != "f"})


@define_pass
def idle(func: PrimFunc) -> PrimFunc:
    return func


BASIC = Pipeline(
    LOOP, (Phase(0, "raw"), Phase(1, "flat", (unroll,)), Phase(2, "loops", (serialize,)))
)


def test_steps_tell_what_each_pass_did() -> None:
    func = function()
    first, second = BASIC.steps(func)
    assert (first.index, first.phase, first.phase_name, first.name) == (0, 1, "flat", "unroll")
    assert first.before is func
    assert first.after is second.before
    assert first.changed
    assert first.applications == 1
    assert first.seconds > 0
    assert (first.facts, second.facts) == (
        ("no_unrolled_loops",),
        ("no_unrolled_loops", "no_parallel_loops"),
    )
    assert [remark.text for remark in second.remarks] == ["made serial"]
    assert (first.function, first.level, first.pass_text) == ("f", LOOP, "unroll")


def test_run_returns_the_last_ir_and_the_same_object_if_nothing_changed() -> None:
    func = function()
    assert BASIC.run(func).body.kind == "serial"
    assert Pipeline(LOOP, (Phase(0, "raw", (idle,)),)).run(func) is func
    assert Pipeline(LOOP, ()).run(func) is func


def test_iteration_can_stop_early() -> None:
    for step in BASIC.steps(function()):
        assert step.name == "unroll"
        break


def test_function_passes_run_on_each_function_of_a_module() -> None:
    module = IRModule({"f": function("f"), "g": function("g")})
    steps = list(BASIC.steps(module))
    assert [(s.function, s.name) for s in steps] == [
        ("f", "unroll"),
        ("f", "serialize"),
        ("g", "unroll"),
        ("g", "serialize"),
    ]
    done = BASIC.run(module)
    assert [f.body.kind for f in done.functions.values()] == ["serial", "serial"]  # pyright: ignore
    again = BASIC.insert(drop_others, after="unroll")
    steps = list(again.steps(module))
    assert [(s.function, s.name) for s in steps] == [
        ("f", "unroll"),
        ("g", "unroll"),
        ("", "drop-others"),
        ("f", "serialize"),
    ]
    assert list(again.run(module)) == ["f"]
    with pytest.raises(IRKitError, match="takes a module"):
        again.run(function())


def test_a_pass_goes_to_the_end_of_a_phase_or_beside_another() -> None:
    assert BASIC.insert(idle, phase=1).names == ("unroll", "idle", "serialize")
    assert BASIC.insert(idle, phase=0).names == ("idle", "unroll", "serialize")
    assert BASIC.insert(idle, before="unroll").names == ("idle", "unroll", "serialize")
    assert BASIC.insert(idle, after="serialize").names == ("unroll", "serialize", "idle")
    assert BASIC.names == ("unroll", "serialize")
    assert BASIC.with_passes([(1, idle), (2, idle)]).names == (
        "unroll",
        "idle",
        "serialize",
        "idle",
    )
    assert BASIC.insert(idle, phase=1).without("idle") == BASIC
    assert BASIC.stop_after(1).names == ("unroll",)
    assert BASIC.replace("serialize", serialize.using(end=3)).run(function()).body.end.value == 3


def test_errors_of_impossible_edits_list_what_exists() -> None:
    with pytest.raises(IRKitError, match="no phase 4; the phases are: 0 raw, 1 flat, 2 loops"):
        BASIC.insert(idle, phase=4)
    with pytest.raises(IRKitError, match="no phase 7"):
        BASIC.with_passes([(7, idle)])
    with pytest.raises(IRKitError, match="no phase 9"):
        BASIC.stop_after(9)
    for edit in (
        lambda: BASIC.without("idel"),
        lambda: BASIC.replace("idel", idle),
        lambda: BASIC.insert(idle, before="idel"),
    ):
        with pytest.raises(IRKitError, match="no pass 'idel'; it has: unroll, serialize"):
            edit()
    with pytest.raises(IRKitError, match="needs a phase, or one of"):
        BASIC.insert(idle)
    twice = BASIC.with_passes([(0, idle), (1, idle)])
    with pytest.raises(IRKitError, match="occurs 2 times"):
        twice.insert(idle, after="idle")
    assert twice.insert(unroll, after="idle", phase=0).names[:2] == ("idle", "unroll")
    with pytest.raises(IRKitError, match="is not a pass"):
        BASIC.insert(function, phase=1)  # pyright: ignore
    with pytest.raises(IRKitError, match="numbered upwards"):
        Pipeline(LOOP, (Phase(1, "a"), Phase(1, "b")))


def test_a_missing_fact_is_found_when_the_pipeline_is_built() -> None:
    with pytest.raises(
        IRKitError, match="phase 2: 'serialize' needs no_unrolled_loops, which nothing"
    ):
        BASIC.without("unroll")
    with pytest.raises(IRKitError, match=r"'unroll' \(phase 2\) gives it, but comes later"):
        Pipeline(LOOP, (Phase(1, "flat", (serialize,)), Phase(2, "loops", (unroll,))))
    with pytest.raises(
        IRKitError, match=r"needs no_unrolled_loops, which 'undo' \(phase 1\) breaks"
    ):
        BASIC.insert(undo, phase=1)
    assert Pipeline(LOOP, (Phase(2, "loops", (serialize,)),), facts=(no_unrolled,)).names


def test_a_pass_that_breaks_a_fact_in_force_is_named() -> None:
    with pytest.raises(PassFailed, match="a loop is unrolled") as caught:
        BASIC.insert(lying, phase=1).run(function())
    error = caught.value
    assert (error.name, error.phase, error.function) == ("lying", 1, "f")
    assert error.before.body.kind == "parallel"  # pyright: ignore
    assert error.problems[0].message == "no_unrolled_loops: a loop is unrolled"
    # Without verification the false claim goes unnoticed.
    assert BASIC.insert(lying, phase=1).run(function(), verify=False)
    # A fact that a pass declares broken is no longer checked.
    assert Pipeline(LOOP, (Phase(0, "x", (unroll, undo)),)).run(function()).body.kind == "unrolled"


def test_a_pass_that_breaks_the_rules_of_its_level_is_named_with_its_options() -> None:
    bad = BASIC.replace("serialize", serialize.using(end=-1))
    with pytest.raises(PassFailed, match=r"phase 2: pass 'serialize\{end=-1\}' on function 'f'"):
        bad.run(function())
    assert bad.run(function(), verify=False).body.end.value == -1


def test_the_input_is_checked_before_any_pass_runs() -> None:
    with pytest.raises(VerificationFailed, match="ends below 0"):
        BASIC.run(function(extent=-3))
    with pytest.raises(VerificationFailed, match="a loop is parallel"):
        Pipeline(LOOP, (), facts=(no_parallel,)).run(function(kind="parallel"))


def test_an_exception_inside_a_pass_is_the_cause() -> None:
    @define_pass
    def failing(func: PrimFunc) -> PrimFunc:
        raise ValueError("no idea")

    with pytest.raises(PassFailed, match="ValueError: no idea") as caught:
        BASIC.insert(failing, phase=2).run(function())
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_wrong_result_and_a_changed_signature_are_found() -> None:
    @define_pass
    def forgetful(func: PrimFunc) -> PrimFunc:
        return None  # pyright: ignore

    @define_pass
    def resigning(func: PrimFunc) -> PrimFunc:
        return func.replace(params=(Buffer("X", (), F32),))

    with pytest.raises(PassFailed, match="returned NoneType, not PrimFunc"):
        BASIC.insert(forgetful, phase=2).run(function())
    with pytest.raises(PassFailed, match="changed the signature"):
        BASIC.insert(resigning, phase=2).run(function())


@pytest.mark.parametrize(("most", "fails"), [(50, True), (5_000, False), (0, False)])
def test_a_pass_that_makes_more_nodes_than_it_may_fails(most: int, fails: bool) -> None:
    def lengthened(store: Store) -> Store:
        value = store.value
        for _ in range(100):
            value = Add(value, Const(1.0, F32), F32)
        return store.replace(value=value)

    @define_pass(most_nodes=most)
    def lengthen(func: PrimFunc) -> PrimFunc:
        return rewrite(func, lengthened, on=Store)

    pipeline = BASIC.insert(lengthen, phase=2)
    if not fails:
        pipeline.run(function())
        return
    with pytest.raises(PassFailed, match=r"returned more than 50 nodes.*expected at most 50") as e:
        pipeline.run(function())
    assert e.value.kind == "nodes"


def test_a_fact_of_another_level_is_refused() -> None:
    foreign = Fact("is_dense", "graph", lambda func: [])

    @define_pass(breaks=(foreign,))
    def thin(func: PrimFunc) -> PrimFunc:
        return func

    with pytest.raises(IRKitError, match="phase 1: 'thin' names is_dense, a fact of level 'graph'"):
        BASIC.insert(thin, phase=1)
    with pytest.raises(IRKitError, match="the pipeline names is_dense"):
        Pipeline(LOOP, (), facts=(foreign,))


def test_order_pairs_are_checked_with_their_reason() -> None:
    pair = Order("serialize", "unroll", "because")
    with pytest.raises(IRKitError, match=r"phase 1: 'unroll' must come after 'serialize'.*because"):
        Pipeline(BASIC.level, BASIC.phases, (pair,))
    back = Order("unroll", "serialize", "no")
    with pytest.raises(IRKitError, match="contradicts itself: "):
        Pipeline(BASIC.level, BASIC.phases, (pair, back))
    assert Pipeline(BASIC.level, BASIC.phases, (back, Order("unroll", "missing", "")))


def test_a_rewrite_can_be_switched_off_by_its_number() -> None:
    steps = list(BASIC.steps(function(), verify=False, disabled={0: frozenset({0})}))
    assert not steps[0].changed
    assert steps[1].changed
    kept = list(BASIC.steps(function(), keep_applications=True))
    assert isinstance(kept[0].kept[0].before, For)


def test_an_atomic_pass_is_switched_as_one() -> None:
    @define_pass(atomic=True)
    def both(func: PrimFunc) -> PrimFunc:
        remark(func, "twice")
        return with_end(with_kind(func, "serial"), 2)

    pipeline = Pipeline(LOOP, (Phase(0, "x", (both,)),))
    (step,) = pipeline.steps(function())
    assert (step.applications, len(step.remarks)) == (1, 1)
    (step,) = pipeline.steps(function(), disabled={0: frozenset({0})})
    assert not step.changed


def test_what_a_pass_left_alone_is_not_verified_again() -> None:
    asked: list[PrimFunc] = []

    def counting(func: PrimFunc) -> list[Problem]:
        asked.append(func)
        return []

    level = msgspec.structs.replace(LOOP, verify=counting)
    module = IRModule({"f": function("f"), "g": function("g", kind="serial")})
    done = Pipeline(level, (Phase(0, "x", (idle, keep_g, idle)),)).run(module)
    # The two at the start, and the one that changed.
    assert [id(func) for func in asked] == [*map(id, module.functions.values()), id(done["f"])]


@define_pass
def keep_g(module: IRModule) -> IRModule:
    return module.with_functions({"f": with_kind(module["f"], "serial")})  # pyright: ignore


def test_a_fact_is_checked_where_it_is_given_even_if_nothing_changed() -> None:
    @define_pass(gives=(no_unrolled,))
    def lazy(func: PrimFunc) -> PrimFunc:
        return func

    with pytest.raises(PassFailed, match="pass 'lazy'"):
        Pipeline(LOOP, (Phase(0, "x", (lazy,)),)).run(function())


def test_the_phases_of_a_pipeline_go_to_another_process() -> None:
    phases = BASIC.replace("serialize", serialize.using(end=3)).phases
    assert pickle.loads(pickle.dumps(phases)) == phases


def test_a_failure_goes_to_another_process_without_the_ir() -> None:
    with pytest.raises(PassFailed) as caught:
        BASIC.insert(lying, phase=1).run(function())
    error = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(error, PassFailed)
    assert str(error) == str(caught.value)
    assert (error.name, error.phase, error.before) == ("lying", 1, None)
    assert [str(p) for p in error.problems] == [str(p) for p in caught.value.problems]
