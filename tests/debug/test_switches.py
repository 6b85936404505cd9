"""Printing, timing, remarks and golden files, as functions over steps."""

import json
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from irkit.core import IRModule, remark, rewrite
from irkit.debug import (
    chrome_trace,
    console,
    file_name,
    golden_diff,
    phase_texts,
    remarks,
    time_table,
    write_golden,
)
from irkit.ir import LOOP_LEVEL, Const, For, PrimFunc, parse
from irkit.transform import Phase, Pipeline, define_pass


def kernel(name: str) -> PrimFunc:
    return parse(f"def {name}(C: f32[8]):\n    for i in serial(0, 8):\n        C[i] = f32(1.0)\n")


@define_pass
def unroll(func: PrimFunc) -> PrimFunc:
    def mark(loop: For) -> For | None:
        remark(loop, "seen")
        remark(Const(99, loop.var.dtype), "made on the way")
        return loop.replace(kind="unrolled")

    return rewrite(func, mark, on=For)


@define_pass
def drop_g(module: IRModule) -> IRModule:
    remark(module["f"], "kept")
    return module.with_functions({"g": None, "h": kernel("h")})


MODULE = IRModule({"f": kernel("f"), "g": kernel("g")})
PIPELINE = Pipeline(
    LOOP_LEVEL, (Phase(0, "raw"), Phase(1, "a", (unroll,)), Phase(2, "b", (drop_g,)), Phase(3, "c"))
)
STEPS = list(PIPELINE.steps(MODULE))


def test_the_text_of_each_phase_follows_functions_that_come_and_go() -> None:
    texts = phase_texts(MODULE, STEPS, PIPELINE)
    assert sorted(texts) == [
        "f/loop0_raw.irs",
        "f/loop1_a.irs",
        "f/loop2_b.irs",
        "f/loop3_c.irs",
        "g/loop0_raw.irs",
        "g/loop1_a.irs",
        "h/loop2_b.irs",
        "h/loop3_c.irs",
    ]
    assert texts["f/loop0_raw.irs"] == MODULE["f"].script()
    assert "unrolled" in texts["f/loop1_a.irs"]
    assert texts["f/loop3_c.irs"] == texts["f/loop1_a.irs"]
    assert set(phase_texts(MODULE, STEPS, PIPELINE, only=("h",))) == {
        "h/loop2_b.irs",
        "h/loop3_c.irs",
    }


def test_golden_files_are_written_once_and_compared_byte_by_byte(tmp_path: Path) -> None:
    texts = phase_texts(MODULE, STEPS, PIPELINE)
    assert write_golden(tmp_path, texts) == len(texts)
    assert write_golden(tmp_path, texts) == 0
    assert golden_diff(tmp_path, texts) == ""
    path = tmp_path / "f" / "loop1_a.irs"
    path.write_bytes(path.read_bytes().replace(b"unrolled", b"parallel") + b"\xff")
    diff = golden_diff(tmp_path, texts)
    assert "-    for i in parallel(0, 8):\n" in diff
    assert "+    for i in unrolled(0, 8):\n" in diff
    assert diff.endswith("\n")
    assert write_golden(tmp_path, texts) == 1


def test_remarks_on_modules_name_the_function_and_the_line() -> None:
    said = [(each.name, each.function, each.line, each.text) for each in remarks(STEPS)]
    assert said == [
        ("unroll", "f", 2, "seen"),
        ("unroll", "f", 0, "made on the way"),
        ("unroll", "g", 2, "seen"),
        ("unroll", "g", 0, "made on the way"),
        ("drop-g", "f", 1, "kept"),
    ]
    assert str(remarks(STEPS)[0]) == "f:2: unroll: seen\n    for i in serial(0, 8):"
    assert str(remarks(STEPS)[1]) == "f: unroll: made on the way"


def test_the_timeline_has_a_row_for_each_function() -> None:
    events = json.loads(chrome_trace(STEPS))["traceEvents"]
    rows = {e["args"]["name"]: e["tid"] for e in events if e["ph"] == "M"}
    assert set(rows) == {"f", "g", "module"}
    spans = [(e["name"], e["tid"], e["args"]["changed"]) for e in events if e["ph"] == "X"]
    assert spans == [
        ("unroll", rows["f"], True),
        ("unroll", rows["g"], True),
        ("drop-g", rows["module"], True),
    ]


def test_times_add_up() -> None:
    screen = console()
    with screen.capture() as shown:
        screen.print(time_table(STEPS))
    lines = shown.get().splitlines()
    assert "unroll" in shown.get()
    assert f"{sum(step.seconds for step in STEPS) * 1e3:.2f}" in lines[-2]
    with screen.capture() as shown:
        screen.print(time_table([]))  # Nothing to divide by.
    assert "all passes" in shown.get()


@settings(max_examples=200, derandomize=True)
@given(st.lists(st.text(min_size=1, max_size=90), min_size=2, max_size=2, unique=True))
def test_a_file_name_is_safe_and_tells_names_apart(names: list[str]) -> None:
    first, second = map(file_name, names)
    assert first != second
    for made in (first, second):
        assert len(made) <= 90
        assert made.isascii()
        assert not set(made) & set('/\\:*?"<>| \n\0')
        assert made.strip(".") != ""
