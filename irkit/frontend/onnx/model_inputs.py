"""The inputs of an ONNX model: those that no initializer fixes, and what a caller fixes of them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import ArrayLike, NDArray

from irkit.core import IRKitError
from irkit.frontend.onnx.narrow_types import NARROW_TYPES
from irkit.frontend.onnx.onnx_node import ImportFailed
from irkit.graph import InputSpec, TensorType, Type, as_dimension, written_type
from irkit.ir import U8, DType, as_int, from_numpy, numpy_dtype

Shapes = Mapping[str, Sequence[int | str]]
"""Shapes of inputs; a dimension that is a name stays open: ``batch``, or ``batch in 1..64``."""


def input_infos(graph: onnx.GraphProto) -> list[onnx.ValueInfoProto]:
    """Return the inputs that no initializer fixes."""
    initializers = {each.name for each in graph.initializer}
    return [info for info in graph.input if info.name not in initializers]


def model_inputs(model: onnx.ModelProto) -> tuple[InputSpec, ...]:
    """Return the inputs with their types, and the dimensions that the model leaves open.

    Raises: ImportFailed for an input that is not a tensor of a type that irkit supports.
    """
    return tuple(_spec(info) for info in input_infos(model.graph))


def tensor_of(info: onnx.ValueInfoProto) -> onnx.TypeProto.Tensor:
    """Return the tensor type of an input, which an optional may hold: a call then gives it.

    Raises: ImportFailed if it is neither.
    """
    kind = info.type
    if kind.HasField("optional_type"):
        kind = kind.optional_type.elem_type
    if not kind.HasField("tensor_type"):
        raise ImportFailed(f"input {info.name!r} is not a tensor; only tensors are supported")
    return kind.tensor_type


def element_type_of(info: onnx.ValueInfoProto) -> DType:
    """Return the element type of an input in the graph: of a narrow type it is the bits.

    Raises: ImportFailed if it is not a tensor, or of a type that irkit does not support.
    """
    name = info.name
    number = tensor_of(info).elem_type
    if number in NARROW_TYPES:
        return U8
    try:
        return from_numpy(np.dtype(onnx.helper.tensor_dtype_to_np_dtype(number)))
    except (KeyError, TypeError) as error:  # A DTypeError is a TypeError.
        known = onnx.TensorProto.DataType.values()
        called = onnx.TensorProto.DataType.Name(number) if number in known else str(number)
        raise ImportFailed(f"input {name!r} has unsupported type {called}") from error


def _spec(info: onnx.ValueInfoProto) -> InputSpec:
    dtype, tensor = str(element_type_of(info)), tensor_of(info)
    narrow = NARROW_TYPES.get(tensor.elem_type)
    dtype = dtype if narrow is None else narrow.name
    if not tensor.HasField("shape"):
        return InputSpec(info.name, dtype, None)
    return InputSpec(info.name, dtype, tuple(_dims(tensor)))


def leaves_open(info: onnx.ValueInfoProto) -> bool:
    """Return True if the model does not say the whole shape of an input."""
    tensor = tensor_of(info)
    return not tensor.HasField("shape") or any(isinstance(dim, str) for dim in _dims(tensor))


def _dims(tensor: onnx.TypeProto.Tensor) -> Iterator[int | str]:
    for dim in tensor.shape.dim:
        known = dim.HasField("dim_value") and dim.dim_value >= 0
        yield dim.dim_value if known else dim.dim_param


def check_declared(info: onnx.ValueInfoProto, found: Type, number: int, *, open_: bool) -> None:
    """Check that an output has the type and the dimensions that the model declares for it.

    Where the model leaves shapes of inputs open (``open_``), only their number counts: exporters of
    such models write 1 for a dimension that they do not know.

    Raises: ImportFailed.
    """
    declared = info.type.tensor_type
    if not isinstance(found, TensorType):
        return
    if declared.elem_type and declared.elem_type != number:
        was, is_ = map(onnx.TensorProto.DataType.Name, (declared.elem_type, number))
        raise ImportFailed(f"output {info.name!r} is declared {was}, but its node makes {is_}")
    if not declared.HasField("shape"):
        return
    dims = [as_int(dim) for dim in found.shape]
    wanted = [*_dims(declared)]
    if len(dims) != len(wanted) or any(
        not open_ and isinstance(want, int) and dim not in (None, want)
        for dim, want in zip(dims, wanted, strict=True)
    ):
        said = ", ".join(str(want) or "?" for want in wanted)
        raise ImportFailed(
            f"output {info.name!r} is declared with shape [{said}], but its node makes "
            f"{written_type(found)}"
        )


def given_shape(shape: Sequence[int | str]) -> tuple[int | str, ...]:
    """Return a shape as a caller gives it with the names of its open dimensions, without ranges.

    Raises: IRKitError.
    """
    return tuple(as_dimension(dim).name if isinstance(dim, str) else int(dim) for dim in shape)


def names_dimensions(shapes: Shapes) -> bool:
    """Return True if a shape has a dimension with a name."""
    return any(isinstance(dim, str) for shape in shapes.values() for dim in shape)


def fixed_sizes(
    graph: onnx.GraphProto, shapes: Shapes, values: Mapping[str, ArrayLike]
) -> dict[str, int | str]:
    """Return the sizes of named dimensions of inputs that are fixed, or the name that the caller
    gives one: other inputs can share them.

    Raises: IRKitError if there is no such input, or if shapes contradict the model or each other.
    """
    infos = {info.name: info for info in input_infos(graph)}
    sizes: dict[str, int | str] = {}
    for what, given in (("shapes", shapes), ("values", values)):
        unknown = sorted(set(given) - set(infos))
        if unknown:
            raise IRKitError(
                f"{what} names {unknown[0]!r}, which is not an input of the model; "
                f"its inputs are: {', '.join(sorted(infos)) or 'none'}"
            )
    for name, info in infos.items():
        if name in values:
            _record_sizes("values", info, np.shape(values[name]), sizes)
        elif name in shapes:
            shape = given_shape(shapes[name])
            if any(isinstance(dim, int) and dim < 0 for dim in shape):
                raise IRKitError(f"shapes gives input {name!r} the impossible shape {shape}")
            _record_sizes("shapes", info, shape, sizes)
    return sizes


def fixed_values(
    graph: onnx.GraphProto, values: Mapping[str, ArrayLike]
) -> dict[str, NDArray[Any]]:
    """Return the values of inputs as arrays of their types.

    Numbers of Python take any type that holds them, and one number is also an array of one.
    Raises: IRKitError for another type; names and shapes are checked by ``fixed_sizes``.
    """
    infos = {info.name: info for info in input_infos(graph)}
    return {
        name: _as_declared(infos[name], given) if name in infos else np.asarray(given)
        for name, given in values.items()
    }


def _as_declared(info: onnx.ValueInfoProto, given: ArrayLike) -> NDArray[Any]:
    dtype = element_type_of(info)
    narrow = NARROW_TYPES.get(tensor_of(info).elem_type)
    array, wanted = np.asarray(given), numpy_dtype(dtype) if narrow is None else narrow.array_type
    if not isinstance(given, (np.ndarray, np.generic)) and array.dtype.kind in "iufb":
        with np.errstate(all="ignore"):
            made = array.astype(wanted)
        if array.ndim == 0 and len(tensor_of(info).shape.dim) == 1:
            made = made.reshape(1)
        rounds = dtype.is_float if narrow is None else narrow.limits is None
        if rounds or bool((made.astype(array.dtype) == array).all()):
            return made
        raise IRKitError(f"values gives input {info.name!r} {given!r}, which {wanted} cannot hold")
    if array.dtype != wanted:
        raise IRKitError(f"values gives input {info.name!r} type {array.dtype}, but it is {wanted}")
    return array


def dimension_name(dim: onnx.TensorShapeProto.Dimension, name: str, at: int) -> str:
    """Return the name of a dimension in the model, or else one made of input and number."""
    return dim.dim_param or f"{name}_{at}"


def _record_sizes(
    what: str,
    info: onnx.ValueInfoProto,
    given: tuple[int | str, ...],
    sizes: dict[str, int | str],
) -> None:
    name, tensor = info.name, tensor_of(info)
    if not tensor.HasField("shape"):
        return
    _check_fits(what, name, given, tensor)
    for at, (dim, size) in enumerate(zip(tensor.shape.dim, given, strict=True)):
        key = dimension_name(dim, name, at)
        if not dim.HasField("dim_value") and sizes.setdefault(key, size) != size:
            raise IRKitError(
                f"{what} gives input {name!r} shape {given}, but {key!r} is "
                f"{sizes[key]} in another input"
            )


def _check_fits(
    what: str, name: str, given: Sequence[int | str], tensor: onnx.TypeProto.Tensor
) -> None:
    """Raise IRKitError unless the caller's shape of an input fits the model's."""
    dims = list(tensor.shape.dim)
    if len(given) != len(dims) or any(
        dim.HasField("dim_value") and dim.dim_value not in (want, -1)
        for dim, want in zip(dims, given, strict=True)
    ):
        was = ", ".join(
            str(dim.dim_value) if dim.HasField("dim_value") else dim.dim_param or "?"
            for dim in dims
        )
        raise IRKitError(
            f"{what} gives input {name!r} shape {tuple(given)}, but the model says ({was})"
        )
