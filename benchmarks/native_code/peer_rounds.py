"""Whole models against ONNX Runtime and OpenVINO in processes that run in turn.

``python -m benchmarks.native_code.peer_rounds squeezenet resnet50 --threads 1 2 --rounds 9``. Each
engine has a process of its own for each network, which waits while another one runs. A round is the
median of several runs of each engine; the result is the median of the rounds' ratios of irkit to
the faster peer. All rounds are printed.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import sleep

import numpy as np

from benchmarks.native_code.engine import ENGINES
from benchmarks.native_code.networks import network

SECONDS = 0.4
"""How long an engine runs in a round, about."""
PAUSE = 0.02
"""Seconds before an engine runs, in which the threads of the one before it go to sleep."""


class Engine:
    """A process that runs one model when it is told to."""

    def __init__(self, name: str, path: Path, threads: int, folder: Path) -> None:
        self.result = folder / f"{name}.npy"
        command = [sys.executable, "-m", "benchmarks.native_code.engine", name]
        self._process = subprocess.Popen(
            [*command, str(path), str(threads), str(self.result)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._back = self._process.stdin, self._process.stdout
        if self._back.readline().strip() != "ready":
            raise SystemExit(f"{name} cannot run {path}")

    def time(self, runs: int) -> float:
        """Return the median seconds of some runs."""
        print(runs, file=self._to, flush=True)
        return float(self._back.readline())

    def close(self) -> None:
        self._to.close()
        self._process.wait()


def rounds_of(engines: Sequence[Engine], rounds: int) -> list[list[float]]:
    """Run engines in turn; return the seconds of each, round by round."""
    runs = [max(1, round(SECONDS / engine.time(1))) for engine in engines]
    times: list[list[float]] = []
    for _ in range(rounds):
        found: list[float] = []
        for engine, count in zip(engines, runs, strict=True):
            sleep(PAUSE)
            found.append(engine.time(count))
        times.append(found)
    return times


def measure(name: str, path: Path, threads: int, rounds: int) -> str:
    """Run a network in all engines in turn, print each round, and return the result."""
    with tempfile.TemporaryDirectory() as folder:
        engines = [Engine(each, path, threads, Path(folder)) for each in ENGINES]
        results = [np.load(engine.result) for engine in engines]
    largest = max(float(np.abs(results[1]).max()), 1e-30)
    apart = float(np.abs(results[0] - results[1]).max()) / largest
    print(f"  {name}: results differ by {apart:.2g} of the largest", flush=True)
    times = rounds_of(engines, rounds)
    ratios = [found[0] / min(found[1:]) for found in times]
    for number, (found, ratio) in enumerate(zip(times, ratios, strict=True), 1):
        shown = " ".join(f"{each * 1e3:9.3f}" for each in found)
        print(f"  {name} {threads} round {number}: {shown} ms, {ratio:.3f}", flush=True)
    for engine in engines:
        engine.close()
    medians = [statistics.median(each) * 1e3 for each in zip(*times, strict=True)]
    shown = " | ".join(f"{each:.3f}" for each in medians)
    return f"| {name} | {threads} | {shown} | {statistics.median(ratios):.2f} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure networks, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", nargs="+")
    parser.add_argument("--threads", nargs="+", type=int, default=[1])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--folder", type=Path, help="where networks are kept between runs")
    options = parser.parse_args(arguments)
    rows = [
        "| network | threads | irkit, ms | ONNX Runtime, ms | OpenVINO, ms | ratio |",
        "|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(exist_ok=True)
        for name in options.networks:
            path = network(name, folder)
            rows += [measure(name, path, count, options.rounds) for count in options.threads]
    print("\n".join(rows))


if __name__ == "__main__":
    main()
