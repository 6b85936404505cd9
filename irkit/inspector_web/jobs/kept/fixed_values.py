"""The values that inputs of a model are fixed to, in files beside a job."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from irkit.core import FormatError


class KeptValue(msgspec.Struct, frozen=True):
    """The value of an input; numbers that were given ``plain`` take any type that holds them."""

    name: str
    plain: bool


def write_values(values: Mapping[str, Any], folder: Path) -> list[KeptValue]:
    """Write values to files of a folder that are named by their places in the result.

    Raises: FormatError if one is no array of numbers.
    """
    kept: list[KeptValue] = []
    for name, value in values.items():
        try:
            np.save(_file(folder, len(kept)), np.asarray(value), allow_pickle=False)
        except ValueError as error:
            raise FormatError(f"the value of {name!r} cannot be kept: {error}") from error
        kept.append(KeptValue(name, not isinstance(value, (np.ndarray, np.generic))))
    return kept


def read_values(kept: Sequence[KeptValue], folder: Path) -> dict[str, Any]:
    """Read what ``write_values`` wrote. Raises: FormatError if a file is damaged or missing."""
    found: dict[str, Any] = {}
    for at, each in enumerate(kept):
        file = _file(folder, at)
        try:
            array = np.load(file, allow_pickle=False)
        except (OSError, ValueError, EOFError, MemoryError) as error:
            raise FormatError(f"{file} cannot be read: {error}") from error
        found[each.name] = array.tolist() if each.plain else array
    return found


def _file(folder: Path, at: int) -> Path:
    return folder / f"value-{at}.npy"
