"""The function that draws a call, for each primitive."""

from collections.abc import Callable
from types import ModuleType

from irkit.fuzz.generators.schedules import (
    block_draws,
    buffer_draws,
    lookup_draws,
    loop_draws,
    mark_draws,
)
from irkit.fuzz.generators.schedules.site import Site
from irkit.schedule import PRIMITIVES

Drawer = Callable[[Site], object]

WITHOUT: dict[str, str] = {}
"""Primitives that are not drawn, and why."""


def _drawers(*families: ModuleType) -> dict[str, Drawer]:
    return {
        name: value
        for family in families
        for name, value in vars(family).items()
        if name in PRIMITIVES
    }


DRAWERS: dict[str, Drawer] = _drawers(
    loop_draws, mark_draws, block_draws, buffer_draws, lookup_draws
)
"""For each primitive, the function that draws its arguments and calls it."""
