"""The mark of functions that nobody has scheduled, and what removes it."""

from pathlib import Path

import pytest

from irkit import te
from irkit.core import IRModule, same
from irkit.ir import LOOP_LEVEL, PrimFunc, is_unscheduled, parse, script, verify
from irkit.phases import DEFAULT, trace
from irkit.schedule import Schedule
from irkit.transform import Trace


def product() -> tuple[list[te.Tensor], PrimFunc]:
    a, b = (te.placeholder((8, 8), name=name) for name in "ab")
    k = te.reduce_axis((0, 8), name="k")
    c = te.compute((8, 8), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="c")
    return [a, b, c], te.create_prim_func([a, b, c])


def test_the_mark_is_printed_and_parsed_and_functions_by_hand_lack_it() -> None:
    _, func = product()
    assert "unscheduled=True" in script(func)
    again = parse(script(func))
    assert is_unscheduled(again)
    assert same(again, func)
    plain = parse(script(func).replace(", unscheduled=True", ""))
    assert not is_unscheduled(plain)
    assert not same(plain, func)


def test_a_trace_file_keeps_the_mark(tmp_path: Path) -> None:
    _, func = product()
    trace(func).save(tmp_path / "f.trace")
    first = Trace.load(tmp_path / "f.trace", (LOOP_LEVEL,))[0]
    assert isinstance(first.before, PrimFunc)
    assert is_unscheduled(first.before)


def test_the_verifier_knows_only_true() -> None:
    _, func = product()
    odd = func.replace(attrs=(*func.attrs[:1], ("unscheduled", 1)))
    assert not is_unscheduled(odd)
    assert [p.message for p in verify(odd)] == [
        "attribute 'unscheduled' is 1; expected True, or no attribute"
    ]


@pytest.mark.parametrize("check", ["off", "verify", "each"])
def test_every_primitive_removes_the_mark(check: str) -> None:
    _, func = product()
    sch = Schedule(func, check=check)  # type: ignore[arg-type]
    block = sch.get_block("c")
    loops = sch.get_loops(block)
    sch.sample_perfect_tile(loops[0], 2, 4)
    assert is_unscheduled(sch.func), "a look-up or a draw schedules nothing"
    sch.parallel(loops[0])
    assert not is_unscheduled(sch.func)


def test_a_primitive_that_is_refused_leaves_the_mark() -> None:
    _, func = product()
    sch = Schedule(func)
    with pytest.raises(Exception, match="parallel"):
        sch.parallel(sch.get_loops(sch.get_block("c"))[2])
    assert is_unscheduled(sch.func)


def test_going_on_with_another_function_schedules_nothing() -> None:
    _, func = product()
    sch = Schedule(IRModule({"f": func.replace(name="f"), "g": func.replace(name="g")}), "f")
    sch.work_on("g")
    assert is_unscheduled(sch.func)
    sch.parallel(sch.get_loops(sch.get_block("c"))[0])
    found = {name: is_unscheduled(f) for name, f in sch.mod.functions.items()}  # type: ignore[arg-type]
    assert found == {"f": True, "g": False}


def test_a_stage_schedule_is_marked_until_its_first_directive() -> None:
    args, _ = product()
    s = te.create_schedule(args[-1])
    assert is_unscheduled(s.lower(args))
    s[args[-1]].parallel(s[args[-1]].op.axis[0])
    assert not is_unscheduled(s.lower(args))


def test_lowered_functions_lack_it() -> None:
    _, func = product()
    assert is_unscheduled(DEFAULT.stop_after(0).run(func))
    assert not is_unscheduled(DEFAULT.stop_after(1).run(func))
