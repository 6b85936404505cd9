"""Nothing that a test compiles comes from, or stays in, the user's cache; every test draws the same
numbers, whichever ran before it."""

import gc
import os

import numpy as np
import pytest

os.environ["IRKIT_CACHE"] = "0"


@pytest.fixture(autouse=True)
def same_numbers(request: pytest.FixtureRequest) -> None:
    """Set back the generator that a module keeps as ``RNG``."""
    generator = getattr(request.module, "RNG", None)
    if generator is not None:
        generator.bit_generator.state = np.random.default_rng(7).bit_generator.state


def pytest_collection_finish() -> None:
    """Leave ten thousand tests and their modules out of each later garbage collection."""
    gc.collect()
    gc.freeze()
