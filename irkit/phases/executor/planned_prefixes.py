"""Prefixes in a plan: tensors that share the memory of another one, and the dimensions that the run
measures for them."""

from collections.abc import Sequence

import msgspec

from irkit.codegen import (
    KernelCall,
    MeasuredSize,
    Size,
    SizeArithmetic,
    SizeStep,
    TensorPlace,
)
from irkit.core import IRKitError, walk
from irkit.graph import Bind, Prefix, TensorType, largest
from irkit.ir import Expr, Var
from irkit.phases.executor.stored_tensors import StoredTensor
from irkit.phases.executor.tensor_specs import tensor_spec


class PlannedPrefixes:
    """The prefixes met so far; ``sizes`` is the arithmetic of the plan."""

    def __init__(self, sizes: SizeArithmetic) -> None:
        self.sizes = sizes
        self._wholes: dict[StoredTensor, StoredTensor] = {}
        self._most: dict[Var, Expr] = {}
        self._measured: list[MeasuredSize] = []

    def bind(self, step: Prefix, tensor: StoredTensor, whole: StoredTensor) -> None:
        """Note a prefix, and bind its dimension: another one each time that its function is
        called."""
        self._wholes[tensor] = whole
        self.sizes.bind(step.extent)
        self._most[step.extent] = largest(whole.type.shape[0], self._most)

    def whole(self, tensor: StoredTensor) -> StoredTensor:
        """Return the tensor whose memory a tensor has: itself, unless it is a prefix."""
        while tensor in self._wholes:
            tensor = self._wholes[tensor]
        return tensor

    def at_most(self, kind: TensorType) -> TensorType:
        """Return the type of the largest tensor that one of this type can be."""
        if not self._most:
            return kind
        return TensorType(tuple(largest(dim, self._most) for dim in kind.shape), kind.dtype)

    def measure(
        self,
        bind: Bind,
        step: Prefix,
        count: TensorPlace,
        whole: StoredTensor,
        calls: Sequence[KernelCall],
    ) -> None:
        """Read the number of rows at ``count`` after the last of the calls so far, which makes it.

        Raises: IRKitError if another call does.
        """
        if not calls or count != calls[-1].args[-1]:
            raise IRKitError(
                f"the number of rows {step.count.name!r} is not what the kernel call before "
                f"{bind.var.name!r} makes",
                span=bind.span,
            )
        what = bind.var.name if bind.span is None else str(bind.span)
        room = self.sizes.extent(whole.type.shape[0], f"the rows of {whole.name!r}")
        name = self.sizes.names[step.extent]
        self._measured.append(MeasuredSize(name, count, len(calls) - 1, room, (), what))

    def capacities(self, results: Sequence[StoredTensor]) -> dict[int, tuple[Size, ...]]:
        """Return the largest shapes of results that have measured dimensions, by their numbers."""
        return {
            number: tensor_spec(self.sizes, self.at_most(result.type), result.name).shape
            for number, result in enumerate(results)
            if any(var in self._most for dim in result.type.shape for var in walk(dim, Var))
        }

    def ordered_steps(self) -> tuple[tuple[SizeStep, ...], tuple[MeasuredSize, ...]]:
        """Return the steps of the arithmetic that a call begins with, and the measured sizes, each
        with the steps that follow it."""
        known = {each.name: at for at, each in enumerate(self._measured)}
        first, later = list[SizeStep](), [list[SizeStep]() for _ in self._measured]
        for step in self.sizes.steps:
            needs = [known[size] for size in (step.a, step.b) if size in known]
            if needs:
                known[step.name] = max(needs)
                later[max(needs)].append(step)
            else:
                first.append(step)
        pairs = zip(self._measured, later, strict=True)
        made = (msgspec.structs.replace(each, steps=tuple(steps)) for each, steps in pairs)
        return tuple(first), tuple(made)
