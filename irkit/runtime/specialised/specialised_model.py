"""A model that is compiled at the call, for the shapes and values that it meets."""

import logging
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike, NDArray

from irkit.core import IRKitError
from irkit.graph import InputSpec
from irkit.runtime.model import Model
from irkit.runtime.model_arrays import Cache
from irkit.runtime.profiles.profile import ModelProfile
from irkit.runtime.quick_call import PreparedCall
from irkit.runtime.specialised.specialisation import Specialisation, checked_inputs
from irkit.transform import Trace

KEPT = 8
"""Specialisations that a model keeps; the one that was not used for the longest time goes."""

Specialise = Callable[[Mapping[str, NDArray[Any]]], tuple[Specialisation, Model]]
"""Compiles a model for the inputs of a call."""

_log = logging.getLogger("irkit")


class DeferredModel(Model):
    """Base class of models that consist of others: they have no plan and no code of their own."""

    def __init__(self, inputs: Sequence[InputSpec]) -> None:
        # What Model.__init__ sets belongs to the models inside.
        self._trace = None
        self.open_inputs = tuple(inputs)

    def __getattr__(self, name: str) -> Any:
        if name in ("plan", "contents", "target", "inputs", "outputs", "dims", "state"):
            raise _not_yet(name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def output_shapes(self, shapes: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
        """Raise IRKitError: the shapes of outputs are those of the specialisations."""
        raise _not_yet("output_shapes")

    def __reduce__(self) -> tuple[Any, ...]:
        return _without_state, (type(self),), self.__getstate__()

    def prepare(
        self, inputs: Mapping[str, NDArray[Any]], *, out: Mapping[str, Any] | None = None
    ) -> PreparedCall:
        """Refuse: which code runs is decided at the call. Raises: IRKitError."""
        raise IRKitError(
            "this model is compiled at the call, so a call cannot be prepared",
            hint="Prepare one of a specialisation: model.specialisations[0].model.prepare(...).",
        )

    def save(self, path: "str | os.PathLike[str]", *, also: Sequence[Model] = ()) -> None:
        """Write a package with all that is compiled so far.

        Raises: IRKitError if nothing is, or for models of other targets.
        """
        from irkit.runtime.specialised.package_tree import write_tree

        if also:
            raise IRKitError(
                "this model is compiled at the call, and a package for several targets holds "
                "models that are compiled whole",
                hint="Fix what it leaves open on import (shapes= and values=).",
            )
        write_tree(path, self)


def _not_yet(what: str) -> IRKitError:
    return IRKitError(
        f"this model is compiled at the call, so it has no {what} of its own",
        hint="Those of its specialisations: model.specialisations[0].model.",
    )


def _without_state(kind: type[DeferredModel]) -> DeferredModel:
    return kind.__new__(kind)


class Compiled(Specialisation, frozen=True, eq=False, kw_only=True):
    """A specialisation and its model."""

    model: Model


class SpecialisedModel(DeferredModel):
    """A model for shapes and values that are only known at the call.

    ``specialise`` compiles for the inputs that it meets; without it, as in a package, inputs that
    fit no specialisation are refused. The last 8 are kept. Threads that meet the same inputs
    compile once. ``why`` says what the model leaves open.
    """

    def __init__(
        self,
        inputs: Sequence[InputSpec],
        specialise: Specialise | None,
        compiled: Sequence[Compiled] = (),
        *,
        why: str = "",
    ) -> None:
        super().__init__(inputs)
        self.why = why
        self._specialise = specialise
        self._compiled = list(compiled)
        self._said = False
        self._make_locks()

    def _make_locks(self) -> None:
        self._order = threading.Lock()
        self._compiling = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        locks = ("_order", "_compiling")
        return {name: value for name, value in self.__dict__.items() if name not in locks}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._make_locks()

    @property
    def specialisations(self) -> tuple[Compiled, ...]:
        """Return what the model is compiled for, the last used first."""
        with self._order:
            return tuple(self._compiled)

    @property
    def trace(self) -> Trace:
        """Return the steps of the last compilation."""
        found = self.specialisations
        if not found:
            raise IRKitError(
                "this model has no trace yet: it is compiled at the call, and was not called"
            )
        return found[0].model.trace

    def run(
        self, inputs: Mapping[str, ArrayLike | Cache], *, out: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Compute all outputs, by name; compile first if no specialisation fits.

        Raises: as ``Model.run`` and ``irkit.compile`` do.
        """
        model, feeds = self._chosen(inputs)
        return model.run(feeds, out=out)

    def profile(self, inputs: Mapping[str, ArrayLike | Cache], *, runs: int = 10) -> ModelProfile:
        """Measure what each kernel takes for inputs like these; compile first if need be."""
        model, feeds = self._chosen(inputs)
        return model.profile(feeds, runs=runs)

    def _chosen(
        self, inputs: Mapping[str, ArrayLike | Cache]
    ) -> tuple[Model, dict[str, NDArray[Any]]]:
        feeds = checked_inputs(self.open_inputs, inputs)
        found = self.specialised(feeds)
        return found.model, {n: array for n, array in feeds.items() if n not in found.values}

    def specialised(self, feeds: Mapping[str, NDArray[Any]]) -> Compiled:
        """Return the specialisation for these inputs; compile it if there is none."""
        found = self._find(feeds)
        if found is not None:
            return found
        if self._specialise is None:
            raise self._refusal(feeds)
        with self._compiling:
            # Another thread may have compiled it meanwhile.
            found = self._find(feeds)
            if found is None:
                found = self._compile(self._specialise, feeds)
        return found

    def _compile(self, specialise: Specialise, feeds: Mapping[str, NDArray[Any]]) -> Compiled:
        if not self._said:
            self._said = True
            _log.warning(
                "%s; so it is compiled at the call for the inputs it meets, and the last %d "
                "specialisations are kept",
                self.why,
                KEPT,
            )
        key, model = specialise(feeds)
        values = {name: value.copy() for name, value in key.values.items()}
        made = Compiled(key.shapes, values, model=model)
        with self._order:
            self._compiled = [made, *self._compiled][:KEPT]
        return made

    def _find(self, feeds: Mapping[str, NDArray[Any]]) -> Compiled | None:
        with self._order:
            for at, each in enumerate(self._compiled):
                if each.fits(feeds):
                    self._compiled.insert(0, self._compiled.pop(at))
                    return each
        return None

    def _refusal(self, feeds: Mapping[str, NDArray[Any]]) -> IRKitError:
        decisive = {name for each in self._compiled for name in each.values}
        wanted = Specialisation(
            {each.name: feeds[each.name].shape for each in self.open_inputs if each.is_open},
            {name: feeds[name] for name in feeds if name in decisive},
        )
        held = "".join(f"\n  {each}" for each in self._compiled) or " nothing"
        return IRKitError(
            f"the package was not compiled for {wanted}; it holds:{held}",
            hint="Compile the model for these inputs, run it on them, and save it again.",
        )
