"""Records of tuning: written, damaged, read, merged and chosen from.

What was drawn says what must be read back: each line that was not damaged, and the numbers of the
others.
"""

import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from irkit.codegen import complete_target
from irkit.core import Target
from irkit.fuzz.judge.outcome import WrongSample
from irkit.fuzz.picks import Picks
from irkit.tune import (
    SCHEMA,
    CandidateOrigin,
    MachineHere,
    Measured,
    Record,
    RecordFile,
    TaskLine,
    as_autotvm,
    best_of,
    chosen_schedules,
    fingerprint,
    merge_records,
    read_auto_scheduler,
    read_autotvm,
    read_records,
    record_id,
)

Line = TaskLine | Record
_MOST_LINES = 14
_TASKS = ("t", "u", "v")
_RUNS = ("run 1", "run 2")
_VERDICTS = ("ok", "ok", "ok", "ok", "wrong", "crash", "refused")
_RATIOS = (1.5, 1.01, 1.02, 1.021, 1.0, 3.0, 0.7)
_KNOBS: tuple[Any, ...] = ([-1, 4], [-1, 2, 8], "auto", 3, ["i", "j"], [0, 2, 1], True)


def records_read_back(picks: Picks) -> None:
    """Files of records hold what was written, and name the lines that are damaged.

    Raises: WrongSample.
    """
    with tempfile.TemporaryDirectory(prefix="irkit-records-") as folder:
        drawn = [_line(picks, number) for number in range(1 + picks.below(_MOST_LINES))]
        path = Path(folder) / "records.jsonl"
        data, kept, damaged = _written(picks, path, drawn)
        path.write_bytes(data)
        found = read_records(path)
        tasks, candidates = _expected(kept)
        _same("tasks", found.tasks, tasks)
        _same("candidates", found.candidates, candidates)
        _same("damaged lines", [at for at, _ in found.damaged], damaged)
        _same("the report names lines", bool(found.report("x")), bool(damaged))
        for task in _TASKS:
            own = [each for each in candidates if each.task == task]
            _same(f"candidates of {task}", found.of(task), own)
        _merged(picks, Path(folder), path, kept)
        _best(candidates)
        _chosen(path, candidates)
        _logs(picks, Path(folder))


def _same(what: str, found: Any, expected: Any) -> None:
    if found != expected:
        raise WrongSample("mismatch", f"{what}: {found}\nexpected: {expected}")


def _line(picks: Picks, number: int) -> Line:
    task = picks.pick(_TASKS)
    if picks.one_in(5):
        template = picks.pick(("", "gemm"))
        return TaskLine(SCHEMA, task, f"main{number}", 128, "", template, (1, "f32"))
    values = {"rows": picks.below(3), "knob": picks.pick(_KNOBS)}
    ratio = picks.pick(_RATIOS)
    measured = Measured(1e-3, ratio * 1e-3, ratio, picks.pick(_RATIOS), 4.0, 9)
    here = fingerprint() if picks.below(3) else "another"
    return Record(
        SCHEMA,
        record_id(task, "rules", values),
        task,
        "main",
        "rules",
        values,
        "final" if picks.below(3) else "search",
        {"kind": "llvm"},
        MachineHere(here, 2, 1, 2, 3),
        {},
        picks.pick(_VERDICTS),
        measure=None if picks.one_in(6) else measured,
        score=picks.pick(_RATIOS),
        search=CandidateOrigin(picks.pick(_RUNS)),
        trace=None if picks.one_in(6) else {"steps": [number]},
    )


def _written(
    picks: Picks, path: Path, drawn: Sequence[Line]
) -> tuple[bytes, list[Line], list[int]]:
    """Write lines, and damage some; return the data, what must be read, and the numbers of the
    other lines."""
    torn = picks.one_in(3)
    if torn:  # Another process was stopped inside of a line.
        path.write_bytes(msgspec.json.encode(drawn[0])[: 5 + picks.below(40)])
    with RecordFile(path) as file:
        for each in drawn:
            file.append(each)
    lines = path.read_bytes().splitlines()
    _same("lines", lines[torn:], [msgspec.json.encode(each) for each in drawn])
    kept, damaged, made = list[Line](), [1] * torn, lines[:torn]
    for line, each in zip(lines[torn:], drawn, strict=True):
        if picks.one_in(4):
            made += picks.pick(_UNUSED)
            if made[-1].strip():
                damaged.append(len(made))
        if picks.below(4):
            kept.append(each)
            made.append(line)
            continue
        made.append(picks.pick(_DAMAGES)(line, picks))
        damaged.append(len(made))
    return b"\n".join(made) + (b"\n" if picks.below(2) else b""), kept, damaged


def _cut(line: bytes, picks: Picks) -> bytes:
    return line[: 1 + picks.below(len(line) - 1)]


def _not_text(line: bytes, picks: Picks) -> bytes:
    at = 1 + picks.below(len(line) - 1)
    return line[:at] + b"\xff" + line[at:]


def _other_schema(line: bytes, picks: Picks) -> bytes:
    return json.dumps({**json.loads(line), "schema": SCHEMA + 1}).encode()


def _wrong_type(line: bytes, picks: Picks) -> bytes:
    fields = json.loads(line)
    name = picks.pick(("name", "schema", "hash" if fields["kind"] == "task" else "id"))
    return json.dumps({**fields, name: [1]}).encode()


def _left_out(line: bytes, picks: Picks) -> bytes:
    fields = json.loads(line)
    del fields[picks.pick(("name", "schema", "kind"))]
    return json.dumps(fields).encode()


_DAMAGES: tuple[Callable[[bytes, Picks], bytes], ...] = (
    *(_cut, _not_text, _other_schema, _wrong_type, _left_out),
)
_UNUSED = (
    [b""],
    [b"   "],
    [b"[1, 2]"],
    [b'{"input": [], "config": {}, "result": []}'],
    [b'{"i": [], "r": []}'],
    [b"[" * 3000],
)
"""Lines of something else, or of nothing."""


def _expected(kept: Sequence[Line]) -> tuple[dict[str, TaskLine], list[Record]]:
    """Return the tasks, the last one of a hash but none without a template over one with, and the
    candidates."""
    tasks: dict[str, TaskLine] = {}
    for each in kept:
        if isinstance(each, TaskLine):
            known = tasks.get(each.hash)
            if known is None or not (known.template and not each.template):
                tasks[each.hash] = each
    return tasks, [each for each in kept if isinstance(each, Record)]


def _merged(picks: Picks, folder: Path, path: Path, kept: Sequence[Line]) -> None:
    """Merging a file with another, or with itself, keeps each line once."""
    more = [_line(picks, 100 + number) for number in range(picks.below(3))]
    other = folder / "other.jsonl"
    with RecordFile(other) as file:
        for each in more:
            file.append(each)
    whole = folder / "whole.jsonl"
    merge_records(whole, [str(path), str(other), str(path)])
    tasks, candidates = _expected(kept)
    others, rest = _expected(more)
    wanted = [*tasks.values(), *candidates, *others.values(), *rest]
    unique = list(dict.fromkeys(map(msgspec.json.encode, wanted)))
    _same("merged lines", whole.read_bytes().splitlines(), unique)


def _wins(record: Record) -> bool:
    measure = record.measure
    return record.verdict == "ok" and measure is not None and measure.low > 1.02


def _winners(candidates: Sequence[Record]) -> dict[tuple[str, str], float]:
    """Return the score of the best winner of each task and machine: of those that won their last
    two races in one run, by the race that they won by less."""
    races: dict[tuple[str, str, str], list[Record]] = {}
    for each in candidates:
        if each.stage == "final":
            races.setdefault((each.task, each.machine.fingerprint, each.id), []).append(each)
    found: dict[tuple[str, str], float] = {}
    for (task, machine, _), finals in races.items():
        pair = finals[-2:]
        runs = {each.search.run for each in pair}
        if len(pair) == 2 and len(runs) == 1 and all(map(_wins, pair)):
            score = min(each.score for each in pair)
            found[task, machine] = max(score, found.get((task, machine), score))
    return found


def _best(candidates: Sequence[Record]) -> None:
    found = {key: record.score for key, record in best_of(candidates).items()}
    _same("scores of winners", found, _winners(candidates))


def _chosen(path: Path, candidates: Sequence[Record]) -> None:
    target = complete_target(Target())
    here = fingerprint(target)
    winners = {key: each for key, each in best_of(candidates).items() if each.trace is not None}
    own = {task for task, machine in winners if machine == here}
    foreign = {task for task, machine in winners if machine != here}
    _same("schedules of this machine", set(chosen_schedules(path, target).traces), own)
    chosen = chosen_schedules(path, target, foreign=True).traces
    _same("schedules of any machine", set(chosen), own | foreign)
    for task in own:
        _same("a schedule", json.loads(chosen[task]), winners[task, here].trace)


def _logs(picks: Picks, folder: Path) -> None:
    """Logs of other tuners: what is written for AutoTVM reads back, and damaged lines are left
    out."""
    task = TaskLine(SCHEMA, "t", "main", 1, "", "gemm", (4, "f32"))
    records = [each for number in range(4) if isinstance(each := _line(picks, number), Record)]
    lines = [as_autotvm(task, each) for each in records]
    path = folder / "autotvm.log"
    damaged = picks.below(len(lines)) if lines and picks.below(2) else None
    shown = [line[:-3] if at == damaged else line for at, line in enumerate(lines)]
    path.write_text("\n".join([*shown, "[]", "{}"]))
    kept = [each for at, each in enumerate(records) if at != damaged]
    found = read_autotvm(path)
    _same("knobs", [dict(each.values) for each in found], [dict(each.values) for each in kept])
    _same(
        "tasks",
        {(each.task, each.args) for each in found},
        {("gemm", (4, "f32"))} if kept else set(),
    )
    times = [each.seconds for each in found]
    measured = [each.measure for each in kept]
    _same("seconds", times, [(1e10,) if each is None else (each.seconds,) for each in measured])
    _same("errors", [bool(each.error) for each in found], [each.verdict != "ok" for each in kept])
    _auto_scheduler(picks, path)


def _auto_scheduler(picks: Picks, path: Path) -> None:
    """Splits of a log of auto_scheduler go to the knobs of a template with its arguments."""
    sizes = [[picks.pick((2, 4, 8))] for _ in range(2)]
    steps = [["SP", 0, 0, 16, size, 1] for size in sizes]
    named = picks.pick(("gemm", "gemm", "other"))
    args = picks.pick(([4, 8], [4, 8], [4]))
    line = {"i": [[json.dumps([named, *args]), "llvm"], [[], steps]], "r": [[1e-3], 0, 0, 0]}
    path.write_text(json.dumps(line) + "\n" + picks.pick(('{"i": [1], "r": []}', "x", "")))
    found = read_auto_scheduler(path)
    _same("entries", len(found), 1)
    options = [[-1, 2], [-1, 4]]
    knobs = {"a": options, "b": options, "c": [1, 2]}
    fits = named == "gemm" and args == [4, 8] and all(size[0] < 8 for size in sizes)
    wanted = {"a": [-1, *sizes[0]], "b": [-1, *sizes[1]], "c": 1} if fits else None
    _same("knobs by steps", found[0].values_for("my.gemm", [4, 8], knobs), wanted)
