"""Moves of a search: draw decisions, change some, or cross those of two candidates."""

import math
from collections.abc import Mapping
from random import Random
from typing import Any

from irkit.core import ScheduleError
from irkit.tune.records import Values
from irkit.tune.space.draws import drawn_setting, is_legal, mixed, neighbour
from irkit.tune.space.sketch import Group
from irkit.tune.space.spaces import Space, named, setting_of

_TRIES = 64
_OTHER_STAGE = 0.25
"""Chance that a stage is placed otherwise than by the rules; less if there are many stages."""
_OTHER_SKETCH = 0.15


def sampled(space: Space, rng: Random) -> Values:
    """Draw decisions: where stages are computed, then a sketch and a setting for each group."""
    chance = min(_OTHER_STAGE, 0.5 / max(1, len(space.stages)))
    for _ in range(_TRIES):
        first = {
            name: rng.choice(options)
            for name, options in space.stages.items()
            if rng.random() < chance
        }
        first = {name: each for name, each in first.items() if each != "auto"}
        try:
            groups = space.groups(first)
        except ScheduleError:
            continue
        made: Values = dict(first)
        for group in groups:
            made |= _drawn(group, rng)
        return made
    return {}


def started(space: Space) -> Values:
    """Return decisions that make about what the standard rules make."""
    made: Values = {}
    try:
        groups = space.groups(made)
    except ScheduleError:
        return made
    for group in groups:
        for sketch in group.sketches:
            if sketch.start is not None and is_legal(sketch, sketch.start):
                made |= named(group, sketch, sketch.start)
                break
    return made


def mutated(space: Space, values: Mapping[str, Any], rng: Random) -> Values:
    """Change one decision or two: mostly a knob to a value near it, seldom a sketch or a stage."""
    made = dict(values)
    for _ in range(rng.choice((1, 1, 2))):
        made = _changed(space, made, rng)
    return made


def crossed(space: Space, one: Mapping[str, Any], other: Mapping[str, Any], rng: Random) -> Values:
    """Take the stages of one candidate, and each group or, where both chose the same sketch, each
    knob from either."""
    made = {key: each for key, each in one.items() if key.endswith(".stage")}
    try:
        groups = space.groups(made)
    except ScheduleError:
        return dict(one)
    for group in groups:
        (a, own), (b, their) = setting_of(group, one), setting_of(group, other)
        if a.name != b.name:
            made |= named(group, a, own) if rng.random() < 0.5 else named(group, b, their)
            continue
        made |= named(group, a, mixed(a, own, their, rng))
    return made


def estimate(space: Space, values: Mapping[str, Any]) -> float:
    """Return the cycles that closed formulas expect of decisions; infinity if they are illegal."""
    try:
        groups = space.groups(values)
        total = 0.0
        for group in groups:
            sketch, setting = setting_of(group, values)
            if set(setting) != set(sketch.knobs) or not is_legal(sketch, setting):
                return math.inf
            total += sketch.cycles(setting) * group.repeated
    except (ScheduleError, KeyError, IndexError, ValueError, TypeError):
        return math.inf
    return total or 1.0


def _changed(space: Space, values: Values, rng: Random) -> Values:
    stages = space.stages
    if stages and rng.random() < _OTHER_SKETCH:
        name = rng.choice(sorted(stages))
        made = {**values, name: rng.choice(stages[name])}
        made = {key: each for key, each in made.items() if each != "auto"}
        return _fitting(space, made, rng)
    try:
        groups = [each for each in space.groups(values) if len(each.sketches) > 1]
    except ScheduleError:
        return values
    if not groups:
        return values
    group = rng.choice(groups)
    sketch, setting = setting_of(group, values)
    known = named(group, sketch, setting)
    rest = {key: each for key, each in values.items() if key not in known}
    if not setting or rng.random() < _OTHER_SKETCH:
        return rest | _drawn(group, rng)
    trial = neighbour(sketch, setting, rng)
    return values if trial is None else rest | named(group, sketch, trial)


def _fitting(space: Space, values: Values, rng: Random) -> Values:
    """Keep of decisions those about groups that are still there, and draw the others."""
    try:
        groups = space.groups(values)
    except ScheduleError:
        return values
    made = {key: each for key, each in values.items() if key.endswith(".stage")}
    for group in groups:
        sketch, setting = setting_of(group, values)
        if set(setting) == set(sketch.knobs) and is_legal(sketch, setting):
            made |= named(group, sketch, setting)
        else:
            made |= _drawn(group, rng)
    return made


def _drawn(group: Group, rng: Random) -> Values:
    """Draw a sketch of a group, and a setting that it allows; the default if there is none."""
    others = [each for each in group.sketches if each.name != "auto"]
    if not others or (group.name and rng.random() < 0.1):
        return {}
    sketch = rng.choice(others)
    setting = drawn_setting(sketch, rng)
    return {} if setting is None else named(group, sketch, setting)
