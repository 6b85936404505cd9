"""Runs of `check_pass` at its defaults on wrong passes, and on their right twins."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from irkit.fuzz import PassRefuted, check_pass
from irkit.fuzz.check_pass.tally import CheckTally
from irkit.transform import AnyPass
from tests.fuzz.check_pass import fresh_bugs, published_bugs

SETS: dict[str, tuple[Sequence[AnyPass], Sequence[AnyPass]]] = {
    "published": (
        [p for p, _ in published_bugs.WRONG],
        [p for p, _ in published_bugs.RIGHT],
    ),
    "fresh": (fresh_bugs.WRONG, fresh_bugs.RIGHT),
}
"""Wrong passes and right twins, by set."""


class Row(NamedTuple):
    """What several seeds say about one pass. ``idle`` counts runs that tested nothing; ``fired``
    are programs that the pass changed.

    Units: ``seconds`` of processor time, all runs.
    """

    name: str
    is_right: bool
    runs: int
    alarms: int
    idle: int
    fired: int
    seconds: float
    said: str

    @property
    def text(self) -> str:
        """Return the row of a table."""
        side = "right" if self.is_right else "wrong"
        idle = f", idle {self.idle}" if self.idle else ""
        return (
            f"{side} {self.name:<28} {self.alarms:>2} of {self.runs} alarms, "
            f"{self.seconds / self.runs:5.1f} s, {self.fired / self.runs:5.1f} changed{idle}"
        )


def tried(p: AnyPass, folder: Path, **how: object) -> tuple[str, CheckTally]:
    """Return what a check says, empty if all is well, and its counts."""

    def test_it(case: object) -> None: ...

    settings = {"phase": 0, "hash_seeds": (), **how}
    test = check_pass(p, **settings)(test_it)  # pyright: ignore[reportArgumentType] -- as given
    check = getattr(test, "irkit_check")
    check.folder, check.profile = folder, "dev"
    try:
        test()
    except PassRefuted as error:
        return str(error), check.tally
    return "", check.tally


def row_of(p: AnyPass, *, is_right: bool, seeds: Sequence[int], folder: Path) -> Row:
    """Try a pass by several seeds."""
    alarms = idle = fired = 0
    first, started = "", time.process_time()
    for seed in seeds:
        said, tally = tried(p, folder / p.name / str(is_right) / str(seed), seed=seed)
        fired += tally.fired
        if "tested nothing" in said:
            idle += 1
        elif said:
            alarms += 1
            first = first or said
    spent = time.process_time() - started
    return Row(str(p), is_right, len(seeds), alarms, idle, fired, spent, first)


def run(
    which: str,
    side: Literal["wrong", "right", "both"],
    name: str,
    seeds: Sequence[int],
    folder: Path,
) -> Iterator[Row]:
    """Yield a row for each pass of a set."""
    wrong, right = SETS[which]
    for is_right, passes in ((False, wrong), (True, right)):
        if side in ("both", "right" if is_right else "wrong"):
            for p in passes:
                if name in p.name:
                    yield row_of(p, is_right=is_right, seeds=seeds, folder=folder)
