"""``cfg``, which a template defines its knobs on and reads their values from."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from irkit.core import IRKitError
from irkit.tune.templates.knobs import (
    AnnotateKnob,
    Axis,
    Knob,
    OtherKnob,
    ReorderKnob,
    SplitKnob,
    annotate_values,
    reorder_values,
    split_values,
)


class Config:
    """The knobs of one run of a template, in the order of their definition.

    A knob whose value is not given has the first of its values. Raises, at a definition: IRKitError
    if the value given is none of the knob's, or the knob is there already.
    """

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        self._given = dict(values or {})
        self.knobs: dict[str, Knob] = {}
        self.flop = 0

    def define_knob(self, name: str, candidate: Sequence[Any]) -> None:
        """Define a knob with a list of values."""
        self._define(OtherKnob, name, tuple(candidate))

    def define_split(
        self,
        name: str,
        axis: Axis,
        num_outputs: int = 2,
        *,
        policy: str = "tails",
        max_factor: int | None = None,
        filter: Callable[[Any], bool] | None = None,
        candidate: Sequence[Sequence[int]] | None = None,
    ) -> None:
        """Define how a loop is split into ``num_outputs`` loops.

        Sizes that leave a tail are among the values, unless ``policy`` is "factors" as in AutoTVM.
        ``filter`` is asked with ``size`` for each; ``candidate`` lists the values.
        """
        values = split_values(
            name,
            axis,
            num_outputs,
            policy=policy,
            max_factor=max_factor,
            filter=filter,
            candidate=candidate,
        )
        self._define(SplitKnob, name, values)

    def define_reorder(self, name: str, axes: Sequence[object], policy: str = "all") -> None:
        """Define the order of loops."""
        self._define(ReorderKnob, name, reorder_values(name, axes, policy))

    def define_annotate(self, name: str, axes: Sequence[object], policy: str) -> None:
        """Define what is done to each of some loops."""
        self._define(AnnotateKnob, name, annotate_values(name, axes, policy))

    def axis(self, extent: int) -> int:
        """Return an axis of an extent, for AutoTVM's templates."""
        return extent

    def add_flop(self, flop: int) -> None:
        """Add operations to what the task counts; irkit counts them itself where it can."""
        self.flop += int(flop)

    def __getitem__(self, name: str) -> Any:
        try:
            return self.knobs[name]
        except KeyError:
            known = ", ".join(self.knobs) or "none"
            raise IRKitError(f"there is no knob {name!r}; the template has: {known}") from None

    def __contains__(self, name: str) -> bool:
        return name in self.knobs

    @property
    def values(self) -> dict[str, Any]:
        """The values of all knobs."""
        return {name: knob.val for name, knob in self.knobs.items()}

    def _define(self, kind: Callable[..., Knob], name: str, values: tuple[Any, ...]) -> None:
        if name in self.knobs:
            raise IRKitError(f"knob {name!r} is defined twice")
        if not values:
            raise IRKitError(f"knob {name!r} has no value to choose from")
        chosen = self._given.get(name, values[0])
        if chosen not in values:
            raise IRKitError(f"knob {name!r} has no value {chosen!r}; it has {len(values)} others")
        self.knobs[name] = kind(name, values, chosen)
