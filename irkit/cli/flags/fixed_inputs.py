"""Options that fix inputs of a model, ``--shape`` and ``--value``, and that pair them with outputs,
``--state``."""

from collections.abc import Iterable
from typing import Any

import click
import msgspec
import numpy as np
from numpy.typing import ArrayLike

from irkit.cli.flags.model_inputs import read_npy
from irkit.core import IRKitError
from irkit.graph import as_dimension

SHAPE = click.option(
    "--shape",
    "shapes",
    multiple=True,
    metavar="NAME=1,3,224,224",
    help="Fix the shape of an input of a model; a dimension with a name, such as batch or "
    "'batch in 1..64', stays open. Repeatable.",
)
VALUE = click.option(
    "--value",
    "values",
    multiple=True,
    metavar="NAME=2,3",
    help="Fix an input of a model that decides a shape: a number, numbers with commas (2, for a "
    "list of one), true or false, or @FILE.npy. Repeatable.",
)

STATE = click.option(
    "--state",
    "states",
    multiple=True,
    metavar="NAME=OUTPUT[,AXIS,CAPACITY]",
    help="Write an output over an input of a model, in the same memory; with an axis and a "
    "capacity, append rows to a cache. Repeatable.",
)


class FixedInputs(msgspec.Struct, frozen=True):
    """Values of ``--shape``, ``--value`` and ``--state``."""

    shapes: dict[str, tuple[int | str, ...]] = {}
    values: dict[str, Any] = {}
    state: dict[str, str | tuple[str, int, int]] = {}

    def __bool__(self) -> bool:
        """Return True if anything is fixed."""
        return bool(self.shapes or self.values or self.state)


def fixed_inputs(
    shapes: Iterable[str], values: Iterable[str], states: Iterable[str] = ()
) -> FixedInputs:
    """Read the values of the options.

    Raises: BadParameter; IRKitError for a file.
    """
    return FixedInputs(shapes_of(shapes), values_of(values), state_of(states))


def state_of(texts: Iterable[str]) -> dict[str, str | tuple[str, int, int]]:
    """Read the values of ``--state``.

    Raises: BadParameter.
    """
    found: dict[str, str | tuple[str, int, int]] = {}
    for text in texts:
        name, _, how = text.partition("=")
        output, *numbers = how.split(",")
        whole = [int(part) for part in numbers if part.isdecimal() and len(part) < 19]
        if not name or not output or len(whole) != len(numbers) or len(whole) not in (0, 2):
            raise click.BadParameter(
                f"{text!r} does not pair an input with an output; write it as NAME=OUTPUT, or as "
                "NAME=OUTPUT,AXIS,CAPACITY for a cache",
                param_hint="'--state'",
            )
        if name in found:
            raise click.BadParameter(f"{name!r} is paired twice", param_hint="'--state'")
        found[name] = (output, whole[0], whole[1]) if whole else output
    return found


def shapes_of(texts: Iterable[str]) -> dict[str, tuple[int | str, ...]]:
    """Read the values of ``--shape``.

    Raises: BadParameter.
    """
    found: dict[str, tuple[int | str, ...]] = {}
    for text in texts:
        name, _, dims = text.rpartition("=")
        parts = dims.split(",") if dims else []
        if not name or not all(map(_is_size, parts)):
            raise click.BadParameter(
                f"{text!r} is not a shape; write it as NAME=1,3,224,224, with batch or "
                "'batch in 1..64' for a dimension that stays open",
                param_hint="'--shape'",
            )
        if name in found:
            raise click.BadParameter(f"{name!r} has two shapes", param_hint="'--shape'")
        found[name] = tuple(int(part) if part.isdecimal() else part.strip() for part in parts)
    return found


def _is_size(part: str) -> bool:
    """Return True for a number that is not too large, or a dimension with a name."""
    if part.isdecimal():
        return len(part) < 19
    try:
        return bool(as_dimension(part))
    except IRKitError:
        return False


def values_of(texts: Iterable[str]) -> dict[str, ArrayLike]:
    """Read the values of ``--value``: numbers of Python, or arrays of files.

    Raises: BadParameter; IRKitError for a file.
    """
    found: dict[str, ArrayLike] = {}
    for text in texts:
        name, _, value = text.partition("=@") if "=@" in text else text.rpartition("=")
        if not name:
            raise click.BadParameter(
                f"{text!r} does not name an input; write it as NAME=2,3 or NAME=@FILE.npy",
                param_hint="'--value'",
            )
        if name in found:
            raise click.BadParameter(f"{name!r} has two values", param_hint="'--value'")
        found[name] = read_npy(name, value) if "=@" in text else _numbers(text, value)
    return found


def _numbers(text: str, value: str) -> ArrayLike:
    if not value:
        return np.zeros(0, np.int64).tolist()
    parts = value.removesuffix(",").split(",")
    found = [_number(text, part.strip()) for part in parts]
    return found if "," in value else found[0]


def _number(text: str, part: str) -> int | float | bool:
    if part in ("true", "false"):
        return part == "true"
    for kind in (int, float):
        try:
            return kind(part)
        except ValueError:
            continue
    raise click.BadParameter(
        f"{text!r}: {part!r} is not a number, true or false", param_hint="'--value'"
    )
