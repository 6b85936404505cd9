"""The automatic schedule as the default of build and compile, and how to choose."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

import irkit
from irkit import te, topi
from irkit.autoschedule import GENERIC, Machine
from irkit.codegen import compile_object, complete_target, emit
from irkit.core import IRKitError, IRModule, Target
from irkit.ir import PrimFunc, Var, is_unscheduled, parse, script
from irkit.phases import DEFAULT, LEGALIZE, machine_of, trace, with_auto_schedule
from irkit.phases.schedule_choice import FEWEST
from irkit.runtime.packages import contents_of, package_bytes
from irkit.transform import define_pass
from tests.runtime.models import mlp


def product(n: int = 32, dtype: str = "f32", m: Var | None = None) -> PrimFunc:
    rows = n if m is None else m
    a = te.placeholder((rows, n), dtype=dtype, name="a")
    b = te.placeholder((n, n), dtype=dtype, name="b")
    k = te.reduce_axis((0, n), name="k")
    c = te.compute((rows, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="c")
    return te.create_prim_func([a, b, c], name="product")


def lowered(func: PrimFunc, **options: object) -> list[str]:
    """Return the names of the steps that change a function on its way through build."""
    found: list[str] = []

    @define_pass
    def last(f: PrimFunc) -> PrimFunc:
        found.append(script(f))
        return f

    irkit.build(func, pipeline=DEFAULT.insert(last, phase=3), **options)  # type: ignore[call-overload]
    return found


@pytest.fixture(autouse=True)
def _no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IRKIT_SCHEDULE", raising=False)


def test_build_schedules_and_none_reproduces_the_phases_alone() -> None:
    (auto,) = lowered(product())
    (none,) = lowered(product(), schedule="none")
    assert none == script(DEFAULT.run(product()))
    assert "scope" in auto
    assert "scope" not in none


def test_lower_and_trace_keep_loops_as_written_unless_asked() -> None:
    func = product()
    assert script(irkit.lower(func)) == script(DEFAULT.run(func))
    auto = with_auto_schedule(DEFAULT, machine_of("host", Target()))
    assert script(irkit.lower(func, schedule="auto")) == script(auto.run(func))
    assert [step.name for step in trace(func)][:1] == ["canonicalize-loops"]
    first = trace(func, schedule="auto", machine="generic")[0]
    assert (first.name, first.pass_text) == ("auto-schedule", f"auto-schedule{{fewest={FEWEST}}}")
    assert first.before is func
    assert isinstance(first.after, PrimFunc)
    assert not is_unscheduled(first.after)
    assert first.remarks[-1].text.startswith("the schedule, over sch = irkit.Schedule(func):\nb_c")


def test_the_remark_of_the_step_is_python_that_makes_the_same_function() -> None:
    func = product()
    first = trace(func, schedule="auto", machine="generic")[0]
    sch = irkit.Schedule(func)
    exec(first.remarks[-1].text.partition("\n")[2], {"sch": sch})
    assert script(sch.func) == script(first.after)  # type: ignore[arg-type]


def test_the_environment_switches_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IRKIT_SCHEDULE", "none")
    assert lowered(product()) == [script(DEFAULT.run(product()))]
    assert lowered(product(), schedule="auto") != lowered(product())
    monkeypatch.setenv("IRKIT_SCHEDULE", "auto")
    assert trace(product())[0].name == "auto-schedule"
    monkeypatch.setenv("IRKIT_SCHEDULE", "")
    assert trace(product())[0].name != "auto-schedule"


def test_other_words_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(IRKitError, match="schedule is 'fast'; expected 'auto' or 'none'"):
        irkit.build(product(), schedule="fast")  # type: ignore[call-overload]
    with pytest.raises(IRKitError, match="machine is 'mine'; expected 'host', 'generic' or"):
        irkit.build(product(), machine="mine")  # type: ignore[call-overload]
    monkeypatch.setenv("IRKIT_SCHEDULE", "on")
    with pytest.raises(IRKitError, match="the environment has IRKIT_SCHEDULE='on'; expected"):
        irkit.build(product())


def test_the_machine_decides_and_generic_is_the_same_everywhere() -> None:
    narrow = lowered(product(), machine=Machine.with_vectors(16))
    assert narrow != lowered(product(), machine="generic")
    old = Target(features=("-avx512f", "-avx2"))
    assert lowered(product(), target=old, machine="generic") == lowered(product(), machine=GENERIC)
    assert lowered(product(), target=old) == lowered(product(), machine=machine_of("host", old))


def test_functions_by_hand_and_tiny_ones_keep_their_loops() -> None:
    by_hand = parse(script(product()).replace(", unscheduled=True", ""))
    assert lowered(by_hand) == lowered(product(), schedule="none")
    assert lowered(product(8)) == lowered(product(8), schedule="none")


def test_passes_that_are_inserted_see_scheduled_loops_and_do_not_change_the_schedule() -> None:
    seen: list[str] = []

    @define_pass
    def look(f: PrimFunc) -> PrimFunc:
        seen.append(script(f))
        return f

    irkit.build(product(), pipeline=DEFAULT.insert(look, phase=0), machine="generic")
    assert seen == [script(trace(product(), schedule="auto", machine="generic")[0].after)]  # type: ignore[arg-type]


def test_results_of_both_agree() -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-9, 9, (32, 32)).astype(np.int32) for _ in range(2))
    for check_bounds in (False, True):
        for schedule in ("auto", "none"):
            c = np.empty_like(a)
            func = product(dtype="i32")
            irkit.build(func, schedule=schedule, check_bounds=check_bounds)(a, b, c)  # type: ignore[call-overload]
            np.testing.assert_array_equal(c, a @ b)


def shifted(n: int = 8192) -> PrimFunc:
    """Read an intermediate value beyond the end of the buffer, in the last iteration."""
    x = te.placeholder((n,), name="x")
    at = te.placeholder((n,), dtype="i64", name="at")
    doubled = te.compute((n,), lambda i: x[i] * 2.0, name="doubled")
    y = te.compute((n,), lambda i: doubled[at[i]] + 1.0, name="y")
    return te.create_prim_func([x, at, y])


def test_errors_of_bounds_name_the_index_that_the_user_wrote() -> None:
    kernel = irkit.build(shifted(), check_bounds=True)
    x, at, y = np.ones(8192, np.float32), np.arange(8192), np.zeros(8192, np.float32)
    kernel(x, at, y)
    assert (y == 3).all()
    at[77] = 9000
    with pytest.raises(
        IRKitError, match=r"doubled\[9000\] is out of bounds: the shape is \[8192\]"
    ):
        kernel(x, at, y)
    with pytest.raises(IRKitError, match=r"doubled\[9000\]"):
        irkit.build(shifted(), check_bounds=True, schedule="none")(x, at, y)


def test_bounds_of_a_packed_operand_are_those_of_the_users() -> None:
    n = 64
    a, b = (te.placeholder((n, n), name=name) for name in "ab")
    k = te.reduce_axis((0, n), name="k")
    c = te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k + 1, j], axis=k), name="c")
    arrays = [np.ones((n, n), np.float32) for _ in range(3)]
    with pytest.raises(IRKitError, match=r"b\[64, 0\] is out of bounds: the shape is \[64, 64\]"):
        irkit.build(te.create_prim_func([a, b, c]), check_bounds=True)(*arrays)


def test_checks_of_bounds_change_no_bit_of_the_result() -> None:
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal((64, 64)).astype(np.float32) for _ in range(2))
    found: list[bytes] = []
    for check_bounds in (False, True):
        c = np.empty_like(a)
        irkit.build(product(64), check_bounds=check_bounds)(a, b, c)
        found.append(c.tobytes())
    assert found[0] == found[1]


def test_kernels_of_models_are_scheduled_or_not() -> None:
    def vectorized(**options: object) -> bool:
        module = irkit.compile(mlp(), **options).trace  # type: ignore[arg-type]
        (step,) = [step for step in module if step.name == "lower-to-loops"]
        assert isinstance(step.after, IRModule)
        return "vectorized(" in step.after.script()

    assert vectorized()
    assert not vectorized(schedule="none")
    found = irkit.compile(mlp(), machine=Machine(vector_bytes=16, l1=1 << 14)).trace
    (lowering,) = [step for step in found if step.name == "lower-to-loops"]
    assert lowering.options == {
        "vector_bytes": 16,
        "machine": (("vector_bytes", 16), ("l1", 1 << 14)),
    }


def test_a_package_says_what_its_kernels_were_scheduled_for() -> None:
    made = irkit.compile(mlp(), machine=Machine(vector_bytes=16, l1=1 << 14))
    read = contents_of(package_bytes(made.contents), "made").plan
    assert read.machine == {"vector_bytes": 16, "l1": 1 << 14}
    assert irkit.compile(mlp(), machine="generic").plan.machine == {}
    assert irkit.compile(mlp(), schedule="none").plan.machine == {}


def same_in_another_process(make: Callable[[], str], code: str) -> None:
    expected = make()
    for seed in ("1", "77"):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        found = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
        )
        assert found.stdout == expected


@pytest.mark.long
def test_the_same_machine_gives_the_same_objects_in_every_process() -> None:
    code = (
        "from tests.phases.test_schedule_choice import objects; import sys; "
        "sys.stdout.write(objects())"
    )
    same_in_another_process(objects, code)


def objects() -> str:
    """Return digests of the object code of several kinds of kernels."""
    target = complete_target(Target())
    pipeline = with_auto_schedule(DEFAULT, GENERIC).then(LEGALIZE)
    m = te.var("m")
    kinds = (product(), shifted(), rows(), image(), product(64, m=m), product(dtype="f64"))
    made = (compile_object(str(emit([pipeline.run(func)], target)), target) for func in kinds)
    return "\n".join(hashlib.sha256(each).hexdigest() for each in made)


def rows() -> PrimFunc:
    x, j = te.placeholder((64, 50), name="x"), te.reduce_axis((0, 50), name="j")
    y = te.compute((64,), lambda i: te.sum(x[i, j], axis=j), name="y")
    return te.create_prim_func([x, y])


def image() -> PrimFunc:
    x, w = te.placeholder((1, 4, 9, 9), name="x"), te.placeholder((5, 4, 3, 3), name="w")
    return te.create_prim_func([x, w, topi.nn.conv(x, w, pads=(1, 1, 1, 1))])
