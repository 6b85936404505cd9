"""Nothing that a test compiles comes from, or stays in, the user's cache; every test draws the same
numbers, whichever ran before it."""

import gc
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from tests.draws import LONG, few_or_all
from tests.shared import objects
from tests.shared.folder import FOLDER, once
from tests.wheels import build_wheel

os.environ["IRKIT_CACHE"] = "0"
os.environ.setdefault("IRKIT_COMPILE_JOBS", "1")  # Tests run side by side already.
# A mistake in a rule of the automatic schedule would only be a remark that no test reads.
os.environ["IRKIT_SCHEDULE_ERRORS"] = "raise"

objects.install()
# Of what is imported and collected from here on nothing is garbage.
gc.disable()

# The long run draws anew each time; the short one gives the same on each machine, however slow.
settings.register_profile(
    "irkit",
    max_examples=few_or_all(40, 100),
    deadline=None,
    derandomize=not LONG,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("irkit")


@pytest.fixture(autouse=True)
def same_numbers(request: pytest.FixtureRequest) -> None:
    """Set back the generator that a module keeps as ``RNG``."""
    generator = getattr(request.module, "RNG", None)
    if generator is not None:
        generator.bit_generator.state = np.random.default_rng(7).bit_generator.state


@pytest.fixture(scope="session")
def irkit_wheel() -> Path:
    """Build the wheel of irkit, once for all tests that install it or look into it."""
    return once("wheel", lambda: build_wheel(Path(__file__).parents[1], FOLDER))


def pytest_collection_finish() -> None:
    """Leave ten thousand tests and their modules out of each later garbage collection, and collect
    seldom: to parse all of irkit took twice as long as without collections."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()
