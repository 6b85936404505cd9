"""Random programs for devices, drawn as text and by schedule primitives: blocks, threads on one or
two axes, and memory in every scope, allocated around and inside the loops over threads.

They share no code with the generators of ``irkit.fuzz``. A program whose threads meet, or read what
they have not written, has no meaning, and is left out by the interpreter::

    python -m tests.targets.device_programs --cases 500 --first 0
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from random import Random

import numpy as np

from irkit.core import IRKitError, ScheduleError, walk
from irkit.debug.execution.executors import exact
from irkit.debug.targets import TargetOutcome
from irkit.ir import Block, PrimFunc, find_race, parse
from irkit.phases import DEFAULT
from irkit.schedule import BlockRef, LoopRef, Schedule
from tests.targets.pairs import FOR_DEVICES, Case, compared, with_results

EXECUTORS = ("interpreter", "host -opt-level=2", "opencl", "opencl@oclgrind")
SCOPES = ("global", "shared", "local")


class _Memory:
    """A buffer of a drawn program; ``by_block`` means that it has a row for each block."""

    def __init__(self, name: str, scope: str, size: int, at: str) -> None:
        self.name, self.scope, self.size, self.at = name, scope, size, at
        self.by_block = at == "root" and scope != "local"
        self.written = False

    def alloc(self, blocks: int) -> str:
        rows = f"{blocks}, " if self.by_block else ""
        scope = "" if self.scope == "global" else f', scope="{self.scope}"'
        return f"with alloc(f32[{rows}{self.size}]{scope}) as {self.name}:"

    def element(self, index: str) -> str:
        return f"{self.name}[{'b, ' if self.by_block else ''}{index}]"


class _Text:
    """Writes one program as text: in each block, stages of threads and statements between them."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.blocks, self.x = random.choice((1, 2, 3)), random.choice((2, 4, 8))
        self.y = random.choice((1, 1, 2, 3))
        self.threads = self.x * self.y
        self.lines: list[str] = []
        self.memories: list[_Memory] = []
        self.names = 0

    def script(self) -> str:
        """Return the program."""
        one = self.random.random() < 0.3
        places = ("root", "block", "block", "row" if one and self.y > 1 else "block")
        for number in range(self.random.randint(1, 3)):
            scope = self.random.choice(SCOPES)
            size = self.random.choice((1, 2, 3)) if scope == "local" else self.threads
            at = self.random.choice(places)
            self.memories.append(_Memory(f"M{number}", scope, size, at))
        shape = f"f32[{self.blocks}, {self.threads}]"
        self._line(0, f"def f(A: {shape}, C: {shape}):")
        depth = self._allocations(1, "root")
        self._line(depth, f'for b in thread(0, {self.blocks}, "blockIdx.x"):')
        depth = self._allocations(depth + 1, "block")
        (self._one_nest if one else self._stages)(depth)
        return "\n".join(self.lines) + "\n"

    def _line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def _allocations(self, depth: int, at: str) -> int:
        for memory in self.memories:
            if memory.at == at:
                self._line(depth, memory.alloc(self.blocks))
                depth += 1
        return depth

    def _name(self) -> str:
        self.names += 1
        return f"v{self.names}"

    # Stages, each with loops of its own.

    def _stages(self, depth: int) -> None:
        for memory in self.memories:
            (self._beside if self.random.random() < 0.25 else self._stage)(depth, memory)
        for _ in range(self.random.randint(0, 2)):
            memory = self.random.choice(self.memories)
            if self.random.random() < 0.4:
                self._line(depth, f"for {self._name()} in serial(0, 2):")
                self._stage(depth + 1, memory)
            else:
                self._stage(depth, memory)
        inside, x, number = self._loops(depth, whole=True)
        self._line(inside, f"C[b, {number}] = {self._value(x, number)}")

    def _loops(self, depth: int, *, whole: bool = False) -> tuple[int, str, str]:
        """Write loops over threads; return the depth inside, x, and the number of the thread."""
        x = self._name()
        axes = [(x, self.x, "threadIdx.x")]
        number = x
        if self.y > 1 and (whole or self.random.random() < 0.7):
            y = self._name()
            axes.insert(0, (y, self.y, "threadIdx.y"))
            number = f"{y} * {self.x} + {x}"
        for var, extent, axis in axes:
            self._line(depth, f'for {var} in thread(0, {extent}, "{axis}"):')
            depth += 1
        return depth, x, number

    def _stage(self, depth: int, memory: _Memory) -> None:
        inside, x, number = self._loops(depth, whole=memory.scope != "local")
        self._store(inside, memory, x, number)

    def _store(self, depth: int, memory: _Memory, x: str, number: str) -> None:
        if memory.scope == "local":
            for at in range(memory.size):
                self._line(depth, f"{memory.element(str(at))} = {self._value(x, number, memory)}")
        else:
            at = self.random.choice((number, f"{self.threads - 1} - ({number})"))
            self._line(depth, f"{memory.element(at)} = {self._value(x, number, memory, at)}")
        memory.written = True

    def _beside(self, depth: int, memory: _Memory) -> None:
        """Write all of a memory outside the loops over threads."""
        var = self._name()
        self._line(depth, f"for {var} in serial(0, {memory.size}):")
        self._line(depth + 1, f"{memory.element(var)} = A[b, {var}] + f32(1.0)")
        memory.written = True

    def _value(
        self, x: str, number: str, target: _Memory | None = None, at: str | None = None
    ) -> str:
        parts = [f"A[b, {number}]"]
        for memory in self.memories:
            if not memory.written or self.random.random() < 0.3:
                continue
            if memory is target and at is not None:
                index = at  # What no other thread touches.
            elif memory.scope == "local":
                index = str(self.random.randrange(memory.size))
            else:
                index = self.random.choice(
                    (number, x, str(self.random.randrange(memory.size)),
                     f"({number} + {self.random.randrange(memory.size)}) % {memory.size}")
                )  # fmt: skip
            parts.append(f"{memory.element(index)} * f32({self.random.randint(1, 3)}.0)")
        return " + ".join(parts)

    # One nest, whose threads wait at barriers.

    def _one_nest(self, depth: int) -> None:
        number = "x"
        if self.y > 1:
            self._line(depth, f'for y in thread(0, {self.y}, "threadIdx.y"):')
            depth = self._allocations(depth + 1, "row")
            number = f"y * {self.x} + x"
        self._line(depth, f'for x in thread(0, {self.x}, "threadIdx.x"):')
        for memory in self.memories:
            self._store(depth + 1, memory, "x", number)
            self._line(depth + 1, "evaluate(barrier())")
        self._line(depth + 1, f"C[b, {number}] = {self._value('x', number)}")


_PRODUCT = """def f(A: f32[{m}, {k}], B: f32[{k}, {n}], C: f32[{m}, {n}]):
    with alloc(f32[{m}, {n}]) as T:
        for i in serial(0, {m}):
            for j in serial(0, {n}):
                for k in serial(0, {k}):
                    with block("T"):
                        vi = axis.spatial({m}, i)
                        vj = axis.spatial({n}, j)
                        vk = axis.reduce({k}, k)
                        with init():
                            T[vi, vj] = f32(0.0)
                        T[vi, vj] = T[vi, vj] + A[vi, vk] * B[vk, vj]
        for i2 in serial(0, {m}):
            for j2 in serial(0, {n}):
                with block("C"):
                    vi = axis.spatial({m}, i2)
                    vj = axis.spatial({n}, j2)
                    C[vi, vj] = T[vi, vj] + {other}
"""


def scheduled(random: Random) -> tuple[PrimFunc, list[str]]:
    """Return a product and a sum after primitives, and what the primitives were."""
    m, n, k = random.choice((4, 8)), random.choice((4, 8, 12)), random.choice((2, 4))
    other = random.choice(("f32(1.0)", f"T[vi, {n - 1} - vj]", "T[0, vj]"))
    sch = Schedule(parse(_PRODUCT.format(m=m, n=n, k=k, other=other)))
    done: list[str] = []
    for _ in range(random.randint(6, 16)):
        step = random.choice((_bind, _bind, _bind, _split, _cache, _cache, _move, _move, _scope))
        try:
            done.append(step(sch, random))
        except ScheduleError as error:
            done.append(f"refused: {str(error)[:100]}")
    _bind_the_rest(sch, random)
    return sch.func, done


def _bind_the_rest(sch: Schedule, random: Random) -> None:
    """Bind a loop of each block to blocks, and most times one to threads, where that is legal."""
    for name in [each.name for each in walk(sch.func.body, Block)]:
        for axis in ("blockIdx.x", "threadIdx.x"):
            if axis == "threadIdx.x" and random.random() < 0.15:
                continue
            loops = sch.get_loops(BlockRef(name))
            if any(sch.loop(each).thread == axis for each in loops):
                continue
            for loop in loops:
                try:
                    sch.bind(loop, axis)
                except ScheduleError:
                    continue
                break


def _block(sch: Schedule, random: Random) -> BlockRef:
    return BlockRef(random.choice([each.name for each in walk(sch.func.body, Block)]))


def _loop(sch: Schedule, random: Random) -> LoopRef:
    loops = sch.get_loops(_block(sch, random))
    if not loops:
        raise ScheduleError("the block has no loops")
    return random.choice(loops)


def _bind(sch: Schedule, random: Random) -> str:
    axis = random.choice(("blockIdx.x", "threadIdx.x", "threadIdx.x", "threadIdx.y", "vthread"))
    sch.bind(_loop(sch, random), axis)
    return f"bind {axis}"


def _split(sch: Schedule, random: Random) -> str:
    sch.split(_loop(sch, random), [None, random.choice((2, 4))])
    return "split"


def _cache(sch: Schedule, random: Random) -> str:
    block, scope = _block(sch, random), random.choice(SCOPES)
    if random.random() < 0.5:
        sch.cache_write(block, scope)
        return f"cache_write {block.name} {scope}"
    name = random.choice(("A", "B", "T"))
    sch.cache_read(block, name, scope)
    return f"cache_read {block.name} {name} {scope}"


def _move(sch: Schedule, random: Random) -> str:
    block, loop = _block(sch, random), _loop(sch, random)
    if random.random() < 0.5:
        sch.compute_at(block, loop)
        return f"compute_at {block.name}"
    sch.reverse_compute_at(block, loop)
    return f"reverse_compute_at {block.name}"


def _scope(sch: Schedule, random: Random) -> str:
    block, scope = _block(sch, random), random.choice(SCOPES)
    sch.set_scope(block, scope)
    return f"set_scope {block.name} {scope}"


def drawn_text(seed: int) -> PrimFunc:
    """Return a program drawn as text."""
    return parse(_Text(Random(seed)).script())


def drawn_schedule(seed: int) -> PrimFunc:
    """Return a program drawn by primitives."""
    return scheduled(Random(seed))[0]


def drawn(seed: int) -> PrimFunc:
    """Return a program; two of three are text."""
    return exact(drawn_schedule(seed) if seed % 3 == 2 else drawn_text(seed))


def arguments(func: PrimFunc, seed: int) -> list[np.ndarray]:
    """Return small whole numbers, whose sums and products are exact."""
    random = np.random.default_rng(seed)
    shapes = [tuple(getattr(dim, "value") for dim in getattr(p, "shape")) for p in func.params]
    return [random.integers(-4, 5, shape).astype(np.float32) for shape in shapes]


def case_of(seed: int) -> Case | str:
    """Return a program with its lowered forms and arguments, or why it has no meaning."""
    func = drawn(seed)
    args = arguments(func, seed)
    try:
        race = find_race(func, *[arg.copy() for arg in args], threads=seed % 3 != 2)
    except IRKitError as error:
        return type(error).__name__
    if race is not None:
        return "race"
    return Case(func, FOR_DEVICES.run(func), tuple(args))


def wrong_cases(
    seeds: Sequence[int], executors: Sequence[str] = EXECUTORS
) -> tuple[list[str], Counter[str]]:
    """Run programs everywhere; return texts of those with other bits than the interpreter gives
    before the phases, and how many ran where."""
    counts: Counter[str] = Counter()
    known: list[tuple[Case, TargetOutcome]] = []
    for seed in seeds:
        case = case_of(seed)
        if isinstance(case, str):
            counts[f"without meaning: {case}"] += 1
            continue
        for each, result in with_results([case]):
            if any(np.isnan(array).any() for array in result.arrays):
                counts["without meaning: unwritten"] += 1
            else:
                known.append((each, result))
    low = [(Case(DEFAULT.run(c.func), c.launched, c.args), result) for c, result in known]
    wrong: list[str] = []
    for name in executors:
        found = compared(name, 0, low)
        counts[f"{name}: ran"] += found.ran
        counts[f"{name}: refused"] += found.refused
        wrong += [f"{name}: {text}" for text in found.wrong]
    return wrong, counts


def main() -> int:
    """Run drawn programs, and print what differs and the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--executor", action="append", default=[])
    given = parser.parse_args()
    total: Counter[str] = Counter()
    failed, started = 0, time.monotonic()
    run = partial(wrong_cases, executors=given.executor or EXECUTORS)
    for first in range(given.first, given.first + given.cases, 10):
        last = min(first + 10, given.first + given.cases)
        wrong, counts = run(range(first, last))
        failed += len(wrong)
        total += counts
        for text in wrong:
            print(f"seeds {first} to {last}: {text}", flush=True)
        print(first, dict(sorted(total.items())), f"{failed} wrong", flush=True)
    print(f"{time.monotonic() - started:.0f} s")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
