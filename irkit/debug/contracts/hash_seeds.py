"""Passes run again in a process with another hash seed."""

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence

from irkit.core import IRKitError, IRModule
from irkit.debug.contracts.hash_seed_child import Job, outcomes
from irkit.transform import IR, AnyPass


def hash_seed_differences(
    jobs: Sequence[tuple[AnyPass, Sequence[IR]]], seed: int
) -> list[list[int]]:
    """Run passes in a process with another hash seed; list the programs whose results differ.

    There is one list of program numbers for each pass. Programs are sent as text. Raises:
    IRKitError if the process cannot import a pass.
    """
    made = [_job(p, programs) for p, programs in jobs]
    here = [outcomes(job) for job in made]
    paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
    child = subprocess.run(
        [sys.executable, "-m", "irkit.debug.contracts.hash_seed_child"],
        input=pickle.dumps(made),
        env={**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": str(seed)},
        capture_output=True,
        check=False,
    )
    if child.returncode:
        last = child.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise IRKitError(f"passes cannot be run in another process: {last}")
    there: list[list[str]] = pickle.loads(child.stdout)
    return [
        [at for at, pair in enumerate(zip(*both, strict=True)) if pair[0] != pair[1]]
        for both in zip(here, there, strict=True)
    ]


def _job(p: AnyPass, programs: Sequence[IR]) -> Job:
    return p, [(isinstance(ir, IRModule), ir.script()) for ir in programs]
