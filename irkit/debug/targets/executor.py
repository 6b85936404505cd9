"""What runs the code that irkit makes for a target: many calls at once."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

import msgspec

from irkit.core import IRKitError, Target
from irkit.debug.execution.inputs import Array
from irkit.ir import PrimFunc

End = Literal["ran", "stopped", "failed", "refused"]
Legalise = Callable[[PrimFunc, Target], PrimFunc]


class TargetCall(NamedTuple):
    """A function with the arguments of a call, which it does not change."""

    func: PrimFunc
    args: Sequence[Any]


class TargetOutcome(msgspec.Struct, frozen=True):
    """How a call ended, and the arrays after it in the order of the parameters.

    ``stopped``: by an assertion, or without memory. ``failed``: its code cannot be built, crashes,
    writes beside its arrays, or takes too long. ``refused``: the target cannot express it.
    """

    end: End = "ran"
    arrays: tuple[Array, ...] = ()
    message: str = ""


class Refused(IRKitError):
    """Raised when the code generator of a target refuses a function."""


class Stopped(IRKitError):
    """Raised when a function ends with an error of its own."""


@contextmanager
def refusing() -> Generator[None]:
    """Turn errors of code generation into ``Refused``."""
    try:
        yield
    except IRKitError as error:
        raise Refused(error.message, hint=error.hint) from error


def unchanged(func: PrimFunc, target: Target) -> PrimFunc:
    """Return the function: nothing is legalised before code generation."""
    return func


class TargetExecutor(ABC):
    """What runs the functions of a target.

    ``name`` is that of :func:`target_executor`. ``legalise`` runs the legalisation of the target on
    a function, which code generation would else do itself.
    """

    def __init__(self, name: str, target: Target, legalise: Legalise = unchanged) -> None:
        self.name, self.target, self.legalise = name, target, legalise

    @property
    @abstractmethod
    def how(self) -> str:
        """What runs the code, for people."""

    @property
    def missing(self) -> str:
        """What is not installed and where it comes from; empty if nothing is missing."""
        return ""

    @abstractmethod
    def run_all(self, calls: Sequence[TargetCall]) -> list[TargetOutcome]:
        """Run calls of functions with different names.

        Raises: IRKitError if one of them does not let the others run.
        """

    def run(self, calls: Sequence[TargetCall]) -> list[TargetOutcome]:
        """Run calls, all of which are built together where that is possible."""
        outcomes: list[TargetOutcome | None] = [None] * len(calls)
        made: dict[int, PrimFunc] = {}
        ready = list[tuple[int, TargetCall]]()
        for at, (func, args) in enumerate(calls):
            try:
                if id(func) not in made:
                    with refusing():
                        made[id(func)] = self.legalise(func, self.target).replace(
                            name=f"f{len(made)}"
                        )
                ready.append((at, TargetCall(made[id(func)], args)))
            except Refused as error:
                outcomes[at] = TargetOutcome("refused", message=str(error))
        for (at, _), outcome in zip(ready, self._parts([c for _, c in ready]), strict=True):
            outcomes[at] = outcome
        return [each for each in outcomes if each is not None]

    def _parts(self, calls: Sequence[TargetCall]) -> list[TargetOutcome]:
        """Run calls together, or else each half of them."""
        if not calls:
            return []
        try:
            return self.run_all(calls)
        except Exception as error:  # A bug of a code generator is what a comparison looks for.
            if len(calls) == 1:
                end: End = "refused" if isinstance(error, Refused) else "failed"
                text = str(error) if isinstance(error, IRKitError) else repr(error)
                return [TargetOutcome(end, message=text)]
        middle = len(calls) // 2
        return self._parts(calls[:middle]) + self._parts(calls[middle:])
