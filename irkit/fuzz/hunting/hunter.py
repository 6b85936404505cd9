"""Hunt for each planted bug or mutant in a child process, and say how it went."""

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median
from threading import Lock
from time import monotonic
from typing import TypeAlias

import msgspec
from msgspec.structs import replace
from rich.table import Table

from irkit.fuzz.bugs import Planted
from irkit.fuzz.mutants import Mutant, as_it_is, probed
from irkit.fuzz.nursery import Nursery, Order, source_of
from irkit.fuzz.quarry import SMALL, Caught, Hunt, Survey, Weighed
from irkit.fuzz.score import shared
from irkit.fuzz.users import users

Game: TypeAlias = "Planted | Mutant"
_SMALLER = 60.0
"""Seconds to make small what is found."""
_GRACE = 10.0
_WEIGHING = 30.0
_THOUGHT = {
    "means the same": "lower programs differently and mean the same",
    "changes nothing": "give other values that change nothing",
    "same value": "never give another value",
    "never reached": "are never reached",
}


class Result(msgspec.Struct, frozen=True):
    """What a hunt for a change came to; what was not found is ``weighed``, if it was made at
    random."""

    game: Game
    caught: Caught
    weighed: Weighed | None = None

    @property
    def name(self) -> str:
        """Name the change."""
        game = self.game
        return game.name if isinstance(game, Planted) else f"line {game.line}: {game.what}"

    @property
    def is_planted(self) -> bool:
        """Say whether it is of the catalogue, and not made at random."""
        return isinstance(self.game, Planted)

    @property
    def right(self) -> bool:
        """Say whether it was found with a pass named that uses what was changed, or one that the
        catalogue says besides.

        Where no pass is named, that is the tier that saw it first.
        """
        game, named = self.game, self.caught.named or self.caught.tier
        if isinstance(game, Planted):
            if named.removeprefix("sch.").replace("_", "-") in game.guilty:
                return self.caught.found
            line = game.line_in(source_of(game.module))
        else:
            line = game.line
        return self.caught.found and named in users(game.module, line)


def hunts(
    games: Sequence[Game],
    hunt: Hunt,
    *,
    jobs: int = 1,
    seconds: float = 1800.0,
    end: float = float("inf"),
) -> Iterator[Result]:
    """Hunt for changes, ``jobs`` at a time; results come in their order.

    Units: ``seconds`` in which cases are drawn for one of them; ``end`` of all, on the clock of
    time.monotonic: what has not begun by then has no result.
    """
    unchanged = _Unchanged()

    def go(nursery: Nursery, game: Game) -> Result | None:
        left = end - monotonic()
        if left <= 0:
            return None
        own = replace(hunt, within=min(seconds, left), whole=min(seconds + _SMALLER, left))
        order = Order(game.module, _source(game), seconds=own.whole + _GRACE, hunt=own)
        caught = nursery.hunt(order)
        left = min(_WEIGHING, end - monotonic())
        if caught.found or isinstance(game, Planted) or left < _WEIGHING / 2:
            return Result(game, caught)
        return Result(game, caught, unchanged.weighed(nursery, game, hunt, left))

    found = shared(games, go, [Nursery(0, -1) for _ in range(jobs)])
    return (result for result in found if result is not None)


class _Unchanged:
    """What the same cases are lowered to by irkit as it is, to compare with."""

    def __init__(self) -> None:
        self._known: tuple[str, ...] = ()
        self._lock = Lock()

    def weighed(self, nursery: Nursery, mutant: Mutant, hunt: Hunt, seconds: float) -> Weighed:
        """Compare what is lowered; where all is the same, ask the place itself."""
        survey = Survey(hunt.seed, hunt.count, hunt.kinds, seconds / 2)
        order = Order(mutant.module, mutant.source, seconds=seconds + _GRACE, survey=survey)
        with self._lock:
            if not self._known:
                same = replace(order, source=as_it_is(mutant.module))
                self._known = nursery.survey(same).digests
        found = nursery.survey(order).digests
        both = list(zip(self._known, found, strict=False))
        differ = sum(a != b for a, b in both)
        source = "" if differ else probed(mutant)
        if not source:
            return Weighed(len(both), differ)
        probe = nursery.survey(replace(order, source=source))
        return Weighed(len(both), differ, probe.reached, probe.other)


def _source(game: Game) -> str:
    return game.source if isinstance(game, Mutant) else game.planted_in(source_of(game.module))


def hunting_table(results: Sequence[Result]) -> Table:
    """Show each change: after how many cases it was found, how, and how small it became; or what is
    to be thought of it."""
    table = Table("change", "module", "cases", "s", "found by", "kind", "named", "right", "size")
    for result in results:
        caught = result.caught
        mark = "" if caught.is_small else " !"
        size = f"{caught.stages} {caught.steps} {caught.passes}{mark}"
        nothing = "NOTHING" if result.weighed is None else str(result.weighed)
        table.add_row(
            result.name,
            result.game.module.removeprefix("irkit."),
            str(caught.number + 1) if caught.found else f"none of {caught.number}",
            f"{caught.seconds:.1f}",
            f"{caught.status} {caught.tier}" if caught.found else nothing,
            caught.kind,
            caught.named,
            ("yes" if result.right else "NO") if caught.found else "",
            size if caught.found else "",
        )
    return table


def hunting_score(results: Sequence[Result]) -> str:
    """Say how many were found, how soon, and how many became small with the right pass named; and
    what is to be thought of the others."""
    found = [result for result in results if result.caught.found]
    text = f"{len(found)} of {len(results)} found"
    if found:
        cases = sorted(result.caught.number + 1 for result in found)
        soon = sum(count <= 10_000 for count in cases)
        text += (
            f", {soon} within 10,000 cases; median {median(cases):.0f} cases and "
            f"{median(r.caught.seconds for r in found):.1f} s; "
            f"{sum(result.right for result in found)} with the right pass named; "
            f"{sum(result.caught.is_small for result in found)} made as small as {SMALL[0]} "
            f"stages, {SMALL[1]} schedule steps and {SMALL[2]} passes"
        )
    thought = Counter(result.weighed.status for result in results if result.weighed is not None)
    if thought:
        counted = ", ".join(f"{count} {_THOUGHT[what]}" for what, count in thought.most_common())
        text += f"; not found and perhaps equivalent: {counted}"
    return text
