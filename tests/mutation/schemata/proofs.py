"""Proofs of irkit's arithmetic, run with a mutant on: one that they refute is found.

`tests/proof` proves the code itself: the range of each operation, the folding of constants, and the
rules for sums and quotients. Each mutant runs them in a process that imports its source.
"""

import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest

from tests.mutation.changes.mutant import Mutant
from tests.mutation.changes.sample import MutantName, find_mutant
from tests.mutation.schemata.campaign import Tally
from tests.mutation.schemata.loading import compile_mutant, import_anew

PROVED_MODULES = "irkit.ir.arith."
PROOFS = (
    "tests/proof/test_transfer_functions.py",
    "tests/proof/test_folds.py",
    "tests/proof/test_sum_rules.py",
    "tests/proof/test_smallest_ranges.py",
)
_ROOT = Path(__file__).parents[3]
_SECONDS = 600.0
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


def prove_rest(tallies: Sequence[Tally], progress: Callable[[str], object]) -> None:
    """Run the proofs for each mutant of arithmetic that no case found."""
    for tally in tallies:
        if tally.found is None and tally.mutant.module.startswith(PROVED_MODULES):
            tally.proof = refuting_test(tally.mutant)
            progress(f"{tally.proof or 'no proof refutes'}: {tally.mutant.name}")


def refuting_test(mutant: Mutant) -> str:
    """Return the first test of a proof that fails with a mutant on; an empty string if none does.

    A mutant with which the proofs do not end counts as not refuted.
    """
    name = MutantName(mutant.module, mutant.definition, mutant.what, mutant.nth)
    try:
        ran = subprocess.run(
            [sys.executable, "-m", __name__, msgspec.json.encode(name).decode()],
            cwd=_ROOT,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return ""
    failed = _FAILED.search(ran.stdout)
    return (
        failed[1] if failed is not None and ran.returncode == pytest.ExitCode.TESTS_FAILED else ""
    )


def _run_proofs(text: str) -> int:
    mutant = find_mutant(msgspec.json.decode(text, type=MutantName))
    assert mutant is not None
    import_anew({mutant.module: compile_mutant(mutant)}, [])
    # Plain assertions: to rewrite those of a plugin, pytest would import irkit from its files.
    how = ("-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--assert=plain")
    return int(pytest.main([*how, *PROOFS]))


if __name__ == "__main__":
    sys.exit(_run_proofs(sys.argv[1]))
