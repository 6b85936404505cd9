"""Gain of a tuned model: ``python -m benchmarks.tuning.network MODEL.onnx 60s``.

The model is tuned by the command itself, and judged by a fresh process: it and the default run in
turn on one thread, on random inputs.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import irkit
from benchmarks.timing import once
from irkit.runtime import set_num_threads
from irkit.tune.measure.pair_times import interval

_PAIRS = 41


def judge(model: str, records: str) -> None:
    """Print how many times faster than the default the model with records is."""
    set_num_threads(1)
    tuned, default = irkit.compile(model, records=records), irkit.compile(model)
    rng = np.random.default_rng(0)
    inputs = {
        each.name: rng.random([int(str(size)) for size in each.shape], dtype=np.float32)
        for each in default.plan.inputs
    }
    for each in (tuned, default):
        each.run(inputs)
    ratios: list[float] = []
    for number in range(_PAIRS):
        order = (tuned, default) if number % 2 else (default, tuned)
        times = {each: once(lambda run=each: run.run(inputs)) for each in order}
        ratios.append(times[default] / times[tuned])
    found = interval(ratios)
    print(f"{found.middle:.3f} times as fast as the default ({found.low:.3f} to {found.high:.3f})")


def main(model: str, budget: str) -> None:
    """Tune, and have a fresh process judge."""
    with tempfile.TemporaryDirectory() as folder:
        records = str(Path(folder) / "records.jsonl")
        tune = [sys.executable, "-m", "irkit", "tune", model, "-o", records]
        started = time.perf_counter()
        subprocess.run([*tune, "--time", budget, "--jobs", "2"], check=True)
        print(f"{time.perf_counter() - started:.1f} s of wall time", flush=True)
        here = [sys.executable, "-m", "benchmarks.tuning.network", "--judge", model, records]
        subprocess.run(here, check=True)


if __name__ == "__main__":
    if sys.argv[1] == "--judge":
        judge(*sys.argv[2:4])
    else:
        main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "60s")
