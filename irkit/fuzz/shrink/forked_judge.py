"""Judge samples that may crash, hang or grow, each in a fork of this process.

Nothing is imported anew, so it costs no more than a fork, and passes that were changed in this
process are changed there too. The process that forks should have one thread.
"""

import faulthandler
import os
import resource
import signal
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec

from irkit.debug import Limits
from irkit.fuzz.forked_child import end_with_parent, limit_processor_time, listen
from irkit.fuzz.generators.sample import Sample
from irkit.fuzz.judge.judge import describe_exception, judge
from irkit.fuzz.judge.outcome import Outcome
from irkit.fuzz.judge.progress import tier_and_pass

_FOREVER = 1e6
LIMITS = Limits(seconds=10.0, memory=6 << 30)
Judge = Callable[[Sample], Outcome]


def judge_in_fork(sample: Sample, limits: Limits = LIMITS, **options: Any) -> Outcome:
    """Judge a sample in a fork of this process; what ends the fork is the outcome. ``options`` are
    those of :func:`judge`."""
    reading, writing = os.pipe()
    asks, parent, child = os.getppid(), os.getpid(), os.fork()
    if child == 0:
        end_with_parent(parent)
        os.close(reading)
        _in_fork(sample, writing, limits, options)
    os.close(writing)
    heard, ended = listen(reading, limits.seconds or _FOREVER, asks)
    if not ended:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    tiers, _, found = heard.partition(b"\n")
    if found:
        return msgspec.json.decode(found, type=Outcome)
    place = tier_and_pass(tiers.decode().split(",")[-1])
    if not ended:
        return Outcome("hang", *place, message=f"did not end within {limits.seconds:g} s")
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        return Outcome("crash", *place, message=f"the process ended by {name}")
    return Outcome("memory", *place, message="the process ran out of memory")


def _in_fork(sample: Sample, pipe: int, limits: Limits, options: Mapping[str, Any]) -> None:
    status = 1
    faulthandler.disable()  # A crash here is what is looked for.
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        limit_processor_time(limits.seconds or _FOREVER)
        if limits.memory is not None:
            soft, hard = resource.getrlimit(resource.RLIMIT_AS)
            known = [each for each in (soft, hard) if each != resource.RLIM_INFINITY]
            resource.setrlimit(resource.RLIMIT_AS, (min([limits.memory, *known]), hard))
        on_tier = partial(_report, pipe)
        outcome = judge(sample, on_tier=on_tier, **options)
        os.write(pipe, b"\n" + msgspec.json.encode(outcome))
        status = 0
    except MemoryError:
        pass
    except Exception as error:  # `judge` handles what samples raise; this is our own error.
        outcome = Outcome("failed", message=describe_exception(error))
        os.write(pipe, b"\n" + msgspec.json.encode(outcome))
        status = 0
    finally:
        os._exit(status)  # Nothing else of the parent process may run here.


def _report(pipe: int, tier: str) -> None:
    os.write(pipe, f",{tier}".encode())
