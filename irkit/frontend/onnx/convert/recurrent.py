"""RNN, GRU and LSTM: one set of operators for each step of the sequence, or a loop over a sequence
that is long, or whose length is only known at a call."""

from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from irkit.frontend.onnx.control_flow.loop_body import LoopBody
from irkit.frontend.onnx.convert.shapes.size_kernels import reversed_rows, shape_values
from irkit.frontend.onnx.limits import MAX_STEPS
from irkit.frontend.onnx.onnx_node import Converter, OnnxNode
from irkit.graph import Value
from irkit.ir import I64

_Function = Callable[[Value], Value]
_Step = Callable[["_Direction", Value, Sequence[Value]], "list[Value]"]

_DEFAULTS = {
    "LeakyRelu": (0.01, 0.0),
    "ThresholdedRelu": (1.0, 0.0),
    "HardSigmoid": (0.2, 0.5),
    "Elu": (1.0, 0.0),
    "Affine": (1.0, 0.0),
    "ScaledTanh": (1.0, 1.0),
}
"""The default alpha and beta of activations."""


class _Direction(msgspec.Struct, frozen=True):
    """The weights of one direction, transposed.

    Shapes: w [input, gates * hidden], r [hidden, gates * hidden], biases [gates * hidden].
    """

    node: OnnxNode
    w: Value
    r: Value
    w_bias: Value | None
    r_bias: Value | None
    peepholes: Value | None
    hidden: int
    functions: tuple[_Function, ...]

    def gates(self, x: Value, weights: Value, bias: Value | None) -> Value:
        """Multiply by weights, and add a bias."""
        found = self.node.op("matmul", x, weights)
        return found if bias is None else self.node.op("add", found, bias)

    def part(self, gates: Value, number: int) -> Value:
        """Return one gate of the last axis."""
        axis = self.node.rank(gates) - 1
        low = number * self.hidden
        return self.node.op(
            "slice",
            gates,
            begins=(low,),
            ends=(low + self.hidden,),
            strides=(1,),
            axes=(axis,),
        )


def rnn(node: OnnxNode) -> tuple[Value, Value]:
    """Apply h = f(x W' + h R' + b) to each step.

    Source: RNN-1 to RNN-22.
    """

    def step(of: _Direction, x: Value, state: Sequence[Value]) -> list[Value]:
        node = of.node
        gates = node.op("add", of.gates(x, of.w, of.w_bias), of.gates(state[0], of.r, of.r_bias))
        return [of.functions[0](_clipped(node, gates))]

    outputs, states = _run(node, 1, 1, ("Tanh",), step)
    return outputs, states[0]


def gru(node: OnnxNode) -> tuple[Value, Value]:
    """Update the state by gates z, r and h.

    Source: GRU-1 to GRU-22; ``linear_before_reset`` applies r after the product.
    """
    late = bool(node.integer("linear_before_reset", 0)) if node.version >= 3 else False

    def step(of: _Direction, x: Value, state: Sequence[Value]) -> list[Value]:
        node, (f, g) = of.node, of.functions
        (h,) = state
        inputs, back = of.gates(x, of.w, of.w_bias), of.gates(h, of.r, of.r_bias)
        z, r = (
            f(_clipped(node, node.op("add", of.part(inputs, at), of.part(back, at))))
            for at in (0, 1)
        )
        if late:
            memory = node.op("multiply", r, of.part(back, 2))
        else:
            weights = of.part(of.r, 2)
            bias = None if of.r_bias is None else of.part(of.r_bias, 2)
            memory = of.gates(node.op("multiply", r, h), weights, bias)
        new = g(_clipped(node, node.op("add", of.part(inputs, 2), memory)))
        kept = node.op("multiply", z, h)
        return [node.op("add", node.op("multiply", node.op("subtract", 1, z), new), kept)]

    outputs, states = _run(node, 3, 1, ("Sigmoid", "Tanh"), step)
    return outputs, states[0]


def lstm(node: OnnxNode) -> tuple[Value, Value, Value]:
    """Update a state and a cell by gates i, o, f and c, with optional peepholes.

    Source: LSTM-1 to LSTM-22.
    """
    coupled = bool(node.integer("input_forget", 0))

    def peek(of: _Direction, gate: Value, cell: Value, number: int) -> Value:
        if of.peepholes is None:
            return gate
        node = of.node
        return node.op("add", gate, node.op("multiply", of.part(of.peepholes, number), cell))

    def step(of: _Direction, x: Value, state: Sequence[Value]) -> list[Value]:
        node, (f, g, h) = of.node, of.functions
        hidden, cell = state
        gates = node.op("add", of.gates(x, of.w, of.w_bias), of.gates(hidden, of.r, of.r_bias))
        i = f(_clipped(node, peek(of, of.part(gates, 0), cell, 0)))
        if coupled:
            forget = node.op("subtract", 1, i)
        else:
            forget = f(_clipped(node, peek(of, of.part(gates, 2), cell, 2)))
        new = g(_clipped(node, of.part(gates, 3)))
        cell = node.op("add", node.op("multiply", forget, cell), node.op("multiply", i, new))
        o = f(_clipped(node, peek(of, of.part(gates, 1), cell, 1)))
        return [node.op("multiply", o, h(cell)), cell]

    outputs, states = _run(node, 4, 2, ("Sigmoid", "Tanh", "Tanh"), step)
    return outputs, states[0], states[1]


def _run(
    node: OnnxNode, gates: int, count: int, defaults: tuple[str, ...], step: _Step
) -> tuple[Value, list[Value]]:
    """Run each direction over the sequence; return all outputs and the last states.

    Shapes: [time, directions, batch, hidden] and [directions, batch, hidden], or with ``layout`` 1
    the batch first.
    """
    x, layout = node.input(0), node.integer("layout", 0)
    if layout not in (0, 1):
        raise node.fail(f"layout is {layout}, expected 0 or 1")
    batch_first = layout == 1
    if batch_first:
        x = node.op("transpose", x, axes=(1, 0, 2))
    time = node.dims(x)[0]
    direction = node.text("direction", "forward")
    if direction not in ("forward", "reverse", "bidirectional"):
        raise node.fail(f"direction is {direction!r}")
    backwards = {"forward": (False,), "reverse": (True,)}.get(direction, (False, True))
    hidden = node.shape(node.input(2))[2]
    if node.integer("hidden_size", hidden) != hidden:
        raise node.fail(f"hidden_size is {node.integer('hidden_size')}, but R says {hidden}")
    sequences: list[Value] = []
    finals: list[list[Value]] = []
    for at, back in enumerate(backwards):
        of = _direction(node, at, gates, hidden, defaults)
        state = [_initial(node, x, 5 + each, at, hidden, batch_first) for each in range(count)]
        if isinstance(time, int) and time <= MAX_STEPS:
            outputs, state = _unrolled(of, x, state, step, back=back)
        else:
            inner = node.inside()
            rows = msgspec.structs.replace(
                of, node=inner, functions=_functions(inner, at, defaults)
            )
            outputs, state = _looped(node, rows, x, state, step, back=back)
        sequences.append(outputs)
        finals.append([node.op("expand_dims", each, axes=(0,)) for each in state])
    result = _joined(node, sequences, 1)
    states = [_joined(node, list(each), 0) for each in zip(*finals, strict=True)]
    if batch_first:
        result = node.op("transpose", result, axes=(2, 0, 1, 3))
        states = [node.op("transpose", each, axes=(1, 0, 2)) for each in states]
    return result, states


def _unrolled(
    of: _Direction, x: Value, state: list[Value], step: _Step, *, back: bool
) -> tuple[Value, list[Value]]:
    """Return the outputs of all steps, each after the other, and the last state."""
    node = of.node
    time = node.extent(x, 0)
    outputs: list[Value] = []
    for number in range(time):
        place = time - 1 - number if back else number
        row = node.op("squeeze", _rows(node, x, place, place + 1), axes=(0,))
        output, state = _stepped(of, step, row, state, place)
        outputs.append(node.op("expand_dims", output, axes=(0, 1)))
    return _joined(node, outputs[::-1] if back else outputs, 0), state


def _looped(
    node: OnnxNode, of: _Direction, x: Value, state: list[Value], step: _Step, *, back: bool
) -> tuple[Value, list[Value]]:
    """Do the same in a loop; the steps are made by the node of the direction."""
    made = LoopBody(node, state, of.node.builder)
    time = node.dims(x)[0]
    length = node.op("reshape", shape_values(node, x, (time,)), shape=())
    place = made.number
    if back:
        place = of.node.op("subtract", of.node.op("subtract", length, 1), place)
    row = of.node.op("take", x, place, axis=0)
    output, after = _stepped(of, step, row, made.state, place)
    _, *found = made.finish(length, made.outer_true, made.true, after, [(output, time)])
    rows = reversed_rows(node, found[-1]) if back else found[-1]
    return node.op("expand_dims", rows, axes=(1,)), found[:-1]


def _stepped(
    of: _Direction, step: _Step, row: Value, state: Sequence[Value], place: Value | int
) -> tuple[Value, list[Value]]:
    """Return the output of a step and the state after it; behind the end of a sequence of the
    batch, the output is 0 and the state stays."""
    node, after = of.node, step(of, row, state)
    lengths = node.optional(4)
    if lengths is None:
        return after[0], after
    length = node.op("reshape", node.cast(lengths, I64), shape=(-1, 1))
    inside = node.op("greater", length, place)
    pairs = zip(after, state, strict=True)
    kept = [node.op("where", inside, new, old) for new, old in pairs]
    return node.op("where", inside, after[0], 0), kept


def _joined(node: OnnxNode, parts: list[Value], axis: int) -> Value:
    return parts[0] if len(parts) == 1 else node.op("concat", *parts, axis=axis)


def _rows(node: OnnxNode, x: Value, low: int, high: int) -> Value:
    return node.op("slice", x, begins=(low,), ends=(high,), strides=(1,), axes=(0,))


def _item(node: OnnxNode, x: Value, at: int) -> Value:
    return node.op("squeeze", _rows(node, x, at, at + 1), axes=(0,))


def _direction(
    node: OnnxNode, at: int, gates: int, hidden: int, defaults: tuple[str, ...]
) -> _Direction:
    w, r = (node.op("transpose", _item(node, node.input(each), at), axes=(1, 0)) for each in (1, 2))
    bias, peepholes = node.optional(3), node.optional(7) if gates == 4 else None
    w_bias = r_bias = None
    if bias is not None:
        both = _item(node, bias, at)
        w_bias = _rows(node, both, 0, gates * hidden)
        r_bias = _rows(node, both, gates * hidden, 2 * gates * hidden)
    peek = None if peepholes is None else _item(node, peepholes, at)
    return _Direction(node, w, r, w_bias, r_bias, peek, hidden, _functions(node, at, defaults))


def _initial(
    node: OnnxNode, x: Value, number: int, at: int, hidden: int, batch_first: bool
) -> Value:
    """Return a state before the first step, for the batch of a sequence x."""
    given = node.optional(number)
    if given is None:
        batch = node.dims(x)[1]
        if isinstance(batch, int):
            return node.constant(np.zeros((batch, hidden), node.numpy_type(x)))
        return node.op("full", x, shape=(-3, hidden), value=0, dtype=node.dtype(x))
    return _item(node, node.op("transpose", given, axes=(1, 0, 2)) if batch_first else given, at)


def _clipped(node: OnnxNode, x: Value) -> Value:
    if not node.has("clip"):
        return x
    bound = node.number("clip")
    return node.op("minimum", node.op("maximum", x, -bound), bound)


def _functions(node: OnnxNode, at: int, defaults: tuple[str, ...]) -> tuple[_Function, ...]:
    """Return the activations of a direction; alphas and betas are for those that take them."""
    names = node.texts("activations") if node.has("activations") else defaults * (at + 1)
    alphas = list(node.numbers("activation_alpha", ()))
    betas = list(node.numbers("activation_beta", ()))
    found: list[_Function] = []
    known = {name.lower(): name for name in (*_DEFAULTS, *_PLAIN, "Softsign", "Softplus")}
    for name in names:
        called = known.get(name.lower())
        if called is None:
            raise node.fail(f"activation {name!r} is not supported")
        alpha, beta = _DEFAULTS.get(called, (0.0, 0.0))
        if called in _DEFAULTS:
            alpha = alphas.pop(0) if alphas else alpha
        if called in ("HardSigmoid", "Affine", "ScaledTanh"):
            beta = betas.pop(0) if betas else beta
        found.append(_function(node, called, alpha, beta))
    count = len(defaults)
    if len(found) < (at + 1) * count:
        raise node.fail(f"{len(found)} activations; expected {count} for each direction")
    return tuple(found[at * count : (at + 1) * count])


_PLAIN = {"Relu": "relu", "Tanh": "tanh", "Sigmoid": "sigmoid"}


def _function(node: OnnxNode, name: str, alpha: float, beta: float) -> _Function:
    def apply(x: Value) -> Value:
        if name in _PLAIN:
            return node.op(_PLAIN[name], x)
        if name == "Softsign":
            return node.op("divide", x, node.op("add", node.op("abs", x), 1))
        if name == "Softplus":
            small = node.op("exp", node.op("negative", node.op("abs", x)))
            return node.op("add", node.op("relu", x), node.op("log1p", small))
        if name == "ScaledTanh":
            return node.op("multiply", node.op("tanh", node.op("multiply", x, beta)), alpha)
        line = node.op("multiply", x, alpha)
        if name == "Affine":
            return node.op("add", line, beta)
        if name == "HardSigmoid":
            return node.op("maximum", node.op("minimum", node.op("add", line, beta), 1), 0)
        if name == "ThresholdedRelu":
            return node.op("where", node.op("greater", x, alpha), x, 0)
        if name == "Elu":
            line = node.op("multiply", node.op("expm1", x), alpha)
        return node.op("where", node.op("less", x, 0), line, x)

    return apply


CONVERTERS: dict[str, Converter] = {"GRU": gru, "LSTM": lstm, "RNN": rnn}
SHAPE_INPUTS: dict[str, tuple[int, ...]] = {}
