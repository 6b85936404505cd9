"""The values that a function may compute: the law of ``docs/legal-changes.md`` for passes.

A function may compute what the interpreter computes. Where a ``min`` or ``max`` of floats has zeros
of different sign, it may give either one. Nothing else differs: contraction, the units of functions
and ``reassoc`` belong to code generation. So *after* a step is right if the interpreter's value of
it is one that the function *before* may have. What only *after* may have is no value of *before*.
Between two targets either side may have either zero.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import combinations, count, islice, product

import numpy as np

from irkit.core import postorder, rewrite
from irkit.debug.check.difference import identical, is_float, same_bits
from irkit.debug.execution.decisions import decisions, extrema
from irkit.debug.execution.executors import OutcomeCache
from irkit.debug.execution.inputs import Array
from irkit.ir import Expr, Max, Min, PrimFunc, StepLimit, const, eq, select, seq

MOST_CHOICES = 64
"""Functions with other zeros that are run on one set of inputs."""

_Zero = Callable[[Expr, Expr], Expr]
"""The value of an extremum of two zeros."""
_ZEROS: tuple[_Zero, ...] = (lambda a, _: a, lambda a, b: a + b, lambda a, b: -(-a + -b))
"""The first operand, the positive zero, the negative zero; the interpreter takes the second
operand. Of zeros of the same sign, each of these is that zero."""


class ZeroChoices:
    """A function with other zeros from its ``min`` and ``max``: all of them alike first, and then
    few of them before many, up to a limit; each is made once.

    With ``contract=False`` there is no choice.
    """

    def __init__(self, func: PrimFunc) -> None:
        self.func = func
        self.places = 0 if _decides_zeros(func) else _count_of_extrema(func)
        self.alike = list(_alike(func, self.places))
        self._mixed = _mixed(func, self.places)
        self._known: list[PrimFunc] = []

    def __iter__(self) -> Iterator[PrimFunc]:
        yield from self.alike
        yield from self._known
        for choice in self._mixed:
            self._known.append(choice)
            yield choice


class PermittedValues:
    """What a function before a step may compute, and whether the one after it may compute more."""

    def __init__(self, before: PrimFunc, after: PrimFunc, runs: OutcomeCache) -> None:
        self.before, self.after, self.runs = before, after, runs
        self._choices: ZeroChoices | None = None
        self._new: ZeroChoices | None = None

    def of(self, number: int, found: Sequence[Array]) -> list[Array]:
        """Return what the function before may compute on the inputs of a number: of each element,
        the value that was found if it is one of those, else the interpreter's."""
        if self._choices is None:
            self._choices = ZeroChoices(self.before)
        result = [array.copy() for array in self.runs.outcome(self.before, number).arrays]
        for choice in self._choices:
            if all(map(identical, result, found)):
                break
            made = _arrays_of(choice, self.runs, number)
            for array, other, own in zip(result, made, found, strict=bool(made)):
                same = _same(other, own)
                array[same] = own[same]
        return result

    def exceeded(self, number: int) -> str:
        """Return how the function after may give a zero that the one before may not, or an empty
        string: this permission may only be taken.

        Only a ``min`` or ``max`` counts that looks at something else than those before, and only if
        a branch went, or there was none.
        """
        if self._new is None:
            self._new = ZeroChoices(self.after if self._brings_choices() else _NONE)
        for choice in self._new.alike:
            found = _arrays_of(choice, self.runs, number)
            usual = self.runs.outcome(self.after, number).arrays
            if not found or all(map(identical, usual, found)):
                continue
            if not all(map(identical, self.of(number, found), found)):
                return _TAKEN
        return ""

    def _brings_choices(self) -> bool:
        known, new = extrema(self.before), extrema(self.after)
        if not new - known:
            return False
        gone = set(decisions(self.before)) - set(decisions(self.after)) - known
        return bool(gone) or not known


_NONE = PrimFunc("nothing", (), seq())
_TAKEN = (
    "min or max may give either zero, which decides a result here; before this step nothing had "
    "the choice, and this permission may only be taken"
)


def permitted_to_either(
    func: PrimFunc,
    run: Callable[[PrimFunc], Sequence[Array] | None],
    one: Sequence[Array],
    two: Sequence[Array],
    agree: Callable[[int, Array, Array], Array],
) -> list[Array]:
    """Return, for each array of two targets, the elements in which both have a value of the
    function, each with one choice of zeros or another.

    ``run`` interprets a function, and returns None if it does not run. ``agree`` returns where two
    arrays of a number hold the same value, up to rounding.
    """
    sides = one, two
    known = [[np.zeros(array.shape, bool) for array in side] for side in sides]
    for choice in (func, *ZeroChoices(func)):
        made = run(choice)
        if made is None:
            continue
        for permitted, side in zip(known, sides, strict=True):
            for at, (value, array) in enumerate(zip(made, side, strict=True)):
                permitted[at] |= agree(at, value, array)
        if all(array.all() for permitted in known for array in permitted):
            break
    return [a & b for a, b in zip(*known, strict=True)]


def _mixed(func: PrimFunc, places: int) -> Iterator[PrimFunc]:
    mixed = (
        dict(zip(chosen, zeros, strict=True))
        for size in range(1, places + 1)
        for chosen in combinations(range(places), size)
        for zeros in product(_ZEROS, repeat=size)
    )
    for choice in islice(mixed, MOST_CHOICES if places > 1 else 0):
        yield _with_zeros(func, choice)


def _decides_zeros(func: PrimFunc) -> bool:
    return dict(func.attrs).get("contract") is False


def _alike(func: PrimFunc, places: int) -> Iterator[PrimFunc]:
    for zero in _ZEROS if places else ():
        yield _with_zeros(func, dict.fromkeys(range(places), zero))


def _count_of_extrema(func: PrimFunc) -> int:
    return sum(_is_extremum(node) for node in postorder(func))


def _is_extremum(node: object) -> bool:
    return isinstance(node, (Min, Max)) and node.dtype.is_float


def _with_zeros(func: PrimFunc, zeros: dict[int, _Zero]) -> PrimFunc:
    """Return a function whose extrema, numbered in postorder, give zeros as chosen."""
    numbers = count()

    def choose(node: Min | Max) -> Expr | None:
        zero = zeros.get(next(numbers)) if _is_extremum(node) else None
        if zero is None:
            return None
        are_zeros = eq(node.a, const(0.0, node.dtype)) & eq(node.b, const(0.0, node.dtype))
        return select(are_zeros, zero(node.a, node.b), node)

    return rewrite(func, choose, on=(Min, Max))


def _arrays_of(func: PrimFunc, runs: OutcomeCache, number: int) -> Sequence[Array]:
    """Return the arrays after a call, or nothing if it fails."""
    with suppress(StepLimit):
        return runs.executor.run(func, runs.inputs[number].copied()).arrays
    return ()


def _same(a: Array, b: Array) -> Array:
    return same_bits(a, b) if is_float(a) else np.asarray(a == b)
