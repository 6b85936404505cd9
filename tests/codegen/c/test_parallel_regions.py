"""Parallel loops of C run in parts, in any order: also those that allocate, and those that fail."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from irkit.core import IRKitError
from irkit.fuzz import arguments
from irkit.ir import interpret, parse
from irkit.phases import DEFAULT
from tests.codegen.c.build import CLibrary, needs_compiler
from tests.codegen.c.test_c_source import drawn, outcome
from tests.draws import few_or_all

pytestmark = needs_compiler
BACKWARDS = """
static int loops_run;
static int backwards(void *context, int64_t begin, int64_t end, irkit_body body, void *data) {
    (void)context;
    ++loops_run;
    for (int64_t last = end; last > begin; last -= 3) {
        body(data, last - 3 > begin ? last - 3 : begin, last);
    }
    return 0;
}
int use_backwards(void) {
    static const irkit_pool pool = {backwards, NULL};
    irkit_host = &pool;
    loops_run = 0;
    return 0;
}
int loops_run_backwards(void) { return loops_run; }
"""
FAILS = """
def f(A: i32[64], C: i32[64, 2000]):
    for i in parallel(0, 64):
        T = alloc(i32[40000])
        for j in serial(0, 2000):
            T[j * 20] = A[i] + cast(j, i32)
        assert A[i] != 7, "seven"
        assert A[i] != 9, "nine"
        for j in serial(0, 2000):
            C[i, j] = T[j * 20]
"""


def test_a_loop_that_allocates_and_fails_ends_as_serial_code_does(tmp_path: Path) -> None:
    func = DEFAULT.run(parse(FAILS))
    library = CLibrary([func], tmp_path, hosted=True, more=BACKWARDS)
    library.library.use_backwards()
    a = np.arange(100, 164, dtype="i4")
    wanted, found = np.zeros((64, 2000), "i4"), np.zeros((64, 2000), "i4")
    interpret(func, a, wanted)
    library.call(func, a, found)
    assert library.library.loops_run_backwards() == 1
    np.testing.assert_array_equal(found, wanted)
    for first, second, said in ((7, 9, "returned 1"), (9, 7, "returned 2")):
        a[10], a[40] = first, second
        found[:] = 0
        with pytest.raises(IRKitError, match=said):
            library.call(func, a, found)
        np.testing.assert_array_equal(found[:9], wanted[:9])


def test_random_programs_whose_loops_run_backwards(tmp_path: Path) -> None:
    funcs = [DEFAULT.run(func) for func in drawn(few_or_all(12, 400), 31)]
    library = CLibrary(funcs, tmp_path, hosted=True, more=BACKWARDS)
    for func in funcs:
        for number in (1, 2):
            args = arguments(func, seed=number)

            def run(*given: Any, f: Any = func) -> None:
                library.library.use_backwards()
                library.call(f, *given)

            expected = outcome(lambda *a, f=func: interpret(f, *a), args)
            for one, other in zip(outcome(run, args), expected, strict=True):
                np.testing.assert_array_equal(one, other)
