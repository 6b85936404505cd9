"""Networks as ONNX models with open dimensions, made of small random weights, and the same at one
size."""

from collections.abc import Callable, Iterator, Sequence
from itertools import count, pairwise
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

FLOAT, INT, BOOL = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64, onnx.TensorProto.BOOL


class Net:
    """A graph under construction, with the sizes to run it at.

    ``shapes`` has inputs with names for what is open; ``sizes`` numbers for the names.
    """

    def __init__(self, sizes: Sequence[dict[str, int]] = (), around: "Net | None" = None) -> None:
        self.sizes = list(sizes)
        self.numbers: Iterator[int] = count() if around is None else around.numbers
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.inputs: list[tuple[str, int, tuple[Any, ...], int]] = []
        self.outputs: list[str] = []
        self.rng = np.random.default_rng(0)

    def input(self, name: str, *shape: Any, kind: int = FLOAT, below: int = 1) -> str:
        """Add an input; integers are drawn below a number."""
        self.inputs.append((name, kind, shape, below))
        return name

    def weight(self, *shape: int) -> str:
        """Add a random weight."""
        scale = np.sqrt(np.prod(shape[1:] or shape))
        return self.constant((self.rng.standard_normal(shape) / scale).astype(np.float32))

    def constant(self, array: Any) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def op(self, kind: str, *inputs: str, outputs: int = 1, **attrs: Any) -> Any:
        """Add a node; return the name of its output, or the names."""
        number = next(self.numbers)
        names = [f"v{number}_{at}" for at in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **attrs))
        return names[0] if outputs == 1 else names

    def body(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> onnx.GraphProto:
        """Return what was added as a body; its weights are those of the net around."""
        return helper.make_graph(self.nodes, "body", list(inputs), list(outputs))

    @property
    def shapes(self) -> dict[str, tuple[Any, ...]]:
        return {name: shape for name, _, shape, _ in self.inputs}

    def model(self) -> onnx.ModelProto:
        """Return the model."""
        inputs = [
            helper.make_tensor_value_info(
                name, kind, [dim if isinstance(dim, int) else dim.split()[0] for dim in shape]
            )
            for name, kind, shape, _ in self.inputs
        ]
        outputs = [helper.make_empty_tensor_value_info(name) for name in self.outputs]
        graph = helper.make_graph(self.nodes, "net", inputs, outputs, self.weights)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
        return onnx.shape_inference.infer_shapes(made)

    def at(self, **size: int) -> "Net":
        """Make the sizes that have names numbers; return the net."""

        def known(dim: Any) -> int:
            return dim if isinstance(dim, int) else size[dim.split()[0]]

        self.inputs = [
            (name, kind, tuple(map(known, shape)), below)
            for name, kind, shape, below in self.inputs
        ]
        return self

    def feeds(self, size: dict[str, int]) -> dict[str, Any]:
        """Draw inputs of a size."""
        made: dict[str, Any] = {}
        for name, kind, shape, below in self.inputs:
            dims = [dim if isinstance(dim, int) else size[dim.split()[0]] for dim in shape]
            if kind == FLOAT:
                made[name] = self.rng.standard_normal(dims).astype(np.float32)
            else:
                made[name] = self.rng.integers(0, below, dims).astype(bool if kind == BOOL else int)
        return made


def mlp(*widths: int) -> Net:
    """Fully connected layers; 784-256-256-10 if no widths are given."""
    widths = widths or (784, 256, 256, 10)
    net = Net([{"batch": n} for n in (1, 4, 17, 64)])
    x = net.input("x", "batch in 1..64", widths[0])
    for at, (before, after) in enumerate(pairwise(widths), 2):
        x = net.op("Gemm", x, net.weight(before, after), net.weight(after))
        x = net.op("Relu", x) if at < len(widths) else x
    net.outputs = [net.op("Softmax", x, axis=1)]
    return net


def resnet18() -> Net:
    """The network of He et al. (2015) with 18 layers, on images of 112 x 112."""
    net = Net([{"batch": n} for n in (1, 2, 5, 8)])
    x = net.input("x", "batch in 1..16", 3, 112, 112)

    def conv(x: str, before: int, after: int, size: int, stride: int) -> str:
        around, weight = size // 2, net.weight(after, before, size, size)
        hints: dict[str, Any] = {"strides": [stride] * 2, "pads": [around] * 4}
        return net.op("Conv", x, weight, net.weight(after), **hints)

    x = net.op("Relu", conv(x, 3, 64, 7, 2))
    x = net.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    before = 64
    for after in (64, 64, 128, 128, 256, 256, 512, 512):
        stride = 2 if after != before else 1
        y = conv(net.op("Relu", conv(x, before, after, 3, stride)), after, after, 3, 1)
        x = conv(x, before, after, 1, stride) if stride > 1 else x
        x, before = net.op("Relu", net.op("Add", x, y)), after
    x = net.op("Flatten", net.op("GlobalAveragePool", x))
    net.outputs = [net.op("Gemm", x, net.weight(512, 1000), net.weight(1000))]
    return net


def bert(layers: int = 2, width: int = 128, heads: int = 4) -> Net:
    """An encoder with the layout of BERT."""
    sizes = ((1, 8), (1, 64), (3, 33), (8, 16), (4, 128))
    net = Net([{"batch": batch, "seq": seq} for batch, seq in sizes])
    ids = net.input("ids", "batch in 1..8", "seq in 1..128", kind=INT, below=500)
    mask = net.input("mask", "batch", "seq", kind=INT, below=2)

    def norm(x: str) -> str:
        return net.op("LayerNormalization", x, net.weight(width), net.weight(width), axis=-1)

    def dense(x: str, before: int, after: int) -> str:
        return net.op("Add", net.op("MatMul", x, net.weight(before, after)), net.weight(after))

    def apart(x: str, perm: list[int]) -> str:
        shape = net.constant(np.array([0, 0, heads, width // heads]))
        return net.op("Transpose", net.op("Reshape", x, shape), perm=perm)

    length = net.op("Shape", ids, start=1, end=2)
    zero, axes = net.constant(np.array([0])), net.constant(np.array([0]))
    places = net.op("Slice", net.weight(128, width), zero, length, axes)
    x = net.op("Add", net.op("Gather", net.weight(500, width), ids), places)
    x = norm(x)
    wide = net.op("Unsqueeze", mask, net.constant(np.array([1, 2])))
    hidden = net.op("Sub", net.constant(np.float32(1)), net.op("Cast", wide, to=FLOAT))
    bias = net.op("Mul", hidden, net.constant(np.float32(-10000)))
    for _ in range(layers):
        q, v = (apart(dense(x, width, width), [0, 2, 1, 3]) for _ in range(2))
        k = apart(dense(x, width, width), [0, 2, 3, 1])
        root = net.constant(np.float32((width // heads) ** 0.5))
        scores = net.op("Add", net.op("Div", net.op("MatMul", q, k), root), bias)
        mixed = net.op("MatMul", net.op("Softmax", scores, axis=-1), v)
        joined = net.op("Transpose", mixed, perm=[0, 2, 1, 3])
        joined = net.op("Reshape", joined, net.constant(np.array([0, 0, width])))
        x = norm(net.op("Add", x, dense(joined, width, width)))
        inner = net.op("Gelu", dense(x, width, 4 * width))
        x = norm(net.op("Add", x, dense(inner, 4 * width, width)))
    net.outputs = [x]
    return net


LENGTHS = [{"seq": n} for n in (1, 7, 32, 100)]


def lstm(size: int = 64) -> Net:
    """The operator LSTM."""
    net = Net(LENGTHS)
    x = net.input("x", "seq in 1..128", 2, size)
    weights = (net.weight(1, 4 * size, size), net.weight(1, 4 * size, size))
    _, h, c = net.op("LSTM", x, *weights, net.weight(1, 8 * size), outputs=3, hidden_size=size)
    net.outputs = [h, c]
    return net


def lstm_by_loop(size: int = 64) -> Net:
    """An LSTM as a loop over the sequence."""
    net = Net(LENGTHS)
    inner = Net(around=net)
    x = net.input("x", "seq in 1..128", 2, size)
    weight, bias = net.weight(2 * size, 4 * size), net.weight(4 * size)
    row = inner.op("Gather", x, "i")
    joined = inner.op("Concat", row, "h", axis=1)
    gates = inner.op("Add", inner.op("MatMul", joined, weight), bias)
    a, b, g, o = inner.op("Split", gates, outputs=4, axis=1, num_outputs=4)
    kept = inner.op("Mul", inner.op("Sigmoid", b), "c")
    c = inner.op("Add", kept, inner.op("Mul", inner.op("Sigmoid", a), inner.op("Tanh", g)))
    h = inner.op("Mul", inner.op("Sigmoid", o), inner.op("Tanh", c))
    on = inner.op("Identity", "on")
    info = helper.make_tensor_value_info
    state = [info(name, FLOAT, (2, size)) for name in ("h", "c")]
    body = inner.body(
        [info("i", INT, ()), info("on", BOOL, ()), *state],
        [info(on, BOOL, ()), info(h, FLOAT, (2, size)), info(c, FLOAT, (2, size)),
         info(inner.op("Identity", h), FLOAT, (2, size))],
    )  # fmt: skip
    steps = net.op("Squeeze", net.op("Shape", x, start=0, end=1))
    start = net.constant(np.zeros((2, size), np.float32))
    net.outputs = net.op("Loop", steps, "", start, start, outputs=3, body=body)
    return net


def scan(size: int = 64) -> Net:
    """A simple recurrence by Scan."""
    net = Net(LENGTHS)
    inner = Net(around=net)
    x = net.input("x", "seq in 1..128", 2, size)
    h = inner.op("Tanh", inner.op("Add", inner.op("MatMul", "h", net.weight(size, size)), "row"))
    info = helper.make_tensor_value_info
    body = inner.body(
        [info(name, FLOAT, (2, size)) for name in ("h", "row")],
        [info(h, FLOAT, (2, size)), info(inner.op("Identity", h), FLOAT, (2, size))],
    )
    start = net.constant(np.zeros((2, size), np.float32))
    net.outputs = net.op("Scan", start, x, outputs=2, body=body, num_scan_inputs=1)
    return net


def detection(classes: int = 8) -> Net:
    """Boxes and scores of any number of places, of which a choice prepares the boxes, and the best
    that do not overlap are kept."""
    net = Net([{"places": n} for n in (10, 100, 500)])
    x = net.input("x", "places in 1..512", 64)
    sides: list[onnx.GraphProto] = []
    boxes = net.op("Sigmoid", net.op("MatMul", x, net.weight(64, 4)))
    half = net.constant(np.float32(0.5))
    for operator in ("Mul", "Add"):
        inner = Net(around=net)
        made = inner.op(operator, boxes, half)
        sides.append(inner.body([], [helper.make_empty_tensor_value_info(made)]))
    positive = net.op("Greater", net.op("ReduceSum", x, keepdims=0), net.constant(np.float32(0)))
    chosen = net.op("If", positive, then_branch=sides[0], else_branch=sides[1])
    scores = net.op("Softmax", net.op("MatMul", x, net.weight(64, classes)), axis=1)
    lead = net.constant(np.array([0]))
    found = net.op(
        "NonMaxSuppression",
        net.op("Unsqueeze", chosen, lead),
        net.op("Unsqueeze", net.op("Transpose", scores, perm=[1, 0]), lead),
        net.constant(np.array([5])),
        net.constant(np.float32(0.5)),
        net.constant(np.float32(0.2)),
        center_point_box=1,
    )
    net.outputs = [found, chosen]
    return net


NETS: dict[str, Callable[[], Net]] = {
    "mlp": mlp, "resnet18": resnet18, "bert": bert, "lstm": lstm, "lstm_by_loop": lstm_by_loop,
    "scan": scan, "detection": detection,
}  # fmt: skip
