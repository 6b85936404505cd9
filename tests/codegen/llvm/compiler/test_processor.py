"""Features implied by the name of a processor and the flags beside it."""

import re

import pytest

from irkit.codegen import (
    assembly,
    compile_object,
    complete_target,
    emit,
    host_target,
    runnable_target,
)
from irkit.core import Target
from irkit.ir import PrimFunc, parse
from irkit.processes import Child, Limits

ADD = parse(
    "def add(A: f32[1024], B: f32[1024]):\n"
    "    for i in serial(0, 1024):\n        B[i] = A[i] + f32(1.0)\n"
)
x86 = pytest.mark.skipif(
    not host_target().triple.startswith("x86_64"), reason="features of x86-64 processors"
)


def added(target: Target) -> set[str]:
    return {feature[1:] for feature in complete_target(target).features if feature[0] == "+"}


@x86
def test_a_processor_has_the_features_of_its_name() -> None:
    assert {"avx2", "fma", "bmi2"} <= added(Target(cpu="x86-64-v3"))
    assert "avx512f" not in added(Target(cpu="x86-64-v3"))
    assert {"avx512f", "avx512bw"} <= added(Target(cpu="skylake-avx512"))
    assert not {"avx", "sse4.2"} & added(Target(cpu="x86-64"))


@x86
def test_a_feature_brings_what_it_implies() -> None:
    assert {"avx512bw", "avx512f", "avx2"} <= added(Target(cpu="x86-64", features=("+avx512bw",)))


@x86
def test_switching_a_feature_off_switches_off_what_implies_it() -> None:
    assert not {name for name in added(Target(features=("-avx512f",))) if name[:6] == "avx512"}
    without = complete_target(Target(cpu="skylake-avx512", features=("-avx2",)))
    assert "-avx2" in without.features
    assert "+avx512f" not in without.features


@x86
@pytest.mark.parametrize(
    ("features", "registers"), [(("-avx512f",), "xy"), (("-avx512f", "-avx"), "x")]
)
def test_code_uses_no_register_that_was_switched_off(
    features: tuple[str, ...], registers: str
) -> None:
    assert isinstance(ADD, PrimFunc)
    for target in (
        complete_target(Target(features=features)),
        runnable_target(Target(features=features)),
    ):
        text = assembly(emit([ADD], target), target)
        assert set(re.findall(r"%([xyz])mm\d", text)) <= set(registers)


@x86
def test_a_comparison_of_i64_compiles_for_sse() -> None:
    """LLVM 22 does not end if a processor without AVX is given AVX-512."""
    func = parse(
        "def f(A: i64[4], B: i64[4], C: f32[16]):\n"
        "    for i in serial(0, 4):\n        for j in serial(0, 4):\n"
        "            C[i * 4 + j] = cast(A[j] == B[i], f32)\n"
    )
    assert isinstance(func, PrimFunc)
    target = runnable_target(Target(cpu="x86-64-v2", opt_level=2))
    with Child(Limits(20.0)) as child:
        assert child.call(compile_object, emit([func], target), target)[:4] == b"\x7fELF"


@x86
@pytest.mark.parametrize(("cpu", "registers"), [("x86-64-v2", "x"), ("x86-64-v3", "xy")])
def test_code_that_runs_here_for_a_lesser_processor_has_its_registers_only(
    cpu: str, registers: str
) -> None:
    assert isinstance(ADD, PrimFunc)
    target = runnable_target(Target(cpu=cpu))
    text = assembly(emit([ADD], target), target)
    assert set(re.findall(r"%([xyz])mm\d", text)) <= set(registers)
    assert added(target) <= added(Target(cpu=cpu))


@pytest.mark.parametrize(
    "target",
    [
        Target(),
        Target(cpu="generic"),
        *([Target(features=("-avx2",)), Target(cpu="x86-64-v4", features=("-avx2", "+adx"))]),
    ],
)
@x86
def test_completing_a_complete_target_changes_nothing(target: Target) -> None:
    assert complete_target(complete_target(target)) == complete_target(target)
    assert complete_target(runnable_target(target)) == runnable_target(target)
