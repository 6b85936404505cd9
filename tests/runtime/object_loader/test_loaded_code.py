"""Object files are loaded without LLVM as ORC links them, and damage is an error."""

import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from ctypes import CFUNCTYPE, addressof, c_double, c_int64
from typing import Any

import numpy as np
import pytest

import irkit
from irkit.codegen import NEVER_USED, host_target
from irkit.codegen.llvm.compiler.cpuinfo import described_host, features_of
from irkit.core import DTypeError, IRKitError
from irkit.runtime import jit, object_for
from irkit.runtime.object_loader import LoadedCode
from irkit.runtime.object_loader.relocation import relocated
from tests.runtime.models import kernel

TEXT = """
def f(x: f64[n], y: f64[n]):
    for i in parallel(0, n):
        y[i] = exp(x[i]) + f64(3.0)
"""


def objects(text: str) -> list[bytes]:
    return irkit.build(kernel(text)).object_files()[:1]


def object_of(llvm_text: str) -> bytes:
    return object_for(llvm_text, host_target())


def test_kernels_and_their_stubs_run(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.linspace(-2, 2, 5000)
    found, loaded = list[Any](), list[LoadedCode]()

    def link(images: Sequence[bytes], names: Sequence[str], known: Mapping[str, int]) -> LoadedCode:
        loaded.append(LoadedCode(images, names, known))
        return loaded[-1]

    monkeypatch.setattr(jit, "LoadedCode", link)
    for has_llvm in (True, False):
        monkeypatch.setattr(jit, "has_llvm", lambda has=has_llvm: has)
        y = np.zeros_like(x)
        run = irkit.build(kernel(TEXT))
        run(x, y)
        found.append(y)
        with pytest.raises(DTypeError, match="must hold float64"):
            run(x, y.astype(np.float32))
    assert len(loaded) == 1
    np.testing.assert_array_equal(found[0], found[1])


def test_a_call_far_away_goes_through_a_jump_and_data_through_a_slot() -> None:
    near = object_of(
        "@there = external global i64\n@own = internal global i64 5\n"
        "declare double @exp(double)\ndeclare double @far(double)\n"
        "define i64 @sum() {\n  %a = load i64, ptr @there\n  %b = load i64, ptr @own\n"
        "  %c = add i64 %a, %b\n  store i64 %c, ptr @own\n  ret i64 %c\n}\n"
        "define double @both(double %x) {\n  %y = call double @exp(double %x)\n"
        "  %z = call double @far(double %y)\n  ret double %z\n}\n"
    )
    other = object_of("define double @far(double %x) {\n  %y = fneg double %x\n  ret double %y\n}")
    there = c_int64(37)
    code = LoadedCode([near, other], ["sum", "both"], {"there": addressof(there)})
    total = CFUNCTYPE(c_int64)(code["sum"])
    assert [total(), total()] == [42, 79]
    assert CFUNCTYPE(c_double, c_double)(code["both"])(1.0) == -float(np.exp(1.0))


def test_what_is_missing_or_defined_twice_is_named() -> None:
    calls = object_of("declare i32 @nowhere()\ndefine i32 @f() {\n  %r = call i32 @nowhere()\n"
                      "  ret i32 %r\n}")  # fmt: skip
    with pytest.raises(IRKitError, match="nothing defines 'nowhere'"):
        LoadedCode([calls], ["f"], {})
    one = object_of("define i32 @f() {\n  ret i32 1\n}")
    with pytest.raises(IRKitError, match="'f' is defined twice"):
        LoadedCode([one, one], ["f"], {})
    with pytest.raises(IRKitError, match="does not define 'g'"):
        LoadedCode([one], ["g"], {})
    with pytest.raises(IRKitError, match="start-up code or variables of a thread"):
        LoadedCode([object_of("@x = thread_local global i32 1")], [], {})


def test_damage_is_an_error_and_nothing_else() -> None:
    (whole,) = objects(TEXT)
    draw = random.Random(7)
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(draw.randint(1, 4)):
            data[draw.randrange(len(data))] = draw.choice((0, 1, 0x7F, 0xFF, draw.randrange(256)))
        if draw.random() < 0.3:
            del data[draw.randrange(len(data)) :]
        with suppress(IRKitError):
            LoadedCode([bytes(data)], ["f"], {"irkit.parallel": 0x1000})


def test_relocations_are_those_of_the_abi() -> None:
    assert relocated(2, 0x2000, -4, 0x1000) == (0xFFC).to_bytes(4, "little")
    assert relocated(4, 0x1000, -4, 0x2000) == (-0x1004).to_bytes(4, "little", signed=True)
    assert relocated(1, 1 << 40, 8, 0) == ((1 << 40) + 8).to_bytes(8, "little")
    assert relocated(24, 0x10, 0, 0x20) == (-16).to_bytes(8, "little", signed=True)
    with pytest.raises(IRKitError, match="cannot reach"):
        relocated(2, 1 << 40, 0, 0)
    with pytest.raises(IRKitError, match="kind 99"):
        relocated(99, 0, 0, 0)


def test_linux_describes_the_features_that_llvm_finds() -> None:
    found = {each[1:] for each in host_target().features if each[0] == "+"}
    assert {each[1:] for each in described_host().features} == found - NEVER_USED
    assert described_host().triple == host_target().triple


def test_features_follow_the_flags_of_a_processor() -> None:
    found = features_of("processor : 0\nflags\t\t: lm pni sse4_1 avx512_bf16 amx_tile aes\n")
    assert found == ("+64bit", "+amx-tile", "+avx512bf16", "+sse3", "+sse4.1")
    assert features_of("") == ()
