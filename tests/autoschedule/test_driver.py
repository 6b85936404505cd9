"""The driver: which functions it touches, and what becomes of rules that fail."""

from collections.abc import Callable

import pytest

import irkit
from irkit import te
from irkit.autoschedule import ERRORS, GENERIC, INTERNAL, auto_schedule, automatic_schedule
from irkit.core import IRKitError, Recorder, ScheduleError, recording, same
from irkit.ir import PrimFunc, as_scheduled, is_unscheduled, parse, script
from irkit.schedule import BlockRef, Schedule


def product(size: int = 16) -> PrimFunc:
    a, b = (te.placeholder((size, size), name=name) for name in "ab")
    k = te.reduce_axis((0, size), name="k")
    c = te.compute((size, size), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="c")
    return te.create_prim_func([a, b, c])


def remarks_of(work: Callable[[], object]) -> list[str]:
    recorder = Recorder()
    with recording(recorder):
        work()
    return [each.text for each in recorder.remarks]


@pytest.fixture(autouse=True)
def as_users_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mistakes become remarks: all other tests have them raised."""
    monkeypatch.delenv(ERRORS)


def test_only_unscheduled_functions_are_touched() -> None:
    func = as_scheduled(product())
    assert auto_schedule(func) is func
    again = parse(script(product()))
    assert auto_schedule(again) is not again
    assert not is_unscheduled(auto_schedule(again))


def test_a_tiny_function_stays_as_written() -> None:
    func = product(4)
    assert auto_schedule(func, fewest=65) is func
    assert remarks_of(lambda: auto_schedule(func, fewest=65)) == [
        "left as written: 64 operations are fewer than 65"
    ]
    assert auto_schedule(func, fewest=64) is not func


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ScheduleError("no such luck"), "broken does not apply: no such luck"),
        (ValueError("oops"), f"broken does not apply: {INTERNAL} ValueError: oops"),
    ],
)
def test_a_rule_that_fails_is_undone_and_becomes_a_remark(
    monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    def broken(sch: Schedule, block: object, machine: object, estimates: object) -> None:
        ref = BlockRef("c")
        sch.split(sch.get_loops(ref)[0], [None, 4])
        raise error

    monkeypatch.setitem(auto_globals(), "_OF_REDUCTIONS", (broken,))
    func = product()
    assert remarks_of(lambda: auto_schedule(func)) == [said]
    assert auto_schedule(func) is func
    monkeypatch.setenv(ERRORS, "raise")
    if isinstance(error, ScheduleError):
        assert remarks_of(lambda: auto_schedule(func)) == [said]
    else:
        with pytest.raises(ValueError, match="oops"):
            auto_schedule(func)


def test_a_rule_that_makes_an_invalid_function_is_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(sch: Schedule, block: object, machine: object, estimates: object) -> None:
        sch.split(sch.get_loops(BlockRef("c"))[0], [None, 4])
        body = sch.func.body
        sch._func = sch.func.replace(body=body.body)  # type: ignore[attr-defined]

    monkeypatch.setitem(auto_globals(), "_OF_REDUCTIONS", (broken,))
    func = product()
    (said,) = remarks_of(lambda: auto_schedule(func))
    assert said.startswith(f"left as written: {INTERNAL}")
    assert auto_schedule(func) is func
    monkeypatch.setenv(ERRORS, "raise")
    with pytest.raises(IRKitError, match="the scheduled loops are invalid"):
        auto_schedule(func)


@pytest.mark.parametrize(
    "part",
    [
        "operations",
        "inline_stages",
        "AssumedSizes",
        "merge_siblings",
        "schedule_pointwise",
        "mark_parallel",
        "verify",
        "_is_scheduled",
    ],
)
def test_nothing_is_raised_whatever_fails(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("oops")

    broken.__name__ = part
    monkeypatch.setitem(auto_globals(), part, broken)
    a, b = te.placeholder((40, 40), name="a"), te.placeholder((40, 40), name="b")
    k = te.reduce_axis((0, 40), name="k")
    c = te.compute((40, 40), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="c")
    d = te.compute((20, 40), lambda i, j: c[i * 2, j] + a[j, i], name="d")
    func = te.create_prim_func([a, b, c, d])
    said = remarks_of(lambda: auto_schedule(func))
    assert [text for text in said if "KeyError: 'oops'" in text], said
    assert irkit.build(func).name == func.name


def test_the_schedule_prints_as_python_that_makes_the_same_function() -> None:
    func = product()
    sch = automatic_schedule(func)
    assert sch is not None
    again = Schedule(func, check="each")
    exec(sch.trace.as_python(), {"sch": again})
    assert same(again.func, sch.func)
    assert auto_schedule(func, GENERIC) is not func


def auto_globals() -> dict[str, object]:
    return auto_schedule.__globals__
