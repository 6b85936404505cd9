"""Native code as it ships against the interpreter: what LLVM gets wrong is no pass's fault."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from irkit.codegen.wrapping_loops import without_cure
from irkit.core import rewrite
from irkit.debug import CheckOptions, Verdict, bisect, check, verdicts
from irkit.debug.check import check as check_module, code_check, code_trial
from irkit.debug.execution.native_worker import GuardedFunction
from irkit.ir import F32, I32, LOOP_LEVEL, Call, For, Mul, PrimFunc, Store, const, parse
from irkit.phases import DEFAULT
from irkit.transform import Phase, Pipeline, define_pass
from tests.codegen.test_wrapping_loops import INDICES, family, program, wrong
from tests.draws import sampled
from tests.passes.loop.kernels import KERNELS, kernel

ADD = """
def add(A: f32[8], B: f32[8], C: f32[8]):
    for i in serial(0, 8):
        C[i] = A[i] + B[i]
"""
LAST = """
def last(A: f32[8], C: f32[1]):
    for i in serial(0, 8):
        C[0] = A[i]
"""
EXPONENTIALS = """
def exponentials(A: f32[64], C: f32[64]):
    for i in serial(0, 64):
        C[i] = exp(A[i])
"""


def code_of(found: Iterable[Verdict]) -> Verdict:
    """Return the one verdict on native code; those on passes are right."""
    known = list(found)
    assert {each.status for each in known if not each.in_code} <= {"same"}
    (code,) = (each for each in known if each.in_code)
    return code


def code_verdict(text: str, **how: Any) -> Verdict:
    return code_of(check(DEFAULT.steps(parse(text)), code=True, **how))


@pytest.fixture
def miscompile(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that makes shipped code that of a program changed by a rule."""

    def plant(rule: Any, on: Any) -> None:
        class Wrong(GuardedFunction):
            def __init__(self, func: PrimFunc, *, shipped: bool = False) -> None:
                wrong = rewrite(func, rule, on=on) if shipped else func
                super().__init__(wrong, shipped=shipped)

        monkeypatch.setattr(code_trial, "GuardedFunction", Wrong)

    return plant


def scaled(store: Store) -> Store:
    return store.replace(value=Mul(store.value, const(2.0, F32), F32))


@pytest.mark.parametrize("name", sampled(KERNELS, every=6))
def test_the_last_stage_of_each_kernel_compiles_to_what_the_interpreter_computes(
    name: str,
) -> None:
    found = code_of(check(DEFAULT.steps(kernel(name)), code=True, samples=2))
    assert found.status == "same", str(found)


def test_the_row_says_how_the_code_was_made_and_what_it_ran_on() -> None:
    found = code_verdict(ADD)
    assert (found.status, found.basis, found.guilty, found.how) == (
        "same",
        "tested",
        "",
        "native code",
    )
    assert "sets of inputs, compiled at level 3, without contraction" in found.tried
    assert str(found) == "code: 'native code' on 'add': same"


def test_a_function_that_no_pass_changes_is_compiled_too() -> None:
    @define_pass
    def nothing(func: PrimFunc) -> PrimFunc:
        """Do nothing."""
        return func

    pipeline = Pipeline(LOOP_LEVEL, (Phase(0, "only", (nothing,)),))
    assert code_of(check(pipeline.steps(parse(ADD)), code=True)).status == "same"


def test_without_code_only_passes_have_rows() -> None:
    assert not [each for each in check(DEFAULT.steps(parse(ADD))) if each.in_code]
    options = CheckOptions(native=False, code=True)
    assert not [each for each in verdicts(DEFAULT.steps(parse(ADD)), options) if each.in_code]


def test_wrong_numbers_are_the_fault_of_code_generation(miscompile: Any) -> None:
    miscompile(scaled, Store)
    found = code_verdict(ADD)
    assert (found.status, found.guilty, found.buffer) == ("differs", "code generation", "C")
    assert found.message == (
        "code generation (LLVM) is at fault, not a pass: the interpreter computes what is expected"
    )
    assert found.wrong_element in str(found)


def test_code_that_reads_too_far_differs_if_it_computes_other_numbers(miscompile: Any) -> None:
    miscompile(lambda loop: loop.replace(end=loop.end + 1), For)
    whole = LAST.replace("8", "1024")  # A page.
    found = code_verdict(whole)
    assert found.status == "differs"
    assert "between protected pages, the native code crashed its process with SIGSEGV" in str(found)


def test_code_that_crashes_wherever_its_arrays_lie_fails(miscompile: Any) -> None:
    miscompile(lambda loop: loop.replace(end=loop.end * (1 << 20)), For)
    found = code_verdict(ADD)
    assert (found.status, found.guilty) == ("failed", "code generation")
    assert "runs this stage, but the native code crashed its process with SIGSEGV" in found.message


def test_code_that_writes_beside_an_array_leaves_it(miscompile: Any) -> None:
    miscompile(lambda loop: loop.replace(end=loop.end + 1), For)
    text = "def f(C: f32[9]):\n    for i in serial(0, 9):\n        C[i] = f32(1.0)\n"
    found = code_verdict(text)
    assert (found.status, found.guilty) == ("out of bounds", "code generation")
    assert "writes outside of 'C'" in found.message


def test_a_function_with_approximations_is_right_within_their_units() -> None:
    assert code_verdict(EXPONENTIALS).status == "same"


def test_a_wrong_approximation_differs(miscompile: Any) -> None:
    miscompile(lambda e: Mul(e, const(1 + 2.0**-23, e.dtype), e.dtype), Call)
    assert code_verdict(EXPONENTIALS).status == "differs"


def test_the_bits_of_nan_are_not_specified() -> None:
    text = (
        "def f(A: f32[64], C: i32[64]):\n    for i in serial(0, 64):\n"
        "        C[i] = reinterpret(A[i] - A[i], i32)\n"
    )
    assert code_verdict(text).status == "same"


def test_a_difference_beside_the_bits_of_nan_is_found(miscompile: Any) -> None:
    miscompile(lambda s: s.replace(value=s.value + const(1, s.value.dtype)), Store)
    text = (
        "def f(A: f32[64], C: i32[64]):\n    for i in serial(0, 64):\n"
        "        C[i] = reinterpret(A[i] - A[i], i32)\n"
    )
    assert code_verdict(text).status == "differs"


def test_a_result_of_memory_that_nobody_wrote_is_not_known() -> None:
    text = """
def f(C: f32[4]):
    T = alloc(f32[8])
    for i in serial(0, 4):
        T[i] = f32(1.0)
    for i in serial(0, 4):
        C[i] = T[i * 2]
"""
    pipeline = Pipeline(LOOP_LEVEL, (Phase(0, "only", (_keep,)),))
    found = code_of(check(pipeline.steps(parse(text)), code=True))
    assert (found.status, found.guilty) == ("not known", "")
    assert "memory that nobody wrote" in found.message


@define_pass
def _keep(func: PrimFunc) -> PrimFunc:
    """Do nothing."""
    return func


def test_a_race_leaves_no_one_result_to_compare() -> None:
    text = "def f(C: i64[1]):\n    for i in parallel(0, 4):\n        C[0] = i\n"
    pipeline = Pipeline(LOOP_LEVEL, (Phase(0, "only", (_keep,)),))
    found = code_of(check(pipeline.steps(parse(text)), code=True))
    assert found.status == "not known"
    assert "race" in found.message


def test_what_takes_too_long_to_interpret_is_compared_with_code_of_a_lower_level(
    miscompile: Any,
) -> None:
    assert code_verdict(ADD, max_steps=20).status == "same"
    miscompile(scaled, Store)
    found = code_verdict(ADD, max_steps=20)
    assert (found.status, found.guilty) == ("differs", "code generation")
    assert "code of a lower level computes what is expected" in found.message


def test_with_native_every_stage_is_compiled_and_the_first_wrong_one_has_the_row(
    miscompile: Any,
) -> None:
    steps = list(DEFAULT.steps(parse(ADD)))
    miscompile(lambda store: scaled(store) if store.indices[0].dtype == I32 else None, Store)
    found = check(steps, native=True)
    at = next(place for place, each in enumerate(found) if each.in_code)
    assert [each.name for each in found if each.in_code] == ["code"]
    assert (found[at - 1].name, found[at].status) == ("narrow-indices", "differs")
    assert found[at].index == found[at - 1].index


def test_another_process_compares_where_this_one_has_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(code_check, "can_interrupt", lambda: False)
    strided = kernel("STRIDED")
    assert code_of(check(DEFAULT.steps(strided), code=True, samples=2)).status == "same"


def test_bisect_says_that_no_pass_is_at_fault(miscompile: Any) -> None:
    miscompile(scaled, Store)
    found = bisect(DEFAULT, parse(ADD), code=True)
    assert found is not None
    assert (found.run, found.verdict.guilty, found.rewrites) == (None, "code generation", ())
    assert "every pass keeps the meaning" in str(found)


def differing(funcs: Iterable[PrimFunc]) -> list[int]:
    """Return which functions have code that differs; each of their passes is right."""
    found = (code_of(check(DEFAULT.steps(func), code=True, samples=1)) for func in funcs)
    return [at for at, each in enumerate(found) if (each.status, each.guilty) == DIFFERS]


DIFFERS = ("differs", "code generation")


@pytest.mark.parametrize("cured", [False, True])
def test_what_llvm_makes_of_an_index_that_wraps_around_differs_by_default(
    cured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IRKIT_CACHE", "0")
    funcs = [
        program("in two", "remainder", store=True),
        parse(
            "def f(A: f32[32, 32], C: f32[32, 32]):\n    for i in serial(0, 32):\n"
            "        for j in serial(0, 32):\n            if j < 30:\n"
            "                C[i, j] = A[i, j] + A[i, (j + 3) % 32]\n"
        ),
    ]
    if cured:
        assert differing(funcs) == []
        return
    with without_cure():
        assert differing(funcs) == [0, 1]


@pytest.mark.long
def test_each_wrong_program_of_the_family_differs_by_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("IRKIT_CACHE", "0")
    funcs = list(family(INDICES))
    with without_cure():
        assert set(wrong(funcs)) <= set(differing(funcs))
    assert differing(funcs) == []


def test_kernels_of_a_model_beyond_the_limit_are_not_looked_at_and_their_rows_say_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(check_module, "MOST_NODES", 5)
    found = code_of(check(DEFAULT.steps(parse(ADD)), code=True, together=True))
    assert (found.status, found.guilty) == ("not known", "")
    assert found.message.startswith("not looked at: its last stage has ")
    assert code_verdict(ADD).status == "same"
