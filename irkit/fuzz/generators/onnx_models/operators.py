"""ONNX operators that the importer supports: one function each, which adds a node to a model."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from irkit.fuzz.generators.onnx_models.windows import axes_of
from irkit.fuzz.picks import Picks

_SIZES = (3, 2, 4, 1, 5, 7)
_MOST = 600
_LIMIT = 1 << 20


class OnnxTensor(msgspec.Struct, frozen=True):
    """A tensor of the model, an upper bound of its magnitudes, and its type if not f32."""

    name: str
    shape: tuple[int, ...]
    bound: float = 3
    integers: bool = False

    @property
    def rank(self) -> int:
        return len(self.shape)


class ModelDraws:
    """A model under construction; ``whole`` keeps all numbers whole and small."""

    def __init__(self, picks: Picks, opset: int, *, whole: bool) -> None:
        self.picks = picks
        self.opset = opset
        self.whole = whole
        self.rng = np.random.default_rng(picks.below(1 << 16))
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        self.inputs: list[OnnxTensor] = []
        self.held: list[OnnxTensor] = []
        self.others: list[tuple[str, int, tuple[int, ...]]] = []

    def input(self, rank: int, *, integers: bool = False) -> OnnxTensor:
        shape = tuple(self.picks.pick(_SIZES) for _ in range(rank))
        made = OnnxTensor(f"x{len(self.inputs)}", shape, integers=integers)
        self.inputs.append(made)
        self.held.append(made)
        return made

    def weight(self, shape: Sequence[int], *, low: float = -2.0) -> str:
        """Make an initializer of random floats."""
        if self.whole:
            array = self.rng.integers(int(low), 3, shape).astype(np.float32)
        else:
            array = self.rng.uniform(low, 2.0, shape).astype(np.float32)
        return self.known(array)

    def known(self, array: Any) -> str:
        """Make an initializer of an array."""
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def integers(self, *numbers: int) -> str:
        """Make an initializer, or a constant, of whole numbers that decide a shape."""
        if self.opset < 12 or not self.picks.one_in(4):
            return self.known(np.asarray(numbers, np.int64))
        name = f"c{len(self.nodes)}"
        self.nodes.append(helper.make_node("Constant", [], [name], value_ints=numbers))
        return name

    def any(self, rank: int = -1, *, floats: bool = True) -> OnnxTensor:
        """Pick one of the last tensors of a rank, or make an input."""
        found = [
            each for each in self.held if rank in (-1, each.rank) and not (floats and each.integers)
        ]
        if found and self.picks.below(8):
            return found[-1 - self.picks.below(min(3, len(found)))]
        return self.input(rank if rank >= 0 else 1 + self.picks.below(4))

    def whole_numbers(self) -> OnnxTensor:
        """Pick integers, or make an input of them."""
        found = [each for each in self.held if each.integers]
        return self.picks.pick(found) if found else self.input(2, integers=True)

    def node(
        self,
        op: str,
        inputs: Sequence[OnnxTensor | str],
        shape: Sequence[int],
        bound: float,
        *,
        integers: bool = False,
        **attrs: Any,
    ) -> OnnxTensor | None:
        """Add a node with one result, unless that is too large."""
        if int(np.prod(shape, dtype=np.int64)) > _MOST or bound > _LIMIT:
            return None
        names = [each if isinstance(each, str) else each.name for each in inputs]
        made = OnnxTensor(f"t{len(self.nodes)}", tuple(shape), bound, integers)
        self.nodes.append(helper.make_node(op, names, [made.name], **attrs))
        self.held.append(made)
        return made

    def window(
        self, x: OnnxTensor, kernel: Sequence[int], *, dilated: bool = True, may_ceil: bool = False
    ) -> tuple[dict[str, Any], list[int]]:
        """Pick how a window moves, and count its positions."""
        spatial, picks = x.shape[2:], self.picks
        strides = [1 + picks.below(2) for _ in kernel]
        pads = [picks.below(2) if k > 1 else 0 for k in (*kernel, *kernel)]
        attrs: dict[str, Any] = {"kernel_shape": list(kernel), "strides": strides, "pads": pads}
        auto = picks.pick(("SAME_UPPER", "SAME_LOWER", "VALID")) if picks.one_in(4) else ""
        padded = auto.startswith("SAME")
        if dilated and picks.one_in(2 if padded else 4):
            attrs["dilations"] = [
                1 + ((padded or 2 * k - 1 <= n) and picks.below(2))
                for n, k in zip(spatial, kernel, strict=True)
            ]
        if may_ceil and picks.one_in(4):
            attrs["ceil_mode"] = 1
        if auto:
            attrs["auto_pad"] = auto
            del attrs["pads"]
        ceil = "ceil_mode" in attrs
        return attrs, [axis.windows(ceil_mode=ceil) for axis in axes_of(spatial, attrs)]


def arithmetic(m: ModelDraws, op: str) -> OnnxTensor | None:
    """Join two tensors that broadcast; divide only by numbers that are not small."""
    if m.opset < 7:
        return placed(m, op)
    x = m.whole_numbers() if m.picks.one_in(4) else m.any(floats=False)
    shape = [1 if m.picks.one_in(4) else n for n in x.shape][m.picks.below(2) if x.rank else 0 :]
    alike = [e for e in m.held if e.shape == x.shape and e.integers == x.integers]
    if x.integers:
        if op == "Div":
            divisors = m.known(m.rng.choice((3, 2, -2, -3), x.shape).astype(np.int32))
            return m.node(op, [x, divisors], x.shape, x.bound, integers=True)
        y = m.picks.pick(alike)
        other: OnnxTensor | str = y
        bound = x.bound + y.bound if op != "Mul" else x.bound * y.bound
        return m.node(op, [x, other], x.shape, bound, integers=True) if op != "Sum" else None
    if op == "Div":
        return m.node(op, [x, m.weight(shape, low=1.0)], x.shape, x.bound)
    if m.picks.below(2):
        y = m.picks.pick(alike)
        bound = x.bound * y.bound if op == "Mul" else x.bound + y.bound
        return m.node(op, [x, y], x.shape, bound)
    bound = x.bound * 3 if op == "Mul" else x.bound + 3
    return m.node(op, [x, m.weight(shape)], x.shape, bound)


def placed(m: ModelDraws, op: str) -> OnnxTensor | None:
    """Join tensors as operator sets before 7 do: of one shape, or with ``broadcast`` from an axis
    on; the default axis aligns the last dimensions."""
    x = m.any()
    begin, end = sorted((m.picks.below(x.rank + 1), m.picks.below(x.rank + 1)))
    low, bound = (1.0, x.bound) if op == "Div" else (-2.0, x.bound + 3)
    bound = x.bound * 3 if op == "Mul" else bound
    if m.picks.below(2) or begin == end:
        return m.node(op, [x, m.weight(x.shape, low=low)], x.shape, bound)
    given: dict[str, Any] = {"broadcast": 1, "axis": begin}
    if end == x.rank and m.picks.below(2):
        del given["axis"]
    return m.node(op, [x, m.weight(x.shape[begin:end], low=low)], x.shape, bound, **given)


def unary(m: ModelDraws, op: str) -> OnnxTensor | None:
    x = m.any()
    bound = max(1.0, x.bound) if op in ("Sigmoid", "Tanh") else x.bound
    return m.node(op, [x], x.shape, bound)


def batch_norm(m: ModelDraws, op: str) -> OnnxTensor | None:
    x = conv(m, "Conv") if m.picks.one_in(2) else None
    if x is not None and m.picks.below(4):
        m.held.remove(x)  # It can be folded into the convolution only if nothing else uses that.
    x = x or m.any(2 + m.picks.below(3))
    n = x.shape[1]
    parts = [m.weight((n,)), m.weight((n,)), m.weight((n,)), m.weight((n,), low=0.5)]
    given: dict[str, Any] = {} if m.opset >= 7 else {"is_test": 1}
    return m.node(op, [x, *parts], x.shape, 4 * x.bound + 20, epsilon=1e-3, **given)


def clip(m: ModelDraws, op: str) -> OnnxTensor | None:
    """Clip by two bounds, or by one."""
    x, low, high = m.any(), 1.0 - m.picks.below(4), 1.0 + m.picks.below(4)
    left_out = m.picks.pick(("", "", "min", "max"))
    bound = max(high, abs(low), x.bound if left_out else 0)
    limits: dict[str, Any] = {"min": low, "max": high}
    limits.pop(left_out, None)
    if m.opset < 11:
        return m.node(op, [x], x.shape, bound, **limits)
    names = [m.known(np.float32(limits[end])) if end in limits else "" for end in ("min", "max")]
    return m.node(op, [x, *names], x.shape, bound)


def concat(m: ModelDraws, op: str) -> OnnxTensor | None:
    x = m.any()
    if not x.rank:
        return None
    at = m.picks.below(x.rank)
    alike = [e for e in m.held if e.shape == x.shape and not e.integers]
    y = m.picks.pick(alike)
    shape = [n * 2 if place == at else n for place, n in enumerate(x.shape)]
    axis = at - x.rank if m.picks.one_in(4) and m.opset >= 11 else at
    return m.node(op, [x, y], shape, max(x.bound, y.bound), axis=axis)


def constant(m: ModelDraws, op: str) -> OnnxTensor | None:
    shape = tuple(m.picks.pick(_SIZES) for _ in range(1 + m.picks.below(2)))
    array = m.rng.integers(-2, 3, shape).astype(np.float32)
    if m.opset >= 12 and len(shape) == 1 and m.picks.below(2):
        return m.node(op, [], shape, 3, value_floats=array.tolist())
    return m.node(op, [], shape, 3, value=numpy_helper.from_array(array))


def filled(m: ModelDraws, op: str) -> OnnxTensor | None:
    """Fill a shape, by default with 0.0; one in six results is empty."""
    if m.opset < 9:
        return None
    shape = tuple(m.picks.pick(_SIZES) for _ in range(1 + m.picks.below(2)))
    shape = (0, *shape[1:]) if m.picks.one_in(6) else shape
    value = numpy_helper.from_array(np.asarray([2.0], np.float32))
    given: dict[str, Any] = {} if m.picks.one_in(3) else {"value": value}
    return m.node(op, [m.integers(*shape)], shape, 3, **given)


def conv(m: ModelDraws, op: str) -> OnnxTensor | None:
    x = m.any(3 + m.picks.below(2))
    fitting = [n for n in (1, 1, 2, 3, x.shape[1]) if x.shape[1] % n == 0]
    groups = m.picks.pick(fitting)
    kernel = [min(n, 1 + m.picks.below(3)) for n in x.shape[2:]]
    filters = groups * (1 + m.picks.below(3))
    weights = (filters, x.shape[1] // groups, *kernel)
    attrs, counts = m.window(x, kernel)
    bias = [m.weight((filters,))] if m.picks.below(2) else []
    bound = x.bound * 3 * float(np.prod(weights[1:])) + 3
    shape = (x.shape[0], filters, *counts)
    return m.node(op, [x, m.weight(weights), *bias], shape, bound, group=groups, **attrs)


def pool(m: ModelDraws, op: str) -> OnnxTensor | None:
    x = m.any(3 + m.picks.below(2))
    kernel = [min(n, 2) for n in x.shape[2:]]
    newer = m.opset >= 10
    attrs, counts = m.window(x, kernel, dilated=newer and op == "MaxPool", may_ceil=newer)
    if op == "AveragePool" and m.opset >= 7 and m.picks.below(2):
        attrs["count_include_pad"] = 1
    return m.node(op, [x], (*x.shape[:2], *counts), x.bound, **attrs)


def mean(m: ModelDraws, op: str) -> OnnxTensor | None:
    x = m.any(3 + m.picks.below(2))
    return m.node(op, [x], (*x.shape[:2], *(1,) * (x.rank - 2)), x.bound)


def dropout(m: ModelDraws, op: str) -> OnnxTensor | None:
    x = m.any()
    given: dict[str, Any] = {} if m.opset >= 7 else {"is_test": 1}
    return m.node(op, [x], x.shape, x.bound, **given)


def flatten(m: ModelDraws, op: str) -> OnnxTensor | None:
    x = m.any()
    if not x.rank:
        return None
    axis = m.picks.below(x.rank + 1)
    given: dict[str, Any] = {} if axis == 1 else {"axis": axis}
    shape = (int(np.prod(x.shape[:axis])), int(np.prod(x.shape[axis:])))
    return m.node(op, [x], shape, x.bound, **given)


def gemm(m: ModelDraws, op: str) -> OnnxTensor | None:
    x, n = m.any(2), m.picks.pick(_SIZES)
    ta, tb = m.picks.below(2), m.picks.below(2)
    rows, inner = x.shape[::-1] if ta else x.shape
    w = m.weight((n, inner) if tb else (inner, n))
    bias = [m.weight((n,))] if m.opset < 11 or m.picks.below(2) else []
    scales: dict[str, Any] = {"alpha": 2.0, "beta": 3.0} if m.picks.one_in(3) else {}
    if m.opset < 7:
        scales["broadcast"] = 1
    bound = 6 * x.bound * inner + 9
    return m.node(op, [x, w, *bias], (rows, n), bound, transA=ta, transB=tb, **scales)


def matmul(m: ModelDraws, op: str) -> OnnxTensor | None:
    """Multiply by one matrix, or by one for each matrix of a batch that broadcasts."""
    x, n = m.any(2 + m.picks.below(3)), m.picks.pick(_SIZES)
    bound, lead, own = x.bound * 3 * x.shape[-1], x.shape[:-2], tuple[int, ...]()
    if m.picks.one_in(3):
        own = tuple(m.picks.pick((size, 1)) for size in lead) or (2,)
    shape = (*np.broadcast_shapes(lead, own), x.shape[-2], n)
    return m.node(op, [x, m.weight((*own, x.shape[-1], n))], shape, bound)


def lrn(m: ModelDraws, op: str) -> OnnxTensor | None:
    x, pick = m.any(4), m.picks.pick
    given: dict[str, Any] = {"size": pick((3, 1, 2, 4)), "alpha": pick((0.5, 0.01))}
    if m.picks.below(2):
        given |= {"beta": 0.5, "bias": 2.0}
    return m.node(op, [x], x.shape, x.bound, **given)


def reshape(m: ModelDraws, op: str) -> OnnxTensor | None:
    x = m.any()
    total = int(np.prod(x.shape))
    factor = m.picks.pick([n for n in (1, 2, 3, 4) if total % n == 0])
    kept = m.picks.below(max(x.rank, 1))
    target, shape = m.picks.pick(
        (
            ((total,), (total,)),
            ((factor, -1), (factor, total // factor)),
            ((-1,), (total,)),
            ((*(0,) * kept, -1), (*x.shape[:kept], int(np.prod(x.shape[kept:])))),
        )
    )
    return m.node(op, [x, m.integers(*target)], shape, x.bound)


def softmax(m: ModelDraws, op: str) -> OnnxTensor | None:
    x = m.any()
    if not x.rank or x.bound > 50:
        return None
    axis = m.picks.below(x.rank)
    axis = axis - x.rank if m.picks.one_in(4) and m.opset >= 11 else axis
    given: dict[str, Any] = {"axis": axis}
    if m.picks.one_in(2) and (x.rank > 1 or m.opset >= 13):
        del given["axis"]
    return m.node(op, [x], x.shape, 1, **given)


def squeeze(m: ModelDraws, op: str) -> OnnxTensor | None:
    ones = [(e, at) for e in m.held for at, n in enumerate(e.shape) if n == 1 and not e.integers]
    if not ones:
        return None
    x, at = m.picks.pick(ones)
    if m.picks.one_in(4):
        return m.node(op, [x], [n for n in x.shape if n != 1], x.bound)
    return axes_node(m, op, x, at, (*x.shape[:at], *x.shape[at + 1 :]))


def unsqueeze(m: ModelDraws, op: str) -> OnnxTensor | None:
    x = m.any()
    at = m.picks.below(x.rank + 1)
    return axes_node(m, op, x, at, (*x.shape[:at], 1, *x.shape[at:])) if x.rank < 4 else None


def axes_node(
    m: ModelDraws, op: str, x: OnnxTensor, at: int, shape: Sequence[int]
) -> OnnxTensor | None:
    """Pass axes as an attribute, or as an input since opset 13."""
    if m.opset >= 11 and m.picks.one_in(3):
        at -= max(x.rank, len(shape))
    if m.opset < 13:
        return m.node(op, [x], shape, x.bound, axes=[at])
    return m.node(op, [x, m.integers(at)], shape, x.bound)


def total(m: ModelDraws, op: str) -> OnnxTensor | None:
    x = m.any()
    alike = [e for e in m.held if e.shape == x.shape and not e.integers]
    xs = [x, *(m.picks.pick(alike) for _ in range(m.picks.below(3)))]
    return m.node(op, xs, x.shape, sum(e.bound for e in xs))


def transpose(m: ModelDraws, op: str) -> OnnxTensor | None:
    x = m.any()
    if not x.rank:
        return None  # The type of an empty list of numbers cannot be inferred.
    left = list(range(x.rank))
    perm = [left.pop(-1 - m.picks.below(len(left))) for _ in range(x.rank)]
    if m.picks.one_in(4):
        return m.node(op, [x], x.shape[::-1], x.bound)
    return m.node(op, [x], [x.shape[at] for at in perm], x.bound, perm=perm)


FLOAT = TensorProto.FLOAT
INT32 = TensorProto.INT32
Draw = Callable[[ModelDraws, str], "OnnxTensor | None"]
ROUNDING = (
    *("Div", "Sigmoid", "Tanh", "BatchNormalization", "AveragePool", "GlobalAveragePool", "LRN"),
    "Softmax",
)
ONNX_DRAWS: dict[str, Draw] = {
    **dict.fromkeys(("Add", "Sub", "Mul", "Div"), arithmetic),
    **dict.fromkeys(("Relu", "Sigmoid", "Tanh", "Identity"), unary),
    **dict.fromkeys(("MaxPool", "AveragePool"), pool),
    **{"BatchNormalization": batch_norm, "Clip": clip, "Concat": concat, "Constant": constant},
    **{"ConstantOfShape": filled, "Conv": conv, "Dropout": dropout, "Flatten": flatten},
    **{"Gemm": gemm, "GlobalAveragePool": mean, "LRN": lrn, "MatMul": matmul},
    **{"Reshape": reshape, "Softmax": softmax, "Squeeze": squeeze, "Sum": total},
    **{"Transpose": transpose, "Unsqueeze": unsqueeze},
}
"""The function that adds a node of each operator that is drawn; ONNX's suite has the others."""
