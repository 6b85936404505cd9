"""docs/backends.md: its backend computes what it claims."""

from typing import Any

import numpy as np
import pytest

from irkit.graph import parse_module
from tests.codegen.c.build import needs_compiler
from tests.docs.pages import ROOT, blocks_of

PAGE = ROOT / "docs" / "backends.md"
MODEL = """
def main(x: f32[6]):
    one: f32[1] = constant([1.0])
    e: f32[6] = exp(x)
    s: f32[6] = add(e, one)
    y: f32[6] = log(s)
    return y
"""


@needs_compiler
def test_the_python_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    scope: dict[str, Any] = {"module": parse_module(MODEL), "__name__": "my_backends"}
    for block in blocks_of(PAGE):
        if block.kind == "python":
            exec(block.text, scope)
    printed = capsys.readouterr().out.strip()
    assert printed == "{'exp_add_log': ''}"
    assert printed in PAGE.read_text()
    x = np.linspace(-3, 3, 6, dtype=np.float32)
    np.testing.assert_allclose(scope["model"].run({"x": x})["y"], np.log1p(np.exp(x)), 1e-6)
