"""What each backend wants legalised: the passes after phase 3 that it needs, with their options.

A backend is a kind of target, and for LLVM's text an architecture. What it does not declare, its
code generator takes as it is: LLVM splits vectors by itself, and C and the languages of devices
write a function such as ``exp`` as a helper of their own, whose body is the same expansion. Nothing
computes in floats of 16 bits, so every backend declares ``widen-floats``; a code generator that
gets a function before the legalisation, as a check of a stage does, has it rewritten by the same
rules. Nothing is atomic in loop IR, so there is nothing to declare for atomics: threads meet at the
ends of loops, and at barriers.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Union

from irkit.autoschedule import Machine
from irkit.codegen.llvm.compiler.host import complete_target
from irkit.core import Target
from irkit.ir.math import math_features

Options = Mapping[str, Union[bool, int, str]]
_DEVICE = ("widen-floats", "expand-conversions")
_WANTED: Mapping[str, tuple[str, ...]] = {
    "llvm": ("widen-floats", "expand-functions"),
    "wasm32": (
        "widen-floats",
        "expand-functions",
        "split-vectors",
        "widen-shifts",
        "narrow-addresses",
    ),
    "c": ("widen-floats", "expand-conversions", "split-vectors"),
    "opencl": _DEVICE,
    "cuda": _DEVICE,
    "amdgpu": ("widen-floats",),
}
"""Passes by the kind of a target, or by its architecture where that has a row."""


def legalisation(target: Target) -> Mapping[str, Options]:
    """Return the names of the legalisation passes that a target needs, each with its options."""
    whole = complete_target(target) if target.kind in ("llvm", "c") else target
    family = whole.triple.partition("-")[0]
    wanted = _WANTED.get(family if target.kind == "llvm" else "") or _WANTED[target.kind]
    return {name: _OPTIONS[name](whole) if name in _OPTIONS else _NONE for name in wanted}


def _functions(target: Target) -> Options:
    features = math_features(target)
    return {"fuses": features.fuses, "scales": features.scales}


def _registers(target: Target) -> Options:
    return {"register_bytes": Machine.of_target(target).vector_bytes}


_NONE: Options = MappingProxyType({})
_OPTIONS: Mapping[str, Callable[[Target], Options]] = {
    "expand-functions": _functions,
    "split-vectors": _registers,
}
