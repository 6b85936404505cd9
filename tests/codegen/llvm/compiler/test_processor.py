"""Features implied by the name of a processor and the flags beside it."""

import re

import pytest

from irkit.codegen import assembly, complete_target, emit, host_target, runnable_target
from irkit.core import Target
from irkit.ir import PrimFunc, parse

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
@pytest.mark.parametrize(("cpu", "registers"), [("x86-64-v2", "x"), ("x86-64-v3", "xy")])
def test_code_that_runs_here_for_a_lesser_processor_has_its_registers_only(
    cpu: str, registers: str
) -> None:
    assert isinstance(ADD, PrimFunc)
    target = runnable_target(Target(cpu=cpu))
    text = assembly(emit([ADD], target), target)
    assert set(re.findall(r"%([xyz])mm\d", text)) <= set(registers)
    named = complete_target(Target(cpu=cpu)).features
    assert {each for each in target.features if each[0] == "+"} <= set(named)


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
