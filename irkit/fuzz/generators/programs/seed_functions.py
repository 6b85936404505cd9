"""Functions of the seed corpus as samples, with arguments they can be called with."""

from functools import cache

import msgspec

from irkit.core import IRKitError, any_node
from irkit.debug import InputSet
from irkit.fuzz.generators.arguments import draw_arguments
from irkit.fuzz.generators.functions import WHOLE
from irkit.fuzz.generators.seed_corpus.schedules import SCHEDULES
from irkit.fuzz.generators.seed_corpus.texts import EDGE_CASES, KERNELS, THREADS
from irkit.fuzz.picks import Picks, picks_of
from irkit.ir import Call, Const, PrimFunc, StepLimit, interpret, parse

_MOST_STEPS = 300_000
_RANGES = ((-4, 9), (0, 4), (5, 9))
_SEEDS = range(6)
_PARTS = 4


class SeedFunction(msgspec.Struct, frozen=True):
    """A function of the seed corpus, and the range of integers it can be called with.

    Some of these can lead it out of bounds where it reads at indices from its arguments: then
    ``seed`` draws some that do not.
    """

    func: PrimFunc
    integers: tuple[int, int]
    seed: int | None

    def arguments(self, picks: Picks) -> InputSet:
        """Draw arguments that the function can be called with."""
        found = self._drawn(picks)
        sure = self.seed is None or _runs(self.func, found)
        return found if sure else self._drawn(picks_of(self.seed or 0))

    def _drawn(self, picks: Picks) -> InputSet:
        return draw_arguments(self.func, picks, empty=False, integers=self.integers)


@cache
def seed_functions() -> tuple[SeedFunction, ...]:
    """List the kernels and edge cases whose results do not depend on how functions round."""
    texts = KERNELS | EDGE_CASES | THREADS
    found = (_usable(parse(text.strip() + "\n")) for text in texts.values())
    return tuple(each for each in found if each is not None)


@cache
def function_of_schedule(name: str) -> SeedFunction | None:
    """Return the function of a schedule of the seed corpus, if its results are exact."""
    return _usable(parse(SCHEDULES[name][0].strip() + "\n"))


def _usable(func: PrimFunc) -> SeedFunction | None:
    """Find arguments to call a function with, None for one that takes long. A function that fails
    with any arguments is kept: the interpreter is wrong."""
    if any_node(func, Call, _rounds) or any_node(func, Const, _is_fine):
        return None
    try:
        for integers in _RANGES:
            tries = (
                draw_arguments(func, picks_of(n), empty=False, integers=integers) for n in _SEEDS
            )
            good = [n for n, inputs in zip(_SEEDS, tries, strict=True) if _runs(func, inputs)]
            if good:
                return SeedFunction(func, integers, None if len(good) == len(_SEEDS) else good[0])
    except StepLimit:
        return None
    return SeedFunction(func, _RANGES[0], None)


def _runs(func: PrimFunc, inputs: InputSet) -> bool:
    try:
        interpret(func, *inputs.copied(), max_steps=_MOST_STEPS)
    except StepLimit:
        raise
    except IRKitError:
        return False
    return True


def _rounds(node: Call) -> bool:
    return node.dtype.is_float and node.name not in WHOLE


def _is_fine(node: Const) -> bool:
    """Return True if sums and products of a number may have to be rounded."""
    return isinstance(node.value, float) and not (node.value * _PARTS).is_integer()
