"""A model in two parts: the second is compiled for what the first has computed."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from irkit.core import IRKitError
from irkit.graph import InputSpec
from irkit.runtime.model import Model
from irkit.runtime.model_arrays import Cache, copy_outputs
from irkit.runtime.profiles.profile import ModelProfile
from irkit.runtime.specialised.specialisation import checked_inputs
from irkit.runtime.specialised.specialised_model import Compiled, DeferredModel
from irkit.transform import Trace


class Cut(msgspec.Struct, frozen=True):
    """An output that is computed in room for the most elements along an axis.

    The output ``count`` says how many of them there are, and is larger than the room if they did
    not fit.
    """

    output: str
    axis: int
    count: str
    node: str


class StagedModel(DeferredModel):
    """A first part, whose outputs are cut to what was found, and the rest of the model.

    ``rest`` gets the outputs of the first part as inputs, besides those of the model that it needs;
    it is None if the first part computes all ``outputs``.
    """

    def __init__(
        self,
        inputs: Sequence[InputSpec],
        first: Model,
        cuts: Sequence[Cut],
        outputs: Sequence[str],
        rest: Model | None,
        *,
        first_inputs: Sequence[str],
        rest_inputs: Sequence[str],
    ) -> None:
        super().__init__(inputs)
        self.first = first
        self.cuts = tuple(cuts)
        self.output_names = tuple(outputs)
        self.rest = rest
        self.first_inputs = tuple(first_inputs)
        self.rest_inputs = tuple(rest_inputs)

    @property
    def specialisations(self) -> tuple[Compiled, ...]:
        """Return what the second part is compiled for."""
        return () if self.rest is None else self.rest.specialisations

    @property
    def trace(self) -> Trace:
        """Return the steps of the compilation of the first part."""
        return self.first.trace

    def run(
        self, inputs: Mapping[str, ArrayLike | Cache], *, out: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Compute all outputs, by name. Those that ``out`` names are copied to the arrays given
        there, since their shapes are only known afterwards."""
        given = checked_inputs(self.open_inputs, inputs)
        found = self._first_outputs(given)
        if self.rest is not None:
            known = {**given, **found}
            found |= self.rest.run({name: known[name] for name in self.rest_inputs})
        return copy_outputs({name: found[name] for name in self.output_names}, out)

    def profile(self, inputs: Mapping[str, ArrayLike | Cache], *, runs: int = 10) -> ModelProfile:
        """Measure what each kernel of both parts takes for inputs like these."""
        given = checked_inputs(self.open_inputs, inputs)
        first = self.first.profile({name: given[name] for name in self.first_inputs}, runs=runs)
        if self.rest is None:
            return first
        known = {**given, **self._first_outputs(given)}
        rest = self.rest.profile({name: known[name] for name in self.rest_inputs}, runs=runs)
        return msgspec.structs.replace(
            first, calls=(*first.calls, *rest.calls), seconds=first.seconds + rest.seconds
        )

    def _first_outputs(self, given: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        found = self.first.run({name: given[name] for name in self.first_inputs})
        for cut in self.cuts:
            found[cut.output] = _cut(cut, found[cut.output], found[cut.count])
        return found


def _cut(cut: Cut, array: NDArray[Any], count: NDArray[Any]) -> NDArray[Any]:
    wanted, room = int(count.reshape(-1)[0]), array.shape[cut.axis]
    if wanted > room:
        raise IRKitError(
            f"{cut.node} finds {wanted} elements, and has room for {room}: the size of its "
            "outputs depends on data, and is limited"
        )
    return np.ascontiguousarray(array[(slice(None),) * cut.axis + (slice(wanted),)])
