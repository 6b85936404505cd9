"""Whether accesses stay inside their buffers, after each step that changed a function."""

from collections.abc import Iterable, Iterator

import msgspec

from irkit.ir import PrimFunc
from irkit.proof import AccessBounds, check_bounds
from irkit.transform import IR, Step, functions_of

GIVEN = "as given"


class StageBounds(msgspec.Struct, frozen=True):
    """What is known about each access of a function at one stage: as given, or after a pass."""

    stage: str
    function: str
    accesses: tuple[AccessBounds, ...]

    @property
    def inside(self) -> int:
        """The number of accesses that are proved to stay in bounds."""
        return sum([each.status == "in bounds" for each in self.accesses])

    @property
    def others(self) -> tuple[AccessBounds, ...]:
        """The accesses that are not proved to stay in bounds."""
        return tuple(each for each in self.accesses if each.status != "in bounds")

    @property
    def is_wrong(self) -> bool:
        """Return True if an access leaves its buffer."""
        return any(each.status == "out of bounds" for each in self.accesses)


def bounds_of_steps(steps: Iterable[Step]) -> Iterator[StageBounds]:
    """Yield what is known about each function as it was given, and after each step that changed it.

    Raises: IRKitError if z3 is not installed; PassFailed as the steps do.
    """
    for stage, func in stages_of(steps):
        yield StageBounds(stage, func.name, check_bounds(func))


def stages_of(steps: Iterable[Step]) -> Iterator[tuple[str, PrimFunc]]:
    """Yield each function as it was given, and after each step that changed it, with the name of
    the stage."""
    seen: dict[int, PrimFunc] = {}
    for step in steps:
        for stage, ir in ((GIVEN, step.before), (f"{step.phase}: {step.pass_text}", step.after)):
            for func in _new_functions(ir, seen):
                yield stage, func


def _new_functions(ir: IR, seen: dict[int, PrimFunc]) -> Iterator[PrimFunc]:
    for func in functions_of(ir):
        if isinstance(func, PrimFunc) and id(func) not in seen:
            seen[id(func)] = func
            yield func
