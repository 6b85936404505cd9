"""The fork server: try changed source in child processes, without starting a new interpreter for
each.

The server is a process that has imported everything and lowered the programs once. For each trial
it forks; the child drops the changed module and its dependents, imports them anew with the changed
source, and tries the programs. No file is written. A child that crashes or does not end does no
harm, and the pass it was in is known.
"""

import builtins
import gc
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from types import ModuleType
from typing import Any

import msgspec
from msgspec.structs import replace

from irkit.core import IRKitError
from irkit.processes import ONE_THREAD, Child, ChildDied, Limits, report, run_in_fork
from tests.mutation.changes.coverage_probe import PROBE, PROBE_NAME
from tests.mutation.trials import check_programs, programs as cases_file
from tests.mutation.trials.check_programs import TrialResult
from tests.mutation.trials.dependents import dependents
from tests.mutation.trials.messages import DigestOrder, Digests, FuzzOrder, FuzzResult

MEMORY = 8 << 30
_QUIET = 30.0
"""Seconds that one case may take while fuzzing."""
_CASES_OF_A_CHILD = 2000
"""A new child goes on after these: what LLVM leaves behind adds up."""
_FUZZ = "tests.mutation.trials.fuzz_until_found:fuzz_until_found"
_DIGEST = "tests.mutation.trials.digests:digest_cases"
_TRY = "tests.mutation.trials.check_programs:try_programs"
"""Functions that a child calls, imported anew with the changed module."""


class TrialOrder(msgspec.Struct, frozen=True):
    """A trial: a module with changed source, the names of the programs to lower, in order, and
    whether to bisect what is found. With ``fuzz``, samples are drawn and judged in place of the
    programs; with ``digest``, drawn and lowered."""

    module: str
    source: str
    cases: tuple[str, ...] = ()
    seconds: float = 60.0
    bisected: bool = False
    fuzz: FuzzOrder | None = None
    digest: DigestOrder | None = None


class ForkServer:
    """A process that tries changed modules, one after the other; it starts when first needed.

    ``number`` and ``count`` select the random programs added to the fixed ones; a count of -1 means
    no programs at all, as fuzzing needs none.
    """

    def __init__(self, number: int = 0, count: int = 0) -> None:
        self._numbers = number, count
        self._child = Child(env=ONE_THREAD)

    def __enter__(self) -> "ForkServer":
        return self

    def __exit__(self, *ignored: object) -> None:
        self.close()

    @property
    def process(self) -> int:
        """The number of the process, started if there is none."""
        return self._child.call(os.getpid)

    def close(self) -> None:
        """End the process, if there is one."""
        self._child.close()

    def try_out(self, order: TrialOrder) -> TrialResult:
        """Try one changed module. Raises: IRKitError if the server itself has ended."""
        return msgspec.json.decode(self._answer_to(order), type=TrialResult)

    def fuzz(self, order: TrialOrder) -> FuzzResult:
        """Draw samples for one changed module; one that kills the process is found by a second
        child.

        Raises: IRKitError if the server itself has ended.
        """
        assert order.fuzz is not None
        rest, spent = order.fuzz, 0.0
        end = rest.first + rest.count
        while spent < min(rest.within, order.seconds):
            part = replace(
                rest,
                count=min(_CASES_OF_A_CHILD, end - rest.first),
                within=rest.within - spent,
                whole=rest.whole - spent,
            )
            result = self._fuzz(replace(order, fuzz=part, seconds=order.seconds - spent))
            spent += result.seconds
            if result.found or result.cut or result.number >= end:
                return replace(result, seconds=spent)
            rest = replace(rest, first=result.number)
        return FuzzResult(number=rest.first, seconds=spent, cut=True)

    def _fuzz(self, order: TrialOrder) -> FuzzResult:
        """Fuzz in one child, and in another one for what kills it."""
        assert order.fuzz is not None
        result = msgspec.json.decode(self._answer_to(order), type=FuzzResult)
        if result.tier or not result.found:
            return result
        again = replace(order.fuzz, first=result.number, count=1, apart=True)
        left = max(order.seconds - result.seconds, _QUIET)
        apart = msgspec.json.decode(
            self._answer_to(replace(order, fuzz=again, seconds=left)), type=FuzzResult
        )
        if not apart.found or not apart.tier:  # It takes several cases, or does not occur again.
            over = FuzzResult(number=result.number + 1, seconds=result.seconds)
            return over if result.status == "hang" else result
        return replace(apart, seconds=result.seconds)

    def digest(self, order: TrialOrder) -> Digests:
        """Draw and lower samples with one changed module; return None if it does not end.

        Raises: IRKitError if the server itself has ended.
        """
        return msgspec.json.decode(self._answer_to(order), type=Digests)

    def _answer_to(self, order: TrialOrder) -> bytes:
        try:
            return self._child.call(try_in_fork, order, *self._numbers)
        except ChildDied:
            raise IRKitError("the process that tries changed passes has ended") from None


class _ChangedModule(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Import hook that loads one module from changed source."""

    def __init__(self, module: str, source: str) -> None:
        self.module, self.source = module, source

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.module:
            return None
        return importlib.util.spec_from_loader(fullname, self)

    def exec_module(self, module: ModuleType) -> None:
        code = compile(self.source, f"<changed {self.module}>", "exec")
        exec(code, module.__dict__)  # Our own source, with one change.


@cache
def _prepared(
    number: int, count: int
) -> tuple[list[cases_file.TrialProgram], check_programs.Prints]:
    """Return the programs and what they are lowered to, and import what every fork needs."""
    known = list[cases_file.TrialProgram]()
    if count >= 0:
        known += [*cases_file.fixed_programs(), *cases_file.random_programs(number, count)]
    before = check_programs.prints_of(known)
    # A function that does not exist is no fault of a change.
    for target in (_FUZZ, _DIGEST, _TRY):
        _imported(target)
    dependents("", sys.modules)  # Reads every file once, and not in each fork.
    gc.freeze()
    return known, before


def try_in_fork(order: TrialOrder, number: int, count: int) -> bytes:
    """Try a changed module in a fork of this process, and return the encoded result."""
    started = time.perf_counter()
    limits, quiet = Limits(order.seconds, MEMORY), None if _tries_programs(order) else _QUIET
    try:
        made = run_in_fork(partial(_work, order, *_prepared(number, count)), limits, quiet=quiet)
    except ChildDied as died:
        return _result_of_death(order, died, time.perf_counter() - started)
    if not _tries_programs(order):
        return made
    found = msgspec.json.decode(made, type=TrialResult)
    return msgspec.json.encode(replace(found, seconds=time.perf_counter() - started))


def _tries_programs(order: TrialOrder) -> bool:
    return order.fuzz is None and order.digest is None


def _result_of_death(order: TrialOrder, died: ChildDied, seconds: float) -> bytes:
    if order.digest is not None:
        return msgspec.json.encode(Digests())
    hangs, last, said = died.kind == "timeout", died.report, died.message
    if order.fuzz is None:
        by = "timeout" if hangs else "crash"
        return msgspec.json.encode(TrialResult(by, last, message=said, seconds=seconds))
    if last.startswith("{"):  # Fuzzing soon reports a first result.
        return last.encode()
    number = int(last or order.fuzz.first)
    by = "hang" if hangs else "crash"
    return msgspec.json.encode(FuzzResult(by, number, message=said, seconds=seconds))


def _work(
    order: TrialOrder, known: list[cases_file.TrialProgram], before: check_programs.Prints
) -> bytes:
    """Do what is ordered, in the fork."""
    first_result = ""

    def tell(text: str) -> None:
        nonlocal first_result
        first_result = text if text.startswith("{") else first_result
        report(first_result or text)

    try:
        chosen = [case for name in order.cases for case in known if case.name == name]
        chosen += [case for case in known if case.name not in order.cases]
        setattr(builtins, PROBE_NAME, PROBE)
        sys.meta_path.insert(0, _ChangedModule(order.module, order.source))
        for name in dependents(order.module, sys.modules):
            del sys.modules[name]
        if order.fuzz is not None:
            found = _imported(_FUZZ)(order.fuzz, tell)
        elif order.digest is not None:
            found = _imported(_DIGEST)(order.digest, tell)
        else:
            found = _imported(_TRY)(chosen, before, tell, bisected=order.bisected)
    except BaseException as error:  # Whatever the change raises.
        said = f"{type(error).__name__}: {error}"
        found: TrialResult | FuzzResult | Digests = TrialResult("exception", message=said)
        if order.fuzz is not None:
            found = FuzzResult("failed", tier="import", message=said)
        elif order.digest is not None:
            found = Digests()
    return msgspec.json.encode(found)


def _imported(target: str) -> Callable[..., Any]:
    """Import a function, written ``module:name``."""
    module, name = target.split(":")
    return getattr(importlib.import_module(module), name)
