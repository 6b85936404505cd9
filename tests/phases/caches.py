"""Caches of tests."""

from pathlib import Path

import pytest

from irkit.passes.graph.support.schedule_cache import SCHEDULES
from irkit.phases.kernels.kernel_cache import KERNELS


def empty_cache(parent: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use an empty folder below another one as the cache, and forget the kernels and
    schedules in memory; return the folder."""
    folder = parent / "cache"
    monkeypatch.setenv("IRKIT_CACHE_DIR", str(folder))
    monkeypatch.setenv("IRKIT_CACHE", "1")
    KERNELS.clear()
    SCHEDULES.clear()
    return folder
