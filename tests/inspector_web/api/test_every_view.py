"""Malformed traces are refused, or every view of them is made or refused with an error."""

from pathlib import Path

import msgspec
import pytest

from benchmarks.fuzz.malformed_batches import malformed_case
from benchmarks.fuzz.trace_cases import trace_seeds
from irkit.core import FormatError, IRKitError
from irkit.graph import (
    GRAPH_LEVEL,
    Apply,
    Bind,
    Body,
    FuncType,
    GraphFunc,
    Lambda,
    Op,
    TensorType,
    TupleType,
    Type,
    Value,
)
from irkit.inspector_web.api.diff_page import diff_page
from irkit.inspector_web.api.every_view import every_view
from irkit.inspector_web.runs.run import LoadedTrace
from irkit.inspector_web.runs.workspace import Workspace
from irkit.ir import F32, LOOP_LEVEL, Add, PrimFunc, Seq, Store, parse
from irkit.transform import Step, Trace

LEVELS = (LOOP_LEVEL, GRAPH_LEVEL)


def test_every_view_of_a_trace_that_loads_succeeds_or_is_refused(
    tmp_path: Path,
) -> None:
    path, looked_at = tmp_path / "hostile.trace", 0
    for number in range(50):
        path.write_bytes(malformed_case("trace", number))
        try:
            made = Trace.load(path, LEVELS)
            for step in made:
                _ = step.before, step.after
        except IRKitError:
            continue
        every_view(made)
        looked_at += 1
    assert looked_at >= 8


def test_a_valid_trace_has_nearly_every_view(tmp_path: Path) -> None:
    path = tmp_path / "sound.trace"
    for data in trace_seeds():
        path.write_bytes(data)
        answered, refused = every_view(Trace.load(path, LEVELS))
        assert answered > 4 * refused


def shown_in(tmp_path: Path, func: PrimFunc | GraphFunc) -> tuple[int, int]:
    path = tmp_path / "shared.trace"
    level = LOOP_LEVEL if isinstance(func, PrimFunc) else GRAPH_LEVEL
    step = Step(
        index=0, level=level, phase=0, phase_name="", name="x", pass_text="x", options={},
        function=func.name, before=func, after=func, seconds=0.0,
    )  # fmt: skip
    Trace((step,)).save(path)
    assert path.stat().st_size < 20_000
    trace = Trace.load(path, LEVELS)
    _ = trace[0].before  # Here an immense one is refused.
    return every_view(trace)


def test_a_small_file_with_an_immense_text_is_refused(tmp_path: Path) -> None:
    func = parse("def f(A: f32[8]):\n    A[0] = f32(1.0)\n")
    body = func.body
    for _ in range(40):
        body = Seq((body, body))
    with pytest.raises(FormatError, match=r"at node \d+: written out, this function has \d+ nodes"):
        shown_in(tmp_path, func.replace(body=body))
    kind: Type = TensorType((), F32)
    for _ in range(40):
        kind = TupleType((kind, kind))
    value = Value("x", kind)
    with pytest.raises(FormatError, match="too many to show"):
        shown_in(tmp_path, GraphFunc("main", (value,), Body((), value)))


def test_expressions_can_share_any_number_of_nodes(tmp_path: Path) -> None:
    func = parse("def f(A: f32[8], x: f32):\n    A[0] = x\n")
    assert isinstance(func.body, Store)
    value = func.body.value
    for _ in range(60):
        value = Add(value, value, value.dtype)
    shown_in(tmp_path, func.replace(body=func.body.replace(value=value)))


def test_functions_that_call_each_other_twice_are_drawn_up_to_a_limit(tmp_path: Path) -> None:
    kind = TensorType((), F32)
    x, bindings = Value("x", kind), list[Bind]()
    before: Value | None = None
    for _ in range(40):
        p, q, r = (Value(name, kind) for name in "pqr")
        first = Op("relu", (p,)) if before is None else Apply(before, (p,))
        second = Op("relu", (q,)) if before is None else Apply(before, (q,))
        before = Value("f", FuncType((kind,), kind))
        inner = Body((Bind(q, first), Bind(r, second)), r)
        bindings.append(Bind(before, Lambda((p,), inner)))
    assert before is not None
    y = Value("y", kind)
    body = Body((*bindings, Bind(y, Apply(before, (x,)))), y)
    answered, _ = shown_in(tmp_path, GraphFunc("main", (x,), body))
    assert answered


def test_a_call_with_too_many_arguments_can_be_drawn(tmp_path: Path) -> None:
    kind = TensorType((), F32)
    x, p, f, y = (Value(name, kind) for name in "xpfy")
    called = Bind(f, Lambda((p,), Body((), p)))
    body = Body((called, Bind(y, Apply(f, (x, x)))), y)
    shown_in(tmp_path, GraphFunc("main", (x,), body))


@pytest.mark.parametrize(
    ("twice", "claim"),
    [(2, r"at value \d+: written out, this value has"), (1, r"tuples are nested more than 64")],
)
def test_an_immense_or_deep_option_is_refused(twice: int, claim: str, tmp_path: Path) -> None:
    head, _, rest = trace_seeds()[0].partition(b"\n")
    body = msgspec.msgpack.decode(rest)
    values, step = body[3], body[6][0]
    first = len(values)
    values.append(["t", 1, 2])
    values += [["t", *[[first + at]] * twice] for at in range(40 * 2 // twice)]
    step[6] = [["option", [len(values) - 1]]]
    path = tmp_path / "option.trace"
    path.write_bytes(head + b"\n" + msgspec.msgpack.encode(body))
    with pytest.raises(FormatError, match=claim):
        Trace.load(path, LEVELS)


def test_a_changed_line_is_sent_once_with_its_words_marked() -> None:
    before = "def f(A: f32[8]):\n    for i in serial(0, 8):\n        A[i] = A[i] + f32({}.0)\n"
    funcs = [parse(before.format(number)) for number in (1, 2)]
    made = Step(0, LOOP_LEVEL, 0, "", "p", "p", {}, "f", funcs[0], funcs[1], 0.0)
    workspace = Workspace([LoadedTrace(Trace((made,)), "f")])
    page = diff_page(workspace, workspace.stage("0.0.b"), workspace.stage("0.0.a"))
    (changed,) = [row for row in page.rows if row[0] == "~"]
    for line, html, lines in zip(
        changed[1:3], changed[3:], (page.left_lines, page.right_lines), strict=True
    ):
        assert "<mark>" in page.html[html]
        assert line not in lines
