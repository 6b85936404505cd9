"""``python -m tests.mutation.schemata.everything``: run pytest with every mutant of irkit behind a
switch, and none on."""

import sys

import pytest

from tests.mutation.changes.mutant import mutants_of
from tests.mutation.schemata.families import FAMILIES, modules_of
from tests.mutation.schemata.loading import compile_sample, import_anew


def run_tests(args: list[str]) -> int:
    """Run pytest, and return its exit code."""
    modules = [module for family in FAMILIES for module in modules_of(family)]
    chosen = [mutant for module in modules for mutant in mutants_of(module)]
    import_anew(compile_sample(chosen), [])
    return int(pytest.main(args))


if __name__ == "__main__":
    sys.exit(run_tests(sys.argv[1:]))
