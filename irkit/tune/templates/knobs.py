"""The knobs of a template: a name, the values it can have, and what a value does to a schedule."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from irkit.core import IRKitError, ScheduleError
from irkit.ir import Expr, For, as_int, trip_count
from irkit.schedule import LoopRef, Schedule
from irkit.te import IterVar, StageSchedule, Tensor

MOST_VALUES = 4096
"""Values of one knob; of more, an even selection is kept."""
Axis = int | IterVar | For | Expr
"""An axis to decide about: its extent, a tensor's axis, or a loop of a schedule."""


class OtherKnob(msgspec.Struct, frozen=True):
    """A value out of a list, to be used as the template likes: ``cfg["unroll"].val``."""

    name: str
    values: tuple[Any, ...]
    val: Any

    kind = "ot"


class SplitKnob(msgspec.Struct, frozen=True):
    """The sizes of the loops that a loop is split into, the outermost written as -1."""

    name: str
    values: tuple[Any, ...]
    val: Any

    kind = "sp"

    @property
    def size(self) -> list[int]:
        """The sizes, outermost first."""
        return list(self.val)

    def apply(self, sch: Schedule | StageSchedule, *where: Any) -> list[Any]:
        """Split: ``apply(s, C, y)`` for a schedule of tensors, ``apply(sch, loop)`` for one of
        loops; return the loops, outermost first."""
        if isinstance(sch, Schedule):
            (loop,) = where
            return list(sch.split(loop, [None, *self.size[1:]]))
        tensor, axis = where
        parts: list[Any] = []
        for size in reversed(self.size[1:]):
            axis, inner = sch[tensor].split(axis, factor=size)
            parts.insert(0, inner)
        return [axis, *parts]


class ReorderKnob(msgspec.Struct, frozen=True):
    """A permutation of loops."""

    name: str
    values: tuple[Any, ...]
    val: Any

    kind = "re"

    @property
    def perm(self) -> list[int]:
        """The positions of the loops, in their new order."""
        return list(self.val)

    def apply(self, sch: Schedule | StageSchedule, *where: Any) -> list[Any]:
        """Reorder: ``apply(s, C, axes)`` or ``apply(sch, loops)``; return the loops in order."""
        axes: Sequence[Any] = where[-1]
        ordered = [axes[at] for at in self.perm]
        if isinstance(sch, Schedule):
            sch.reorder(*ordered)
        else:
            sch[where[0]].reorder(*ordered)
        return ordered


class AnnotateKnob(msgspec.Struct, frozen=True):
    """What is done to each of some loops: "none", "vec", "unroll" or "parallel"."""

    name: str
    values: tuple[Any, ...]
    val: Any

    kind = "an"

    @property
    def anns(self) -> list[str]:
        """The annotations, one for each loop."""
        return list(self.val)

    def apply(self, sch: Schedule | StageSchedule, *where: Any) -> list[Any]:
        """Annotate: ``apply(s, C, axes)`` or ``apply(sch, loops)``; return the loops."""
        axes: list[Any] = list(where[-1])
        for what, axis in zip(self.anns, axes, strict=True):
            if isinstance(sch, Schedule):
                _annotate(sch, axis, what)
            elif what != "none":
                stage = sch[where[0]]
                {"vec": stage.vectorize, "unroll": stage.unroll, "parallel": stage.parallel}[what](
                    axis
                )
        return axes


Knob = OtherKnob | SplitKnob | ReorderKnob | AnnotateKnob


def split_values(
    name: str,
    axis: Axis,
    num_outputs: int = 2,
    *,
    policy: str = "tails",
    max_factor: int | None = None,
    filter: Callable[[Any], bool] | None = None,
    candidate: Sequence[Sequence[int]] | None = None,
) -> tuple[Any, ...]:
    """List the sizes that a split can have. ``policy`` says which inner sizes: "factors" those that
    divide, "power2" powers of two, "verbose" all, "tails" factors and powers of two, which may
    leave a tail."""
    if num_outputs < 1:
        raise IRKitError(f"knob {name!r} splits into {num_outputs} loops; expected at least 1")
    if candidate is not None:
        return tuple([-1, *map(int, each[1:])] for each in candidate)
    extent = extent_of(name, axis)
    most = min(extent, max_factor or extent)
    sizes = list(_sizes(name, extent, most, policy))
    found: list[list[int]] = []
    for inner in itertools.product(sizes, repeat=num_outputs - 1):
        total = math.prod(inner)
        fits = total <= extent and (policy != "factors" or extent % total == 0)
        if fits and (filter is None or filter(SplitKnob(name, (), [-1, *inner]))):
            found.append([-1, *inner])
    return _thinned(name, found)


def reorder_values(name: str, axes: Sequence[object], policy: str) -> tuple[Any, ...]:
    """List permutations of loops: "all", or "identity" alone."""
    if policy not in ("all", "identity"):
        raise IRKitError(f"knob {name!r} has policy {policy!r}; expected 'all' or 'identity'")
    every = itertools.permutations(range(len(axes)))
    taken = itertools.islice(every, MOST_VALUES if policy == "all" else 1)
    return tuple(list(each) for each in taken)


def annotate_values(name: str, axes: Sequence[object], policy: str) -> tuple[Any, ...]:
    """List annotations: "try_unroll", "try_vec", "try_unroll_vec", "try_parallel" or "none"; the
    innermost loop alone is made vectors."""
    choices = {
        "none": ("none",),
        "try_unroll": ("none", "unroll"),
        "try_vec": ("none",),
        "try_unroll_vec": ("none", "unroll"),
        "try_parallel": ("none",),
    }.get(policy)
    if choices is None:
        raise IRKitError(f"knob {name!r} has an unknown policy {policy!r}")
    made = [list(each) for each in itertools.product(choices, repeat=len(axes))]
    if "vec" in policy:
        made += [[*each[:-1], "vec"] for each in made if each[-1] == "none"]
    if "parallel" in policy:
        made += [["parallel", *each[1:]] for each in made]
    return _thinned(name, made)


def extent_of(name: str, axis: Axis) -> int:
    """Return the extent of an axis. Raises: ScheduleError if it is not constant."""
    if isinstance(axis, int):
        found: int | None = axis
    elif isinstance(axis, IterVar):
        found = as_int(axis.extent)
    else:
        found = trip_count(axis) if isinstance(axis, For) else as_int(axis)
    if not found or found < 1:
        hint = ""
        if isinstance(axis, LoopRef):
            hint = "A reference does not know its schedule: pass the loop itself, sch.get(loop)."
        raise ScheduleError(
            f"knob {name!r} needs an axis of constant extent; found {axis!r}", hint=hint
        )
    return found


def _sizes(name: str, extent: int, most: int, policy: str) -> Iterator[int]:
    if policy not in ("factors", "power2", "verbose", "tails"):
        raise IRKitError(
            f"knob {name!r} has policy {policy!r}; expected 'factors', 'power2', 'verbose' or "
            "'tails'"
        )
    for size in range(1, most + 1):
        divides, is_power = extent % size == 0, size & (size - 1) == 0
        if policy == "verbose" or (
            (divides and policy in ("factors", "tails"))
            or (is_power and policy in ("power2", "tails"))
        ):
            yield size


def _thinned(name: str, found: list[Any]) -> tuple[Any, ...]:
    if not found:
        raise IRKitError(f"knob {name!r} has no value: its filter lets none through")
    step = -(-len(found) // MOST_VALUES)
    return tuple(found[::step])


def _annotate(sch: Schedule, loop: LoopRef, what: str) -> None:
    if what == "vec":
        sch.vectorize(loop)
    elif what == "unroll":
        sch.unroll(loop)
    elif what == "parallel":
        sch.parallel(loop)


Tensors = Sequence[Tensor]
