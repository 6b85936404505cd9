"""Targets are completed from this machine; names unknown to LLVM are rejected, not ignored."""

import numpy as np
import pytest

from irkit.codegen import (
    assembly,
    compile_object,
    complete_target,
    emit,
    host_target,
    optimise,
    runnable_target,
)
from irkit.codegen.llvm.compiler import host
from irkit.core import IRKitError, Target
from irkit.ir import F32, Buffer, Const, For, PrimFunc, Store, Var, index
from irkit.runtime import compile_functions

i = Var("i")
A, C = (Buffer(name, (index(4096),), F32) for name in "AC")
TWICE = PrimFunc("twice", (A, C), For(i, index(0), index(4096), Store(C, (i,), A[i] * 2.0)))


def test_an_empty_target_means_this_machine() -> None:
    assert complete_target(Target()) == host_target()
    assert complete_target(Target(opt_level=1)).opt_level == 1


def test_given_features_change_those_of_the_machine() -> None:
    features = complete_target(Target(features=("-avx512f",))).features
    assert "-avx512f" in features
    assert "+avx512f" not in features


@pytest.mark.parametrize("cpu", ["nonsense", "a,b", "help "])
def test_an_unknown_processor_is_an_error(cpu: str) -> None:
    with pytest.raises(IRKitError, match="processor"):
        complete_target(Target(cpu=cpu))


def test_an_unknown_feature_is_an_error() -> None:
    with pytest.raises(IRKitError, match="feature 'bogus'"):
        complete_target(Target(features=("+bogus",)))


def test_an_unknown_triple_is_an_error() -> None:
    with pytest.raises(IRKitError, match="triple 'pdp11-dec-unix'"):
        complete_target(Target(triple="pdp11-dec-unix"))


def test_code_for_another_processor_runs_if_it_can() -> None:
    got = np.zeros(4096, "f4")
    target = Target(cpu="x86-64" if host_target().triple.startswith("x86") else "generic")
    compile_functions({"twice": TWICE}, target)(np.ones(4096, "f4"), got)
    assert got.sum() == 8192


def test_code_for_another_kind_of_machine_does_not_run() -> None:
    kernel = compile_functions({"twice": TWICE}, Target(triple="riscv64-unknown-linux-gnu"))[
        "twice"
    ]
    with pytest.raises(IRKitError, match="which this process cannot run"):
        kernel(np.ones(4096, "f4"), np.zeros(4096, "f4"))
    assert kernel.object_files()[0][:4] == b"\x7fELF"
    with pytest.raises(IRKitError, match="cannot run on this machine"):
        runnable_target(kernel.target)


def test_a_feature_that_this_machine_lacks_is_an_error() -> None:
    missing = next(f[1:] for f in host_target().features if f[0] == "-")
    with pytest.raises(IRKitError, match="lacks the feature"):
        runnable_target(Target(features=(f"+{missing}",)))


@pytest.mark.parametrize("level", range(4))
def test_every_level_of_optimisation_gives_the_same(level: int) -> None:
    got = np.zeros(4096, "f4")
    compile_functions({"twice": TWICE}, Target(opt_level=level))(np.ones(4096, "f4"), got)
    assert got.sum() == 8192


def test_a_scalar_loop_is_vectorised() -> None:
    target = complete_target(
        Target(features=("+avx512f", "+avx512vl", "+avx2", "+avx", "+evex512")[:4])
    )
    if not host_target().triple.startswith("x86"):
        pytest.skip("looks for x86 registers")
    assert "%zmm" in assembly(emit([TWICE], target), target)


def test_text_that_is_not_llvm_ir_is_an_error() -> None:
    with pytest.raises(IRKitError, match="not valid LLVM IR"):
        compile_object("define nonsense", host_target())
    broken = "define i32 @f() {\n  %a = add i32 %b, 1\n  %b = add i32 %a, 1\n  ret i32 %b\n}\n"
    with pytest.raises(IRKitError, match="not valid LLVM IR"):
        compile_object(broken, host_target())


def test_two_modules_in_a_row_do_not_share_a_pass_manager() -> None:
    # LLVM aborts the process if one pass manager runs twice.
    for _ in range(3):
        optimise(emit([TWICE], host_target()), host_target())


def test_object_files_for_other_machines_can_be_made() -> None:
    small = PrimFunc("set", (C,), Store(C, (index(0),), Const(1.0, F32)))
    target = complete_target(Target(cpu="x86-64-v3"))
    assert compile_object(emit([small], target), target)[:4] == b"\x7fELF"
    other = complete_target(Target(triple="aarch64-unknown-linux-gnu"))
    assert compile_object(emit([small], other), other)[:4] == b"\x7fELF"


@pytest.mark.parametrize(("answer", "sign"), [(0, "+"), (-1, "-")])
def test_tiles_count_only_where_the_system_gives_them(
    answer: int, sign: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[tuple[int, ...]]()

    class Library:
        def __init__(self, name: None) -> None:
            assert name is None

        def syscall(self, *numbers: int) -> int:
            asked.append(numbers)
            return answer

    found = {"amx-tile": True, "amx-int8": True, "avx2": True}
    monkeypatch.setattr(host.llvm_binding, "get_host_cpu_features", lambda: found)
    monkeypatch.setattr(host.ctypes, "CDLL", Library)
    monkeypatch.setattr(host.sys, "platform", "linux")
    features = host.host_target.__wrapped__().features
    assert features == (f"{sign}amx-int8", f"{sign}amx-tile", "+avx2")
    assert asked == [(158, 0x1023, 18)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("-cpu=neoverse-v9", "processor 'neoverse-v9' for aarch64-linux-gnu\n  Did you mean 'neo"),
        ("-cpu=neoverse-v1 -features=+sve9", "feature 'sve9' for aarch64-linux-gnu\n  Did you me"),
        ("-cpu=nonsense", "processor 'nonsense' for aarch64-linux-gnu\n  This machine is"),
    ],
)
def test_a_wrong_name_of_another_architecture_gets_the_nearest(text: str, wanted: str) -> None:
    with pytest.raises(IRKitError) as error:
        complete_target(Target(f"llvm -triple=aarch64-linux-gnu {text}"))
    assert wanted in str(error.value)
