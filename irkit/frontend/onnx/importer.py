"""The import of an ONNX graph as a graph function, at the operator versions of the model."""

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from numpy.typing import ArrayLike

from irkit.core import IRKitError, IRModule
from irkit.frontend.onnx.functions import Functions
from irkit.frontend.onnx.known_arrays import KnownArrays
from irkit.frontend.onnx.model_checks import check_supported, check_well_formed, versions_of
from irkit.frontend.onnx.model_file import ModelLike, load_model
from irkit.frontend.onnx.node_walk import NodeWalk
from irkit.frontend.onnx.onnx_node import ImportFailed, UnknownShape, to_array
from irkit.graph import Builder, TensorType
from irkit.ir import I64, DType, Expr, Var, const, from_numpy, numpy_dtype

Shapes = Mapping[str, Sequence[int]]


def import_onnx(
    model: ModelLike,
    *,
    shapes: Shapes | None = None,
    values: Mapping[str, ArrayLike] | None = None,
) -> IRModule:
    """Import a model as an IRModule whose function ``main`` is the graph.

    ``shapes`` fixes the shapes of inputs; ``values`` fixes whole inputs, such as those that decide
    a shape or never change. Inputs and outputs keep their names, in attributes ``inputs`` and
    ``outputs`` of the function.
    Raises: FormatError if the model is damaged; UnsupportedModel with all operators that are
    missing; ImportFailed, DTypeError or ShapeError for a node that is invalid.
    """
    proto = load_model(model)
    check_well_formed(proto)
    opsets = versions_of(proto)
    functions = Functions(proto)
    check_supported(proto.graph.node, opsets, functions)
    return _Importer(proto, opsets, functions, shapes or {}, values or {}).run()


def shape_values(
    model: ModelLike, feeds: Mapping[str, ArrayLike], *, shapes: Shapes | None = None
) -> dict[str, ArrayLike]:
    """Return those of the inputs given that must be fixed by ``values``, because they decide a
    shape.

    Raises: as ``import_onnx`` does, for any other reason.
    """
    proto = load_model(model)
    values: dict[str, ArrayLike] = {}
    while True:
        try:
            import_onnx(proto, shapes=shapes, values=values)
        except UnknownShape as error:
            if error.input in values or error.input not in feeds:
                raise
            values[error.input] = feeds[error.input]
        else:
            return values


class _Importer:
    def __init__(
        self,
        proto: onnx.ModelProto,
        opsets: Mapping[str, int],
        functions: Functions,
        shapes: Shapes,
        values: Mapping[str, ArrayLike],
    ) -> None:
        self.graph = proto.graph
        self.shapes = shapes
        self.values = values
        self.builder = Builder("main")
        self.known = KnownArrays()
        self.dims: dict[str, Var] = {}
        self.dims_of: dict[str, list[str]] = {}
        self.walk = NodeWalk(self.builder, self.known, opsets, functions, self.dims_of)
        self.sizes: dict[str, int] = {}

    def run(self) -> IRModule:
        initializers = {each.name for each in self.graph.initializer}
        inputs = [info for info in self.graph.input if info.name not in initializers]
        self._check_names({info.name for info in inputs})
        for info in inputs:
            self._record_sizes(info)
        for info in inputs:
            self._input(info)
        for tensor in self.graph.initializer:
            self.walk.constant(tensor.name, to_array(tensor, "initializer"))
        self.walk.convert(self.graph.node)
        results = [self.walk.result(info.name, "model") for info in self.graph.output]
        func = self.builder.finish(
            *results,
            inputs=tuple(info.name for info in inputs if info.name not in self.values),
            outputs=tuple(info.name for info in self.graph.output),
        )
        return IRModule({"main": func, **self.builder.kernels})

    def _check_names(self, inputs: set[str]) -> None:
        for what, given in (("shapes", self.shapes), ("values", self.values)):
            unknown = sorted(set(given) - inputs)
            if unknown:
                raise IRKitError(
                    f"{what} names {unknown[0]!r}, which is not an input of the model; "
                    f"its inputs are: {', '.join(sorted(inputs)) or 'none'}"
                )

    def _record_sizes(self, info: onnx.ValueInfoProto) -> None:
        """Record the named dimensions of an input that is fixed: other inputs can share them."""
        name = info.name
        if name in self.values:
            what, given = "values", np.shape(self.values[name])
        elif name in self.shapes:
            what, given = "shapes", tuple(int(dim) for dim in self.shapes[name])
            if any(dim < 0 for dim in given):
                raise IRKitError(f"shapes gives input {name!r} the impossible shape {given}")
        else:
            return
        if not info.type.tensor_type.HasField("shape"):
            return
        _check_fits(what, name, given, info.type.tensor_type)
        for (at, dim), size in zip(_dims(info), given, strict=True):
            key = _key(dim, name, at)
            if not dim.HasField("dim_value") and self.sizes.setdefault(key, size) != size:
                raise IRKitError(
                    f"{what} gives input {name!r} shape {given}, but {key!r} is "
                    f"{self.sizes[key]} in another input"
                )

    def _input(self, info: onnx.ValueInfoProto) -> None:
        if not info.type.HasField("tensor_type"):
            raise ImportFailed(f"input {info.name!r} is not a tensor; only tensors are supported")
        tensor = info.type.tensor_type
        dtype = _element_type(info.name, tensor.elem_type)
        if info.name in self.values:
            self._fix(info.name, dtype)
            return
        shape = self._shape(info.name, tensor)
        self.walk.scope[info.name] = self.builder.param(info.name, TensorType(shape, dtype))

    def _shape(self, name: str, tensor: onnx.TypeProto.Tensor) -> tuple[Expr, ...]:
        dims = list(tensor.shape.dim)
        given = self.shapes.get(name)
        if given is not None:
            return tuple(const(int(dim), I64) for dim in given)
        if not tensor.HasField("shape"):
            raise ImportFailed(
                f"input {name!r} has no shape", hint=f"Set it: shapes={{{name!r}: (...)}}."
            )
        return tuple(self._dim(dim, name, at) for at, dim in enumerate(dims))

    def _fix(self, name: str, dtype: DType) -> None:
        """Replace an input by a constant. Raises: IRKitError if the type of the value differs."""
        array = np.asarray(self.values[name])
        if array.dtype != numpy_dtype(dtype):
            raise IRKitError(
                f"values gives input {name!r} type {array.dtype}, but it is {numpy_dtype(dtype)}"
            )
        self.walk.constant(name, array)

    def _dim(self, dim: onnx.TensorShapeProto.Dimension, name: str, at: int) -> Expr:
        if dim.HasField("dim_value") and dim.dim_value >= 0:
            return const(dim.dim_value, I64)
        key = _key(dim, name, at)
        if key in self.sizes:
            return const(self.sizes[key], I64)
        self.dims_of.setdefault(key, []).append(name)
        return self.dims.setdefault(key, Var(key))


def _dims(
    info: onnx.ValueInfoProto,
) -> "enumerate[onnx.TensorShapeProto.Dimension]":
    return enumerate(info.type.tensor_type.shape.dim)


def _key(dim: onnx.TensorShapeProto.Dimension, name: str, at: int) -> str:
    """Return the name of a dimension in the model, or else one made of input and number."""
    return dim.dim_param or f"{name}_{at}"


def _element_type(name: str, number: int) -> DType:
    try:
        return from_numpy(np.dtype(onnx.helper.tensor_dtype_to_np_dtype(number)))
    except (KeyError, TypeError) as error:  # A DTypeError is a TypeError.
        known = onnx.TensorProto.DataType.values()
        called = onnx.TensorProto.DataType.Name(number) if number in known else str(number)
        raise ImportFailed(f"input {name!r} has unsupported type {called}") from error


def _check_fits(what: str, name: str, given: Sequence[int], tensor: onnx.TypeProto.Tensor) -> None:
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
