"""A sketch: one way to schedule a block, with knobs, a cost, and a rule for each setting."""

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from irkit.autoschedule import Rule

Setting = Mapping[str, Any]
"""The values of the knobs of one sketch, by their names."""
Knobs = Mapping[str, tuple[Any, ...]]


class Draws(msgspec.Struct, frozen=True):
    """How settings are drawn so that they are legal: from ``plain``, in which each knob does as
    little as it can (the first value of those that are not named), by deciding the knobs that are
    in a tuple of ``together`` at once, and any other alone. ``seldom`` is the chance that a knob,
    or the first of a tuple, keeps its plain value: for those that pay for few tasks."""

    plain: Mapping[str, Any] = {}
    together: tuple[tuple[str, ...], ...] = ()
    seldom: Mapping[str, float] = {}


class Sketch(Protocol):
    """One way to schedule a block."""

    @property
    def name(self) -> str: ...
    @property
    def knobs(self) -> Knobs: ...

    @property
    def start(self) -> Setting | None:
        """The setting that the standard rules would choose, as far as there is one: a search begins
        beside it."""
        ...

    @property
    def draws(self) -> Draws:
        """How its settings are drawn."""
        ...

    def allows(self, setting: Setting) -> bool:
        """Return False for a setting that makes no sense, such as more sums than registers."""
        ...

    def cycles(self, setting: Setting) -> float:
        """Estimate the cycles of the block; the unit is the same for all sketches of a space."""
        ...

    def rule(self, setting: Setting) -> Rule | None:
        """Return the rule that schedules the block so; None leaves it to the standard rules."""
        ...


class AutoSketch(msgspec.Struct, frozen=True):
    """The standard rules, with what they are estimated to take."""

    estimate: float

    @property
    def name(self) -> str:
        return "auto"

    @property
    def knobs(self) -> Knobs:
        return {}

    @property
    def start(self) -> Setting | None:
        return None

    @property
    def draws(self) -> Draws:
        return Draws()

    def allows(self, setting: Setting) -> bool:
        return not setting

    def cycles(self, setting: Setting) -> float:
        return self.estimate

    def rule(self, setting: Setting) -> Rule | None:
        return None


class Group(msgspec.Struct, frozen=True):
    """What is decided together: a block, or all of a template. ``sketches`` are alternatives, the
    first of which is the default. ``repeated`` is how many times each element is computed."""

    name: str
    sketches: tuple[Sketch, ...]
    repeated: float = 1.0

    def sketch(self, name: str) -> Sketch:
        """Return the sketch of a name; the first if there is none."""
        return next((each for each in self.sketches if each.name == name), self.sketches[0])
