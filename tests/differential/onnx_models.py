"""ONNX models of a few operators, against ONNX Runtime.

Each operator is a row of ``ROWS``: a function that takes the draw and adds nodes, or returns False
where no value fits. A node runs in ONNX Runtime at once, alone, so shapes and values are known and
nodes that it refuses are dropped. Operators that jump (rounding, comparisons, sorting) read values
that are exact only: inputs, and what moves or computes them without rounding.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import irkit
from irkit.core import IRKitError
from tests.differential.outcome import Array, Outcome, difference

OPSET = 21
TOLERANCE = 2e-4
LARGEST = 60.0
"""Values beyond it are dropped: exponentials of them say nothing."""
onnxruntime.set_default_logger_severity(4)


class Draw:
    """A model under construction, with the array of each value."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng((20261129, seed))
        self.whole = bool(self.rng.integers(2))
        self.nodes: list[onnx.NodeProto] = []
        self.arrays: dict[str, Array] = {}
        self.exact: set[str] = set()
        self.inputs: list[str] = []
        self.constants: dict[str, Array] = {}
        self.used: list[str] = []

    def choose(self, *options: Any) -> Any:
        return options[int(self.rng.integers(len(options)))]

    def integer(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))

    def flag(self) -> bool:
        return bool(self.rng.integers(2))

    def floats(self, shape: tuple[int, ...]) -> Array:
        if self.whole:
            return self.rng.integers(-3, 4, size=shape).astype(np.float32)
        return self.rng.uniform(-2, 2, size=shape).astype(np.float32)

    def input(self, array: Array) -> str:
        name = f"x{len(self.arrays)}"
        self.arrays[name] = array
        self.inputs.append(name)
        self.exact.add(name)
        return name

    def constant(self, array: Any, dtype: Any = None) -> str:
        name = f"c{len(self.arrays)}"
        self.arrays[name] = self.constants[name] = np.array(array, dtype)
        self.exact.add(name)
        return name

    def pick(
        self,
        kind: str = "f",
        *,
        rank: int | None = None,
        least: int = 0,
        exact: bool = False,
        where: Callable[[Array], Any] = lambda array: True,
    ) -> str | None:
        """Return a value: kind f, i (int64), b; one may be made anew."""
        types = {"f": np.float32, "i": np.int64, "b": np.bool_}
        fitting = [
            name
            for name, array in self.arrays.items()
            if array.dtype == types[kind]
            and (rank is None or array.ndim == rank)
            and array.ndim >= least
            and (not exact or name in self.exact)
            and name not in self.constants
            and where(array)
        ]
        if fitting and self.rng.random() < 0.85:
            return fitting[int(len(fitting) * self.rng.random() ** 0.6)]
        size = self.integer(max(1, least), 4) if rank is None else rank
        shape = tuple(self.choose(1, 2, 3, 4, 5, 6) for _ in range(size))
        if kind == "f":
            array = self.floats(shape)
        elif kind == "i":
            array = self.rng.integers(-5, 6, size=shape)
        else:
            array = self.rng.integers(0, 2, size=shape).astype(bool)
        return self.input(array) if where(array) else None

    def add(
        self,
        op: str,
        inputs: list[str | None],
        outputs: int = 1,
        *,
        exact: bool = False,
        **attrs: Any,
    ) -> list[str]:
        """Add a node if ONNX Runtime takes it and its values are tame; return its outputs."""
        names = [f"v{len(self.arrays)}_{k}" for k in range(outputs)]
        node = helper.make_node(op, [name or "" for name in inputs], names, **attrs)
        read = [name for name in dict.fromkeys(inputs) if name]
        arrays = _run([node], {n: self.arrays[n] for n in read}, {}, names)
        if arrays is None:
            return []
        for array in arrays:
            tame = array.dtype.kind != "f" or bool(np.all(np.abs(array) <= LARGEST))
            if not tame or array.size > 4000 or array.size == 0:
                return []
        self.nodes.append(node)
        self.used.append(op)
        for name, array in zip(names, arrays, strict=True):
            self.arrays[name] = array
            if (exact and all(n in self.exact for n in read)) or array.dtype.kind != "f":
                self.exact.add(name)
        return names


def _model(
    nodes: list[onnx.NodeProto],
    inputs: dict[str, Array],
    constants: dict[str, Array],
    outputs: list[str],
) -> onnx.ModelProto:
    def info(name: str, array: Array) -> onnx.ValueInfoProto:
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        return helper.make_tensor_value_info(name, kind, array.shape)

    graph = helper.make_graph(
        nodes,
        "drawn",
        [info(name, array) for name, array in inputs.items()],
        [onnx.ValueInfoProto(name=name) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)


def _run(
    nodes: list[onnx.NodeProto],
    inputs: dict[str, Array],
    constants: dict[str, Array],
    outputs: list[str],
) -> list[Array] | None:
    """Run nodes in ONNX Runtime; None if it refuses them."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    try:
        model = _model(nodes, inputs, constants, outputs)
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        return [np.asarray(array) for array in session.run(outputs, inputs)]
    except Exception:  # The peer raises its own types without a common base.
        return None


Row = Callable[[Draw], object]
ROWS: dict[str, Row] = {}


def row(function: Row) -> Row:
    ROWS[function.__name__] = function
    return function


def _unary(op: str, where: Callable[[Array], Any], *, jumps: bool, **attrs: Any) -> Row:
    def run(d: Draw) -> object:
        x = d.pick("f", exact=jumps, where=where)
        drawn = {key: value(d) if callable(value) else value for key, value in attrs.items()}
        return x and d.add(op, [x], exact=jumps, **drawn)

    return run


def _all(test: Callable[[Array], Any]) -> Callable[[Array], Any]:
    return lambda array: bool(np.all(test(array)))


def _number(low: float, high: float) -> Callable[[Draw], float]:
    return lambda d: float(np.float32(d.rng.uniform(low, high)))


ANY, SMALL = _all(lambda a: a == a), _all(lambda a: np.abs(a) < 3.5)
UNIT, POSITIVE = _all(lambda a: np.abs(a) < 0.97), _all(lambda a: a > 0.05)
for _op in [
    "Atan",
    "Cos",
    "Elu",
    "Erf",
    "HardSwish",
    "Identity",
    "Mish",
    "Neg",
    "Relu",
    "Selu",
    "Sigmoid",
    "Sin",
    "Softplus",
    "Softsign",
    "Tanh",
    "Abs",
    "Asinh",
]:
    ROWS[_op] = _unary(_op, ANY, jumps=False)
for _op in ["Exp", "Sinh", "Cosh"]:
    ROWS[_op] = _unary(_op, SMALL, jumps=False)
for _op in ["Acos", "Asin", "Atanh", "Tan"]:
    ROWS[_op] = _unary(_op, UNIT, jumps=False)
for _op in ["Log", "Sqrt", "Reciprocal"]:
    ROWS[_op] = _unary(_op, POSITIVE, jumps=False)
for _op in ["Ceil", "Floor", "Round", "Sign", "IsNaN"]:
    ROWS[_op] = _unary(_op, ANY, jumps=True)
ROWS["IsInf"] = _unary("IsInf", ANY, jumps=True, detect_negative=lambda d: d.integer(0, 1))
ROWS["Acosh"] = _unary("Acosh", _all(lambda a: a > 1.05), jumps=False)
ROWS["LeakyRelu"] = _unary("LeakyRelu", ANY, jumps=False, alpha=_number(-1, 1))
ROWS["Celu"] = _unary("Celu", ANY, jumps=False, alpha=_number(0.3, 2))
ROWS["HardSigmoid"] = _unary(
    "HardSigmoid", ANY, jumps=False, alpha=_number(0.1, 1), beta=_number(-1, 1)
)
ROWS["ThresholdedRelu"] = _unary("ThresholdedRelu", ANY, jumps=True, alpha=_number(-1, 1))
ROWS["Shrink"] = _unary("Shrink", ANY, jumps=True, lambd=_number(0, 2), bias=_number(-1, 1))
ROWS["Gelu"] = _unary("Gelu", ANY, jumps=False, approximate=lambda d: d.choose("none", "tanh"))


def _other(d: Draw, x: str, kind: str = "f") -> str:
    """Return a second operand that broadcasts with the first."""
    shape = d.arrays[x].shape
    same = [n for n, a in d.arrays.items() if a.shape == shape and a.dtype == d.arrays[x].dtype]
    if len(same) > 1 and d.rng.random() < 0.6:
        return d.choose(*same)
    cut = shape[d.integer(0, len(shape)) :]
    cut = tuple(1 if d.rng.random() < 0.3 else n for n in cut)
    array = d.floats(cut) if kind == "f" else d.rng.integers(-4, 5, size=cut)
    return d.input(array) if d.flag() else d.constant(array)


def _binary(op: str, *, exact: bool = False, jumps: bool = False, **attrs: Any) -> Row:
    def run(d: Draw) -> object:
        x = d.pick("f", exact=jumps)
        if not x:
            return False
        y = _other(d, x)
        if jumps and y not in d.exact:
            return False
        pair = [x, y] if d.flag() else [y, x]
        return d.add(op, pair, exact=exact and d.whole, **attrs)

    return run


for _op in ["Add", "Sub", "Mul", "Max", "Min"]:
    ROWS[_op] = _binary(_op, exact=True)
for _op in ["Greater", "Less", "Equal", "GreaterOrEqual", "LessOrEqual"]:
    ROWS[_op] = _binary(_op, jumps=True)
ROWS["ModFloat"] = _binary("Mod", jumps=True, fmod=1)


@row
def Div(d: Draw) -> object:
    x = d.pick("f")
    y = d.pick("f", where=_all(lambda a: np.abs(a) > 0.2))
    return x and y and d.add("Div", [x, y])


@row
def Pow(d: Draw) -> object:
    x = d.pick("f", where=POSITIVE)
    return x and d.add("Pow", [x, d.constant(d.choose(2.0, 0.5, -1.0, 3.0, 1.5), np.float32)])


@row
def Square(d: Draw) -> object:
    x = d.pick("f")
    return x and d.add("Pow", [x, d.constant(d.choose(2, 3), d.choose(np.float32, np.int64))])


@row
def PRelu(d: Draw) -> object:
    x = d.pick("f")
    return x and d.add("PRelu", [x, d.constant(d.floats(d.arrays[x].shape[-1:]))])


@row
def Variadic(d: Draw) -> object:
    x = d.pick("f")
    if not x:
        return False
    others = [_other(d, x) for _ in range(d.integer(0, 2))]
    return d.add(d.choose("Sum", "Mean", "Max", "Min"), [x, *others])


def _integers(op: str) -> Row:
    def run(d: Draw) -> object:
        x = d.pick("i")
        if not x:
            return False
        y = _other(d, x, "i")
        if op in ("Div", "Mod") and np.any(d.arrays[y] == 0):
            return False
        return d.add(op, [x, y])

    return run


for _op in [
    "Add",
    "Sub",
    "Mul",
    "Div",
    "Mod",
    "BitwiseAnd",
    "BitwiseOr",
    "BitwiseXor",
    "Max",
    "Min",
    "Less",
    "Equal",
]:
    ROWS[f"{_op}Int"] = _integers(_op)


@row
def BitShift(d: Draw) -> object:
    kind = d.choose(np.uint8, np.uint32, np.uint64)
    shape = (d.integer(1, 5), d.integer(1, 4))
    x = d.input(d.rng.integers(0, 200, size=shape).astype(kind))
    y = d.input(d.rng.integers(0, 9, size=shape[1:]).astype(kind))
    return d.add("BitShift", [x, y], direction=d.choose("LEFT", "RIGHT"))


@row
def BitwiseNot(d: Draw) -> object:
    x = d.pick("i")
    return x and d.add("BitwiseNot", [x])


@row
def Logic(d: Draw) -> object:
    x, y = d.pick("b"), d.pick("b")
    return x and y and d.add(d.choose("And", "Or", "Xor"), [x, y])


@row
def Not(d: Draw) -> object:
    x = d.pick("b")
    return x and d.add("Not", [x])


@row
def Where(d: Draw) -> object:
    c, x = d.pick("b"), d.pick("f")
    return c and x and d.add("Where", [c, x, _other(d, x)], exact=True)


@row
def Cast(d: Draw) -> object:
    source = d.choose("f", "i", "b")
    x = d.pick(source, exact=True)
    targets = [TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL, TensorProto.INT32]
    targets += [TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.INT8]
    return x and d.add("Cast", [x], exact=True, to=d.choose(*targets))


@row
def CastThere(d: Draw) -> object:
    x = d.pick("f")
    half = x and d.add("Cast", [x], to=d.choose(TensorProto.DOUBLE, TensorProto.FLOAT))
    return half and d.add("Cast", half, to=TensorProto.FLOAT)


@row
def Clip(d: Draw) -> object:
    x = d.pick("f")
    low, high = sorted(float(v) for v in d.rng.uniform(-2, 2, size=2))
    bounds = [d.constant(low, np.float32), d.constant(high, np.float32)]
    return x and d.add("Clip", [x, *bounds][: d.integer(1, 3)])


def _axes(d: Draw, array: Array) -> list[int]:
    chosen = [k for k in range(array.ndim) if d.flag()] or [d.integer(0, array.ndim - 1)]
    return [k - array.ndim if d.flag() else k for k in chosen]


def _reduction(op: str) -> Row:
    def run(d: Draw) -> object:
        positive = POSITIVE if op == "ReduceLogSum" else ANY
        x = d.pick("f", least=1, where=positive)
        if not x:
            return False
        exact = op in ("ReduceMax", "ReduceMin")
        inputs: list[str | None] = [x]
        if d.rng.random() < 0.8:
            inputs.append(d.constant(_axes(d, d.arrays[x]), np.int64))
        return d.add(op, inputs, exact=exact, keepdims=d.integer(0, 1))

    return run


for _op in ["L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare"]:
    if _op not in ("Max", "Min", "Sum"):
        ROWS[f"Reduce{_op}"] = _reduction(f"Reduce{_op}")
for _op in ("ReduceMax", "ReduceMin", "ReduceSum"):
    ROWS[_op] = _reduction(_op)


@row
def ArgMax(d: Draw) -> object:
    x = d.pick("f", least=1, exact=True)
    if not x:
        return False
    axis = d.integer(-d.arrays[x].ndim, d.arrays[x].ndim - 1)
    op = d.choose("ArgMax", "ArgMin")
    return d.add(op, [x], axis=axis, keepdims=d.integer(0, 1), select_last_index=d.integer(0, 1))


@row
def CumSum(d: Draw) -> object:
    x = d.pick("f", least=1)
    if not x:
        return False
    axis = d.constant(d.integer(-d.arrays[x].ndim, d.arrays[x].ndim - 1), np.int64)
    return d.add("CumSum", [x, axis], exclusive=d.integer(0, 1), reverse=d.integer(0, 1))


def _along(op: str, *, exact: bool = False) -> Row:
    def run(d: Draw) -> object:
        x = d.pick("f", least=1, exact=exact)
        return x and d.add(op, [x], axis=d.integer(-d.arrays[x].ndim, d.arrays[x].ndim - 1))

    return run


ROWS["Softmax"], ROWS["LogSoftmax"] = _along("Softmax"), _along("LogSoftmax")
ROWS["Hardmax"] = _along("Hardmax", exact=True)


@row
def LpNormalization(d: Draw) -> object:
    x = d.pick("f", least=1, where=POSITIVE)
    return x and d.add("LpNormalization", [x], axis=-1, p=d.integer(1, 2))


@row
def MeanVarianceNormalization(d: Draw) -> object:
    x = d.pick("f", rank=4, where=lambda a: a.size > 30)
    return x and d.add("MeanVarianceNormalization", [x])


@row
def LayerNormalization(d: Draw) -> object:
    x = d.pick("f", least=1, where=lambda a: a.shape[-1] > 2)
    if not x:
        return False
    width = d.arrays[x].shape[-1:]
    parts = [x, d.constant(d.floats(width)), d.constant(d.floats(width))]
    return d.add("LayerNormalization", parts[: d.integer(2, 3)], epsilon=0.05)


@row
def InstanceNormalization(d: Draw) -> object:
    x = d.pick("f", rank=d.choose(3, 4), where=lambda a: a[0, 0].size > 3)
    if not x:
        return False
    width = d.arrays[x].shape[1:2]
    parts = [x, d.constant(d.floats(width)), d.constant(d.floats(width))]
    return d.add("InstanceNormalization", parts, epsilon=0.05)


@row
def GroupNormalization(d: Draw) -> object:
    groups = d.integer(1, 3)
    x = d.pick("f", rank=4, where=lambda a: a.shape[1] % groups == 0 and a[0, 0].size > 3)
    if not x:
        return False
    width = d.arrays[x].shape[1:2]
    parts = [x, d.constant(d.floats(width)), d.constant(d.floats(width))]
    return d.add("GroupNormalization", parts, epsilon=0.05, num_groups=groups)


@row
def BatchNormalization(d: Draw) -> object:
    x = d.pick("f", rank=d.choose(2, 3, 4))
    if not x:
        return False
    width = d.arrays[x].shape[1:2]
    parts = [d.constant(d.floats(width)) for _ in range(3)]
    variance = d.constant(np.abs(d.floats(width)) + np.float32(0.5))
    return d.add("BatchNormalization", [x, *parts, variance], epsilon=0.01)


@row
def LRN(d: Draw) -> object:
    x = d.pick("f", rank=4)
    return x and d.add("LRN", [x], size=d.integer(1, 5), alpha=0.1, beta=0.75, bias=1.5)


@row
def Reshape(d: Draw) -> object:
    x = d.pick(d.choose("f", "f", "i"))
    if not x:
        return False
    size, shape = d.arrays[x].size, []
    for _ in range(d.integer(0, 3)):
        factors = [k for k in range(1, size + 1) if size % k == 0]
        shape.append(d.choose(*factors))
        size //= shape[-1]
    shape.append(-1 if d.flag() else size)
    return d.add("Reshape", [x, d.constant(shape, np.int64)], exact=True)


@row
def Flatten(d: Draw) -> object:
    x = d.pick("f")
    return x and d.add("Flatten", [x], exact=True, axis=d.integer(0, d.arrays[x].ndim))


@row
def Squeeze(d: Draw) -> object:
    x = d.pick("f", where=lambda a: 1 in a.shape)
    if not x:
        return False
    ones = [k for k, n in enumerate(d.arrays[x].shape) if n == 1]
    inputs = [x] if d.flag() else [x, d.constant([d.choose(*ones)], np.int64)]
    return d.add("Squeeze", inputs, exact=True)


@row
def Unsqueeze(d: Draw) -> object:
    x = d.pick("f")
    axes = [0, 2] if d.flag() else [-1]
    return (
        x and d.arrays[x].ndim and d.add("Unsqueeze", [x, d.constant(axes, np.int64)], exact=True)
    )


@row
def Transpose(d: Draw) -> object:
    x = d.pick(d.choose("f", "f", "b"))
    if not x or not d.arrays[x].ndim:  # A node cannot have an empty list of axes.
        return False
    axes = [int(k) for k in d.rng.permutation(d.arrays[x].ndim)]
    return d.add("Transpose", [x], exact=True, perm=axes)


@row
def Concat(d: Draw) -> object:
    x = d.pick("f", least=1)
    if not x:
        return False
    shape = list(d.arrays[x].shape)
    axis = d.integer(0, len(shape) - 1)
    parts = [x]
    for _ in range(d.integer(0, 2)):
        other = [*shape[:axis], d.integer(1, 4), *shape[axis + 1 :]]
        fitting = [n for n, a in d.arrays.items() if list(a.shape) == shape and a.dtype.kind == "f"]
        fitting = [n for n in fitting if d.arrays[n].dtype == np.float32]
        parts.append(d.choose(*fitting) if d.flag() else d.input(d.floats(tuple(other))))
    return d.add("Concat", parts, exact=True, axis=axis)


@row
def Split(d: Draw) -> object:
    x = d.pick("f", least=1, where=lambda a: max(a.shape) > 1)
    if not x:
        return False
    shape = d.arrays[x].shape
    axis = int(np.argmax(shape))
    first = d.integer(1, shape[axis] - 1)
    sizes = d.constant([first, shape[axis] - first], np.int64)
    return d.add("Split", [x, sizes], 2, exact=True, axis=axis)


@row
def Slice(d: Draw) -> object:
    x = d.pick("f", least=1)
    if not x:
        return False
    shape = d.arrays[x].shape
    axes = sorted({d.integer(0, len(shape) - 1) for _ in range(2)})
    begins, ends, steps = [], [], []
    for axis in axes:
        n, step = shape[axis], d.choose(1, 1, 2, 3, -1, -2)
        low, high = sorted((d.integer(-n - 1, n + 1), d.integer(-n - 1, n + 1)))
        begins.append(low if step > 0 else high)
        ends.append(high if step > 0 else low)
        steps.append(step)
    parts = [d.constant(part, np.int64) for part in (begins, ends, axes, steps)]
    return d.add("Slice", [x, *parts], exact=True)


@row
def Pad(d: Draw) -> object:
    mode = d.choose("constant", "reflect", "edge", "wrap")
    x = d.pick("f", least=1, where=lambda a: min(a.shape) > 2)
    if not x:
        return False
    low = -1 if mode == "constant" else 0
    pads = [d.integer(low, 2) for _ in range(2 * d.arrays[x].ndim)]
    inputs = [x, d.constant(pads, np.int64)]
    if mode == "constant" and d.flag():
        inputs.append(d.constant(d.choose(0.5, -3.0, 0.0), np.float32))
    return d.add("Pad", inputs, exact=True, mode=mode)


@row
def Tile(d: Draw) -> object:
    x = d.pick("f", least=1)
    if not x:
        return False
    times = [d.integer(1, 2) for _ in d.arrays[x].shape]
    return d.add("Tile", [x, d.constant(times, np.int64)], exact=True)


@row
def Expand(d: Draw) -> object:
    x = d.pick("f")
    if not x:
        return False
    shape = [n if n > 1 else d.integer(1, 4) for n in d.arrays[x].shape]
    return d.add(
        "Expand", [x, d.constant([*([2] * d.integer(0, 1)), *shape], np.int64)], exact=True
    )


@row
def Gather(d: Draw) -> object:
    x = d.pick("f", least=1)
    if not x:
        return False
    axis = d.integer(0, d.arrays[x].ndim - 1)
    n = d.arrays[x].shape[axis]
    index = d.rng.integers(-n, n, size=d.choose((), (3,), (2, 2)))
    make = d.input if d.flag() else d.constant
    return d.add("Gather", [x, make(np.asarray(index, np.int64))], exact=True, axis=axis)


@row
def GatherElements(d: Draw) -> object:
    x = d.pick("f", least=1)
    if not x:
        return False
    shape = list(d.arrays[x].shape)
    axis = d.integer(0, len(shape) - 1)
    n, shape[axis] = shape[axis], d.integer(1, 4)
    index = d.input(d.rng.integers(-n, n, size=shape))
    return d.add("GatherElements", [x, index], exact=True, axis=axis)


@row
def GatherND(d: Draw) -> object:
    x = d.pick("f", least=2)
    if not x:
        return False
    shape, depth = d.arrays[x].shape, d.integer(1, 2)
    index = np.stack([d.rng.integers(0, n, size=(3,)) for n in shape[:depth]], -1)
    return d.add("GatherND", [x, d.input(index)], exact=True)


@row
def ScatterElements(d: Draw) -> object:
    x = d.pick("f", least=1)
    if not x:
        return False
    shape = list(d.arrays[x].shape)
    axis = d.integer(0, len(shape) - 1)
    reduction = d.choose("none", "add", "max", "min", "mul")
    count = shape[axis] if reduction == "none" else d.integer(1, 5)
    index = np.argsort(d.rng.random(size=shape), axis=axis)
    if reduction != "none":
        shape[axis] = count
        index = d.rng.integers(0, d.arrays[x].shape[axis], size=shape)
    parts = [x, d.input(index.astype(np.int64)), d.input(d.floats(tuple(shape)))]
    return d.add(
        "ScatterElements", parts, exact=reduction == "none", axis=axis, reduction=reduction
    )


@row
def ScatterND(d: Draw) -> object:
    x = d.pick("f", least=1)
    if not x:
        return False
    shape = d.arrays[x].shape
    rows = d.rng.permutation(shape[0])[: d.integer(1, shape[0])][:, None]
    reduction = d.choose("none", "add", "max")
    parts = [x, d.input(rows.astype(np.int64)), d.input(d.floats((len(rows), *shape[1:])))]
    return d.add("ScatterND", parts, exact=reduction == "none", reduction=reduction)


@row
def DepthToSpace(d: Draw) -> object:
    x = d.input(d.floats((1, d.choose(4, 8), d.integer(1, 3), d.integer(1, 3))))
    return d.add("DepthToSpace", [x], exact=True, blocksize=2, mode=d.choose("DCR", "CRD"))


@row
def SpaceToDepth(d: Draw) -> object:
    x = d.input(d.floats((d.integer(1, 2), 3, 2 * d.integer(1, 3), 2 * d.integer(1, 3))))
    return d.add("SpaceToDepth", [x], exact=True, blocksize=2)


@row
def ReverseSequence(d: Draw) -> object:
    x = d.pick("f", least=2)
    if not x:
        return False
    time, batch = d.choose((0, 1), (1, 0))
    shape = d.arrays[x].shape
    lengths = d.input(d.rng.integers(1, shape[time] + 1, size=shape[batch]))
    attrs = {"time_axis": time, "batch_axis": batch}
    return d.add("ReverseSequence", [x, lengths], exact=True, **attrs)


@row
def Trilu(d: Draw) -> object:
    x = d.pick("f", least=2)
    k = d.constant(d.integer(-2, 2), np.int64)
    return x and d.add("Trilu", [x, k][: d.integer(1, 2)], exact=True, upper=d.integer(0, 1))


@row
def OneHot(d: Draw) -> object:
    index = d.input(d.rng.integers(-4, 5, size=(d.integer(1, 4),)))
    values = d.constant(d.choose([0.0, 1.0], [-1.0, 2.5]), np.float32)
    depth = d.constant(d.integer(1, 5), np.int64)
    return d.add("OneHot", [index, depth, values], exact=True, axis=d.choose(-1, 0))


@row
def EyeLike(d: Draw) -> object:
    x = d.pick("f", rank=2)
    return x and d.add("EyeLike", [x], exact=True, k=d.integer(-2, 2))


@row
def NonZero(d: Draw) -> object:
    x = d.pick("f", exact=True, least=1)
    return x and d.add("NonZero", [x])


@row
def Compress(d: Draw) -> object:
    x = d.pick("f", least=1)
    if not x:
        return False
    axis = d.integer(0, d.arrays[x].ndim - 1)
    condition = d.rng.integers(0, 2, size=d.arrays[x].shape[axis]).astype(bool)
    return d.add("Compress", [x, d.input(condition)], exact=True, axis=axis)


@row
def Resize(d: Draw) -> object:
    x = d.pick("f", rank=4, where=lambda a: a.size < 400)
    if not x:
        return False
    mode = d.choose("nearest", "linear", "cubic")
    modes = ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]
    attrs: dict[str, Any] = {"coordinate_transformation_mode": d.choose(*modes), "mode": mode}
    if mode == "nearest":
        rounds = ["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"]
        attrs["nearest_mode"] = d.choose(*rounds)
    sizes = [*d.arrays[x].shape[:2], d.integer(1, 7), d.integer(1, 7)]
    if d.flag():
        scales = np.array([1, 1, d.choose(0.5, 2.0, 1.5), d.choose(0.6, 1.0, 3.0)], np.float32)
        return d.add("Resize", [x, None, d.constant(scales)], **attrs)
    return d.add("Resize", [x, None, None, d.constant(sizes, np.int64)], **attrs)


@row
def CenterCropPad(d: Draw) -> object:
    x = d.pick("f", rank=d.choose(2, 3))
    if not x:
        return False
    sizes = d.constant([d.integer(1, 7) for _ in d.arrays[x].shape], np.int64)
    return d.add("CenterCropPad", [x, sizes], exact=True)


@row
def TopK(d: Draw) -> object:
    x = d.pick("f", least=1, exact=True)
    if not x:
        return False
    axis = d.integer(0, d.arrays[x].ndim - 1)
    k = d.constant([d.integer(1, d.arrays[x].shape[axis])], np.int64)
    return d.add("TopK", [x, k], 2, exact=True, axis=axis, largest=d.integer(0, 1))


@row
def Range(d: Draw) -> object:
    start, count, step = d.integer(-5, 5), d.integer(1, 6), d.choose(1, 2, -1, -3)
    parts = [d.constant(v, np.int64) for v in (start, start + count * step, step)]
    return d.add("Range", parts)


@row
def ShapeOf(d: Draw) -> object:
    x = d.pick("f", least=1)
    return x and d.add(d.choose("Shape", "Size"), [x])


@row
def MatMul(d: Draw) -> object:
    x = d.pick("f", least=1)
    if not x:
        return False
    shape = d.arrays[x].shape
    batch = shape[:-2] if d.flag() and len(shape) > 2 else ()
    w = d.floats((*batch, shape[-1], d.choose(1, 3, 5, 8, 17)))
    make = d.input if d.flag() else d.constant
    return d.add("MatMul", [x, make(w)], exact=d.whole)


@row
def MatMulOf(d: Draw) -> object:
    x = d.pick("f", least=2)
    if not x:
        return False
    axes = [*range(d.arrays[x].ndim - 2), d.arrays[x].ndim - 1, d.arrays[x].ndim - 2]
    turned = d.add("Transpose", [x], exact=True, perm=axes)
    return turned and d.add("MatMul", [x, turned[0]], exact=d.whole)


@row
def Gemm(d: Draw) -> object:
    x = d.pick("f", rank=2)
    if not x:
        return False
    ta, tb = d.integer(0, 1), d.integer(0, 1)
    m, k = d.arrays[x].shape if not ta else d.arrays[x].shape[::-1]
    n = d.choose(1, 4, 9)
    w = d.constant(d.floats((n, k) if tb else (k, n)))
    c = d.constant(d.floats(d.choose((), (n,), (m, n), (m, 1), (1, n))))
    attrs = {"alpha": d.choose(1.0, 0.5), "beta": d.choose(1.0, -2.0, 0.0)}
    return d.add("Gemm", [x, w, c][: d.integer(2, 3)], transA=ta, transB=tb, **attrs)


def _window(d: Draw, x: str) -> dict[str, Any] | None:
    spatial = d.arrays[x].shape[2:]
    kernel = [d.integer(1, min(3, n)) for n in spatial]
    attrs: dict[str, Any] = {"kernel_shape": kernel, "strides": [d.integer(1, 2) for _ in spatial]}
    style = d.choose("pads", "auto", "none")
    if style == "pads":
        attrs["pads"] = [d.integer(0, k - 1) for k in kernel * 2]
    elif style == "auto":
        attrs["auto_pad"] = d.choose("SAME_UPPER", "SAME_LOWER", "VALID")
    return attrs


@row
def Conv(d: Draw) -> object:
    x = d.pick("f", rank=d.choose(3, 4, 4, 4, 5))
    if not x:
        return False
    attrs = _window(d, x) or {}
    channels = d.arrays[x].shape[1]
    group = d.choose(1, 1, channels)
    out = group * d.choose(1, 2, 3, 8)
    if d.flag() and "auto_pad" not in attrs:
        attrs["dilations"] = [d.integer(1, 2) for _ in attrs["kernel_shape"]]
    w = d.floats((out, channels // group, *attrs["kernel_shape"]))
    parts = [x, d.constant(w) if d.rng.random() < 0.8 else d.input(w), d.constant(d.floats((out,)))]
    return d.add("Conv", parts[: d.integer(2, 3)], exact=d.whole, group=group, **attrs)


@row
def ConvTranspose(d: Draw) -> object:
    x = d.pick("f", rank=d.choose(3, 4))
    if not x:
        return False
    spatial, channels = d.arrays[x].shape[2:], d.arrays[x].shape[1]
    kernel, strides = [d.integer(1, 3) for _ in spatial], [d.integer(1, 3) for _ in spatial]
    group = d.choose(1, channels)
    w = d.constant(d.floats((channels, d.integer(1, 3), *kernel)))
    pads = [d.integer(0, k - 1) for k in kernel * 2]
    extra = [d.integer(0, s - 1) for s in strides]
    attrs = {"strides": strides, "pads": pads, "output_padding": extra, "group": group}
    return d.add("ConvTranspose", [x, w], exact=d.whole, **attrs)


def _pool(op: str) -> Row:
    def run(d: Draw) -> object:
        x = d.pick("f", rank=d.choose(3, 4, 4))
        if not x:
            return False
        attrs = _window(d, x) or {}
        if d.flag() and "auto_pad" not in attrs:
            attrs["ceil_mode"] = d.integer(0, 1)
        if op == "AveragePool":
            attrs["count_include_pad"] = d.integer(0, 1)
        if op == "LpPool":
            attrs["p"] = d.integer(1, 2)
            attrs.pop("ceil_mode", None)
        return d.add(op, [x], exact=op == "MaxPool", **attrs)

    return run


for _op in ("MaxPool", "AveragePool", "LpPool"):
    ROWS[_op] = _pool(_op)


@row
def MaxPoolWithIndices(d: Draw) -> object:
    x = d.pick("f", rank=4, exact=True)
    return x and d.add("MaxPool", [x], 2, exact=True, **(_window(d, x) or {}))


@row
def GlobalPool(d: Draw) -> object:
    x = d.pick("f", rank=d.choose(3, 4))
    return x and d.add(d.choose("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"), [x])


@row
def Einsum(d: Draw) -> object:
    n, m, k = d.integer(1, 4), d.integer(1, 4), d.integer(1, 5)
    equation, shapes = d.choose(
        ("ij,jk->ik", [(n, m), (m, k)]),
        ("bij,bkj->bik", [(2, n, m), (2, k, m)]),
        ("ij->ji", [(n, m)]),
        ("ij->i", [(n, m)]),
        ("ii->i", [(n, n)]),
        ("i,j->ij", [(n,), (m,)]),
        ("...ij,...jk->...ik", [(3, n, m), (3, m, k)]),
        ("ijk,k->ij", [(n, m, k), (k,)]),
    )
    return d.add("Einsum", [d.input(d.floats(s)) for s in shapes], equation=equation)


@row
def MatMulInteger(d: Draw) -> object:
    a = d.input(d.rng.integers(0, 255, size=(d.integer(1, 4), 5)).astype(np.uint8))
    b = d.rng.integers(-128, 127, size=(5, d.integer(1, 9))).astype(d.choose(np.int8))
    zero = d.constant(d.integer(0, 200), np.uint8)
    return d.add("MatMulInteger", [a, d.constant(b), zero][: d.integer(2, 3)])


@row
def ConvInteger(d: Draw) -> object:
    x = d.input(d.rng.integers(0, 255, size=(1, 2, 5, 5)).astype(np.uint8))
    w = d.constant(d.rng.integers(0, 255, size=(3, 2, 3, 3)).astype(np.uint8))
    zero = d.constant(d.integer(0, 200), np.uint8)
    return d.add("ConvInteger", [x, w, zero][: d.integer(2, 3)], pads=[1, 0, 1, 0])


@row
def Quantize(d: Draw) -> object:
    x = d.pick("f", exact=True)
    kind = d.choose(np.uint8, np.int8)
    scale = d.constant(d.choose(0.25, 0.5, 0.125), np.float32)
    zero = d.constant(d.integer(0, 9), kind)
    quantized = x and d.add("QuantizeLinear", [x, scale, zero])
    return quantized and d.add("DequantizeLinear", [quantized[0], scale, zero], exact=True)


@row
def QuantizeChannels(d: Draw) -> object:
    x = d.pick("f", exact=True, least=2)
    if not x:
        return False
    width = d.arrays[x].shape[1]
    scale = d.constant(2.0 ** d.rng.integers(-4, 1, size=width), np.float32)
    zero = d.constant(d.rng.integers(-5, 6, size=width), np.int8)
    quantized = d.add("QuantizeLinear", [x, scale, zero], axis=1)
    return quantized and d.add("DequantizeLinear", [quantized[0], scale, zero], exact=True, axis=1)


@row
def DynamicQuantizeLinear(d: Draw) -> object:
    x = d.pick("f", exact=True, where=lambda a: a.max() > a.min())
    return x and d.add("DynamicQuantizeLinear", [x], 3)


@row
def QLinearMatMul(d: Draw) -> object:
    a = d.input(d.rng.integers(0, 255, size=(3, 4)).astype(np.uint8))
    b = d.constant(d.rng.integers(0, 255, size=(4, 6)).astype(np.uint8))
    parts = [a, 0.5, 3, b, 0.25, 120, 4.0, 100]
    names = [
        part
        if isinstance(part, str)
        else d.constant(part, np.float32 if isinstance(part, float) else np.uint8)
        for part in parts
    ]
    return d.add("QLinearMatMul", names)


@row
def GridSample(d: Draw) -> object:
    x = d.pick("f", rank=4)
    if not x:
        return False
    n = d.arrays[x].shape[0]
    grid = d.input(d.rng.uniform(-1.3, 1.3, size=(n, 3, 4, 2)).astype(np.float32))
    attrs = {
        "mode": d.choose("linear", "cubic"),
        "padding_mode": d.choose("zeros", "border", "reflection"),
        "align_corners": d.integer(0, 1),
    }
    return d.add("GridSample", [x, grid], **attrs)


@row
def RoiAlign(d: Draw) -> object:
    x = d.input(d.floats((2, 2, 6, 7)))
    low = d.rng.uniform(0, 3, size=(3, 2))
    rois = d.input(np.hstack([low, low + d.rng.uniform(0.5, 3, size=(3, 2))]).astype(np.float32))
    batch = d.input(d.rng.integers(0, 2, size=(3,)))
    attrs = {"output_height": d.integer(1, 3), "output_width": d.integer(1, 3), "sampling_ratio": 2}
    return d.add("RoiAlign", [x, rois, batch], mode=d.choose("avg", "max"), **attrs)


def _recurrent(op: str, gates: int) -> Row:
    def run(d: Draw) -> object:
        steps, batch, width, hidden = (
            d.integer(1, 4),
            d.integer(1, 2),
            d.integer(1, 4),
            d.integer(1, 4),
        )
        direction = d.choose("forward", "reverse", "bidirectional")
        count = 2 if direction == "bidirectional" else 1
        x = d.input(d.floats((steps, batch, width)))
        w = d.constant(d.floats((count, gates * hidden, width)) / np.float32(3))
        r = d.constant(d.floats((count, gates * hidden, hidden)) / np.float32(3))
        b = d.constant(d.floats((count, 2 * gates * hidden)) / np.float32(3))
        attrs: dict[str, Any] = {"hidden_size": hidden, "direction": direction}
        if op == "GRU":
            attrs["linear_before_reset"] = d.integer(0, 1)
        return d.add(op, [x, w, r, b][: d.integer(3, 4)], 2, **attrs)

    return run


ROWS["LSTM"], ROWS["GRU"], ROWS["RNN"] = (
    _recurrent("LSTM", 4),
    _recurrent("GRU", 3),
    _recurrent("RNN", 1),
)


@row
def Det(d: Draw) -> object:
    n = d.integer(1, 3)
    return d.add("Det", [d.input(d.floats((*([2] * d.integer(0, 1)), n, n)))])


@row
def WindowFunction(d: Draw) -> object:
    op = d.choose("HannWindow", "HammingWindow", "BlackmanWindow")
    return d.add(op, [d.constant(d.integer(2, 9), np.int64)], periodic=d.integer(0, 1))


@row
def CrossEntropy(d: Draw) -> object:
    x = d.pick("f", rank=d.choose(2, 3))
    if not x:
        return False
    shape = d.arrays[x].shape
    labels = d.input(d.rng.integers(0, shape[1], size=(shape[0], *shape[2:])))
    op = d.choose("SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss")
    return d.add(op, [x, labels], reduction=d.choose("none", "mean", "sum"))


@row
def Col2Im(d: Draw) -> object:
    image, block = [d.integer(3, 5), d.integer(3, 5)], [2, d.integer(1, 3)]
    count = (image[0] - block[0] + 1) * (image[1] - block[1] + 1)
    x = d.input(d.floats((1, 2 * block[0] * block[1], count)))
    return d.add("Col2Im", [x, d.constant(image, np.int64), d.constant(block, np.int64)])


@row
def Dropout(d: Draw) -> object:
    x = d.pick("f")
    return x and d.add("Dropout", [x], exact=True)


@row
def If(d: Draw) -> object:
    c, x = d.pick("b", rank=0), d.pick("f")
    if not x:
        return False
    c = c if c and d.arrays[c].ndim == 0 else d.input(np.array(d.flag()))
    sides = {}
    for side in ("then_branch", "else_branch"):
        op = d.choose("Neg", "Relu", "Abs", "Tanh")
        out = f"{side}_{len(d.arrays)}"
        info = onnx.ValueInfoProto(name=out)
        sides[side] = helper.make_graph([helper.make_node(op, [x], [out])], side, [], [info])
    name = f"v{len(d.arrays)}_0"
    node = helper.make_node("If", [c], [name], **sides)
    arrays = _run([node], {c: d.arrays[c], x: d.arrays[x]}, {}, [name])
    if arrays is None:
        return False
    d.nodes.append(node)
    d.used.append("If")
    d.arrays[name] = arrays[0]
    return True


def draw(number: int) -> Draw:
    """Return a model of 2 to 8 drawn operators; half of the draws prefer one family of rows."""
    d = Draw(number)
    names = list(ROWS)
    wanted = d.integer(2, 8)
    for _ in range(60):
        if len(d.nodes) >= wanted:
            break
        ROWS[names[d.integer(0, len(names) - 1)]](d)
    return d


def judge(number: int) -> Outcome:
    """Compile a drawn model and compare all values with those of ONNX Runtime."""
    d = draw(number)
    used = {name for node in d.nodes for name in node.input}
    branches = [
        a.g for node in d.nodes for a in node.attribute if a.type == onnx.AttributeProto.GRAPH
    ]
    used |= {name for graph in branches for node in graph.node for name in node.input}
    inputs = {name: d.arrays[name] for name in d.inputs if name in used}
    constants = {name: array for name, array in d.constants.items() if name in used}
    outputs = [name for node in d.nodes for name in node.output]
    if d.rng.random() < 0.5:  # Fusion needs values that nobody looks at.
        outputs = [name for name in outputs if name not in used] or outputs
    if not d.nodes:
        return Outcome("no case")
    expected = _run(d.nodes, inputs, constants, outputs)
    if expected is None:
        return Outcome("no case", "ONNX Runtime refuses the whole", d.used)
    model = _model(d.nodes, inputs, constants, outputs)
    try:
        compiled = irkit.compile(model.SerializeToString())
        computed = compiled.run(inputs)
    except IRKitError as error:
        return Outcome("refused", str(error).splitlines()[0], d.used)
    except Exception as error:  # A raw error is a finding.
        return Outcome("wrong", f"{type(error).__name__}: {error}", d.used)
    wrong = difference(dict(zip(outputs, expected, strict=True)), computed, TOLERANCE)
    if wrong and _reference_agrees(model, inputs, outputs, computed):
        return Outcome("disputed", f"onnx.reference agrees with irkit: {wrong}", d.used)
    return Outcome("wrong" if wrong else "right", wrong, d.used)


def _reference_agrees(
    model: onnx.ModelProto, inputs: dict[str, Array], outputs: list[str], computed: dict[str, Array]
) -> bool:
    """Return True if the reference of the specification computes what irkit does."""
    try:
        arrays = [np.asarray(a) for a in ReferenceEvaluator(model).run(outputs, inputs)]
    except Exception:  # It lacks some operators, and raises whatever NumPy does.
        return False
    return not difference(dict(zip(outputs, arrays, strict=True)), computed, TOLERANCE)
