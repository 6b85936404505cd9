"""ONNX's own suite, which takes five seconds to make and a tenth of one to read."""

from functools import cache
from typing import Any

from irkit.fuzz.generators.onnx_models import suite_cases
from tests.shared.folder import once

_make = suite_cases.shipped_cases


@cache
def _shipped_cases() -> tuple[Any, ...]:
    return once("onnx-cases", _make)


def install() -> None:
    """Share the suite from now on."""
    suite_cases.shipped_cases = _shipped_cases
