"""docs/torch.md, with PyTorch: the long tests run its blocks."""

from importlib.metadata import entry_points
from typing import Any

import numpy as np
import pytest

from tests.docs.pages import ROOT
from tests.docs.test_readme import run_python


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_every_example_of_the_page_on_torch_runs_in_order() -> None:
    pytest.importorskip("torch")
    if not entry_points(group="torch_dynamo_backends", name="irkit"):
        pytest.skip("this irkit was installed before it had the entry point")
    scope: dict[str, Any] = {}
    assert run_python(ROOT / "docs" / "torch.md", scope) == 2
    np.testing.assert_allclose(scope["found"], scope["same"].numpy(), 1e-5, 1e-6)
    with scope["torch"].no_grad():
        want = scope["model"](scope["x"]).numpy()
    np.testing.assert_allclose(scope["found"], want, 1e-4, 1e-5)
