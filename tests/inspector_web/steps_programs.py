"""The list of passes, blame and search, held against plain readings of the printed texts."""

import pytest

from irkit.inspector_web import Texts
from irkit.phases import trace
from irkit.transform import Trace
from tests.passes.loop.kernels import kernel

KERNELS = ("MATMUL", "SOFTMAX")


@pytest.fixture(scope="module", params=KERNELS)
def texts(request: pytest.FixtureRequest) -> Texts:
    return Texts(Trace(trace(kernel(request.param))))
