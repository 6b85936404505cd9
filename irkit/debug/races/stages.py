"""Whether iterations of loops without an order, and threads between barriers, may meet, after each
step that changed a function."""

from collections.abc import Iterable, Iterator

import msgspec
from msgspec.structs import replace

from irkit.core import walk
from irkit.debug.bounds.stages import stages_of
from irkit.ir import Evaluate, PrimFunc
from irkit.ir.threads import is_barrier
from irkit.proof import LoopRaces, check_races
from irkit.transform import Step


class StageRaces(msgspec.Struct, frozen=True):
    """What is known about each loop without an order, and each nest of threads, at one stage.

    ``barriers`` is the number of barriers; threads are ``in_lockstep`` at stages before a step that
    puts more of them in.
    """

    stage: str
    function: str
    loops: tuple[LoopRaces, ...]
    barriers: int
    in_lockstep: bool = False

    @property
    def others(self) -> tuple[LoopRaces, ...]:
        """The loops that are not shown to be independent."""
        return tuple(each for each in self.loops if each.status != "independent")

    @property
    def is_wrong(self) -> bool:
        """Return True if two iterations or threads meet, and nothing makes that right."""
        return any(each.status == "carried" and not self._excuse(each) for each in self.loops)

    def text_of(self, loop: LoopRaces) -> str:
        """Return a line about one of the loops."""
        excuse = self._excuse(loop) if loop.status == "carried" else ""
        return f"{self.function!r}: {loop}{excuse}"

    def _excuse(self, loop: LoopRaces) -> str:
        if loop.kind == "vectorized":
            return " (lanes become a vector only if they never meet)"
        if loop.kind == "threads" and self.in_lockstep:
            return " (a later pass puts barriers in)"
        return ""


def races_of_steps(steps: Iterable[Step]) -> Iterator[StageRaces]:
    """Yield what is known about each function as it was given, and after each step that changed it.

    The stages of a function come together, when its last one is there. Raises: IRKitError if z3 is
    not installed; PassFailed as the steps do.
    """
    waiting: list[StageRaces] = []
    for stage, func in stages_of(steps):
        if waiting and waiting[-1].function != func.name:
            yield from _with_lockstep(waiting)
            waiting.clear()
        waiting.append(StageRaces(stage, func.name, check_races(func), _barriers(func)))
    yield from _with_lockstep(waiting)


def _with_lockstep(stages: list[StageRaces]) -> Iterator[StageRaces]:
    for at, stage in enumerate(stages):
        later = any(other.barriers > stage.barriers for other in stages[at + 1 :])
        yield replace(stage, in_lockstep=later)


def _barriers(func: PrimFunc) -> int:
    return sum([is_barrier(stmt) for stmt in walk(func.body, Evaluate)])
