"""Settings of a sketch that are legal by construction: drawn, near another one, or of two.

A draw begins with a setting that is legal because every knob does nothing, and decides the knobs in
any order, those that allow each other's values together. A value that the rest does not allow is
drawn again, so each step costs a few looks at one knob, not many draws of all of them.
"""

from collections.abc import Mapping
from random import Random
from typing import Any

from irkit.tune.space.sketch import Setting, Sketch

_TRIES = 12
_MOVES = 24
_OTHER = 0.5
"""Chance that a further knob of those decided together moves, too."""


def drawn_setting(sketch: Sketch, rng: Random) -> dict[str, Any] | None:
    """Draw a legal setting; None if the sketch has none."""
    rule = sketch.draws
    made = {knob: rule.plain.get(knob, options[0]) for knob, options in sketch.knobs.items()}
    if not is_legal(sketch, made):
        return None
    parts = _parts(sketch)
    rng.shuffle(parts)
    for knobs in parts:
        if rng.random() < rule.seldom.get(knobs[0], 0.0):
            continue
        for _ in range(_TRIES):
            trial = {**made, **{knob: rng.choice(sketch.knobs[knob]) for knob in knobs}}
            if is_legal(sketch, trial):
                made = trial
                break
    return made


def neighbour(sketch: Sketch, setting: Setting, rng: Random) -> dict[str, Any] | None:
    """Return a legal setting that differs in one knob, or in some that are decided together, mostly
    by a value near the old one; None if none is found."""
    parts = _parts(sketch)
    for _ in range(_MOVES if parts else 0):
        knobs = rng.choice(parts)
        first = rng.choice(knobs)
        moved = [each for each in knobs if each == first or rng.random() < _OTHER]
        near = {knob: _near(sketch.knobs[knob], setting.get(knob), rng) for knob in moved}
        trial = {**setting, **near}
        if trial != setting and is_legal(sketch, trial):
            return trial
    return None


def mixed(sketch: Sketch, own: Setting, other: Setting, rng: Random) -> dict[str, Any]:
    """Return a legal setting, and take from another one what it allows, by chance."""
    made, parts = dict(own), _parts(sketch)
    rng.shuffle(parts)
    for knobs in parts:
        if rng.random() < 0.5:
            trial = {**made, **{knob: other[knob] for knob in knobs if knob in other}}
            made = trial if is_legal(sketch, trial) else made
    return made


def is_legal(sketch: Sketch, setting: Mapping[str, Any]) -> bool:
    """Return True if a sketch allows a setting, which may come from a file."""
    try:
        return sketch.allows(setting)
    except (KeyError, IndexError, ValueError, TypeError, ZeroDivisionError):
        return False


def _parts(sketch: Sketch) -> list[tuple[str, ...]]:
    """List the knobs that have a choice, those decided together as one part."""
    open_knobs = [knob for knob, options in sketch.knobs.items() if len(options) > 1]
    parts = [tuple(knob for knob in each if knob in open_knobs) for each in sketch.draws.together]
    shared = {knob for each in parts for knob in each}
    return [each for each in parts if each] + [(knob,) for knob in open_knobs if knob not in shared]


def _near(options: tuple[Any, ...], now: Any, rng: Random) -> Any:
    """Return a value near another one in its list, or any."""
    if now not in options or rng.random() < 0.3:
        return rng.choice(options)
    at = options.index(now) + rng.choice((-2, -1, 1, 2))
    return options[min(max(at, 0), len(options) - 1)]
