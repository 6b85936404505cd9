"""Models whose shapes are not known before the call: what they are compiled for, and in how many
parts.

A model leaves a shape open by a dimension without a number, by an input that decides a shape, or by
an operator whose outputs are as large as its data make them (NonZero). The first two are fixed by
the inputs of a call. For the third the model is split: the first part runs in room for the most,
its outputs are cut, and the rest is compiled for the shapes that were found.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import onnx
from numpy.typing import ArrayLike, NDArray

from irkit.core import IRKitError, IRModule
from irkit.frontend.onnx import (
    DataDependent,
    ModelParts,
    Shapes,
    UnknownShape,
    check_model,
    cuts_of,
    fixed_sizes,
    fixed_values,
    import_onnx,
    keep_data,
    model_inputs,
    split_model,
    with_inputs,
)
from irkit.graph import GraphFunc, InputSpec, TensorType, tensors_in
from irkit.ir import array_type, as_int
from irkit.phases.executor.tensor_specs import narrow_types
from irkit.runtime import Cut, Model, Specialisation, SpecialisedModel, StagedModel

MAX_SIMPLE = 64
"""Elements of an integer input that is fixed by value because something computed from it decides a
shape; of a larger one, such as token numbers, only what decides the shape is."""

Values = Mapping[str, ArrayLike]
CompileModule = Callable[[list[IRModule]], Model]
"""Compile the module that a list holds, which is taken out."""


def compile_onnx(
    model: onnx.ModelProto, shapes: Shapes, values: Values, compile_module: CompileModule
) -> Model:
    """Compile a model; if that needs shapes or values that are not given, return one that compiles
    for those it meets."""
    check_model(model)
    fixed = fixed_values(model.graph, values)
    specialise = _Specialise(model, shapes, fixed, compile_module)
    inputs = specialise.inputs()
    left_open = ", ".join(str(each) for each in inputs if each.is_open)
    why = f"the model leaves shapes of inputs open ({left_open})"
    if not left_open:
        try:
            return specialise.staged({})[1]
        except UnknownShape as error:
            if error.input not in {each.name for each in inputs}:
                raise
            why = error.message
    keep_data(model)
    return SpecialisedModel(inputs, specialise, why=why)


class _Imported(msgspec.Struct, frozen=True, eq=False):
    """What can be compiled: the whole model, or its first part."""

    module: IRModule
    parts: ModelParts
    values: dict[str, NDArray[Any]]


class _Specialise(msgspec.Struct, frozen=True, eq=False):
    """A model with the shapes and values that its caller fixes for all calls."""

    model: onnx.ModelProto
    shapes: Shapes
    values: dict[str, NDArray[Any]]
    compile_module: CompileModule

    def __call__(self, feeds: Mapping[str, NDArray[Any]]) -> tuple[Specialisation, Model]:
        """Compile for the shapes and values of the inputs of a call."""
        return self.staged(feeds)

    def inputs(self) -> tuple[InputSpec, ...]:
        """Return the inputs that a call gives, with the shapes that are fixed."""
        found = model_inputs(self.model)
        sizes = fixed_sizes(self.model.graph, self.shapes, self.values)
        return tuple(
            InputSpec(each.name, each.dtype, _fixed(each, self.shapes, sizes))
            for each in found
            if each.name not in self.values
        )

    def staged(self, feeds: Mapping[str, NDArray[Any]]) -> tuple[Specialisation, Model]:
        """Compile for these inputs, or for all if there are none.

        Raises: UnknownShape, with the input, if a value is missing.
        """
        inputs = self.inputs()
        open_shapes = {each.name: feeds[each.name].shape for each in inputs if each.is_open}
        imported = self._imported(inputs, open_shapes, feeds)
        met = {n: v for n, v in imported.values.items() if n not in self.values}
        key = Specialisation(open_shapes, met)
        cuts, parts = cuts_of(imported.module), imported.parts
        if parts.rest is None and not cuts:
            given = [imported.module]
            del imported
            return key, self.compile_module(given)
        first = self.compile_module([imported.module])
        left = [_known(each, open_shapes) for each in inputs if each.name not in met]
        taken = {info.name for info in parts.first.graph.input}
        first_inputs = [each.name for each in left if each.name in taken]
        rest, rest_inputs = None, list[str]()
        if parts.rest is not None:
            rest, rest_inputs = self._rest(parts, imported, open_shapes)
        staged = StagedModel(
            left,
            first,
            [Cut(each.output, each.axis, each.count, each.node) for each in cuts],
            [info.name for info in self.model.graph.output],
            rest,
            first_inputs=first_inputs,
            rest_inputs=rest_inputs,
        )
        return key, staged

    def _imported(
        self,
        inputs: Sequence[InputSpec],
        open_shapes: Shapes,
        feeds: Mapping[str, NDArray[Any]],
    ) -> _Imported:
        """Import as much of the model as can be compiled, and fix the values that decide shapes."""
        values = dict(self.values)
        stops: set[str] = set()
        counted: set[str] = set()
        refusal: IRKitError | None = None
        while True:
            parts = split_model(self.model, stops)
            there = {info.name for info in parts.first.graph.input}
            try:
                module = import_onnx(
                    parts.first,
                    shapes={n: s for n, s in {**self.shapes, **open_shapes}.items() if n in there},
                    values={n: v for n, v in values.items() if n in there},
                    counted=counted,
                )
            except (DataDependent, UnknownShape) as error:
                is_countable = isinstance(error, DataDependent) or error.is_countable
                if is_countable and not counted and not stops:
                    try:
                        return _Imported(self._at_once(open_shapes, values), parts, values)
                    except IRKitError as found:
                        refusal = found
                if isinstance(error, UnknownShape):
                    self._supply(error, inputs, feeds, values, stops)
                    continue
                if not error.outputs or error.outputs[0] in counted:
                    # It is inside of a choice or loop, where a model cannot be cut.
                    raise error if refusal is None else refusal from None
                counted.add(error.outputs[0])
                stops |= set(error.outputs)
            else:
                return _Imported(module, parts, values)

    def _supply(
        self,
        error: UnknownShape,
        inputs: Sequence[InputSpec],
        feeds: Mapping[str, NDArray[Any]],
        values: dict[str, NDArray[Any]],
        stops: set[str],
    ) -> None:
        """Fix the input that decides a shape, or end the first part before what does.

        Raises: the error, if neither helps.
        """
        if _is_decided_by_input(error, inputs) and error.input not in values:
            if error.input not in feeds:
                raise error
            values[error.input] = feeds[error.input]
        elif error.value and error.value not in stops:
            stops.add(error.value)
        else:
            raise error

    def _at_once(self, open_shapes: Shapes, values: Values) -> IRModule:
        """Import the whole model, whose sizes depend on data.

        Raises: IRKitError if an operator needs a number where such a size is.
        """
        return import_onnx(self.model, shapes={**self.shapes, **open_shapes}, values=values)

    def _rest(
        self, parts: ModelParts, imported: _Imported, open_shapes: Shapes
    ) -> tuple[Model, list[str]]:
        """Return the model of the second part, and the names of its inputs."""
        assert parts.rest is not None
        module = imported.module
        open_axes = {(cut.output, cut.axis): cut.count for cut in cuts_of(module)}
        main = module["main"]
        assert isinstance(main, GraphFunc)
        names = [info.name for info in parts.first.graph.output]
        kinds = dict(zip(names, tensors_in(main.body.result.type), strict=False))
        narrow = narrow_types(main, "outputs")
        types = [
            (name, *_declared(name, kinds[name], narrow.get(name, ""), open_axes))
            for name in parts.crossing
        ]
        rest = with_inputs(parts.rest, types)
        keep_data(rest)
        there = {info.name for info in rest.graph.input}
        shapes = {n: s for n, s in {**self.shapes, **open_shapes}.items() if n in there}
        values = {n: v for n, v in imported.values.items() if n in there}
        specialise = _Specialise(rest, shapes, values, self.compile_module)
        inputs = specialise.inputs()
        nodes = [cut.node for cut in cuts_of(module)] or [repr(name) for name in parts.crossing]
        why = f"the rest of the model depends on what {' and '.join(dict.fromkeys(nodes))} finds"
        model = SpecialisedModel(inputs, specialise, why=why)
        return model, [each.name for each in inputs]


def _fixed(
    spec: InputSpec, shapes: Shapes, sizes: Mapping[str, int | str]
) -> tuple[int | str, ...] | None:
    if spec.name in shapes:
        return tuple(int(dim) for dim in shapes[spec.name])
    if spec.dims is None:
        return None
    return tuple(sizes.get(dim, dim) if isinstance(dim, str) else dim for dim in spec.dims)


def _known(spec: InputSpec, shapes: Shapes) -> InputSpec:
    return InputSpec(spec.name, spec.dtype, tuple(shapes[spec.name])) if spec.is_open else spec


def _is_decided_by_input(error: UnknownShape, inputs: Sequence[InputSpec]) -> bool:
    """Return True if the whole input is to be fixed, rather than what is computed from it."""
    spec = next((each for each in inputs if each.name == error.input), None)
    if spec is None:
        return False
    if error.value in ("", error.input):
        return True
    size = 1
    for dim in spec.dims or ("",):
        size *= dim if isinstance(dim, int) else MAX_SIMPLE + 1
    return not spec.dtype.startswith(("f", "bf")) and size <= MAX_SIMPLE


def _declared(
    name: str, kind: TensorType, narrow: str, open_axes: Mapping[tuple[str, int], str]
) -> tuple[int, list[int | str]]:
    """Return the element type and dimensions of an output, as ONNX declares an input."""
    dims: list[int | str] = [
        open_axes.get((name, at), as_int(dim) or 0) for at, dim in enumerate(kind.shape)
    ]
    return onnx.helper.np_dtype_to_tensor_dtype(array_type(narrow or str(kind.dtype))), dims
