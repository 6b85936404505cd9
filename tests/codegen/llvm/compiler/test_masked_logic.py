"""Selects between a vector and bits of it are right on processors with AVX-512."""

import ctypes
import re
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from irkit.codegen import assembly, compile_object, complete_target, host_target
from irkit.codegen.llvm.compiler.masked_logic import hide_logic
from irkit.core import Target
from irkit.runtime import link
from tests.draws import few_or_all

AVX512 = Target(cpu="x86-64-v4", triple="x86_64-unknown-linux-gnu")
SIGN = """define void @f(ptr %p, ptr %q, ptr %m, ptr %o) {{
  %a = load {kind}, ptr %p, align 1
  %b = load {kind}, ptr %q, align 1
  %c = load {kind}, ptr %m, align 1
  %test = icmp slt {kind} %c, zeroinitializer
  %x = and {kind} %a, splat ({element} {bits})
  %y = and {kind} %b, splat ({element} {others})
  %z = or {kind} %x, %y
  %s = select <{lanes} x i1> %test, {kind} {choices}
  store {kind} %s, ptr %o, align 1
  ret void
}}
"""


def module(lanes: int, bits: int, mask: int, *, first: str, second: str) -> str:
    """Return a function that chooses between two of its vectors and bits of each."""
    kind = f"<{lanes} x i{bits}>"
    others = (1 << bits) - 1 - mask
    choices = f"{first}, {kind} {second}"
    return SIGN.format(
        kind=kind, element=f"i{bits}", bits=mask, others=others, lanes=lanes, choices=choices
    )


def test_only_a_select_of_logic_and_what_it_reads_is_changed() -> None:
    plain = module(4, 32, 1 << 31, first="%c", second="%z")
    assert hide_logic(plain) is plain
    for first, second in (("%a", "%z"), ("%z", "%b")):
        changed = hide_logic(module(4, 32, 1 << 31, first=first, second=second))
        assert '%irkit.logic1 = call <4 x i32> asm "", "=v,0"(<4 x i32> %z)' in changed
        assert "%z, <4" not in changed.split("%s = ")[1]


def test_casts_signs_and_absolute_values_are_logic() -> None:
    text = """define <4 x float> @f(<4 x float> %x, <4 x float> %y, <4 x i1> %c) {
  %s = call contract <4 x float> @llvm.copysign.v4f32(<4 x float> %x, <4 x float> %y)
  %r = select fast <4 x i1> %c, <4 x float> %s, <4 x float> %y
  ret <4 x float> %r
}
"""
    assert "%irkit.logic1, <4 x float> %y" in hide_logic(text)


@pytest.mark.parametrize("level", [1, 3])
@pytest.mark.parametrize(("lanes", "bits"), [(4, 32), (8, 32), (16, 32), (2, 64), (8, 64)])
def test_no_masked_instruction_is_made_of_them(level: int, lanes: int, bits: int) -> None:
    target = complete_target(msgspec.structs.replace(AVX512, opt_level=level))
    text = module(lanes, bits, 1 << (bits - 1), first="%a", second="%z")
    assert not re.search(r"vpternlog\w+\s.*\{%k\d\}", assembly(text, target))


@settings(max_examples=few_or_all(25, 300), deadline=None)
@given(
    st.sampled_from([(4, 32), (8, 32), (16, 32), (2, 64), (4, 64), (8, 64)]),
    st.integers(0, 2**64 - 1) | st.just(1 << 31 | 1 << 63),
    st.permutations(["%a", "%b", "%z"]),
    st.integers(0, 2**32 - 1),
)
def test_bits_are_chosen_by_lane(
    shape: tuple[int, int], mask: int, choices: list[str], seed: int
) -> None:
    (lanes, bits), (first, second, _) = shape, choices
    mask &= (1 << bits) - 1
    text = module(lanes, bits, mask, first=first, second=second)
    image = compile_object(text, Target(opt_level=1, triple=host_target().triple))
    library = link([image], ["f"])
    kind: Any = np.dtype(f"u{bits // 8}")
    rng = np.random.default_rng(seed)
    a, b, c = (rng.integers(0, 1 << bits, lanes, dtype=np.uint64).astype(kind) for _ in range(3))
    out = np.zeros(lanes, kind)
    run = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(library.address("f"))
    run(*[each.ctypes.data for each in (a, b, c, out)])
    values = {"%a": a, "%b": b, "%z": a & kind.type(mask) | b & kind.type(~mask & (1 << bits) - 1)}
    chosen = c.view(f"i{bits // 8}") < 0
    np.testing.assert_array_equal(out, np.where(chosen, values[first], values[second]))
