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
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

import msgspec
from msgspec.structs import replace

from irkit.core import IRKitError
from irkit.fuzz.mutation.coverage_probe import PROBE, PROBE_NAME
from irkit.fuzz.mutation.dependents import dependents
from irkit.fuzz.mutation.trials import check_programs, programs as cases_file
from irkit.fuzz.mutation.trials.check_programs import TrialResult
from irkit.fuzz.mutation.trials.messages import DigestOrder, Digests, FuzzOrder, FuzzResult
from irkit.processes import ONE_THREAD, end_with_parent, limit_processor_time, listen

MEMORY = 8 << 30
_QUIET = 30.0
"""Seconds that one case may take while fuzzing."""
_CASES_OF_A_CHILD = 2000
"""A new child goes on after these: what LLVM leaves behind adds up."""
_FUZZ = "irkit.fuzz.mutation.trials.fuzz_until_found:fuzz_until_found"
_DIGEST = "irkit.fuzz.mutation.trials.digests:digest_cases"
_TRY = "irkit.fuzz.mutation.trials.check_programs:try_programs"
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
        self._numbers = (str(number), str(count))
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "ForkServer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: object, at: TracebackType | None
    ) -> None:
        self.close()

    @property
    def process(self) -> "subprocess.Popen[bytes]":
        """The process, started if there is none."""
        if self._process is None:
            # One thread, because it forks.
            env = {**os.environ, **ONE_THREAD}
            self._process = subprocess.Popen(
                [sys.executable, "-m", "irkit.fuzz.mutation.fork_server", *self._numbers],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=env,
            )
        return self._process

    def close(self) -> None:
        """End the process, if there is one."""
        if self._process is None:
            return
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._process = None

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
        process = self.process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(msgspec.json.encode(order) + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = b""
        if not line:
            raise IRKitError("the process that tries changed passes has ended")
        return line


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


def serve(number: int, count: int) -> None:
    """Run the trials that arrive on standard input, one a line, and write one result a line."""
    asks = os.getppid()
    known = list[cases_file.TrialProgram]()
    if count >= 0:
        known += [*cases_file.fixed_programs(), *cases_file.random_programs(number, count)]
    before = check_programs.prints_of(known)
    # A function that does not exist is no fault of a change.
    for target in (_FUZZ, _DIGEST, _TRY):
        _imported(target)
    dependents("", sys.modules)  # Reads every file once, and not in each child.
    gc.freeze()
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with suppress(BrokenPipeError):  # The parent has ended.
        for line in sys.stdin.buffer:
            order = msgspec.json.decode(line, type=TrialOrder)
            out.write(_forked(order, known, before, asks) + b"\n")
            out.flush()


def _forked(
    order: TrialOrder,
    known: list[cases_file.TrialProgram],
    before: check_programs.Prints,
    asks: int,
) -> bytes:
    started = time.perf_counter()
    reading, writing = os.pipe()
    server, child = os.getpid(), os.fork()
    if child == 0:
        end_with_parent(server)
        os.close(reading)
        _in_child(order, known, before, writing)
    os.close(writing)
    quiet = _QUIET if order.fuzz is not None or order.digest is not None else float("inf")
    heard, ended = listen(reading, order.seconds, asks, quiet)
    if not ended:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    lines = heard.split(b"\n")
    seconds = time.perf_counter() - started
    answers = [line for line in lines if line.startswith(b"{")]  # Fuzzing soon writes a first one.
    if answers:
        if order.fuzz is not None or order.digest is not None:
            return answers[-1]
        found = msgspec.json.decode(answers[-1], type=TrialResult)
        return msgspec.json.encode(replace(found, seconds=seconds))
    last = lines[-2].decode() if len(lines) > 1 else ""
    message = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"status {status}"
    if order.digest is not None:
        return msgspec.json.encode(Digests())
    if order.fuzz is not None:
        number = int(last or order.fuzz.first)
        by = "crash" if ended else "hang"
        return msgspec.json.encode(FuzzResult(by, number, message=message, seconds=seconds))
    by = "crash" if ended else "timeout"
    return msgspec.json.encode(TrialResult(by, last, message=message, seconds=seconds))


def _in_child(
    order: TrialOrder,
    known: list[cases_file.TrialProgram],
    before: check_programs.Prints,
    pipe: int,
) -> None:
    def report(name: str) -> None:
        os.write(pipe, f"{name}\n".encode())

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    limit_processor_time(order.seconds)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))
    try:
        chosen = [case for name in order.cases for case in known if case.name == name]
        chosen += [case for case in known if case.name not in order.cases]
        setattr(builtins, PROBE_NAME, PROBE)
        sys.meta_path.insert(0, _ChangedModule(order.module, order.source))
        for name in dependents(order.module, sys.modules):
            del sys.modules[name]
        if order.fuzz is not None:
            found = _imported(_FUZZ)(order.fuzz, report)
        elif order.digest is not None:
            found = _imported(_DIGEST)(order.digest, report)
        else:
            found = _imported(_TRY)(chosen, before, report, bisected=order.bisected)
    except BaseException as error:  # Whatever the change raises.
        said = f"{type(error).__name__}: {error}"
        found: TrialResult | FuzzResult | Digests = TrialResult("exception", message=said)
        if order.fuzz is not None:
            found = FuzzResult("failed", tier="import", message=said)
        elif order.digest is not None:
            found = Digests()
    os.write(pipe, msgspec.json.encode(found))
    os._exit(0)


def _imported(target: str) -> Callable[..., Any]:
    """Import a function, written ``module:name``."""
    module, name = target.split(":")
    return getattr(importlib.import_module(module), name)


def source_of(module: str) -> str:
    """Read the source of a module, which is not a folder, without importing it."""
    found = importlib.util.find_spec(module)
    assert found is not None, f"there is no module {module}"
    assert found.submodule_search_locations is None, f"{module} is a folder"
    assert found.origin is not None
    return Path(found.origin).read_text(encoding="utf-8")


if __name__ == "__main__":
    serve(int(sys.argv[1]), int(sys.argv[2]))
