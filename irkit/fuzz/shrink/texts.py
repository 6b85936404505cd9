"""Make a text shorter: without some of its lines, then without some of its characters."""

from collections.abc import Callable, Sequence

import msgspec

from irkit.debug import Family
from irkit.fuzz.generators.sample import Sample

_FEWEST_CHARACTERS = 200
"""A text as short as this is taken apart by characters."""


def _lines(text: str) -> Sequence[str]:
    return text.splitlines(keepends=True)


def _characters(text: str) -> Sequence[str]:
    short = len(text) < _FEWEST_CHARACTERS or len(_lines(text)) < 2
    return text if short else ""


def _text(sample: Sample) -> str:
    """Return a text, an empty one for a model: half a file is no use."""
    return sample.ir if isinstance(sample.ir, str) else ""


def _family(name: str, parts_of: Callable[[str], Sequence[str]]) -> Family[Sample]:
    def apply(sample: Sample, places: Sequence[int]) -> Sample:
        gone, parts = set(places), enumerate(parts_of(_text(sample)))
        left = "".join(part for at, part in parts if at not in gone)
        return msgspec.structs.replace(sample, ir=left)

    return Family(name, lambda sample: range(len(parts_of(_text(sample)))), apply)


TEXT_FAMILIES = (_family("lines", _lines), _family("characters", _characters))
