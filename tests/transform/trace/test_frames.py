"""Files of frames: read as far as they go, by index or without, and only what is asked for."""

import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import msgspec
import pytest

from irkit.core import FormatError, Function, IRModule, same
from irkit.ir import LOOP_LEVEL
from irkit.transform import Side, Trace
from irkit.transform.trace.file import ValueTag
from irkit.transform.trace.frames import (
    INDEX,
    frame_at,
    frames_from,
    index_of,
    packed_end,
    packed_frame,
)
from irkit.transform.trace.load import TraceContents, decode_trace
from irkit.transform.trace.save import encode_trace
from irkit.transform.trace.size_limits import ValueSizes
from irkit.transform.trace.stored import StoredReader
from tests.transform.trace.test_trace import LOOP, trace_of_module
from tests.transform.trace.version_2 import encoded as encoded_in_version_2

HEAD_LINE = len(b"irkit-trace 3\n")


def bytes_of(trace: Trace) -> bytes:
    return encode_trace(trace.steps, trace.title, trace.versions)


def end_of_frames(data: bytes) -> list[int]:
    return [frame.end for _, frame in frames_from(memoryview(data), HEAD_LINE)]


def assert_same_steps(read: TraceContents, trace: Trace, count: int) -> None:
    assert len(read.steps) == count
    for new, old in zip(read.steps, trace, strict=False):
        assert new.changed == old.changed
        assert same(new.before, old.before)
        assert same(new.after, old.after)


def test_a_file_without_its_index_is_read_the_same() -> None:
    trace = trace_of_module()
    data = bytes_of(trace)
    whole = decode_trace(data, (LOOP,))
    cut = decode_trace(data[: end_of_frames(data)[-1]], (LOOP,), "t.trace")
    assert_same_steps(whole, trace, 5)
    assert_same_steps(cut, trace, 5)
    assert whole.damage == ""
    assert cut.damage == "t.trace has no end, so its process was stopped or still runs: 5 steps"


def test_a_file_that_ends_anywhere_has_the_steps_that_were_complete() -> None:
    trace = trace_of_module()
    data = bytes_of(trace)
    ends = end_of_frames(data)
    for size in sorted({*range(HEAD_LINE + 1, ends[-1], 3)} - {*ends[:2]}):
        if not any(end <= size for end in ends[2:]):
            with pytest.raises(FormatError, match="damaged at byte"):
                decode_trace(data[:size], (LOOP,))
            continue
        read = decode_trace(data[:size], (LOOP,))
        assert_same_steps(read, trace, len(read.steps))
        assert "steps" in read.damage


def test_a_damaged_frame_ends_what_is_read_and_its_place_is_named() -> None:
    trace = trace_of_module()
    data = bytearray(bytes_of(trace))
    ends = end_of_frames(bytes(data))
    data[ends[-2] + 12] ^= 1  # In the last step.
    read = decode_trace(bytes(data), (LOOP,), "t.trace")
    assert read.damage == (
        f"t.trace is damaged at byte {ends[-2]}: the checksum of a frame is wrong; "
        "what is before it was read: 4 steps"
    )
    assert_same_steps(read, trace, 4)


def test_damaged_rows_are_named_when_a_step_is_asked_for_them() -> None:
    data = bytearray(bytes_of(trace_of_module()))
    first = end_of_frames(bytes(data))[0]
    data[first + 20] ^= 1
    read = decode_trace(bytes(data), (LOOP,), "t.trace")
    assert [step.name for step in read.steps][:1] == ["serial"]
    with pytest.raises(FormatError, match=rf"t.trace is damaged at byte {first}: the checksum"):
        _ = read.steps[0].before


def test_a_value_with_a_list_for_a_number_is_left_to_who_makes_it() -> None:
    assert ValueSizes(4).add(1, [ValueTag.TUPLE, [[0], 0, "a"]]) == ""


def test_only_the_ir_that_is_asked_for_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    make = StoredReader._node  # pyright: ignore[reportPrivateUsage]

    def counted(self: StoredReader, row: list[object]) -> object:
        made.append(1)
        return make(self, row)

    monkeypatch.setattr(StoredReader, "_node", counted)
    steps = decode_trace(bytes_of(trace_of_module()), (LOOP,)).steps
    assert [step.changed for step in steps] == [True, True, True, True, True]
    assert len(made) == 0
    _ = steps[0].before
    few = len(made)
    assert few > 0
    _ = steps[0].before
    assert len(made) == few
    _ = [step.after for step in steps]
    assert len(made) > few


def test_the_functions_of_a_step_are_known_while_something_large_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read = decode_trace(bytes_of(trace_of_module()), (LOOP,))
    sides: tuple[Side, Side] = ("before", "after")
    asked = [step.states(side) for step in read.steps for side in sides]

    def wait(*_: object) -> None:
        raise AssertionError("it would wait for the lock of the reader")

    monkeypatch.setattr(StoredReader, "asked", wait)
    again = [step.states(side) for step in read.steps for side in sides]
    names = [[state.name for state in states] for states in asked]
    assert [[state.name for state in states] for states in again] == names
    assert max(map(len, names)) > 1


def test_a_file_of_version_2_is_still_read() -> None:
    trace = trace_of_module()
    assert_same_steps(decode_trace(encoded_in_version_2(trace), (LOOP,)), trace, 5)


KILLED = """
    import os, signal, sys
    from irkit.ir import LOOP_LEVEL
    from irkit.phases import DEFAULT
    from irkit.transform.trace.stream import TraceStream
    func = LOOP_LEVEL.parse(open(sys.argv[2]).read())
    fd = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    stream = TraceStream(lambda data: os.write(fd, data), [LOOP_LEVEL], "killed", {})
    for count, step in enumerate(DEFAULT.steps(func)):
        if count == 7:
            os.kill(os.getpid(), signal.SIGKILL)
        stream.append(step)
"""
FUNC = """
def f(A: f32[8], B: f32[8]):
    for i in serial(0, 8):
        B[i] = A[i] + f32(1.0)
"""


def test_what_was_recorded_survives_a_killed_process(tmp_path: Path) -> None:
    (tmp_path / "f.irs").write_text(textwrap.dedent(FUNC))
    path = tmp_path / "killed.trace"
    command = [sys.executable, "-c", textwrap.dedent(KILLED), path, tmp_path / "f.irs"]
    done = subprocess.run(command, check=False)
    assert done.returncode == -signal.SIGKILL
    trace = Trace.load(path, (LOOP_LEVEL,))
    assert len(trace) == 7
    assert "its process was stopped or still runs" in trace.damage
    assert all("def f" in text for step in trace for text in step.scripts(trace.names))


def mutated(good: bytes, chance: random.Random) -> bytes:
    data = bytearray(good)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(data))
        match chance.randrange(5):
            case 0:
                data[at] ^= 1 << chance.randrange(8)
            case 1:
                data[at] = chance.choice((0, 0x90, 0xC0, 0xDD, 0xFF))
            case 2:
                del data[at : at + chance.randint(1, 40)]
            case 3:
                data[at:at] = data[chance.randrange(len(data)) :][: chance.randint(1, 200)]
            case _:
                del data[at:]
        if not data:
            break
    return bytes(data)


def assert_mutations_are_harmless(count: int, seed: int) -> None:
    trace = trace_of_module()
    good, chance = bytes_of(trace), random.Random(seed)
    refused = partly = 0
    for _ in range(count):
        data = mutated(good, chance)
        started = time.process_time()
        try:
            read = decode_trace(data, (LOOP,))
            for new, old in zip(read.steps, trace, strict=False):
                assert same(new.before, old.before)
                assert same(new.after, old.after)
                assert len(new.kept) == len(old.kept)
                assert [each.text for each in new.remarks] == [each.text for each in old.remarks]
            assert read.damage or len(read.steps) == len(trace) or data == good
            partly += bool(read.damage)
        except FormatError:
            refused += 1
        assert time.process_time() - started < 2
    assert min(refused, partly) > count / 10


def recomputed(good: bytes, chance: random.Random) -> bytes:
    """Damage the content of a frame and give it the checksum that it should have."""
    whole = memoryview(good)
    made = [good[:HEAD_LINE]]
    frames = [frame for _, frame in frames_from(whole, HEAD_LINE)]
    chosen = chance.randrange(len(frames))
    for at, frame in enumerate(frames):
        content = good[frame.start : frame.end]
        made.append(packed_frame(frame.kind, mutated(content, chance) if at == chosen else content))
    return b"".join(made)


def ask_everything(read: TraceContents) -> None:
    for step in read.steps:
        _ = step.options, step.kept, step.remarks, step.reports
        assert isinstance(step.before, (Function, IRModule))
        assert isinstance(step.after, (Function, IRModule))


def assert_recomputed_ones_are_harmless(count: int, seed: int) -> None:
    good, chance = bytes_of(trace_of_module()), random.Random(seed)
    refused = 0
    for _ in range(count):
        data = recomputed(good, chance)
        started = time.process_time()
        try:
            ask_everything(decode_trace(data, (LOOP,)))
        except FormatError:
            refused += 1
        assert time.process_time() - started < 2
    assert refused > count / 5


def test_damage_with_a_right_checksum_is_refused_or_harmless() -> None:
    assert_recomputed_ones_are_harmless(500, seed=3)


@pytest.mark.long
def test_much_damage_with_a_right_checksum_is_refused_or_harmless() -> None:
    assert_recomputed_ones_are_harmless(20_000, seed=4)


def test_an_index_that_says_other_than_the_frames_is_refused() -> None:
    data = bytes_of(trace_of_module())
    end = end_of_frames(data)[-1]
    view = memoryview(data)
    good = index_of(view, frame_at(view, HEAD_LINE).end)
    assert good is not None
    values, nodes, modules = good.totals
    for totals in ((values, nodes + 1, modules), (values, nodes - 1, modules)):
        wrong = msgspec.structs.replace(good, totals=totals)
        content = packed_frame(INDEX, msgspec.msgpack.encode(wrong)) + packed_end(end)
        with pytest.raises(FormatError, match=r"other rows than the index|not in the file"):
            ask_everything(decode_trace(data[:end] + content, (LOOP,)))
    for wrong in (
        msgspec.structs.replace(good, rows=[]),
        msgspec.structs.replace(good, rows=good.rows[1:]),
        msgspec.structs.replace(good, rows=good.rows[::-1]),
        msgspec.structs.replace(good, steps=good.steps[::-1]),
        msgspec.structs.replace(good, totals=(0, 0, 0)),
    ):
        content = packed_frame(INDEX, msgspec.msgpack.encode(wrong)) + packed_end(end)
        read = decode_trace(data[:end] + content, (LOOP,))  # Then it is not used.
        ask_everything(read)
        assert "has no end" in read.damage


def test_mutated_files_are_refused_or_read_up_to_the_damage() -> None:
    assert_mutations_are_harmless(600, seed=1)


@pytest.mark.long
def test_many_mutated_files_are_refused_or_read_up_to_the_damage() -> None:
    assert_mutations_are_harmless(20_000, seed=2)
