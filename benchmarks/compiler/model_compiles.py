"""Compile time and memory of whole models, each in a process of its own: nothing kept, on one
process and on several; kernels kept; the model kept.

    python -m benchmarks.compiler.model_compiles resnet50 densenet121 vgg19 bert12

The networks are those of ``benchmarks.native_code.networks``. Memory is the largest resident set of
the process, its forks' pages that are not shared left out.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from benchmarks.native_code.networks import network

_MAKE = """
import sys
from pathlib import Path
from benchmarks.native_code.networks import network
network(sys.argv[1], Path(sys.argv[2]))
"""
_CHILD = """
import json, resource, sys, time
start = time.perf_counter()
import irkit
from irkit import compile
loaded = time.perf_counter()
model = compile(sys.argv[1])
done = time.perf_counter()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps([loaded - start, done - loaded, peak, model.plan.param_bytes]))
"""


def measure(path: Path, cache: str, jobs: str = "") -> list[float]:
    """Compile in a process of its own; return the seconds to import and to compile, the peak of
    memory and the bytes of the weights."""
    env = {**os.environ, "IRKIT_CACHE": "0", "IRKIT_COMPILE_JOBS": jobs}
    if cache:
        env |= {"IRKIT_CACHE": "1", "IRKIT_CACHE_DIR": cache}
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(path)], env=env, check=True, capture_output=True
    )
    return json.loads(done.stdout)


def compiles(name: str, path: Path, cache: Path) -> Iterable[str]:
    """Yield a line for each way to compile a model."""
    cache.mkdir(mode=0o700)
    measure(path, str(cache))
    models = list(cache.glob("*.model"))
    ways = {
        "nothing kept": ("", ""),
        "nothing kept, one process": ("", "1"),
        "the model kept": (str(cache), ""),
        "its kernels kept": (str(cache), ""),
    }
    for way, (folder, jobs) in ways.items():
        if way == "its kernels kept":
            for each in models:
                each.unlink()
        importing, seconds, peak, weights = measure(path, folder, jobs)
        yield (
            f"{name}, {way}: {seconds:.2f} s after {importing:.2f} s to import, "
            f"peak {peak / 1e6:.0f} MB, weights {weights / 1e6:.0f} MB"
        )


def main(names: Iterable[str]) -> None:
    """Print the lines of some models."""
    with tempfile.TemporaryDirectory(prefix="irkit-") as folder:
        for name in names:
            # In a process of its own: a child's peak of memory is no less than its parent's was.
            subprocess.run([sys.executable, "-c", _MAKE, name, folder], check=True)
            path = network(name, Path(folder))
            for line in compiles(name, path, Path(folder) / name):
                print(line, flush=True)
            path.unlink()


if __name__ == "__main__":
    main(sys.argv[1:] or ["squeezenet", "resnet50", "densenet121"])
