"""Chains of operators, in which each takes what the one before made: what simplifications of graphs
look for, and operators drawn one by one rarely form."""

from collections.abc import Sequence

import numpy as np

from irkit.core import IRKitError
from irkit.fuzz.generators.graphs.graph_samples import finished
from irkit.fuzz.generators.graphs.operators import DRAWS
from irkit.fuzz.generators.graphs.values import GraphTensor, GraphValues
from irkit.fuzz.picks import Picks
from irkit.graph import Bind, GraphFunc, Op
from irkit.ir import numpy_dtype

_SHAPES = ("transpose", "reshape", "slice", "concat", "pad", "expand_dims", "squeeze", "take")
_REDUCTIONS = ("sum", "max", "min", "mean", "prod", "argmax")
_EACH = ("relu", "negative", "abs", "floor", "sign", "identity", "exp", "tanh", "sqrt", "sigmoid")
_PAIRS = ("add", "subtract", "multiply", "maximum", "minimum", "divide")
_CHOICES = ("where", "less", "greater_equal", "equal", "maximum", "minimum", "logical_not")
_PRODUCTS = ("matmul", "conv", "add", "multiply", "batch_norm", "relu", "max_pool", "transpose")
_BY_CONSTANT = "by a constant"
_NUMBERS = (2.0, 0.5, 3.0, 1.0, 10.0, 0.0, -1.0, 4.0, 0.1, 7.0)
_MOST_STEPS, _TRIES = 5, 6

GROUPS: dict[str, tuple[str, ...]] = {
    "shapes": _SHAPES,
    "constants": (_BY_CONSTANT,),
    "elements": (*_EACH, *_PAIRS),
    "reductions": (*_REDUCTIONS, "transpose", "reshape", "slice"),
    "casts": ("cast", "cast", _BY_CONSTANT, "relu"),
    "choices": (*_CHOICES, "cast", "negative"),
    "products": (*_PRODUCTS, _BY_CONSTANT),
    "mixed": (*_SHAPES, *_EACH, *_PAIRS, *_REDUCTIONS, _BY_CONSTANT),
}
"""Operators that follow each other in chains of one kind."""


def graph_chain(picks: Picks, group: str = "", names: Sequence[str] = ()) -> GraphFunc:
    """Make a chain of a group, or of some operators; or a long one of two operators in turn, or of
    one."""
    g = graph_values(picks)
    among = names or GROUPS[group or picks.pick(tuple(GROUPS))]
    count = 2 + picks.below(_MOST_STEPS - 1)
    if picks.one_in(4):
        among, count = picks.some(among, 2), 4 + picks.below(5)
    value = start(g)
    for _ in range(count):
        name = picks.pick(among)
        made = follow(g, name, [value])
        if made is None:
            continue
        # What is used twice cannot go.
        value = value if picks.one_in(8) else made
    return finished(g)[0]


def graph_values(picks: Picks) -> GraphValues:
    """Return values from which any operators can be drawn."""
    return GraphValues(picks, whole=bool(picks.below(2)), names=tuple(DRAWS))


def start(g: GraphValues) -> GraphTensor:
    """Make a parameter, mostly a matrix or a cube. Half of the time all extents are equal, so that
    axes taken for each other make no other shape."""
    rank = g.picks.pick((3, 2, 3, 4, 1))
    shape = [g.picks.pick((3, 2))] * rank if g.picks.below(2) else g.shape(rank)
    return g.fresh(shape, g.dtype())


def follow(g: GraphValues, name: str, args: Sequence[GraphTensor]) -> GraphTensor | None:
    """Apply an operator to some values and others; None if it cannot be."""
    if name == _BY_CONSTANT:
        return by_constant(g, args[0])
    for _ in range(_TRIES):
        with g.among(args):
            try:
                made = DRAWS[name](g, name)
            except (IRKitError, IndexError):
                continue
        if isinstance(made, GraphTensor):
            return made
    return None


def apply_to(g: GraphValues, name: str, args: Sequence[GraphTensor]) -> GraphTensor | None:
    """Apply an operator to exactly some values, with attributes that are drawn."""
    wanted = tuple(arg.value for arg in args)
    for _ in range(_TRIES):
        known = len(g.builder.bindings)
        made = follow(g, name, args) if name in DRAWS else None
        for bind in g.builder.bindings[known:]:
            if isinstance(bind.step, Op) and bind.step.name == name and bind.step.args == wanted:
                return _held(g, bind, made or args[0])
    try:  # What is drawn can keep its operands small.
        return g.op(name, *args, bound=max(arg.bound for arg in args) + 1 if args else 1)
    except IRKitError:
        return None


def _held(g: GraphValues, bind: Bind, like: GraphTensor) -> GraphTensor:
    found = [each for each in g.held if each.value is bind.var]
    return found[-1] if found else GraphTensor(bind.var, like.bound, like.sure)


def by_constant(g: GraphValues, x: GraphTensor, name: str = "") -> GraphTensor | None:
    """Join a value with a constant: one number, or as many as the last axis or the value has."""
    name = name or g.picks.pick(_PAIRS)
    if x.dtype.is_bool or (name == "divide" and not x.dtype.is_float):
        return None
    number = known_number(g, x, nonzero=name == "divide")
    bound = x.bound * 10 + 10
    if g.over(x.dtype, bound):
        return None
    args = [x, number] if g.picks.below(4) or name == "divide" else [number, x]
    try:
        return g.op(name, *args, bound=bound)
    except IRKitError:
        return None


def known_number(g: GraphValues, x: GraphTensor, *, nonzero: bool = False) -> GraphTensor:
    """Make a constant that broadcasts with a value."""
    sizes = [size or 1 for size in x.known_sizes]
    shape = g.picks.pick(((1,), sizes[-1:], sizes, ()))
    numbers = [n for n in _NUMBERS if (n or not nonzero) and (x.dtype.kind != "u" or n >= 0)]
    if not x.dtype.is_float:
        numbers = [n for n in numbers if n == int(n)]
    first = g.picks.pick(numbers)
    array = np.full(shape, first)
    if array.size > 1 and g.picks.one_in(3):
        array = np.resize([first, g.picks.pick(numbers)], shape)
    return g.constant(array.astype(numpy_dtype(x.dtype)), 10)
