"""Less usual forms of ONNX operators: those with several results, and constants of one number."""

from collections.abc import Callable

from onnx import TensorProto, helper

from irkit.fuzz.generators.onnx_models.operators import ModelDraws, OnnxTensor

_BOOL, _FLOAT, _INT64 = TensorProto.BOOL, TensorProto.FLOAT, TensorProto.INT64


def places(m: ModelDraws, op: str) -> OnnxTensor | None:
    """Request the position of the largest element of each window too."""
    x = m.any(3 + m.picks.below(2))
    if m.opset < 8:
        return None
    attrs, counts = m.window(x, [min(n, 2) for n in x.shape[2:]], dilated=m.opset >= 10)
    attrs["storage_order"] = m.picks.below(2)
    shape = (*x.shape[:2], *counts)
    return _with(m, m.node(op, [x], shape, x.bound, **attrs), _INT64, shape)


def mask(m: ModelDraws, op: str) -> OnnxTensor | None:
    """Request the mask of Dropout: all ones, since nothing is dropped."""
    x = m.any()
    if m.opset < 12:
        return None  # onnx.reference turns the mask into bools.
    return _with(m, m.node(op, [x], x.shape, x.bound), _BOOL, x.shape)


def training(m: ModelDraws, op: str) -> OnnxTensor | None:
    """Normalise by the statistics of the batch, and request the new statistics."""
    x = m.any(2 + m.picks.below(3))
    if m.opset < 14 or m.whole:
        return None
    n = x.shape[1]
    parts = [m.weight((n,)), m.weight((n,)), m.weight((n,)), m.weight((n,), low=0.5)]
    made = m.node(op, [x, *parts], x.shape, 100, epsilon=0.1, momentum=0.75, training_mode=1)
    for _ in range(2):
        _with(m, made, _FLOAT, (n,))
    return made


def number(m: ModelDraws, op: str) -> OnnxTensor | None:
    """Make a constant of one number."""
    if m.opset < 12:
        return None
    if m.picks.below(2):
        return m.node(op, [], (), 3, value_float=float(m.rng.integers(-2, 3)))
    name = f"c{len(m.nodes)}"
    m.nodes.append(helper.make_node(op, [], [name], value_int=int(m.rng.integers(-2, 3))))
    m.others.append((name, _INT64, ()))
    return OnnxTensor(name, (), 3, integers=True)


def _with(
    m: ModelDraws, made: OnnxTensor | None, kind: int, shape: tuple[int, ...]
) -> OnnxTensor | None:
    """Add one more result to the last node, which becomes a result of the model."""
    if made is not None:
        name = f"{made.name}_{len(m.nodes[-1].output)}"
        m.nodes[-1].output.append(name)
        m.others.append((name, kind, shape))
    return made


ONNX_FORMS: tuple[tuple[str, Callable[[ModelDraws, str], OnnxTensor | None]], ...] = (
    ("MaxPool", places),
    ("Dropout", mask),
    ("Constant", number),
    ("BatchNormalization", training),
)
"""The function that adds each form, with the name of its operator."""
