"""Make a text shorter: without some of its lines, then without some of its characters."""

from collections.abc import Iterator

import msgspec

from irkit.fuzz.generators.sample import Sample

_FEWEST_CHARACTERS = 200
"""A text as short as this is taken apart by characters."""


def shorter_texts(sample: Sample) -> Iterator[Sample]:
    """List samples with less of a text, those with much less first. A model is left as it is: half
    a file is no use."""
    text = sample.ir
    if not isinstance(text, str):
        return
    lines = text.splitlines(keepends=True)
    yield from _without(sample, lines)
    if len(lines) < 2 or len(text) < _FEWEST_CHARACTERS:
        yield from _without(sample, list(text))


def _without(sample: Sample, parts: list[str]) -> Iterator[Sample]:
    size = len(parts) // 2
    while size:
        for start in range(0, len(parts), size):
            rest = "".join(parts[:start] + parts[start + size :])
            yield msgspec.structs.replace(sample, ir=rest)
        size //= 2
