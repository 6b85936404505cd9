"""What each backend wants legalised: the passes after phase 3 that it needs, with their options.

A backend is a kind of target. What it does not declare, its code generator takes as it is: C and
the languages of devices write a function such as ``exp`` as a helper of its own, whose body is the
same expansion.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Union

from irkit.codegen.llvm.compiler.host import complete_target
from irkit.core import Target
from irkit.ir.math import math_features

Options = Mapping[str, Union[bool, int, str]]
_NONE: Mapping[str, Options] = MappingProxyType({})


def legalisation(target: Target) -> Mapping[str, Options]:
    """Return the names of the legalisation passes that a target needs, each with its options."""
    if target.kind != "llvm":
        return _NONE
    whole = complete_target(target)
    features = math_features(whole)
    wanted: dict[str, Options] = {
        "expand-functions": {"fuses": features.fuses, "scales": features.scales}
    }
    if whole.triple.startswith("wasm32"):
        wanted["widen-shifts"] = {}
    return wanted
