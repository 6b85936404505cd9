"""References for operators: NumPy, the ONNX reference evaluator, and type inference."""

from typing import Any

import numpy as np
from onnx import helper, reference

from irkit.graph import OPS, TensorType, TupleType, dtype_of, tensor_type
from irkit.ir import as_int

RNG = np.random.default_rng(7)


def onnx_result(operator: str, arrays: list[Any], outputs: int = 1, **attrs: Any) -> list[Any]:
    names = [f"x{at}" for at in range(len(arrays))]
    results = [f"y{at}" for at in range(outputs)]
    infos = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
        )
        for name, array in zip(names, arrays, strict=True)
    ]
    ends = [helper.make_empty_tensor_value_info(name) for name in results]
    node = helper.make_node(operator, names, results, **attrs)
    graph = helper.make_graph([node], "one", infos, ends)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)])
    run = reference.ReferenceEvaluator(model)
    return run.run(None, dict(zip(names, arrays, strict=True)))  # pyright: ignore[reportReturnType]


def computed(operator: str, arrays: list[Any], **attrs: Any) -> Any:
    """Evaluate an operator, and check the result against its inferred type."""
    spec = OPS[operator]
    found = spec.evaluate(arrays, attrs)
    said = spec.infer([tensor_type(array.shape, dtype_of(array)) for array in arrays], attrs)
    types = said.items if isinstance(said, TupleType) else (said,)
    for one, given in zip(types, found if isinstance(found, tuple) else (found,), strict=True):
        assert isinstance(one, TensorType)
        assert tuple(as_int(extent) for extent in one.shape) == given.shape
        assert one.dtype == dtype_of(given)
    return found


def floats(*shape: int, dtype: str = "float32") -> Any:
    return RNG.standard_normal(shape).astype(dtype)
