"""A function that does not fit its call is refused."""

import re

import pytest

import irkit
from irkit.core import IRKitError
from irkit.graph import Builder, tensor_type
from tests.runtime.models import kernel, module


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def f(A: f32[4], n: i64, B: f32[4]):\n    B[0] = f32(0.0)\n", "takes the number 'n'"),
        ("def f(n: i64, B: f32[4]):\n    B[n] = f32(0.0)\n", "'f' takes the number 'n'"),
        ("def f(A: f32[n], B: f32[n + 1]):\n    B[0] = A[0]\n", "takes 'B' of another shape"),
        ("def f(A: f32[4], B: f32[4]):\n    A[0] = B[0]\n", "'f' writes to 'A', which is no"),
        ("def f(A: f32[5], B: f32[4]):\n    B[0] = A[4]\n", "parameter 0 is f32[5]"),
        ("def f(A: f32[4], B: i64[4]):\n    B[0] = i64(A[3])\n", "parameter 1 is i64[4]"),
    ],
)
def test_a_function_that_does_not_fit_its_call_is_refused(text: str, words: str) -> None:
    b = Builder()
    y = b.invoke("f", b.param("x", (4,)), type=tensor_type((4,)))
    with pytest.raises(IRKitError, match=re.escape(words)):
        irkit.compile(module(b.finish(y), f=kernel(text)))
