"""Dumps and traces that were changed at random: read, or refused, and nothing else."""

import random
from pathlib import Path

import pytest

from benchmarks.fuzz.malformed_batches import malformed_case
from irkit.core import FormatError, IRKitError
from irkit.inspector_web.api.every_view import every_view
from irkit.inspector_web.dumps.readers import read_dump
from irkit.inspector_web.record.restore import load_trace
from irkit.transform import Trace
from tests.inspector_web.dumps.samples import SAMPLES

FILES = ("mlir-after-all.txt", "mlir-after-change.txt", "llc.txt", "mlir-failed.txt")


def _mutated(lines: list[str], rng: random.Random) -> str:
    """Drop, repeat, swap or spoil some lines, or cut the text off."""
    made = list(lines)
    for _ in range(rng.randint(1, 6)):
        at, other = rng.randrange(len(made)), rng.randrange(len(made))
        match rng.randrange(6):
            case 0:
                del made[min(at, other) : max(at, other)]
            case 1:
                made[at:at] = made[other : other + rng.randint(1, 9)]
            case 2:
                made[at], made[other] = made[other], made[at]
            case 3:
                place = rng.randrange(len(made[at]) + 1)
                spoiled = rng.choice(["{", "}", '"', "\0", "@", "***", "\u2028", " on ", "("])
                made[at] = made[at][:place] + spoiled + made[at][place:]
            case 4:
                made[at] = rng.choice(
                    ["*** IR Dump After x on [module] ***", "// -----// IR Dump After x Failed"]
                )
            case _:
                made = made[: max(at, 1)]
        made = made or [""]
    return "\n".join(made)


def _read_mutated(folder: Path, numbers: range) -> int:
    path, shown = folder / "dump.txt", 0
    for number in numbers:
        rng = random.Random(number)
        text = (SAMPLES / rng.choice(FILES)).read_text()
        path.write_text(_mutated(text.split("\n"), rng), errors="surrogatepass")
        try:
            found = read_dump(path).found
        except FormatError:
            continue
        shown += 1
        if number % 50 == 0 and found.steps:
            every_view(Trace(found.steps))
    return shown


def test_mutated_dumps_are_read_or_refused(tmp_path: Path) -> None:
    assert _read_mutated(tmp_path, range(150)) > 75


@pytest.mark.long
def test_ten_thousand_mutated_dumps_are_read_or_refused(tmp_path: Path) -> None:
    assert _read_mutated(tmp_path, range(1_000, 11_000)) > 5_000


@pytest.mark.long
def test_ten_thousand_mutated_traces_are_shown_or_refused(tmp_path: Path) -> None:
    path, shown = tmp_path / "mutated.trace", 0
    for number in range(10_000):
        path.write_bytes(malformed_case("trace", number))
        try:
            trace = load_trace(str(path))
            every_view(trace)
        except IRKitError:
            continue
        shown += 1
    assert shown > 500
