"""Modules: trees of layers whose parameters have names."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from irkit.core import IRKitError
from irkit.frontend.nn.export import ExportSpec, export
from irkit.frontend.nn.parameter import Parameter, StateBuffer

if TYPE_CHECKING:
    from irkit.core import IRModule


class Module:
    """A layer, or layers together: subclasses make the parts in ``__init__`` and use them in
    ``forward``.

    A module, parameter or buffer that is assigned to an attribute belongs to the module under that
    name: the weight of ``self.fc1`` is ``fc1.weight``.
    """

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the results from tensors."""
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    def named_children(self) -> Iterator[tuple[str, "Module"]]:
        """Yield the modules that are attributes of this one, in order of assignment."""
        yield from ((name, each) for name, each in vars(self).items() if isinstance(each, Module))

    def children(self) -> Iterator["Module"]:
        """Yield the modules that are attributes of this one."""
        yield from (each for _, each in self.named_children())

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, "Module"]]:
        """Yield this module and all below it, each once, under its first name."""
        seen: set[int] = set()
        stack: list[tuple[str, Module]] = [(prefix, self)]
        while stack:
            path, module = stack.pop()
            if id(module) in seen:
                continue
            seen.add(id(module))
            yield path, module
            below = [(f"{path}.{name}" if path else name, each)
                     for name, each in module.named_children()]  # fmt: skip
            stack += reversed(below)

    def modules(self) -> Iterator["Module"]:
        """Yield this module and all below it, each once."""
        yield from (each for _, each in self.named_modules())

    def _named_tensors(self) -> Iterator[tuple[str, Parameter]]:
        """Yield parameters and buffers, each once, under its first name."""
        seen: set[int] = set()
        for path, module in self.named_modules():
            for name, each in vars(module).items():
                if isinstance(each, Parameter) and id(each) not in seen:
                    seen.add(id(each))
                    yield (f"{path}.{name}" if path else name), each

    def named_parameters(self) -> Iterator[tuple[str, Parameter]]:
        """Yield the parameters with their names; one that is shared comes once."""
        for name, each in self._named_tensors():
            if not isinstance(each, StateBuffer):
                yield name, each

    def parameters(self) -> Iterator[Parameter]:
        """Yield the parameters."""
        yield from (each for _, each in self.named_parameters())

    def named_buffers(self) -> Iterator[tuple[str, StateBuffer]]:
        """Yield the buffers with their names."""
        for name, each in self._named_tensors():
            if isinstance(each, StateBuffer):
                yield name, each

    def initialize(self, seed: int = 0) -> None:
        """Draw data for every parameter and buffer, in order, from one seed."""
        random = np.random.default_rng(seed)
        for _, each in self._named_tensors():
            each.draw(random)

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """Return the data of parameters and buffers by name. Raises: IRKitError if one has none."""
        return {name: _named(name, each).data for name, each in self._named_tensors()}

    def load_state_dict(self, state: Mapping[str, ArrayLike], *, strict: bool = True) -> None:
        """Set the data of parameters and buffers by name, all of them or none.

        Raises: IRKitError for names that are missing or not known, unless ``strict`` is False;
        ShapeError or DTypeError for an array that does not fit.
        """
        own = {name: _named(name, each) for name, each in self._named_tensors()}
        missing = [name for name in own if name not in state]
        extra = [name for name in state if name not in own]
        if strict and (missing or extra):
            raise IRKitError(
                f"the state does not fit {type(self).__name__}: missing: "
                f"{', '.join(missing) or 'none'}, not known: {', '.join(extra) or 'none'}",
                hint="Pass strict=False to set only what fits by name.",
            )
        found = {name: np.asarray(state[name]) for name in own if name in state}
        trials = {name: Parameter(own[name].shape, own[name].dtype) for name in found}
        for name, trial in trials.items():
            _named(name, trial).data = found[name]
        for name, array in found.items():
            own[name].data = array

    def export(
        self, spec: ExportSpec, *, constants: bool = False
    ) -> "tuple[IRModule, list[tuple[str, Parameter]]]":
        """Return the graph of ``forward`` as the function ``main`` of a module, and its parameters.

        ``spec`` has the type of each argument of ``forward``, as ``nn.spec.Tensor`` makes it, or
        for several methods such a mapping by name; ``forward`` becomes ``main``, and the others
        keep their names. The functions take the arguments, then the parameters and buffers in
        the order of the list returned, under their names. With ``constants`` their data become
        part of the functions, and the list is empty.
        Raises: IRKitError if the spec does not fit a method; ShapeError or DTypeError from layers.
        """
        return export(self, spec, list(self._named_tensors()), constants=constants)

    def extra_text(self) -> str:
        """Return what ``repr`` shows of this layer itself."""
        return ""

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__}({self.extra_text()}"]
        for name, each in self.named_children():
            lines += [f"  {line}" for line in f"{name}: {each!r}".splitlines()]
        return "\n".join(lines) + ("\n)" if len(lines) > 1 else ")")


def _named(name: str, parameter: Parameter) -> Parameter:
    """Set the name by which messages call a parameter, and return it."""
    parameter.name = name
    return parameter
