"""Programs of which everything is known are printed in every way, and read back."""

import random
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from irkit.core import FormatError
from irkit.inspector_web.dumps.readers import read_dump
from irkit.inspector_web.limits import MOST_DUMPED
from irkit.inspector_web.record.record import record
from tests.inspector_web.dumps.samples import SAMPLES, changed, steps_of

Module = dict[str, str]
Run = tuple[str, str, Module, Module]
"""A pass, the function it ran on ("" for the module), and all functions before and after it."""


def _runs(seed: int) -> Iterator[Run]:
    rng = random.Random(seed)
    now = {f"f{at}": "  ret i32 0" for at in range(rng.randint(1, 4))}
    for at in range(rng.randint(3, 15)):
        unit = rng.choice(["", *now])
        touched = [name for name in ([unit] if unit else now) if rng.random() < 0.4]
        before = now
        now = {name: f"  ret i32 {rng.randint(1, 3)}" if name in touched else body
               for name, body in now.items()}  # fmt: skip
        yield f"P{at % 5}", unit, before, now


def _llvm(name: str, body: str) -> str:
    return f"define i32 @{name}() {{\n{body}\n}}\n"


def _printed(unit: str, module: Module) -> str:
    if unit:
        return _llvm(unit, module[unit])
    return "; ModuleID = 'm'\n\n" + "\n".join(_llvm(*each) for each in module.items())


def _print_all(runs: list[Run], ways: set[str]) -> str:
    lines = [f"*** IR Dump At Start ***\n{_printed('', runs[0][2])}"]
    for name, unit, before, after in runs:
        banner = f"{name} on {unit or '[module]'}"
        if "before" in ways:
            lines.append(f"; *** IR Dump Before {banner} ***\n{_printed(unit, before)}")
        if "changed" in ways and before == after:
            lines.append(f"*** IR Dump After {banner} omitted because no change ***")
        elif ways & {"after", "changed"}:
            lines.append(f"; *** IR Dump After {banner} ***\n{_printed(unit, after)}")
    # A last pass on the module, so that a dump of what was before passes is complete.
    lines.append(f"; *** IR Dump Before Last on [module] ***\n{_printed('', runs[-1][3])}")
    return "\n".join(lines)


@pytest.mark.parametrize("way", [("after",), ("before",), ("changed",), ("before", "after")])
def test_what_was_printed_is_read_back(way: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "dump.txt"
    for seed in range(40):
        runs = list(_runs(seed))
        path.write_text(_print_all(runs, set(way)))
        steps = steps_of(path)[:-1]
        assert [(step.name, step.function) for step in steps] == [run[:2] for run in runs], seed
        expected = [run[:2] for run in runs if run[2] != run[3]]
        assert changed(steps) == expected, (seed, way)
        for step, (_, unit, before, after) in zip(steps, runs, strict=True):
            for ir, module in ((step.before, before), (step.after, after)):
                text = ir.script().replace("\n\n", "\n").strip()
                assert text == _printed(unit, module).replace("\n\n", "\n").strip(), seed


@pytest.mark.parametrize("name", ["mlir-after-all.txt", "llc.txt"])
def test_a_dump_cut_off_anywhere_gives_the_steps_before_that(name: str, tmp_path: Path) -> None:
    data = (SAMPLES / name).read_bytes()
    whole = [step.scripts() for step in steps_of(SAMPLES / name)]
    path = tmp_path / "cut.txt"
    refused = told = 0
    for size in range(0, len(data), 211):
        path.write_bytes(data[:size])
        try:
            read = read_dump(path)
        except FormatError:
            refused += 1
            continue
        told += "cut off" in read.damage and "line " in read.damage
        made = [step.scripts() for step in read.found.steps]
        complete = made if read.damage else made[:-1]
        assert complete == whole[: len(complete)]
    assert refused < told


def test_the_format_of_steps_is_read(tmp_path: Path) -> None:
    path = tmp_path / "steps.jsonl"
    head = {"format": "irkit.steps/1", "language": "mlir"}
    rows = [
        {"side": "start", "function": "f", "text": "a\nb"},
        {"pass": "p", "label": "P (p)", "function": "f", "text": "a\nc", "phase": 2, "ms": 1.5},
        {"pass": "q", "function": "f"},
    ]
    lines = [msgspec.json.encode(each) for each in (head, *rows)]
    path.write_bytes(b"\n".join(lines))
    first, second = steps_of(path)
    assert (first.pass_text, first.phase, first.seconds) == ("P (p)", 2, 0.0015)
    assert first.scripts() == ("a\nb\n", "a\nc\n")
    assert not second.changed
    path.write_bytes(b"\n".join([*lines, b'{"pass": 3}']))
    read = read_dump(path)
    assert len(read.found.steps) == 2
    assert "line 5: Expected `str`, got `int`" in read.damage


def test_endless_dumps_are_read_up_to_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "steps.jsonl"
    row = '{"pass": "p", "function": "f", "text": "x"}\n'
    path.write_text('{"format": "irkit.steps/1"}\n' + row * (MOST_DUMPED + 5))
    read = read_dump(path)
    assert len(read.found.steps) == MOST_DUMPED
    assert "more than 20,000 dumps" in read.damage


@pytest.mark.parametrize("data", [b"", b"\x00" * 99, b"just text\n", b"{}", b'{"format": "x"}'])
def test_anything_else_is_refused_with_what_can_be_read(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "some.txt"
    path.write_bytes(data)
    with pytest.raises(FormatError) as told:
        record("dump", str(path), str(tmp_path))
    assert "-print-after-all" in str(told.value)
