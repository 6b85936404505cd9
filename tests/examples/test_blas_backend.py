"""The example of a backend: products and convolutions by BLAS are right in every form."""

import ctypes.util
from pathlib import Path

import numpy as np
import pytest

from irkit.graph import parse_module
from irkit.phases import check_backend
from tests.codegen.c.build import needs_compiler
from tests.examples.test_tag_innermost_loops import load

WHEEL = Path(np.__file__).parent.parent / "numpy.libs"
HAS_BLAS = any(WHEEL.glob("libscipy_openblas64_*")) or ctypes.util.find_library("openblas")
pytestmark = [
    needs_compiler,
    pytest.mark.skipif(not HAS_BLAS, reason="there is no OpenBLAS: neither NumPy's nor a system's"),
]
FORMS = """
def main(x: f32[2, 4, 9, 8], w: f32[6, 4, 3, 2], b: f32[6], k: f32[5, 7], v: f32[7, 3], c: f32[3]):
    c1: f32[2, 6, 5, 4] = conv(x, w, strides=(2, 2), pads=(1, 0, 1, 1))
    c2: f32[2, 6, 5, 6] = conv(x, w, b, dilations=(2, 2))
    r1: f32[2, 6, 5, 4] = relu(c1)
    m1: f32[5, 3] = matmul(k, v)
    m2: f32[5, 3] = add(c, m1)
    r2: f32[5, 3] = relu(m2)
    t = (r1, c2, r2)
    return t
"""


def test_every_form_is_computed_rightly() -> None:
    found = check_backend(parse_module(FORMS), load("blas_backend").blas, samples=3)
    assert set(found) == {"conv_relu", "conv", "matmul_add_relu"}
    assert set(found.values()) == {""}


@pytest.mark.long
def test_it_runs(capsys: pytest.CaptureFixture[str]) -> None:
    load("blas_backend").main()
    printed = capsys.readouterr().out
    assert "checked: {'conv_relu': 'right', 'matmul_add': 'right'}" in printed
    assert "kernels: conv_relu, reshape, matmul_add, softmax" in printed
