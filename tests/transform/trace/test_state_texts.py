"""The text of large functions in a trace file: what printing gives, or none at all."""

from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

from irkit.core import FormatError
from irkit.inspector_web import LineTable, Texts
from irkit.ir import LOOP_LEVEL, parse
from irkit.phases import trace as trace_of
from irkit.transform import Step, Trace
from irkit.transform.trace import state_texts
from irkit.transform.trace.frames import packed_frame
from irkit.transform.trace.state_texts import StoredTexts, TextFrame, printer_digest
from irkit.transform.trace.stream import TraceStream
from tests.passes.loop.kernels import KERNELS, kernel

NAMES = sorted(KERNELS)[::6]


@pytest.fixture(autouse=True)
def every_function_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_texts, "LARGE", 0)


def reopened(steps: list[Step], folder: Path) -> Trace:
    Trace(steps).save(folder / "f.trace")
    return Trace.load(folder / "f.trace", (LOOP_LEVEL,))


def printed(trace: Trace) -> list[list[str]]:
    texts = Texts(trace)
    return [texts.lines(step.index, side) for step in trace for side in ("before", "after")]


@pytest.mark.parametrize("name", NAMES)
def test_the_text_in_a_file_is_that_of_its_ir_and_shown_without_reading_it(
    name: str, tmp_path: Path
) -> None:
    opened = reopened(list(trace_of(kernel(name))), tmp_path)
    unread = sum(step.unread for step in opened)
    shown = printed(opened)
    assert sum(step.unread for step in opened) == unread > 0
    assert shown == printed(Trace(opened))
    texts = Texts(opened, LineTable())
    for step in opened:  # Compares with the text of the file.
        texts.of_ir(step.after)


def steps_of(name: str = "MATMUL") -> list[Step]:
    return list(trace_of(kernel(name)))


def with_frame(trace: Trace, change: object) -> Trace:
    """Return a trace whose texts are changed by a function of their frame."""
    texts = trace.texts
    assert texts is not None
    assert texts.of(trace[0].states("before")[0].key) is not None
    ((frame, _, _), *_) = texts._known.values()  # pyright: ignore[reportPrivateUsage]
    data = memoryview(packed_frame(b"T", msgspec.msgpack.encode(change(frame))))  # pyright: ignore
    made = StoredTexts(data, [0], None)
    made._owner = texts._owner  # pyright: ignore[reportPrivateUsage]
    return Trace(trace.steps, texts=made)


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: TextFrame("another", frame.states, frame.lines, frame.places),
        lambda frame: TextFrame(frame.printer, frame.states, frame.lines[:-1], frame.places),
        lambda frame: TextFrame(frame.printer, frame.states, frame.lines, frame.places[:-5]),
        lambda frame: TextFrame(frame.printer, frame.states, frame.lines, b"\xff" * 9999),
        lambda frame: TextFrame(
            frame.printer, frame.states, [f"{line}\n" for line in frame.lines], frame.places
        ),
        lambda frame: [1, 2],
        lambda frame: TextFrame(frame.printer, [(0, -1), (1, 1 << 60)], frame.lines, frame.places),
    ],
)
def test_a_text_that_is_odd_is_printed_again(change: object, tmp_path: Path) -> None:
    opened = reopened(steps_of(), tmp_path)
    assert printed(with_frame(opened, change)) == printed(Trace(opened))


def test_a_text_that_is_immense_written_out_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = reopened(steps_of(), tmp_path)
    assert opened.texts is not None
    key = opened[0].states("before")[0].key
    assert opened.texts.of(key) is not None
    monkeypatch.setattr(state_texts, "MOST_TEXT_BYTES", 10)
    assert opened.texts.of(key) is None


def test_a_text_that_is_not_that_of_its_ir_is_found_when_the_ir_is_printed(tmp_path: Path) -> None:
    opened = reopened(steps_of(), tmp_path)
    lying = with_frame(
        opened,
        lambda frame: TextFrame(  # pyright: ignore
            frame.printer, frame.states, [line.replace("A", "Z") for line in frame.lines],
            frame.places,
        ),
    )  # fmt: skip
    texts = Texts(lying)
    assert "Z" in "".join(texts.lines(0))
    with pytest.raises(FormatError, match="another text of matmul than that of its IR"):
        texts.of_ir(lying[0].after)


def test_functions_of_which_states_were_forgotten_have_no_text(tmp_path: Path) -> None:
    written = bytearray()
    stream = TraceStream(written.extend, (LOOP_LEVEL,), "", {})
    states = [parse(f"def f(A: f32[{n}]):\n    A[0] = f32(1.0)\n") for n in range(8, 12)]
    made = [Step(0, LOOP_LEVEL, 0, "", "p", "p", {}, "f", *both, 0.0) for both in pairwise(states)]
    for at, step in enumerate(made):
        stream.append(step)
        if at == 0:
            stream.forget()
    stream.close()
    (tmp_path / "f.trace").write_bytes(written)
    opened = Trace.load(tmp_path / "f.trace", (LOOP_LEVEL,))
    assert opened.texts is not None
    found = [opened.texts.of(step.states("after")[0].key) is not None for step in opened]
    assert found == [True, False, False]
    assert printed(opened) == printed(Trace(opened))


def test_an_unfinished_file_and_one_without_an_index_show_the_same(tmp_path: Path) -> None:
    opened = reopened(steps_of(), tmp_path)
    data = (tmp_path / "f.trace").read_bytes()
    (tmp_path / "g.trace").write_bytes(data[:-20])
    without = Trace.load(tmp_path / "g.trace", (LOOP_LEVEL,))
    assert without.damage
    assert without.texts is not None
    assert without.texts.of(without[0].states("before")[0].key) is not None
    assert printed(without) == printed(opened)


def test_the_digest_of_the_printers_is_about_their_sources() -> None:
    files = [path.name for path in Path(state_texts.__file__).parents[2].glob("*/text/*.py")]
    assert {"expr_printer.py", "stmt_printer.py", "printer.py"} <= set(files)
    assert len(printer_digest()) == 32
