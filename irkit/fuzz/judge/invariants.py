"""Invariants that hold whatever is computed: text reads back, lowering is deterministic, passes
keep their contracts, a pass that does nothing changes nothing.

Every second case checks one, by its number, so that all are checked and cases stay quick. Another
process with another hash seed draws and lowers one case in fifty again.
"""

import os
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from irkit.codegen import ENTER, compile_object, emit
from irkit.core import IRKitError, ScheduleError, same
from irkit.debug import contracts, equal_structure, schedule_steps
from irkit.fuzz.judge.calls import calls_are_checked
from irkit.fuzz.judge.checked_bounds import bounds_are_checked
from irkit.fuzz.judge.cut_models import cuts_are_located
from irkit.fuzz.judge.files.read_text import round_trip
from irkit.fuzz.judge.independent_loops import independent_loops_never_meet
from irkit.fuzz.judge.loops import LoopCase, lesser_target, target_of
from irkit.fuzz.judge.models import ModelCase
from irkit.fuzz.judge.outcome import WrongSample
from irkit.fuzz.judge.packages import inputs_are_checked, package_reads_back
from irkit.ir import PrimFunc
from irkit.runtime import object_for, set_num_threads
from irkit.schedule import Schedule, ScheduleTrace
from irkit.transform import IR, define_pass

_THREADS = 3


@define_pass()
def change_nothing(func: PrimFunc) -> PrimFunc:
    """Return the argument."""
    return func


def prints_and_parses(case: LoopCase | ModelCase, number: int) -> None:
    """Text of each function, as drawn and as lowered, reads back as the same."""
    for func in case.functions:
        wrong = round_trip(func)
        if wrong:
            raise WrongSample("broken", wrong)


def passes_keep_contracts(case: LoopCase | ModelCase, number: int) -> None:
    """A pass verifies, is truthful about what it changed, deterministic, idempotent if it says so,
    switchable, and keeps spans and its input."""
    changed = [step for step in case.steps if step.changed] or case.steps
    chosen = [changed[number % len(changed)]] if changed else []
    if case.about:
        chosen = [step for step in changed if step.name == case.about]
    for step in chosen:
        p = next(p for _, p in case.pipeline.placed if str(p) == step.pass_text)
        broken = contracts(p, [step.before], hash_seeds=(), fires=0, samples=1)
        if broken:
            raise WrongSample("broken", str(broken[0]), p.name)


def lowers_alike(case: LoopCase | ModelCase, number: int) -> None:
    """Lowering again gives the same, and so does lowering the printed text."""
    for what, given in (("again", case.scheduled), ("from text", case.read_again())):
        whole: IR = given
        steps = list(case.pipeline.steps(given, verify=False))
        for step in steps:
            whole = step.applied_to(whole)
        if not equal_structure(whole, case.made):
            pairs = zip(case.steps, steps, strict=False)
            named = (a.name for a, b in pairs if not equal_structure(a.after, b.after))
            kind = "function" if isinstance(case, LoopCase) else "module"
            message = f"lowered {what}, it is a different {kind}"
            raise WrongSample("broken", message, next(named, ""))


def does_nothing_anywhere(case: LoopCase, number: int) -> None:
    """A pass that changes nothing, in each phase, changes nothing."""
    pipeline = case.sample.pipeline
    pipeline = pipeline.with_passes((each.number, change_nothing) for each in pipeline.phases)
    func = case.scheduled
    for step in pipeline.steps(func, verify=False):
        assert isinstance(step.after, PrimFunc)
        func = step.after
        if step.changed and step.name == change_nothing.name:
            raise WrongSample("broken", "a pass that returns its input counts as a change")
    if not same(func, case.made):
        raise WrongSample(
            "broken", "the result differs with a pass that does nothing in each phase"
        )


def cached_is_fresh(case: LoopCase, number: int) -> None:
    """An object file from the cache equals a new one, for another target too."""
    target = target_of(0)
    text = emit([case.lowered], target)
    with _cache_folder():
        object_for(text, target_of(1))
        found = [object_for(text, target) for _ in range(2)]
        _damage_cache(number)
        found.append(object_for(text, target))
    if any(image != compile_object(text, target) for image in found):
        raise WrongSample("broken", "the object file from the cache differs from a new one")


def _damage_cache(number: int) -> None:
    """Change a byte of each object file in the cache, or cut it."""
    for path in Path(os.environ["IRKIT_CACHE_DIR"]).iterdir():
        whole = path.read_bytes()
        at = number * 7919 % len(whole)
        rest = b"" if number % 3 == 2 else bytes([whole[at] ^ 1]) + whole[at + 1 :]
        path.write_bytes(whole[:at] + rest)


def threads_agree(case: LoopCase, number: int) -> None:
    """On several threads the numbers are the same."""
    text = emit([case.lowered], target_of(0))
    if ENTER not in text:
        return
    set_num_threads(_THREADS)
    try:
        case.run_native(text, target_of(0))
    finally:
        set_num_threads(1)


def runs_otherwise(case: LoopCase, number: int) -> None:
    """A program lowered half, or not at all, computes the same numbers on a lesser processor."""
    number, later = divmod(number, 2)
    at = number % len(case.steps) if later and case.steps else 0
    func = case.steps[at].before if case.steps and not case.rounds else case.lowered
    assert isinstance(func, PrimFunc)
    target = lesser_target()
    case.run_native(emit([func], target), target, func)


def replays(case: LoopCase, number: int) -> None:
    """A schedule read back from JSON makes the same function."""
    schedule = case.sample.schedule
    if not schedule.steps:
        return
    func = case.func
    for step in schedule_steps(func, ScheduleTrace.from_json(schedule.as_json())):
        assert isinstance(step.after, PrimFunc)
        func = step.after
    if not same(func, case.scheduled):
        raise WrongSample("broken", "the schedule read back from JSON makes a different function")
    _replays_checked(case)


def _replays_checked(case: LoopCase) -> None:
    """No step is refused where each is compared with what came before."""
    try:
        checked = Schedule(case.func, check="each")
    except IRKitError:
        return  # It is too large to be interpreted.
    try:
        case.sample.schedule.apply(checked)
    except ScheduleError as error:
        raise WrongSample("failed", f"checked after each step: {error}") from None
    if not same(checked.func, case.scheduled):
        said = "the schedule that is checked after each step makes a different function"
        raise WrongSample("broken", said)


def checks_arguments(case: LoopCase | ModelCase, number: int) -> None:
    """Native code refuses wrong arguments, and with right ones computes the same."""
    if isinstance(case, LoopCase):
        calls_are_checked(case, number)
    else:
        inputs_are_checked(case, number)


def packs(case: LoopCase | ModelCase, number: int) -> None:
    """A model reads back from its package, and is refused where its file is cut; a function has
    neither."""
    if isinstance(case, ModelCase):
        package_reads_back(case, number)
        cuts_are_located(case, number)


FOR_MODELS: dict[str, Callable[[LoopCase | ModelCase, int], None]] = {
    "print and parse": prints_and_parses,
    "passes keep contracts": passes_keep_contracts,
    "lowers alike": lowers_alike,
    "checks arguments": checks_arguments,
    "package reads back": packs,
}
"""Those of ``INVARIANTS`` that hold for models too."""
INVARIANTS: dict[str, Callable[[LoopCase, int], None]] = {
    **FOR_MODELS,
    "does nothing anywhere": does_nothing_anywhere,
    "cached is fresh": cached_is_fresh,
    "threads agree": threads_agree,
    "schedule replays": replays,
    "bounds are checked": bounds_are_checked,
    "runs otherwise": runs_otherwise,
    "independent loops": independent_loops_never_meet,
}


UNDER_TEST = "passes keep contracts"
"""The invariant that is checked in every case with passes under test."""


@contextmanager
def _cache_folder() -> Generator[None]:
    old = {name: os.environ.get(name) for name in ("IRKIT_CACHE", "IRKIT_CACHE_DIR")}
    with tempfile.TemporaryDirectory(prefix="irkit-cache-") as folder:
        os.environ |= {"IRKIT_CACHE": "1", "IRKIT_CACHE_DIR": folder}
        try:
            yield
        finally:
            for name, value in old.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
