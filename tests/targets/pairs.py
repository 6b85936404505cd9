"""Pairs of case and executor: random programs on everything that runs code for a target here.

A batch is 200 cases: 100 drawn functions, as they are drawn and after the phases. Each executor
builds those of a batch together and runs them in one process (OpenCL builds each launch). Without
contraction, and with functions such as ``exp`` expanded, results must equal the interpreter's bit
for bit; NaN equals NaN. Each batch of an executor leaves a file, so a run goes on where it ended::

    python -m tests.targets.pairs --folder out/pairs --cases 5000
    python -m tests.targets.pairs --folder out/pairs --cases 500 --executor opencl@oclgrind
    python -m tests.targets.pairs --folder out/more --first 7000  # other cases
"""

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from pathlib import Path

import msgspec
import numpy as np

from irkit.core import IRKitError, Target, walk
from irkit.debug.check.difference import identical
from irkit.debug.execution.executors import exact
from irkit.debug.targets import TargetCall, TargetExecutor, TargetOutcome, target_executor
from irkit.fuzz.generators.arguments import draw_arguments
from irkit.fuzz.generators.loops.loop_functions import loop_function, thread_function
from irkit.fuzz.generators.stages.theme import Numbers
from irkit.fuzz.picks import picks_of
from irkit.ir import For, PrimFunc
from irkit.passes.loop import expand_functions
from irkit.phases import DEFAULT, LEGALIZE, phases_of

BATCH = 200
THREADS = "threads"
"""The executor that runs loops over threads as code for this processor."""
EXECUTORS = (
    "host -opt-level=2", "x86-64 -opt-level=2", "x86-64-v2 -opt-level=2", "x86-64-v3 -opt-level=2",
    "x86-64-v4 -opt-level=2", THREADS, "c@gcc", "c@clang", "c@aarch64-linux-gnu-gcc",
    "c@riscv64-linux-gnu-gcc", "raspberry-pi-4 -opt-level=2", "raspberry-pi-5 -opt-level=2",
    "neoverse-n1 -opt-level=2", "neoverse-v1 -opt-level=2", "rv64gc -opt-level=2",
    "rv64gcv -opt-level=2", "wasm32 -opt-level=2", "opencl", "opencl@oclgrind",
)  # fmt: skip
_FEW = {"opencl@oclgrind": 500}
"""The cases of executors that are slow; others run 5,000."""
_NUMBERS: tuple[Numbers, ...] = ("fractions", "fractions", "whole", "fractions", "special",
                                 "integers")  # fmt: skip
"""Half of all cases hold random fractions: whole numbers hide what rounds differently."""


FOR_DEVICES = phases_of(Target("opencl"), DEFAULT)


AWAY = ("qemu",)
"""What an emulator says that cannot go on: qemu 7.2 of some vectors."""


class Case(msgspec.Struct, frozen=True):
    """A function, what a device launches instead (one without thread loops is one thread), and
    arguments."""

    func: PrimFunc
    launched: PrimFunc
    args: tuple[object, ...]


class BatchResult(msgspec.Struct):
    """What an executor did with a batch. ``away`` counts cases in which the emulator itself failed;
    ``wrong`` has the text of each case that gave something else."""

    executor: str
    batch: int
    ran: int = 0
    refused: int = 0
    away: int = 0
    wrong: list[str] = []
    seconds: float = 0.0


KnownCase = tuple[Case, TargetOutcome]


def batch_cases(number: int, *, threads: bool = False, size: int = BATCH) -> list[Case]:
    """Draw a batch; the same number draws the same. With ``threads``, all have thread loops."""
    found = list[Case]()
    at = 0
    while len(found) < size:
        picks = picks_of(number * 1_000_003 + at)
        numbers = _NUMBERS[at % len(_NUMBERS)]
        at += 1
        make = thread_function if threads or at % 5 == 0 else partial(loop_function, wide=True)
        try:
            func = exact(expand_functions(make(picks)))
            args = draw_arguments(func, picks, numbers, empty=False).args
            low, launched = DEFAULT.run(func), FOR_DEVICES.run(func)
        except IRKitError:
            continue
        plain = low if any(loop.kind == "thread" for loop in walk(func, For)) else func
        found += [Case(plain, launched, args), Case(low, low, args)]
    return found[:size]


def executor_of(name: str) -> TargetExecutor:
    """Return what runs the cases of a name."""
    text = "host -opt-level=2" if name == THREADS else name
    return target_executor(text, legalised, level="-O1")


def legalised(func: PrimFunc, target: Target) -> PrimFunc:
    """Return a function, also one as it is drawn, with what the backend of a target wants
    legalised."""
    for _, each in phases_of(target, LEGALIZE).placed:
        func = each(func)
    return func


@lru_cache(maxsize=2)
def known_cases(number: int, threads: bool, size: int) -> list[KnownCase]:
    """Return the cases of a batch that the interpreter can run, with what it computes."""
    return with_results(batch_cases(number, threads=threads, size=size))


def with_results(cases: Sequence[Case]) -> list[KnownCase]:
    """Return the cases that the interpreter can run, with what it computes."""
    reference = target_executor("interpreter", max_steps=200_000)
    with np.errstate(all="ignore"):
        known = reference.run([TargetCall(each.func, each.args) for each in cases])
    return [(c, k) for c, k in zip(cases, known, strict=True) if k.end != "failed"]


def run_batch(name: str, number: int, *, size: int = BATCH) -> BatchResult:
    """Run a batch on an executor, and compare it with the interpreter."""
    return compared(name, number, known_cases(number, name == THREADS, size))


def compared(name: str, number: int, usable: Sequence[KnownCase]) -> BatchResult:
    """Run cases on an executor, and compare them with the interpreter."""
    started = time.monotonic()
    executor = executor_of(name)
    device = executor.target.device is not None
    calls = [TargetCall(c.launched if device else c.func, c.args) for c, _ in usable]
    result = BatchResult(name, number)
    for (case, wanted), found in zip(usable, executor.run(calls), strict=True):
        _count(result, case, wanted, found)
    result.seconds = time.monotonic() - started
    return result


def _count(result: BatchResult, case: Case, wanted: TargetOutcome, found: TargetOutcome) -> None:
    if found.end == "refused":
        result.refused += 1
    elif found.end == "failed" and any(words in found.message for words in AWAY):
        result.away += 1
    elif found.end != wanted.end:
        result.wrong.append(f"{found.end}, not {wanted.end}: {found.message}\n{case.func.script()}")
    else:
        result.ran += 1
        same = wanted.end != "ran" or all(
            identical(a, b) for a, b in zip(wanted.arrays, found.arrays, strict=True)
        )
        if not same:
            result.wrong.append(f"other bits\n{case.func.script()}")


def run_executors(
    names: Sequence[str], folder: Path, cases: int, *, until: float, first: int = 0
) -> dict[str, list[BatchResult]]:
    """Run batches from ``first`` on until enough cases of each executor have run, or the time is
    up, and return what is known of all of them; those that are in the folder are read."""
    found: dict[str, list[BatchResult]] = {name: [] for name in names}
    number = first
    while True:
        left = [name for name in names if _wants_more(name, found[name], cases)]
        if not left:
            return found
        for name in left:
            file = folder / name.partition(" ")[0] / f"{number:04}.json"
            if not file.exists():
                if time.monotonic() > until:
                    return found
                made = run_batch(name, number)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(msgspec.json.encode(made))
            found[name].append(msgspec.json.decode(file.read_bytes(), type=BatchResult))
        number += 1


def _wants_more(name: str, found: Sequence[BatchResult], cases: int) -> bool:
    ran = sum(each.ran for each in found)
    hopeless = len(found) > 4 and not ran
    return ran < wanted_cases(name, cases) and not hopeless


def table(rows: Iterable[tuple[str, Sequence[BatchResult], str]]) -> str:
    """Return the table of executors: cases that ran, passed, were refused, seconds."""
    head = ("executor", "ran", "passed", "refused", "emulator failed", "seconds")
    lines = ["| " + " | ".join(head) + " |", "| --- | ---: | ---: | ---: | ---: | ---: |"]
    total = 0
    for name, found, missing in rows:
        ran, wrong = sum(x.ran for x in found), sum(len(x.wrong) for x in found)
        total += ran
        numbers = (ran, ran - wrong, sum(x.refused for x in found), sum(x.away for x in found))
        seconds = f"{sum(x.seconds for x in found):.0f}"
        cells = [*map(str, numbers), seconds] if ran else [f"not run: {missing}", "", "", "", ""]
        lines.append(f"| {name.partition(' ')[0]} | {' | '.join(cells)} |")
    return "\n".join([*lines, f"| all | {total} | | | | |"])


def wanted_cases(name: str, cases: int) -> int:
    """Return how many cases an executor runs, of as many as others do."""
    return min(cases, _FEW.get(name, cases))


def main() -> int:
    """Run all executors in turn, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("out/pairs"))
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--executor", action="append", default=[])
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--first", type=int, default=0, help="the number of the first batch")
    given = parser.parse_args()
    until = time.monotonic() + 60 * given.minutes
    chosen = [
        name for name in EXECUTORS if not given.executor or name.partition(" ")[0] in given.executor
    ]
    missing = {name: executor_of(name).missing for name in chosen}
    names = [name for name in chosen if not missing[name]]
    found = run_executors(names, given.folder, given.cases, until=until, first=given.first)
    rows = [(name, found.get(name, []), missing[name] or "no time") for name in chosen]
    for name, results, _ in rows:
        for each in results:
            for text in each.wrong[:1]:
                print(f"{name}, batch {each.batch}: {text}", file=sys.stderr)
    print(table(rows))
    return int(any(each.wrong for _, found, _ in rows for each in found))


if __name__ == "__main__":
    sys.exit(main())
