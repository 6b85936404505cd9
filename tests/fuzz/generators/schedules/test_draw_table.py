"""Every schedule primitive can be drawn."""

from irkit.fuzz.generators.schedules.draw_table import DRAWERS, WITHOUT
from irkit.schedule import PRIMITIVES


def test_every_primitive_is_drawn_or_has_a_reason_not_to_be() -> None:
    assert set(DRAWERS) | set(WITHOUT) == set(PRIMITIVES)
    assert not set(DRAWERS) & set(WITHOUT)
