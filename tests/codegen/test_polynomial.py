"""Our own exp, tanh and erf are as near as the semantics ask, everywhere, and keep NaN."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from irkit.codegen import assembly, emit, host_target
from irkit.core import Target
from irkit.ir import F32, call
from tests.codegen.cases import compiled, elementwise

TRUE: dict[str, Callable[..., Any]] = {
    "exp": np.exp,
    "tanh": np.tanh,
    "erf": np.frompyfunc(math.erf, 1, 1),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}


def samples() -> Any:
    """Take every 9,973rd float, and the ends."""
    bits = np.arange(0, 1 << 32, 9_973, dtype="u8").astype("u4").view("f4")
    dense = np.linspace(-110, 110, 150_001, dtype="f4")
    ends = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 88.7, 88.8, -87.4, -103.9, -104], "f4")
    found = np.concatenate([bits, dense, ends])
    return np.concatenate([found, found[: -len(found) % 16]])


@pytest.mark.parametrize("lanes", [1, 16])
@pytest.mark.parametrize("name", TRUE)
def test_it_is_within_five_units_in_the_last_place(name: str, lanes: int) -> None:
    x = samples()
    func = elementwise("f", [F32], len(x), lambda a: call(name, a), lanes)
    got = np.zeros_like(x)
    compiled([func], Target(opt_level=2))["f"](x, got)
    with np.errstate(all="ignore"):
        want = TRUE[name](x.astype("f8")).astype("f8")
        near = want.astype("f4")
        unit = np.maximum(np.abs(np.spacing(near.astype("f4"))).astype("f8"), 2.0**-149)
        error = np.abs(got.astype("f8") - want) / unit
    special = ~np.isfinite(near)
    np.testing.assert_array_equal(got[special], near[special])
    tiny = (np.abs(want) < 2.0**-126) & (name == "sigmoid")  # The formula itself gives 0 there.
    assert error[~special & ~tiny].max() <= 5, (x[np.nanargmax(error)], np.nanmax(error))
    zero = got[(x == 0) & ~np.isnan(x)]
    if name in ("tanh", "erf"):
        assert (np.signbit(zero) == np.signbit(x[x == 0])).all()


@pytest.mark.parametrize("name", TRUE)
def test_a_scalar_loop_over_it_becomes_vectors(name: str) -> None:
    target = host_target()
    if not target.triple.startswith("x86"):
        pytest.skip("looks for x86 registers")
    func = elementwise("f", [F32], 4096, lambda a: call(name, a))
    text = assembly(emit([func], target), target)
    assert "call" not in text
    assert "ymm" in text or "zmm" in text
