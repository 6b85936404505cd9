"""Processor time of one candidate of a search, stage by stage, with nothing cached on disk.

``python -m benchmarks.compiler.candidates`` prints the scheduled product of 1024³, a replay of its
trace and a kernel of 8 elements. All stages take turns, so ratios of one run can be compared.
"""

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

import irkit
from irkit import te
from irkit.codegen import compile_object, emit, emit_stubs, runnable_target, symbol
from irkit.core import as_target
from irkit.ir import PrimFunc
from irkit.phases.default import DEFAULT
from irkit.phases.legalize import LEGALIZE
from irkit.runtime.pool import link
from irkit.schedule.trace.replay_memo import REPLAYS

SIZE, ROUNDS = 1024, 15
_R = TypeVar("_R")
Times = dict[str, float]


class Stages:
    """A clock of processor time with a row for each stage. Units: milliseconds."""

    def __init__(self) -> None:
        self.times: Times = {}

    def run(self, name: str, stage: Callable[..., _R], *args: Any, **options: Any) -> _R:
        """Return what a stage returns, and add the time that it takes."""
        start = time.process_time()
        result = stage(*args, **options)
        spent = (time.process_time() - start) * 1e3
        self.times[name] = self.times.get(name, 0.0) + spent
        return result


def compiled(clock: Stages, func: PrimFunc, opt_level: int = 3) -> None:
    """Compile a function as ``irkit.build`` does, a stage at a time."""
    target = runnable_target(msgspec.structs.replace(as_target("llvm"), opt_level=opt_level))
    quick = msgspec.structs.replace(target, opt_level=0)
    lowered = clock.run("lowering", irkit.lower, func, pipeline=DEFAULT.then(LEGALIZE))
    text = clock.run("text", emit, [lowered], target)
    stub = clock.run("text", emit_stubs, [lowered], target)
    image = clock.run("LLVM", compile_object, text, target)
    gate = clock.run("LLVM, stub", compile_object, stub, quick)
    names = [symbol(lowered.name), f"irkit.call.{lowered.name}"]
    clock.run("link", link, [image, gate], names)


def product(opt_level: int = 3) -> Times:
    """Schedule and compile the product of 1024³ from its tensor expression."""
    from examples.schedules import matmul

    clock = Stages()
    func = clock.run("te", matmul.matmul, SIZE)
    sch = clock.run("schedule", matmul.schedule, func)
    compiled(clock, sch.func, opt_level)
    return clock.times


def replayed(opt_level: int = 1) -> Times:
    """Compile the same product by the trace of its schedule, which was checked before."""
    from examples.schedules import matmul

    trace = matmul.schedule(matmul.matmul(SIZE)).trace
    clock = Stages()
    func = clock.run("te", matmul.matmul, SIZE)
    sch = irkit.Schedule(func)
    clock.run("schedule", sch.replay, trace)
    compiled(clock, sch.func, opt_level)
    return clock.times


def tiny() -> Times:
    """Compile a kernel of 8 elements."""

    def add_one() -> PrimFunc:
        a = te.placeholder((8,), name="A")
        return te.create_prim_func([a, te.compute((8,), lambda i: a[i] + 1.0, name="B")])

    clock = Stages()
    compiled(clock, clock.run("te", add_one))
    return clock.times


def stored_replays() -> str:
    """Time the replay of the product's trace: with all checks, from disk, and from memory."""
    from examples.schedules import matmul

    trace = matmul.schedule(matmul.matmul(SIZE)).trace

    def replay(cached: str, forget: bool) -> float:
        os.environ["IRKIT_CACHE"] = cached
        if forget:
            REPLAYS.clear()
        sch = irkit.Schedule(matmul.matmul(SIZE))
        clock = Stages()
        clock.run("replay", sch.replay, trace)
        return clock.times["replay"]

    with tempfile.TemporaryDirectory() as folder:
        os.environ["IRKIT_CACHE_DIR"] = os.path.join(folder, "cache")
        replay("1", True)
        ways = {"checked": ("0", True), "from disk": ("1", True), "from memory": ("0", False)}
        rounds = [{name: replay(*way) for name, way in ways.items()} for _ in range(ROUNDS)]
    del os.environ["IRKIT_CACHE_DIR"]
    os.environ["IRKIT_CACHE"] = "0"
    times = {name: statistics.median(each[name] for each in rounds) for name in ways}
    return "replay: " + ", ".join(f"{name} {spent:.1f} ms" for name, spent in times.items())


def open_product() -> Times:
    """Compile a product of any number of rows as nobody schedules it."""
    m, k = te.var("m"), te.reduce_axis((0, 512), name="k")
    a, b = te.placeholder((m, 512), name="A"), te.placeholder((512, 384), name="B")
    c = te.compute((m, 384), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    clock = Stages()
    clock.run("build", irkit.build, te.create_prim_func([a, b, c]))
    return clock.times


CASES: dict[str, tuple[Callable[[], Times], int]] = {
    "product 1024³, te to callable": (product, 60),
    "replayed candidate, opt_level 1": (replayed, 35),
    "8 elements, te to callable": (tiny, 6),
}


def main() -> None:
    """Print the medians of all cases."""
    os.environ["IRKIT_CACHE"] = "0"
    for run, _ in CASES.values():
        run()
    rounds = [{name: run() for name, (run, _) in CASES.items()} for _ in range(ROUNDS)]
    for name, (_, mark) in CASES.items():
        whole = statistics.median(sum(each[name].values()) for each in rounds)
        stages = ", ".join(
            f"{stage} {statistics.median(each[name][stage] for each in rounds):.1f}"
            for stage in rounds[0][name]
        )
        print(f"{name}: {whole:.1f} ms of processor time (at most {mark}): {stages}")
    print(stored_replays())
    times = [open_product()["build"] for _ in range(5)]
    print(f"product m x 512 x 384 for any m, build: {statistics.median(times):.0f} ms")


if __name__ == "__main__":
    main()
