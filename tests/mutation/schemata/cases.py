"""Judge one case with the mutant that is on, or with none, and keep what could be observed of it.

This module is imported anew together with the changed modules.
"""

import hashlib
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import msgspec

from irkit.codegen import compile_object, emit, emit_executor
from irkit.core import IRKitError
from irkit.fuzz.campaign.draw import Draw, draw_of
from irkit.fuzz.campaign.worker import set_up_worker, text_of
from irkit.fuzz.generators.sample import Kind, Sample, Unusable
from irkit.fuzz.judge.invariants import INVARIANTS
from irkit.fuzz.judge.judge import describe_exception, judge, primitive_in
from irkit.fuzz.judge.outcome import Outcome
from irkit.fuzz.judge.subsystems.table import prepare_kinds
from tests.mutation.schemata.loading import clear_caches
from tests.mutation.schemata.switches import NONE, SWITCHES

KINDS_DRAWN: tuple[Kind, ...] = (
    *("programs", "schedules", "onnx", "graphs", "pipelines", "schedules"),
    *("programs", "schedules", "onnx", "graphs", "text", "onnx", "onnx"),
    *("calls", "gradients", "torch", "c", "records", "takes", "torch", "attention"),
)
"""The kinds take turns; text, which is hardly lowered, less often than the others, and ONNX, which
has the most operators, more often."""
_INVARIANTS = tuple(INVARIANTS)
_CALLS = "checks arguments"
assert _CALLS in INVARIANTS
_THOROUGH = 10
_OPTIMISED = 4
"""One case in this many is judged after each pass, and at O3 also without a change."""


OnTier = Callable[[str], object]


class Observed(msgspec.Struct, frozen=True):
    """The outcome of a case, and a digest of its sample and of the native code made of it."""

    outcome: Outcome
    digest: str
    texts: frozenset[str] = frozenset()


class _Recorder:
    """Keeps the LLVM IR that is made in a case, and the object files made of it."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.objects: dict[Any, bytes] = {}

    def emitting(self, function: Callable[..., str]) -> Callable[..., str]:
        def recorded(*args: Any, **options: Any) -> str:
            text = function(*args, **options)
            self.texts.append(text)
            return text

        return recorded

    def compiling(self, function: Callable[..., bytes]) -> Callable[..., bytes]:
        def remembered(*args: Any, **options: Any) -> bytes:
            key = args, tuple(options.items())
            if key not in self.objects:
                self.objects[key] = function(*args, **options)
            return self.objects[key]

        return remembered


_RECORDER = _Recorder()


def install_recorder() -> None:
    """Record in every module what it emits, and compile the same text once in each case."""
    prepare_kinds(KINDS_DRAWN)
    clear_caches()  # They are found now, before a fork hides them from garbage collection.
    replaced: dict[Any, Callable[..., Any]] = {
        emit: _RECORDER.emitting(emit),
        emit_executor: _RECORDER.emitting(emit_executor),
        compile_object: _RECORDER.compiling(compile_object),
    }
    for name, module in list(sys.modules.items()):
        if name.startswith(("irkit.fuzz", "irkit.runtime", "irkit.phases", "irkit.debug")):
            for key, value in list(vars(module).items()):
                if callable(value) and getattr(value, "__hash__", None) and value in replaced:
                    setattr(module, key, replaced[value])


def case_of(seed: int, number: int) -> Draw:
    """Return the case that has a number."""
    return draw_of(seed, number, KINDS_DRAWN, (), swarm=True)


def forget_case() -> None:
    """Forget the object files of the last case."""
    _RECORDER.objects.clear()


def draw_case(
    seed: int, number: int, *, on_tier: OnTier = lambda tier: None
) -> Sample | Outcome | None:
    """Draw a case; return None if nothing usable was drawn, and an outcome if drawing failed."""
    set_up_worker()
    clear_caches()
    on_tier("draw")
    try:
        return case_of(seed, number).sample()
    except Unusable:
        return None
    except Exception as error:  # Primitives run while drawing, and a wrong one can raise anything.
        said = str(error) if isinstance(error, IRKitError) else describe_exception(error)
        return Outcome("failed", "draw", primitive_in(error), said)


def observe(
    drawn: Sample | Outcome | None,
    number: int,
    *,
    known: frozenset[str] | None = None,
    on_tier: OnTier = lambda tier: None,
) -> Observed | None:
    """Judge what was drawn as the case of a number.

    LLVM optimises what it makes if the text is none of those ``known``, or in every fourth case.
    """
    if not isinstance(drawn, Sample):
        return None if drawn is None else Observed(drawn, "")
    clear_caches()
    _RECORDER.texts.clear()
    whole = set[str]()

    def optimise(made: str) -> bool:
        whole.add(_digest(made))
        changed = known is not None and not whole <= known
        return changed or not number % _OPTIMISED

    outcome = judge(
        drawn,
        thorough=not number % _THOROUGH,
        invariants=_invariants_of(number),
        number=number,
        on_tier=on_tier,
        optimise=optimise,
    )
    texts = [_digest(made) for made in _RECORDER.texts]
    parts = [text_of(drawn), *texts, *outcome.fired, outcome.fate, outcome.status]
    return Observed(outcome, _digest("\n".join(parts)), frozenset({*texts, *whole}))


def _invariants_of(number: int) -> tuple[str, ...]:
    """Return two of the invariants in turn, and that of calls, which can be wrong in most ways."""
    turn = number // len(KINDS_DRAWN)
    by_turns = (_INVARIANTS[(2 * turn + at) % len(_INVARIANTS)] for at in range(2))
    return tuple(dict.fromkeys((*by_turns, _CALLS)))


def observe_with(
    mutant: int, seed: int, number: int, *, redrawn: bool, on_tier: OnTier = lambda tier: None
) -> Observed | None:
    """Draw a case and judge it at O3 too, with a mutant on; it is on while the case is drawn only
    if that is ``redrawn``."""
    with mutant_on(mutant if redrawn else NONE):
        drawn = draw_case(seed, number, on_tier=on_tier)
    with mutant_on(mutant):
        return observe(drawn, number, known=frozenset(), on_tier=on_tier)


@contextmanager
def mutant_on(mutant: int) -> Generator[None]:
    """Switch a mutant on."""
    SWITCHES.active = mutant
    try:
        yield
    finally:
        SWITCHES.active = NONE


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]
