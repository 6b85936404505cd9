"""Descriptions of the inputs and outputs of a model, as its caller sees them."""

from collections.abc import Sequence
from typing import Literal

from irkit.codegen import SizeArithmetic, TensorSpec
from irkit.core import IRKitError
from irkit.graph import GraphFunc, TensorType, Type, dimensions_of


def size_arithmetic(func: GraphFunc) -> SizeArithmetic:
    """Return the arithmetic on the dimensions that the inputs of a function bind."""
    return SizeArithmetic({var: var.name for var in dimensions_of(func)})


def tensor_spec(sizes: SizeArithmetic, type: Type, name: str, dtype: str = "") -> TensorSpec:
    """Return the description of an input or output that the caller of a model sees, whose arrays
    can have a narrow type.

    Raises: IRKitError if it is not a tensor, or no dimension of an input decides its shape.
    """
    if not isinstance(type, TensorType):
        raise IRKitError(f"{name!r} is not a tensor, so it cannot be an input or output of a model")
    shape = tuple(
        sizes.extent(dim, f"dimension {at} of {name!r}") for at, dim in enumerate(type.shape)
    )
    return TensorSpec(name, shape, dtype or str(type.dtype))


def input_specs(func: GraphFunc, sizes: SizeArithmetic | None = None) -> tuple[TensorSpec, ...]:
    """Return the descriptions of all inputs.

    Raises: IRKitError as ``tensor_spec`` does.
    """
    names, narrow = input_names(func), narrow_types(func, "inputs")
    used = size_arithmetic(func) if sizes is None else sizes
    return tuple(
        tensor_spec(used, param.type, name, narrow.get(name, ""))
        for param, name in zip(func.params, names, strict=True)
    )


def narrow_types(func: GraphFunc, of: Literal["inputs", "outputs"]) -> dict[str, str]:
    """Return the names of those inputs or outputs of a model whose bytes are numbers of a narrow
    type, with that type."""
    flat = dict(func.attrs).get(f"narrow_{of}", ())
    assert isinstance(flat, tuple)
    return dict(zip(map(str, flat[::2]), map(str, flat[1::2]), strict=True))


def input_names(func: GraphFunc) -> list[str]:
    """Return the names of the inputs in the model, or else those of the parameters."""
    return _names(func, "inputs", [param.name for param in func.params])


def output_names(func: GraphFunc, default: Sequence[str]) -> list[str]:
    """Return the names of the outputs in the model, or else those of the results."""
    return _names(func, "outputs", default)


def _names(func: GraphFunc, key: str, default: Sequence[str]) -> list[str]:
    found = dict(func.attrs).get(key, tuple(default))
    names = [str(name) for name in found] if isinstance(found, tuple) else []  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if len(names) != len(default) or len(set(names)) != len(names):
        raise IRKitError(
            f"attribute {key!r} of {func.name!r} must hold {len(default)} different names, "
            f"found {found!r}"
        )
    return names
