"""``python -m benchmarks.schedules.kernels`` measures all on one thread and on two;
``python -m benchmarks.schedules.kernels 1 rows -v`` one part on one thread, each kernel printed.
"""

import os
import subprocess
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.schedules.kernels.case import Case

_THREADS = ("IRKIT", "OMP", "OPENBLAS", "MKL", "NUMBA")
_ROUNDS = 25


def main(arguments: list[str]) -> None:
    """Print the figures of all parts, or of those named."""
    words = [each for each in arguments if each != "-v"]
    if not words:
        for threads in "12":
            # The libraries read the number of threads when they are loaded.
            counts = {f"{name}_NUM_THREADS": threads for name in _THREADS}
            print(f"on {threads} thread{'s' * (threads > '1')}:", flush=True)
            command = [sys.executable, "-m", "benchmarks.schedules.kernels", threads, *arguments]
            subprocess.run(command, env=os.environ | counts | {"IRKIT_CACHE": "0"}, check=True)
        return
    threads = int(words[0])
    from benchmarks.schedules.kernels.compare import summary

    torch: Any = import_module("torch")
    torch.set_num_threads(threads)
    for name, cases in parts(threads).items():
        if name in words[1:] or not words[1:]:
            made = list(cases)
            kinds = dict.fromkeys(case.name.split()[0] for case in made)
            if name == "rows":
                for kind in kinds:
                    some = [case for case in made if case.name.split()[0] == kind]
                    summary(kind, some, _ROUNDS)
            else:
                summary(name, made, _ROUNDS)


def parts(threads: int) -> dict[str, Iterable["Case"]]:
    from benchmarks.schedules.kernels.convolutions import convolutions
    from benchmarks.schedules.kernels.rows import row_kernels

    return {"rows": row_kernels(threads), "convolutions": convolutions(threads)}


if __name__ == "__main__":
    main(sys.argv[1:])
