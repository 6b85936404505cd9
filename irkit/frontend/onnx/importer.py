"""The import of an ONNX graph as a graph function, at the operator versions of the model."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec
import onnx
from numpy.typing import ArrayLike

from irkit.core import IRModule, UniqueNames
from irkit.frontend.onnx.convert.math import from_bits, to_bits
from irkit.frontend.onnx.functions import Functions
from irkit.frontend.onnx.known import KnownArrays
from irkit.frontend.onnx.model_checks import check_supported, check_well_formed, versions_of
from irkit.frontend.onnx.model_file import ModelLike, load_model, opened_model
from irkit.frontend.onnx.model_inputs import (
    Shapes,
    check_declared,
    dimension_name,
    element_type_of,
    fixed_sizes,
    fixed_values,
    given_shape,
    input_infos,
    leaves_open,
    names_dimensions,
    tensor_of,
)
from irkit.frontend.onnx.narrow_types import NARROW_TYPES, NarrowType
from irkit.frontend.onnx.node_walk import NodeWalk
from irkit.frontend.onnx.onnx_node import ImportFailed, OnnxNode, UnknownShape, to_array
from irkit.graph import (
    Builder,
    Dimension,
    GraphFunc,
    TensorType,
    Value,
    as_dimension,
    merged,
    with_dimensions,
)
from irkit.ir import I64, Expr, Interval, Var, const, numpy_dtype


def import_onnx(
    model: ModelLike,
    *,
    shapes: Shapes | None = None,
    values: Mapping[str, ArrayLike] | None = None,
    counted: Collection[str] | None = None,
) -> IRModule:
    """Import a model as an IRModule whose function ``main`` is the graph.

    ``shapes`` fixes the shapes of inputs, in which a dimension can have a name, and a range
    (``batch in 1..64``), instead of a number; ``values`` fixes whole inputs, such as those that
    decide a shape or never change. Inputs and outputs keep their names, in attributes ``inputs``
    and ``outputs`` of the function. Outputs whose size depends on data are prefixes of values with
    room for the most; where ``counted`` is given, only nodes that it names by their first outputs
    may have such, and the caller cuts them: see ``cuts_of``.
    Raises: FormatError if the model is damaged; UnsupportedModel with all operators that are
    missing; ImportFailed, DTypeError or ShapeError for a node that is invalid.
    """
    with opened_model(model) as proto:
        opsets, functions = check_model(proto)
        return _Importer(proto, opsets, functions, shapes or {}, values or {}).run(
            None if counted is None else frozenset(counted)
        )


def check_model(proto: onnx.ModelProto) -> tuple[dict[str, int], Functions]:
    """Check what can be checked before the import: names, versions and operators.

    Raises: FormatError; UnsupportedModel with all operators that are missing.
    """
    check_well_formed(proto)
    opsets = versions_of(proto)
    functions = Functions(proto)
    check_supported(proto.graph.node, opsets, functions)
    return opsets, functions


class ImportedCut(msgspec.Struct, frozen=True):
    """An output of which only the first elements along an axis count: as many as the output
    ``count`` says, unless that is more than there is room for."""

    output: str
    axis: int
    count: str
    node: str


def cuts_of(module: IRModule) -> tuple[ImportedCut, ...]:
    """Return the outputs of an imported model that the caller must cut."""
    main = module["main"]
    assert isinstance(main, GraphFunc)
    flat = dict(main.attrs).get("cuts", ())
    assert isinstance(flat, tuple)
    count = len(ImportedCut.__struct_fields__)
    rows = [flat[at : at + count] for at in range(0, len(flat), count)]
    return tuple(
        ImportedCut(*row) for row in msgspec.convert(rows, list[tuple[str, int, str, str]])
    )


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
        self.values = fixed_values(self.graph, values)
        self.builder = Builder("main")
        self.known = KnownArrays()
        self.dims: dict[str, Var] = {}
        self.dims_of: dict[str, list[str]] = {}
        self.walk = NodeWalk(self.builder, self.known, opsets, functions, self.dims_of)
        self.sizes: dict[str, int | str] = {}
        named = [dim for shape in shapes.values() for dim in shape if isinstance(dim, str)]
        self.ranges = merged(map(as_dimension, named))
        self.narrow: dict[str, NarrowType] = {}

    def run(self, counted: frozenset[str] | None) -> IRModule:
        self.walk.counted = counted
        self.walk.is_symbolic = names_dimensions(self.shapes)
        inputs = input_infos(self.graph)
        self.sizes = fixed_sizes(self.graph, self.shapes, self.values)
        for info in inputs:
            self._input(info)
        for tensor in self.graph.initializer:
            self.walk.constant(tensor.name, to_array(tensor, "initializer"))
        self.walk.convert(self.graph.node)
        names = [info.name for info in self.graph.output]
        results = [self.walk.result(name, "model") for name in names]
        for name, result in zip(names, results, strict=True):
            if result in self.walk.known.sequences:
                raise ImportFailed(f"output {name!r} is a sequence; only tensors are supported")
        cut = {each.name for each in self.walk.cuts}
        is_open = any(leaves_open(info) for info in inputs)
        for info, result in zip(self.graph.output, results, strict=True):
            if info.name not in cut:
                check_declared(info, result.type, self._number(result), open_=is_open)
        narrow = {
            n: self.known.narrow[v]
            for n, v in zip(names, results, strict=True)
            if v in self.known.narrow
        }
        results = [
            to_bits(self._boundary(name), value, narrow[name]) if name in narrow else value
            for name, value in zip(names, results, strict=True)
        ]
        cuts, counts = self._cuts(names)
        given = tuple(info.name for info in inputs if info.name not in self.values)
        attrs: dict[str, Any] = {"inputs": given, "outputs": (*names, *counts)}
        if cuts:
            attrs["cuts"] = cuts
        for of, kinds in (("inputs", self.narrow), ("outputs", narrow)):
            if kinds:
                pairs = ((name, kind.name) for name, kind in kinds.items())
                attrs[f"narrow_{of}"] = tuple(text for pair in pairs for text in pair)
        func = self.builder.finish(*results, *counts.values(), **attrs)
        func = with_dimensions(func, self.ranges)
        return IRModule({"main": func, **self.builder.functions})

    def _cuts(self, outputs: Sequence[str]) -> tuple[tuple[str | int, ...], dict[str, Value]]:
        """Return the outputs to cut, as an attribute of the function, and the counts by the names
        that they have as outputs."""
        unique = UniqueNames(outputs)
        wanted = [cut for cut in self.walk.cuts if cut.name in outputs]
        counts = {value: unique("count") for value in dict.fromkeys(cut.count for cut in wanted)}
        rows = [(cut.name, cut.axis, counts[cut.count], cut.node) for cut in wanted]
        cuts = tuple(item for row in rows for item in row)
        return cuts, {name: value for value, name in counts.items()}

    def _input(self, info: onnx.ValueInfoProto) -> None:
        dtype = element_type_of(info)
        tensor = tensor_of(info)
        if info.name in self.values:
            self.walk.constant(info.name, self.values[info.name])
            return
        shape = self._shape(info.name, tensor)
        param = self.builder.param(info.name, TensorType(shape, dtype))
        self.known.sizes.note(param)
        narrow = NARROW_TYPES.get(tensor.elem_type)
        if narrow is None:
            self.walk.scope[info.name] = param
        else:
            self.narrow[info.name] = narrow
            self.walk.scope[info.name] = from_bits(self._boundary(info.name), param, narrow)

    def _boundary(self, name: str) -> OnnxNode:
        """Return a node for what is computed at an input or output of the model."""
        node = onnx.helper.make_node("Cast", [name], [name])
        return OnnxNode(node, version=0, inputs=(), builder=self.builder, known=self.known)

    def _number(self, value: Value) -> int:
        """Return the element type of a value in the model, by its number in ONNX."""
        narrow = self.known.narrow.get(value)
        if narrow is not None:
            return narrow.number
        assert isinstance(value.type, TensorType)
        return onnx.helper.np_dtype_to_tensor_dtype(numpy_dtype(value.type.dtype))

    def _shape(self, name: str, tensor: onnx.TypeProto.Tensor) -> tuple[Expr, ...]:
        dims = list(tensor.shape.dim)
        given = self.shapes.get(name)
        if given is not None:
            return tuple(self._sized(dim, name) for dim in given_shape(given))
        if not tensor.HasField("shape"):
            raise ImportFailed(
                f"input {name!r} has no shape", hint=f"Set it: shapes={{{name!r}: (...)}}."
            )
        return tuple(self._dim(dim, name, at) for at, dim in enumerate(dims))

    def _dim(self, dim: onnx.TensorShapeProto.Dimension, name: str, at: int) -> Expr:
        if dim.HasField("dim_value") and dim.dim_value >= 0:
            return const(dim.dim_value, I64)
        key = dimension_name(dim, name, at)
        return self._sized(self.sizes.get(key, key), name)

    def _sized(self, size: int | str, name: str) -> Expr:
        """Return a dimension of an input: a number, or the variable of its name."""
        if isinstance(size, int):
            return const(size, I64)
        self.dims_of.setdefault(size, []).append(name)
        var = self.dims.setdefault(size, Var(size))
        dim = self.ranges.get(size, Dimension(size))
        self.known.sizes.ranges[var] = Interval(dim.least, dim.most)
        return var
