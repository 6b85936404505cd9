"""All steps of a trace print with one table of names: a diff shows only what changed."""

from difflib import unified_diff

from irkit.debug import StepPrinter
from irkit.ir import (
    F32,
    I64,
    LOOP_LEVEL,
    Buffer,
    Const,
    For,
    PrimFunc,
    Store,
    Var,
    parse,
    script,
    seq,
)
from irkit.transform import Phase, Pipeline, Trace, define_pass

KERNEL = """\
def f(A: f32[8], C: f32[8]):
    for i in serial(0, 8):
        C[i] = A[i] + f32(1.0)
    for j in serial(0, 8):
        C[j] = C[j] * A[j]
"""


@define_pass
def clear_first(func: PrimFunc) -> PrimFunc:
    """Put a loop before the others whose variable has the same name as theirs."""
    i, out = Var("i"), func.params[1]
    assert isinstance(out, Buffer)
    first = For(i, Const(0, I64), Const(8, I64), Store(out, (i,), Const(0.0, F32)))
    return func.replace(body=seq(first, func.body))


@define_pass
def swap(func: PrimFunc) -> PrimFunc:
    """Exchange the first two loops."""
    one, two, *rest = func.body.stmts  # type: ignore[attr-defined]
    return func.replace(body=seq(two, one, *rest))


def steps() -> Trace:
    pipeline = Pipeline(LOOP_LEVEL, (Phase(0, "all", (clear_first, swap)),))
    return Trace.of(pipeline.steps(parse(KERNEL)))


def changed(before: str, after: str) -> list[str]:
    lines = unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return [line for line in lines if line[0] in "+-" and line[:3] not in ("+++", "---")]


def test_an_earlier_variable_of_the_same_name_renames_nothing() -> None:
    trace = steps()
    assert changed(*trace[0].scripts()) == [
        "+    for i_1 in serial(0, 8):",
        "+        C[i_1] = f32(0.0)",
    ]


def test_a_name_stays_from_step_to_step_in_any_order_of_printing() -> None:
    trace = steps()
    first = trace[0].scripts(trace.names)
    second = trace[1].scripts(trace.names)
    assert second[0] == first[1]
    assert "for i_1 in serial(0, 8):\n        C[i_1] = f32(0.0)" in second[1]
    again = steps()
    assert again[1].scripts(again.names)[0] == again[0].scripts(again.names)[1]


def test_the_printed_steps_parse_back() -> None:
    trace = steps()
    for step in trace:
        text = step.scripts(trace.names)[1]
        assert LOOP_LEVEL.same(parse(text), step.after)
    assert trace[0].scripts(trace.names)[1] != script(trace[0].after)  # The names alone differ.


def test_the_step_printer_uses_one_table() -> None:
    told: list[str] = []
    printing = StepPrinter(after=frozenset("*"))
    for step in steps():
        printing.print_step(step, told.append)
    one, two = (text.partition("\n")[2] for text in told)
    assert one != two
    assert sorted(one.splitlines()) == sorted(two.splitlines())
