import pickle
import random
import struct
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from irkit.core import (
    Codec,
    FormatError,
    Function,
    IRKitError,
    IRModule,
    Level,
    Node,
    Span,
    remark,
    same,
    walk,
)
from irkit.ir import F32, I64, Add, Const, Evaluate, Expr, For, Neg, PrimFunc, Store, Var
from irkit.transform import Phase, Pipeline, Trace, define_pass
from irkit.transform.trace import size_limits
from irkit.transform.trace.file import MAGIC, TraceBody
from irkit.transform.trace.load import decode_trace
from tests.transform.loops import LOOP as PLAIN, function, with_end, with_kind
from tests.transform.trace.version_2 import MAGIC_2, body_of as body_of_version_2

LOOP = msgspec.structs.replace(
    PLAIN, nodes=(*PLAIN.nodes, Evaluate, Neg, Add), script=lambda f, names=None: f.name
)


@define_pass
def serial(func: PrimFunc, *, note: str = "x", sizes: tuple[int, ...] = ()) -> PrimFunc:
    remark(func.body, note)
    return with_kind(func, "serial")


@define_pass
def shorten(func: PrimFunc) -> PrimFunc:
    return with_end(func, 3)


@define_pass
def rename(module: IRModule) -> IRModule:
    return IRModule({f"{name}_": func for name, func in module.functions.items()})


PIPELINE = Pipeline(
    LOOP,
    (Phase(0, "a", (serial.using(note="hello", sizes=(1, 2)),)), Phase(1, "b", (rename, shorten))),
)


def trace_of_module() -> Trace:
    module = IRModule({"f": function("f"), "g": function("g")})
    steps = PIPELINE.steps(module, keep_applications=True)
    return Trace.of(steps, title="a title", versions={"irkit": "0"})


def one_step(func: PrimFunc) -> Trace:
    return Trace.of(Pipeline(LOOP, (Phase(0, "a", (serial,)),)).steps(func, verify=False))


def reloaded(trace: Trace, tmp_path: Path, levels: tuple[Level, ...] = (LOOP,)) -> Trace:
    trace.save(tmp_path / "t.trace")
    return Trace.load(tmp_path / "t.trace", levels)


def test_a_trace_is_a_sequence_of_steps_numbered_from_0() -> None:
    trace = trace_of_module()
    assert [step.name for step in trace] == ["serial", "serial", "rename", "shorten", "shorten"]
    assert [step.index for step in trace] == [0, 1, 2, 3, 4]
    assert trace[-1].after is trace[4].after
    assert trace[1:3] == (trace[1], trace[2])
    assert trace.functions == ("f", "g", "", "f_", "g_")
    assert len(trace.of_function("f")) == 1
    assert trace[0].scripts() == ("f", "f")
    with pytest.raises(IRKitError, match="no function 'h'"):
        trace.of_function("h")
    twice = Trace.of([*trace, *trace])
    assert [step.index for step in twice] == list(range(10))


def test_a_trace_survives_its_file_unchanged(tmp_path: Path) -> None:
    trace = trace_of_module()
    back = reloaded(trace, tmp_path)
    assert (back.title, dict(back.versions)) == (trace.title, dict(trace.versions))
    assert len(back) == len(trace)
    for old, new in zip(trace, back, strict=True):
        assert same(old.before, new.before)
        assert same(old.after, new.after)
        assert old.changed == new.changed
        for name in ("index", "level", "phase", "phase_name", "name", "pass_text", "function"):
            assert getattr(old, name) == getattr(new, name)
        for name in ("seconds", "applications", "facts", "options", "reports"):
            assert getattr(old, name) == getattr(new, name)
        assert [(a.number, a.rule) for a in old.kept] == [(a.number, a.rule) for a in new.kept]
        assert [r.text for r in old.remarks] == [r.text for r in new.remarks]
    assert back[0].options == {"note": "hello", "sizes": (1, 2)}
    assert [(each.rule, each.hits) for each in back[0].reports] == [
        ("with_kind.<locals>.<lambda>", 1)
    ]
    assert back[0].kept[0].before is back[0].before.body  # pyright: ignore
    assert back[0].remarks[0].node is back[0].before.body  # pyright: ignore
    assert list(back[2].after) == ["f_", "g_"]  # pyright: ignore


def test_what_steps_share_is_shared_again(tmp_path: Path) -> None:
    back = reloaded(trace_of_module(), tmp_path)
    first, last = back[0], back[3]
    assert first.after is back[2].before["f"]  # pyright: ignore
    assert first.before.params[0] is last.after.params[0]  # pyright: ignore
    (store,) = walk(last.after, Store)  # pyright: ignore
    assert store.buffer is last.after.params[0]  # pyright: ignore
    (loop,) = walk(last.after, For)  # pyright: ignore
    assert store.indices[0] is loop.var


def value(node: Function) -> Any:
    return node.body.value.value  # pyright: ignore


@pytest.mark.parametrize(
    "bits", [0x7FF8000000000123, 0xFFF0000000000000, 1 << 63, 0x7FF0000000000001, 1]
)
def test_floats_keep_their_bits(bits: int, tmp_path: Path) -> None:
    number = struct.unpack("<d", struct.pack("<Q", bits))[0]
    back = reloaded(one_step(PrimFunc("f", (), Evaluate(Const(number, F32)))), tmp_path)
    assert struct.unpack("<Q", struct.pack("<d", value(back[0].after)))[0] == bits  # pyright: ignore


@pytest.mark.parametrize("number", [True, 1, 1.0, (1 << 64) - 1, -(1 << 63), 1 << 200, -(1 << 90)])
def test_numbers_keep_their_type_and_size(number: int, tmp_path: Path) -> None:
    attrs = (("k", number), ("t", ((number, "x"), (None,))))
    func = PrimFunc("f", (), Evaluate(Const(number, I64)), attrs)  # pyright: ignore
    after = reloaded(one_step(func), tmp_path)[0].after
    assert value(after) == number  # pyright: ignore
    assert type(value(after)) is type(number)  # pyright: ignore
    assert after.attrs == attrs  # pyright: ignore


def test_spans_keep_their_parents(tmp_path: Path) -> None:
    span = Span("onnx", "conv", parent=Span("te", "B", "f.py", 3, 4))
    deep: Span | None = None
    for at in range(20_000):
        deep = Span("te", str(at), parent=deep)
    loop = For(
        Var("i"), Const(0, I64), Const(1, I64), Evaluate(Const(0, I64), span=deep), span=span
    )
    after = reloaded(one_step(PrimFunc("f", (), loop)), tmp_path)[0].after
    assert after.body.span == span  # pyright: ignore
    assert len(after.body.body.span.chain()) == 20_000  # pyright: ignore


def test_deep_and_shared_expressions_are_written_once(tmp_path: Path) -> None:
    root: Expr = Var("x")
    for _ in range(10_000):
        root = Add(Neg(root, I64), root, I64)
    func = PrimFunc("f", (), Evaluate(root))
    back = reloaded(one_step(func), tmp_path)
    assert same(back[0].after, func)
    assert (tmp_path / "t.trace").stat().st_size < 1_000_000


def test_expressions_deeper_than_can_be_freed_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(size_limits, "MAX_LEVELS", 9)
    root: Expr = Var("x")
    for _ in range(8):
        root = Neg(root, I64)
    reloaded(one_step(PrimFunc("f", (), Evaluate(root))), tmp_path)
    trace = reloaded(one_step(PrimFunc("f", (), Evaluate(Neg(root, I64)))), tmp_path)
    with pytest.raises(FormatError, match="expressions are nested more than"):
        _ = trace[0].after


class Blob:
    def __init__(self, data: bytes) -> None:
        self.data = data


class Holder(Node, frozen=True, eq=False):
    blob: Blob


class Opaque(Function, frozen=True, eq=False, weakref=True):
    body: Holder


def unpack(data: Any) -> Blob:
    if not isinstance(data, bytes):
        raise ValueError("no bytes")
    return Blob(data)


OTHER = Level(
    "other",
    lambda func: [],
    lambda func, names=None: "",
    lambda text: text,
    same,
    (Opaque, Holder),
    codecs=(Codec("blob", Blob, lambda blob: blob.data, unpack),),
)


@define_pass
def idle(func: Opaque) -> Opaque:
    return func


def test_a_trace_holds_steps_of_several_levels_with_codecs(tmp_path: Path) -> None:
    func = Opaque("o", Holder(Blob(b"data")))
    steps = [*Pipeline(OTHER, (Phase(0, "x", (idle,)),)).steps(func), *trace_of_module()]
    back = reloaded(Trace.of(steps), tmp_path, (LOOP, OTHER))
    assert back[0].after.body.blob.data == b"data"  # pyright: ignore
    assert [step.level.name for step in back[:2]] == ["other", "loop"]
    with pytest.raises(FormatError, match=r"unknown node class.*\n.*Levels known here: loop"):
        Trace.load(tmp_path / "t.trace", [LOOP])
    without = msgspec.structs.replace(OTHER, codecs=())
    with pytest.raises(IRKitError, match=r"cannot write a .*Blob"):
        Trace.of(Pipeline(without, (Phase(0, "x", (idle,)),)).steps(func)).save(tmp_path / "x")
    assert [path.name for path in tmp_path.iterdir()] == ["t.trace"]


def test_a_file_is_written_completely_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "x").touch()
    with pytest.raises(OSError, match="taken"):
        trace_of_module().save(tmp_path / "taken")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_a_pipeline_that_kept_nothing_makes_an_empty_trace(tmp_path: Path) -> None:
    assert len(reloaded(Trace.of([]), tmp_path)) == 0


def body_of(trace: Trace) -> tuple[bytes, TraceBody]:
    return MAGIC_2, body_of_version_2(trace)


def test_a_file_from_before_reports_counts_the_applications_it_kept() -> None:
    trace = trace_of_module()
    head, body = body_of(trace)
    rows = msgspec.msgpack.decode(msgspec.msgpack.encode(body))
    rows[-1] = [row[:-1] for row in rows[-1]]
    steps = decode_trace(head + msgspec.msgpack.encode(rows), (LOOP,)).steps
    assert [step.reports for step in steps] == [step.reports for step in trace]
    assert any(step.reports for step in steps)


def test_the_place_of_a_rule_in_a_report_is_checked() -> None:
    head, body = body_of(trace_of_module())
    body.steps[0].reports[0].span = "x"
    refused(head + msgspec.msgpack.encode(body), "the place of a rule is a str")


def refused(data: bytes, match: str = "is damaged") -> None:
    with pytest.raises(FormatError, match=match):
        decode_trace(data, (LOOP,))


def test_an_error_names_the_damaged_row() -> None:
    head, body = body_of(trace_of_module())
    body.nodes[3][0] = 10**6
    refused(head + msgspec.msgpack.encode(body), "is damaged at node 3: entry 1000000")
    _, body = body_of(trace_of_module())
    body.steps[1].after = 10**6
    refused(head + msgspec.msgpack.encode(body), "is damaged at step 1: ")
    _, body = body_of(trace_of_module())
    text = msgspec.msgpack.encode(body)
    at = text.index(b"irkit.ir:")
    data = head + text[:at] + b"\xff" + text[at + 1 :]
    refused(data, rf"invalid UTF-8 \(byte {len(head) + at}\)")


def test_files_that_are_no_traces_are_refused(tmp_path: Path) -> None:
    for data in (b"", b"PK\3\4", MAGIC, MAGIC + b"1", MAGIC + b"x\n\x90", pickle.dumps([1])):
        refused(data, "is not an irkit trace")
    refused(MAGIC + b"4\n\x90", "has version 4")
    for data in (b"\x90", b"\x91" * 100_000, b"\xdd\xff\xff\xff\xff", b"\xc1", b"\x97\xa1\xff"):
        refused(MAGIC + b"1\n" + data, "is damaged")
    with pytest.raises(FormatError, match="cannot be read"):
        Trace.load(tmp_path / "missing", (LOOP,))


def test_a_node_can_only_refer_to_earlier_ones() -> None:
    head, body = body_of(trace_of_module())
    at = next(i for i, row in enumerate(body.nodes) if body.classes[row[0]].endswith(":For"))
    for wrong in (at, at + 1, len(body.nodes), -1, 1.0, True, "0", [0, at]):
        body.nodes[at][4] = wrong
        refused(head + msgspec.msgpack.encode(body))


def test_fields_are_checked_against_their_annotations() -> None:
    head, body = body_of(trace_of_module())
    at_loop = next(row for row in body.nodes if body.classes[row[0]].endswith(":For"))
    at_var = next(i for i, row in enumerate(body.nodes) if body.classes[row[0]].endswith(":Var"))
    at_loop[4] = at_var  # The body of a loop is a statement.
    refused(head + msgspec.msgpack.encode(body), "field 'body' of For holds a Var")
    _, body = body_of(trace_of_module())
    at_loop = next(row for row in body.nodes if body.classes[row[0]].endswith(":For"))
    at_loop[5] = "sideways"
    refused(head + msgspec.msgpack.encode(body), "field 'kind' of For holds a str")


def test_random_damage_is_refused_or_harmless_and_never_slow() -> None:
    head, body = body_of(trace_of_module())
    good = head + msgspec.msgpack.encode(body)
    chance = random.Random(7)
    refusals = 0
    started = time.perf_counter()
    for _ in range(1500):
        data = bytearray(good)
        for _ in range(chance.randint(1, 3)):
            data[chance.randrange(len(data))] = chance.choice(
                (0, 0x90, 0xC0, 0xDD, 0xFF, chance.randrange(256))
            )
        if chance.random() < 0.2:
            del data[chance.randrange(len(data)) :]
        try:
            decode_trace(bytes(data), (LOOP,))
        except FormatError:
            refusals += 1
    assert refusals > 700
    assert time.perf_counter() - started < 60


def test_damaged_rows_are_refused() -> None:
    junk: list[Any] = [
        None,
        -1,
        0,
        3,
        10**6,
        1.5,
        True,
        "x",
        b"x",
        [],
        [0],
        [10**6],
        [[0]],
        {"a": 1},
    ]
    head, body = body_of(trace_of_module())
    plain = msgspec.to_builtins(body)
    chance = random.Random(3)
    for _ in range(1500):
        rows = msgspec.msgpack.decode(msgspec.msgpack.encode(plain))
        target: Any = rows
        while isinstance(target, list) and target and chance.random() < 0.85:
            inner = [item for item in target if isinstance(item, list) and item]
            if not inner:
                break
            target = chance.choice(inner)
        if isinstance(target, list) and target:
            target[chance.randrange(len(target))] = chance.choice(junk)
        try:
            steps = decode_trace(head + msgspec.msgpack.encode(rows), (LOOP,)).steps
        except FormatError:
            continue
        for step in steps:
            assert isinstance(step.after, (Function, IRModule))


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "big"
    with path.open("wb") as file:
        file.truncate(1 << 29)
    with pytest.raises(FormatError, match="expected at most"):
        Trace.load(path, (LOOP,))


def test_only_classes_of_the_levels_are_instantiated() -> None:
    head, body = body_of(trace_of_module())
    for name in ("os:system", "builtins:object", "irkit.core:Node", ""):
        body.classes[0] = name
        refused(head + msgspec.msgpack.encode(body), "unknown node class")
