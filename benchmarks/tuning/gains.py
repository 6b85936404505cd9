"""Gain of tuned schedules over the default: ``python -m benchmarks.tuning.gains BUDGET [NAMES]``.

The budget is seconds, as 5s, or candidates. Each task is tuned, and then judged by a fresh process
that did not tune: the default and what the records apply run in turn there, and with them NumPy's
product or ONNX Runtime's convolution on one thread. ``kernels`` are twenty that no rule was written
for; a number is a task that is drawn by that seed; "template product 512" is tuned by a template.
"""

import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np

import irkit
from benchmarks.tuning.kernels import KERNELS
from benchmarks.tuning.peers import peer_of
from benchmarks.tuning.programs import blur, convolution, distances, nearest, product
from irkit import tune
from irkit.ir import Buffer, PrimFunc, as_int
from irkit.runtime import set_num_threads
from irkit.tune.measure.pair_times import paired

Make = Callable[[], PrimFunc]
_BY_TEMPLATE = "template "
_PAIRS, _SECONDS = 41, 1.0


TASKS: dict[str, Make] = {
    "product 1024": lambda: product(1024, 1024, 1024),
    "convolution 64 x 56": lambda: convolution(64, 56, 64),
    "convolution 128 x 28": lambda: convolution(128, 28, 128),
    "convolution 256 x 14": lambda: convolution(256, 14, 256),
    "convolution 512 x 7": lambda: convolution(512, 7, 512),
    "product 512": lambda: product(512, 512, 512),
    "product 2048": lambda: product(2048, 2048, 2048),
    "product 509 x 503 x 499": lambda: product(509, 503, 499),
    "nearest 384": lambda: nearest(384),
    "distances 512 x 64": lambda: distances(512, 64),
    "blur 2048": lambda: blur(2048),
    "convolution 64 x 28": lambda: convolution(64, 28, 64),
}


def drawn(seed: int) -> PrimFunc:
    """Draw a task by a seed: any kind, any sizes, primes among them."""
    rng = Random(seed)
    size = rng.choice((31, 48, 61, 64, 97, 127, 128, 192, 251))
    kind = rng.randrange(5)
    if kind == 0:
        return product(size, rng.choice((33, 64, 113, 256)), rng.choice((17, 64, 101, 200)))
    if kind == 1:
        return nearest(size)
    if kind == 2:
        return distances(size, rng.choice((3, 16, 37)))
    if kind == 3:
        return blur(size * 4)
    return convolution(rng.choice((3, 8, 16)), min(size, 64), rng.choice((7, 16, 32)))


def arrays(func: PrimFunc) -> list[np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
    """Return random arrays for the parameters of a function."""
    rng = np.random.default_rng(0)
    shapes = [
        tuple(as_int(dim) or 0 for dim in param.shape)
        for param in func.params
        if isinstance(param, Buffer)
    ]
    return [rng.random(shape, dtype=np.float32) for shape in shapes]


def judge(name: str, records: str) -> tuple[float, float]:
    """Return how many times faster than the default, and than a library, what the records apply is;
    0 if no library has it."""
    func = made(name)
    set_num_threads(1)
    tuned, default = irkit.build(func, records=records), irkit.build(func)
    args = arrays(func)
    peer = peer_of(name.removeprefix(_BY_TEMPLATE), args)
    gain = faster(lambda: tuned(*args), lambda: default(*args))
    return gain, 0.0 if peer is None else faster(lambda: tuned(*args), peer)


def faster(one: Callable[[], object], other: Callable[[], object]) -> float:
    """Return how many times faster the first of two functions of one thread is."""
    for run in (one, other):
        run()
    return paired(one, other, most=_PAIRS, seconds=_SECONDS, stop_early=False).ratio.middle


def fresh(name: str, records: str) -> tuple[float, float]:
    """Judge in a process that did not tune, in which libraries use one thread."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.tuning.gains", "--judge", name, records],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    gain, beside = map(float, done.stdout.split())
    return gain, beside


def made(name: str) -> PrimFunc:
    """Return a program by its name, or the drawn one of a number; "template" before it says only
    how to tune it."""
    name = name.removeprefix(_BY_TEMPLATE)
    return drawn(int(name)) if name.isdigit() else (TASKS | KERNELS)[name]()


def task_of(name: str) -> tune.Task:
    """Return the task of a program, or that of its template."""
    if not name.startswith(_BY_TEMPLATE):
        return tune.task(made(name))
    function = "matmul" if "product" in name else "conv2d"
    sizes = [int(each) for each in re.findall(r"\d+", name)]
    if function == "matmul":
        sizes = (sizes * 3)[:3]
    else:
        sizes = [*sizes, sizes[0]]
    return tune.task(f"{Path(__file__).parent / 'templates.py'}:{function}", sizes)


def main(budget: str, names: list[str]) -> None:
    """Tune, judge and print."""
    gains: list[float] = []
    seconds = float(budget[:-1]) if budget.endswith("s") else None
    trials = None if seconds is not None else int(budget)
    with tempfile.TemporaryDirectory() as folder:
        for name in names or list(TASKS):
            path = str(Path(folder) / "records.jsonl")
            with tune.RecordFile(path) as file:
                result = tune.tune(
                    task_of(name),
                    trials=trials,
                    time=seconds,
                    measure=tune.Local(jobs=2),
                    records=file,
                )
            gain, beside = fresh(name, path)
            gains.append(gain)
            tried = sum(each.stage == "search" for each in result.records)
            print(
                f"{name}: {gain:.2f} times as fast as the default (claimed {result.speedup:.2f}, "
                f"{result.low:.2f} to {result.high:.2f}); {tried} candidates in "
                f"{result.seconds:.1f} s, rank correlation {result.correlation:.2f}"
                + (f"; {beside:.2f} times as fast as the library" if beside else ""),
                flush=True,
            )
            Path(path).unlink()
    middle = math.exp(statistics.fmean(map(math.log, gains)))
    print(f"geometric mean {middle:.2f}, least {min(gains):.2f}, of {len(gains)}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--judge"]:
        print(*judge(sys.argv[2], sys.argv[3]))
    else:
        asked = sys.argv[2:]
        main(
            sys.argv[1] if len(sys.argv) > 1 else "10s",
            list(KERNELS) if asked == ["kernels"] else asked,
        )
