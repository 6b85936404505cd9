"""The table of target by suite: what it says, and that a suite without a case is a failure."""

from tests.targets import suites
from tests.targets.pairs import BatchResult


def test_a_suite_of_which_no_case_ran_fails_and_what_is_missing_is_named() -> None:
    good = {suite: BatchResult("host", 0, ran=7) for suite in suites.SUITES}
    bad = {
        **good,
        "nodes": BatchResult("c@gcc", 0, refused=9),
        "check": BatchResult("c@gcc", 0, ran=5, wrong=["differs"], away=1),
    }
    found = {"host -opt-level=2": good, "c@gcc": bad}
    assert suites.failures(found) == [
        "c@gcc: no case of the suite 'nodes' ran",
        "c@gcc, check: differs",
    ]
    assert suites.table(found, {"wasm32": "apt install lld"}).splitlines()[2:] == [
        "| host | 7 of 7 | 7 of 7 | 7 of 7 | 7 of 7 |",
        "| c@gcc | 7 of 7 | no case | 7 of 7 | 4 of 5 (1 times the emulator failed) |",
        "| wasm32 | not run: apt install lld |  |  |  |",
    ]


def test_the_networks_have_kernels_of_each_kind_of_floats() -> None:
    kernels = [case.func for case in suites.network_kernels()]
    kinds = {str(func.params[0].dtype) for func in kernels}
    assert kinds == {"f32", "f16", "bf16"}
    assert len(kernels) == 27
