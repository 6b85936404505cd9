"""Nothing that a test compiles comes from, or stays in, the user's cache; long tests wait to be
asked for."""

import os

import pytest

os.environ["IRKIT_CACHE"] = "0"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what is marked long, unless IRKIT_LONG=1."""
    if os.environ.get("IRKIT_LONG") == "1":
        return
    skip = pytest.mark.skip(reason="long: runs with IRKIT_LONG=1, as `make test-long` does")
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(skip)
