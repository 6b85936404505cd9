"""The class Schedule: look-ups, several functions, showing and seeds."""

import pytest

import irkit
from irkit import te
from irkit.core import walk
from irkit.ir import F32, Buffer, Const, For, Store, index
from irkit.schedule import Check, Schedule
from irkit.schedule.trace import traced_schedule
from irkit.transform import VerificationFailed
from tests.schedule.kernels import chain
from tests.schedule.programs import added


def test_showing_prints_the_module(capsys: pytest.CaptureFixture[str]) -> None:
    sch = irkit.Schedule(added())
    sch.show()
    assert capsys.readouterr().out.strip() == sch.mod.script().strip()
    assert "<pre" in sch._repr_html_()


def test_the_output_in_a_notebook_is_bounded() -> None:
    many = {f"f{at}": func for at in range(800) for func in added().functions.values()}
    sch = irkit.Schedule(irkit.IRModule(many), "f0")
    shown = sch._repr_html_()
    assert len(shown) <= 200_000
    assert "more lines" in shown


UNBOUND = Store(Buffer("T", (index(8),), "f32"), (index(0),), Const(1.0, F32))


@pytest.mark.parametrize("check", ["verify", "each", "off"])
def test_a_function_that_does_not_verify_is_refused_at_once(check: Check) -> None:
    broken = added()["main"].replace(body=UNBOUND)
    with pytest.raises(VerificationFailed, match="'main' is invalid") as caught:
        irkit.Schedule(broken, check=check)
    assert "buffer 'T' is used but bound nowhere before" in caught.value.hint
    sch = irkit.Schedule(irkit.IRModule({**added().functions, "g": broken.replace(name="g")}))
    with pytest.raises(VerificationFailed, match="'g' is invalid"):
        sch.work_on("g")
    assert sch.func_working_on == "main"


def test_copies_of_a_schedule_verify_its_function_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sch = irkit.Schedule(added())
    calls: list[object] = []
    monkeypatch.setattr(traced_schedule, "verify", calls.append)
    sch.copy().copy()
    assert calls == []


def test_work_on_continues_with_another_function() -> None:
    sch = irkit.Schedule(irkit.IRModule({**added().functions, "g": added()["main"]}))
    (i,) = sch.get_loops(sch.get_block("B"))
    sch.vectorize(i)
    sch.work_on("g")
    assert sch.func_working_on == "g"
    (j,) = sch.get_loops(sch.get_block("B"))
    sch.unroll(j)
    kinds = {name: next(walk(func, on=For)).kind for name, func in sch.mod.functions.items()}
    assert kinds == {"main": "vectorized", "g": "unrolled"}
    again = irkit.Schedule(irkit.IRModule({**added().functions, "g": added()["main"]}))
    sch.trace.apply(again)
    assert again.mod.script() == sch.mod.script()
    with pytest.raises(irkit.IRKitError, match="it has: main, g"):
        sch.work_on("h")


def test_producers_consumers_and_output_blocks_are_found() -> None:
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: a[i] + 1.0, name="B")
    c = te.compute((8,), lambda i: b[i] * 2.0, name="C")
    sch = irkit.Schedule(te.create_prim_func([a, c]))
    first, last = sch.get_block("B"), sch.get_block("C")
    assert sch.get_producers(last) == [first]
    assert sch.get_consumers(first) == [last]
    assert sch.get_output_blocks() == [last]
    (i,) = sch.get_loops(first)
    assert sch.get_child_blocks(i) == [first]
    assert sch.get(last).name == "C"


def test_a_forked_seed_is_the_same_for_the_same_seed() -> None:
    first, second = (Schedule(chain(16), seed=3) for _ in range(2))
    assert first.fork_seed() == second.fork_seed()
    assert first.fork_seed() != Schedule(chain(16), seed=4).fork_seed()
