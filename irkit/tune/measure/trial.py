"""A race of two kernels on the same arrays: what a runner's process does.

Arrays lie between guard bytes and results are poisoned before each run that is checked, so a
candidate that writes elsewhere, or not at all, is found out.
"""

import ctypes
import os
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from irkit.core import IRKitError
from irkit.ir import PrimFunc
from irkit.runtime import link, set_num_threads
from irkit.tune.measure.compiled import CandidateCode
from irkit.tune.measure.inputs import (
    Expected,
    agree,
    draw,
    expected_of,
    largest_whole,
    outputs_of,
    reduction_steps,
    same_bits,
)
from irkit.tune.measure.pair_times import PairTimes, paired

Array = NDArray[Any]
Found = Literal["ok", "wrong", "nan", "out of bounds"]
_GUARD = 256
_ALIGN = 64
_PAGE = 4096
_HEADER = 16
"""Bytes from the start of a page to a large array of NumPy's, which malloc maps."""
_APART = 17 * _ALIGN
"""Bytes between the places in a page of one array and the next, so that few meet in a cache."""
_POISON = 0xFF
"""A float of such bytes is NaN, an integer -1 or the largest."""
_BESIDE = 0xA5
"""Guard bytes are no NaN: what is computed from one must not look like one."""
_KEPT = 6
_FLUSHED = 64 << 20


class TrialSettings(msgspec.Struct, frozen=True):
    """How kernels run: threads, caches flushed before each sample, the seed of the inputs.

    ``paged`` puts all arrays at the same place of a page, as NumPy does with large ones; without
    that they begin at cache lines, at different places. With ``all_inputs`` fractions are checked
    even where whole numbers are. Units: seconds of a race; ``pairs`` and ``fewest`` are its samples
    at most and at least.
    """

    threads: int = 1
    flush: bool = False
    seed: int = 0
    pairs: int = 15
    fewest: int = 3
    seconds: float = 0.1
    stop_early: bool = True
    paged: bool = False
    all_inputs: bool = False


class TrialResult(msgspec.Struct, frozen=True):
    """What a race found out: whether results are right and how that was checked, and the times."""

    found: Found
    checked: str
    message: str = ""
    times: PairTimes | None = None
    load: float = 0.0


class _Placed:
    """An array between guard bytes, which begins ``place`` bytes after the start of a page."""

    def __init__(self, like: Array, place: int) -> None:
        size = like.nbytes
        self._bytes = np.full(size + 2 * _GUARD + _PAGE, _BESIDE, np.uint8)
        self.begin = _GUARD + (place - self._bytes.ctypes.data - _GUARD) % _PAGE
        self.end = self.begin + size
        self.array = self._bytes[self.begin : self.end].view(like.dtype).reshape(like.shape)
        self.array[...] = like

    @property
    def address(self) -> int:
        return self._bytes.ctypes.data + self.begin

    def poison(self) -> None:
        self._bytes.fill(_BESIDE)
        self._bytes[self.begin : self.end].fill(_POISON)

    @property
    def is_guarded(self) -> bool:
        """Return True if the bytes beside the array are unchanged."""
        outside = (self._bytes[: self.begin], self._bytes[self.end :])
        return all(bool((each == _BESIDE).all()) for each in outside)


class Arena:
    """The arrays of one function, what they must become, and the kernels that are loaded."""

    def __init__(self, func: PrimFunc, reference: CandidateCode, settings: TrialSettings) -> None:
        set_num_threads(settings.threads)
        self.func = func
        self._outputs = outputs_of(func)
        self._kernels: OrderedDict[str, tuple[Any, Any]] = OrderedDict()
        self._junk = np.zeros(_FLUSHED if settings.flush else 0, np.uint8)
        whole = largest_whole(func)
        kinds = (("whole", whole > 0), ("fractions", False)) if whole else (("fractions", False),)
        self._sets: list[tuple[str, bool, list[Array], list[Expected]]] = []
        self._placed = [
            _Placed(each, _HEADER if settings.paged else _APART * at)
            for at, each in enumerate(draw(func, "fractions", whole, settings.seed))
        ]
        run = self._kernel(reference)
        for kind, exactly in kinds:
            given = draw(func, "whole" if kind == "whole" else "fractions", whole, settings.seed)
            self._fill(given)
            self._run(run)
            made = [self._placed[at].array.copy() for at in self._outputs]
            wanted = expected_of(func, made, exactly=exactly, steps=reduction_steps(func))
            self._sets.append((kind, exactly, given, wanted))

    def race(
        self, code: CandidateCode, against: CandidateCode, settings: TrialSettings
    ) -> TrialResult:
        """Check a kernel, then time it in turn with another one."""
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
        if settings.paged:  # Where code lies may matter, too.
            self._kernel(against)
        own = self._kernel(code)
        checked: list[str] = []
        for kind, exactly, given, wanted in self._sets if settings.all_inputs else self._sets[:1]:
            self._fill(given)
            self._run(own)
            if not all(each.is_guarded for each in self._placed):
                return TrialResult("out of bounds", kind, "bytes beside an array changed")
            for at, want in enumerate(given):
                if at not in self._outputs and not same_bits(want, self._placed[at].array):
                    name = self.func.params[at].name
                    return TrialResult("wrong", kind, f"it changed its input {name!r}")
            got = [self._placed[at].array for at in self._outputs]
            found = agree(wanted, got)
            if not found.ok:
                return TrialResult("nan" if found.nan else "wrong", kind, found.message)
            checked.append("whole numbers, all bits" if exactly else "fractions, within rounding")
        other = self._kernel(against)
        times = paired(
            self._thunk(own),
            self._thunk(other),
            most=settings.pairs,
            fewest=settings.fewest,
            seconds=settings.seconds,
            before=self._flush if settings.flush else None,
            stop_early=settings.stop_early,
            own_time=settings.threads == 1,
        )
        return TrialResult("ok", "; ".join(checked), "", times, load)

    def _fill(self, given: Sequence[Array]) -> None:
        for at, (placed, values) in enumerate(zip(self._placed, given, strict=True)):
            placed.poison()
            if at not in self._outputs:
                placed.array[...] = values

    def _flush(self) -> None:
        self._junk += 1

    def _kernel(self, code: CandidateCode) -> tuple[Any, Any]:
        """Return the function and the library of code, loaded once."""
        digest = code.digest
        known = self._kernels.pop(digest, None)
        if known is None:
            library = link([code.image], [code.name])
            count = len(self.func.params) + (code.records > 0)
            prototype = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * count)
            function = prototype(library.address(code.name))
            record = (ctypes.c_int64 * max(code.records, 1))()
            args = [ctypes.c_void_p(each.address) for each in self._placed]
            if code.records:
                args.append(ctypes.cast(record, ctypes.c_void_p))
            known = (lambda: function(*args)), (library, record)
        self._kernels[digest] = known
        while len(self._kernels) > _KEPT:
            self._kernels.popitem(last=False)
        return known

    def _thunk(self, kernel: tuple[Any, Any]) -> Callable[[], object]:
        return kernel[0]

    def _run(self, kernel: tuple[Any, Any]) -> None:
        status = kernel[0]()
        if status:
            raise IRKitError(f"the kernel failed with status {status}")


_ARENAS: dict[str, Arena] = {}
"""The arena of this process: a runner has one at a time."""


def prepare(key: str, func: PrimFunc, reference: CandidateCode, settings: TrialSettings) -> str:
    """Make the arena of a key in this process, in place of any other."""
    _ARENAS.clear()
    _ARENAS[key] = Arena(func, reference, settings)
    whole = largest_whole(func)
    return f"whole numbers to {whole}" if whole else "fractions"


def race(
    key: str, code: CandidateCode, against: CandidateCode, settings: TrialSettings
) -> TrialResult:
    """Race two kernels in the arena of a key."""
    return _ARENAS[key].race(code, against, settings)
