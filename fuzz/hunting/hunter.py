"""Hunt for each planted bug or mutant in a child process, and say how it went."""

from collections.abc import Iterator, Sequence
from statistics import median
from typing import TypeAlias

import msgspec
from rich.table import Table

from irkit.fuzz.bugs import Planted
from irkit.fuzz.mutants import Mutant
from irkit.fuzz.nursery import Nursery, Order, source_of
from irkit.fuzz.quarry import SMALL, Caught, Hunt
from irkit.fuzz.score import shared
from irkit.fuzz.users import users

Game: TypeAlias = "Planted | Mutant"


class Result(msgspec.Struct, frozen=True):
    """What a hunt for a change came to."""

    game: Game
    caught: Caught

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
    games: Sequence[Game], hunt: Hunt, *, jobs: int = 1, seconds: float = 1800.0
) -> Iterator[Result]:
    """Hunt for changes, ``jobs`` at a time; results come in their order. Units: ``seconds`` that
    one of them may take."""

    def go(nursery: Nursery, game: Game) -> Result:
        return Result(game, nursery.hunt(_order(game, hunt, seconds)))

    return shared(games, go, [Nursery(0, -1) for _ in range(jobs)])


def _order(game: Game, hunt: Hunt, seconds: float) -> Order:
    if isinstance(game, Mutant):
        return Order(game.module, game.source, seconds=seconds, hunt=hunt)
    source = game.planted_in(source_of(game.module))
    return Order(game.module, source, seconds=seconds, hunt=hunt)


def hunting_table(results: Sequence[Result]) -> Table:
    """Show each change: after how many cases it was found, how, and how small it became."""
    table = Table("change", "module", "cases", "s", "found by", "kind", "named", "right", "size")
    for result in results:
        caught = result.caught
        mark = "" if caught.is_small else " !"
        size = f"{caught.stages} {caught.steps} {caught.passes}{mark}"
        table.add_row(
            result.name,
            result.game.module.removeprefix("irkit."),
            str(caught.number + 1) if caught.found else "-",
            f"{caught.seconds:.1f}",
            f"{caught.status} {caught.tier}" if caught.found else "NOTHING",
            caught.kind,
            caught.named,
            ("yes" if result.right else "NO") if result.is_planted else "",
            size if caught.found else "",
        )
    return table


def hunting_score(results: Sequence[Result]) -> str:
    """Say how many were found, how soon, and how many became small with the right pass named."""
    found = [result for result in results if result.caught.found]
    if not found:
        return f"0 of {len(results)} found"
    cases = sorted(result.caught.number + 1 for result in found)
    soon = sum(count <= 10_000 for count in cases)
    small = sum(result.caught.is_small for result in found)
    right = f"{sum(result.right for result in found)} with the right pass named; "
    known = right if any(result.is_planted for result in found) else ""
    return (
        f"{len(found)} of {len(results)} found, {soon} within 10,000 cases; median "
        f"{median(cases):.0f} cases and {median(r.caught.seconds for r in found):.1f} s; "
        f"{known}{small} made as small as {SMALL[0]} stages, "
        f"{SMALL[1]} schedule steps and {SMALL[2]} passes"
    )
