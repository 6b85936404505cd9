"""Measure the costs that schedules of products depend on, with tiles of products themselves.

A tile of one sum waits for itself in each step: that is the clock, and all others are ratios to it.
A wide tile shows how many multiplications start in a cycle, a flat one how many loads, and panels
that fit the second or only the third cache what their vectors cost more. Columns that no cache
holds show how long a line takes from memory.
"""

import math
import platform
import re
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, perf_counter_ns

import numpy as np

from irkit import te
from irkit.autoschedule import Machine, tiled_product
from irkit.codegen import complete_target
from irkit.core import Target
from irkit.ir import Expr, PrimFunc, Var
from irkit.runtime import Kernel
from irkit.tune.machine_table import FORMAT, MEASURED, MachineTable, fingerprint, read_table

Build = Callable[[PrimFunc], Kernel]
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_SAME = 0.05
"""Part of a number by which two measurements differ though nothing changed."""
_MEMORY = (1 << 26, 1 << 28)
"""Bytes that no cache holds, at least and at most: four times the third cache, between these."""
_LINE = 64
"""Bytes of a line of memory."""
_CLOCK = 4.0
"""Cycles that a sum of this project's processors waits for itself: the unit of all costs."""


def measure_machine(
    build: Build, seconds: float = 2.0, progress: Callable[[str], None] = lambda _: None
) -> MachineTable:
    """Measure this machine with code that ``build`` compiles as it is, on one thread.

    It takes about ``seconds``. ``progress`` is told what is measured. Numbers within a twentieth of
    an earlier table's are kept as they were.
    """
    target = complete_target(Target())
    machine = Machine.of_target(target)
    l1, l2, l3 = (_cache_size(level) or getattr(machine, f"l{level}") for level in (1, 2, 3))
    lanes = machine.vector_bytes // 4
    share = seconds / 6
    wide = max(1, (machine.vector_registers - 8) // 6)  # Leave some registers for the factors.

    def run(what: str, rows: int, vectors: int, panel: int, times: int) -> float:
        """Return nanoseconds of a step of a tile whose panel of columns has so many bytes."""
        progress(what)
        steps = max(64, panel // (vectors * lanes * 4))
        func = _product(rows * times, vectors * lanes, steps)
        kernel = build(tiled_product(func, rows, vectors, machine))
        return _fastest(kernel, rows * times, vectors * lanes, steps, share) / (steps * times)

    near_l1 = l1 // 4
    wait = run("the wait of a sum for itself", 1, 1, near_l1, 4)
    cycle = wait / _CLOCK
    large = run("multiplications in a cycle", 6, wide, near_l1, 4) / cycle
    flat = run("loads in a cycle", 1, 8, near_l1, 8) / cycle
    second = run("the second cache", 1, 8, max(l2 // 2, 2 * l1), 8) / cycle
    third = run("the third cache", 1, 8, max(min(4 * l2, l3 // 2), 2 * l2), 4) / cycle
    size = min(max(4 * l3, _MEMORY[0]), _MEMORY[1])
    memory = run("memory", 1, 8, size, 2) / cycle
    found = {
        "multiplied": 6 * wide / large,
        "loaded": 9 / flat,
        "near": max((second - flat) / 8, 1 / 32),
        "far": max((third - flat) / 8, 1 / 16),
        "streamed": memory / (8 * lanes * 4 / _LINE),
    }
    bounded = {name: round(min(max(value, 1 / 32), 32.0), 3) for name, value in found.items()}
    table = MachineTable(FORMAT, fingerprint(), l1, l2, l3, latency=_CLOCK, **bounded)
    return steady(table, read_table())


def steady(table: MachineTable, earlier: MachineTable | None) -> MachineTable:
    """Return an earlier table if all numbers of a new one are near it: what two measurements differ
    by must not change a schedule, also where rounding would tell them apart."""
    if earlier is None:
        return table
    for name in MEASURED:
        now, then = getattr(table, name), getattr(earlier, name)
        if abs(math.log(now / then)) > -math.log1p(-_SAME):
            return table
    return earlier


def _product(rows: int, columns: int, steps: int) -> PrimFunc:
    a = te.placeholder((rows, steps), name="A")
    b = te.placeholder((steps, columns), name="B")
    k = te.reduce_axis((0, steps), name="k")

    def cell(i: Var, j: Var) -> Expr:
        return te.sum(a[i, k] * b[k, j], axis=k)

    return te.create_prim_func([a, b, te.compute((rows, columns), cell, name="C")])


def _fastest(kernel: Kernel, rows: int, columns: int, steps: int, seconds: float) -> float:
    """Return the nanoseconds of the fastest of the calls that fit a time, two at least."""
    rng = np.random.default_rng(0)
    a = rng.random((rows, steps), dtype=np.float32)
    b = rng.random((steps, columns), dtype=np.float32)
    c = np.zeros((rows, columns), np.float32)
    kernel(a, b, c)
    best, end = math.inf, perf_counter() + seconds
    for number in range(100_000):
        start = perf_counter_ns()
        kernel(a, b, c)
        best = min(best, perf_counter_ns() - start)
        if number and perf_counter() > end:
            break
    return best


def _cache_size(level: int) -> int | None:
    """Return the bytes of the data cache of a level as Linux tells them, None elsewhere."""
    if platform.system() != "Linux":
        return None
    for index in sorted(_CACHES.glob("index*")):
        try:
            kind = (index / "type").read_text().strip()
            at = int((index / "level").read_text())
            size = re.fullmatch(r"(\d+)K", (index / "size").read_text().strip())
        except (OSError, ValueError):
            continue
        if at == level and kind in ("Data", "Unified") and size is not None:
            return int(size[1]) << 10
    return None
