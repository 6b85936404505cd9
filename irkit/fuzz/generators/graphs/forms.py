"""Parts of graphs other than single operators: tuples, branches, functions and nested lets; and
chains that passes look for, which operators drawn one by one rarely form."""

from collections.abc import Callable
from typing import Any

import numpy as np

from irkit.core import IRKitError, equal
from irkit.fuzz.generators.graphs.loops import BodySteps, append, loop as draw_loop, prefix
from irkit.fuzz.generators.graphs.operators import DRAWS, conv, matmul, normalised
from irkit.fuzz.generators.graphs.values import GraphTensor, GraphValues
from irkit.graph import Body, TensorType, TupleType, Value
from irkit.ir import numpy_dtype

_DEEPEST = 2
_ALIKE = ("relu", "negative", "abs", "identity")


def pair(g: GraphValues, name: str) -> object:
    """Put values together, perhaps in a tuple, and take some out again; or take elements out of an
    earlier one."""
    before = [each for each in g.tuples if each in g.tuple_items]
    if before and g.picks.below(2):
        inner = g.picks.pick(before)
        assert isinstance(inner.type, TupleType)
        at = g.picks.below(len(inner.type.items))
        taken = g.builder.item(inner, at)
        if isinstance(taken.type, TensorType):
            g.held.append(GraphTensor(taken, *g.tuple_items[inner][at]))
            return taken
    items = [g.any() for _ in range(2 + g.picks.below(2))]
    inner = g.builder.tuple(*(each.value for each in items[1:]))
    whole = g.builder.tuple(items[0].value, inner) if g.picks.one_in(4) else None
    if whole is not None:
        g.held.append(_same(g.builder.item(whole, 0), items[0]))
        inner = g.builder.item(whole, 1)
    for at, each in list(enumerate(items[1:]))[g.picks.below(4) :]:
        g.held.append(_same(g.builder.item(inner, at), each))
    g.tuple_items[inner] = [(each.bound, each.sure) for each in items[1:]]
    g.tuples += [inner] if whole is None else [inner, whole]
    return inner


def _same(value: Value, like: GraphTensor) -> GraphTensor:
    return GraphTensor(value, like.bound, like.sure)


def branch(g: GraphValues, name: str) -> object:
    """Choose between two bodies, which see all values around them."""
    if g.depth >= _DEEPEST:
        return None
    x = g.any(lambda each: not each.dtype.is_bool)
    cond = _condition(g)
    sides = [_side(g, x), _side(g, x)]
    value = g.builder.branch(cond, *(body for body, _ in sides))
    results = [result for _, result in sides]
    bound, sure = max(each.bound for each in results), all(each.sure for each in results)
    g.held.append(GraphTensor(value, bound, sure))
    return value


def _side(g: GraphValues, x: GraphTensor) -> tuple[Body, GraphTensor]:
    with g.inside() as inner:
        _alike(g, x)
        _steps(g, g.picks.below(3))
        result = [each for each in g.held if equal(each.type, x.type)][-1]
        return inner.body(result.value), result


def _alike(g: GraphValues, x: GraphTensor) -> GraphTensor:
    name = g.picks.pick(_ALIKE if not x.dtype.is_bool else ("identity",))
    return g.op(name, x, bound=max(1, x.bound))


def _condition(g: GraphValues) -> Value:
    """Make a bool that is not a tensor: a parameter, computed, or a constant."""
    form = g.picks.below(4)
    if form == 1:
        numbers = g.any(lambda each: each.sure and not each.dtype.is_bool)
        if numbers.sure:
            most = g.op("max", numbers, bound=numbers.bound, axes=tuple(range(numbers.rank)))
            zero = g.constant(np.zeros((), numpy_dtype(numbers.dtype)), 1)
            return g.op("less", most, zero, bound=1).value
    if form == 2 or g.depth:
        return g.builder.constant(np.asarray(bool(g.picks.below(2))))
    return g.builder.param("cond", (), "bool")


def function(g: GraphValues, name: str) -> object:
    """Make a function, perhaps one that uses values around it, and apply it once or twice."""
    if g.depth >= _DEEPEST:
        return None
    args = [g.any() for _ in range(1 + g.picks.below(2))]
    with g.inside() as inner:
        params = [_same(inner.param("p", each.type), each) for each in args]
        around = [] if g.picks.below(3) else g.held
        g.held = [*around, *params]
        before = len(g.held)
        _steps(g, 1 + g.picks.below(3))
        made = g.held[before:]
        if not made:
            return None
        results = made[-1 - g.picks.below(2) :]
        value = results[0].value
        if len(results) > 1:
            value = inner.tuple(*(each.value for each in results))
    code = g.builder.function(inner, value)
    for _ in range(1 + g.picks.one_in(3)):
        given = [each if g.picks.below(2) else _alike_value(g, each) for each in args]
        found = g.builder.apply(code, *(each.value for each in given))
        items = [found] if len(results) == 1 else [g.builder.item(found, at) for at in range(2)]
        sure = all(each.sure for each in given)
        for item, result in zip(items, results, strict=True):
            g.held.append(GraphTensor(item, result.bound, result.sure and sure))
    return code


def _alike_value(g: GraphValues, like: GraphTensor) -> GraphTensor:
    """Pick another value of the same type, whose numbers are no larger and known as well."""
    fitting = [
        each
        for each in g.held
        if equal(each.type, like.type) and each.bound <= like.bound and each.sure >= like.sure
    ]
    return g.picks.pick(fitting) if fitting else like


def let(g: GraphValues, name: str) -> object:
    """Compute something in a body of its own."""
    if g.depth >= _DEEPEST:
        return None
    with g.inside() as inner:
        before = len(g.held)
        _steps(g, 1 + g.picks.below(3))
        if len(g.held) == before:
            return None
        result = g.held[-1]
        body = inner.body(result.value)
    value = g.builder.emit(body, "let")
    g.held.append(_same(value, result))
    return value


def _steps(g: GraphValues, count: int) -> None:
    names = g.names
    for _ in range(count):
        forms = tuple(FORMS)
        name = g.picks.pick(forms) if g.picks.one_in(6) else g.picks.pick(names)
        apply_form(g, name)


def apply_form(g: GraphValues, name: str) -> bool:
    """Apply an operator or another form; return False if nothing there fits it."""
    draw = FORMS[name] if name in FORMS else DRAWS[name]
    try:
        return draw(g, name) is not None
    except IRKitError:  # The shapes or types did not go together.
        return False


def normalised_conv(g: GraphValues, name: str) -> object:
    """Normalise the result of a convolution, which can be folded if nothing else uses it; or of
    another operator, which cannot."""
    if g.whole:
        return None
    found = _alike(g, g.floats(2 + g.picks.below(3))) if g.picks.below(2) else conv(g, "conv")
    if not isinstance(found, GraphTensor):
        return None
    if g.picks.below(4):
        g.held.remove(found)
    return normalised(g, found)


def two_paths(g: GraphValues, name: str) -> object:
    """Make two paths from a value, and join them: together they may become one kernel, unless one
    contains a reduction, as in softmax."""
    x = g.any(lambda each: not each.dtype.is_bool and each.rank > 0)
    if g.over(x.dtype, 2 * x.bound):
        return None
    start = _alike(g, x)
    if g.picks.below(2):
        axes = (start.rank - 1,)
        ways = [start, g.op("max", start, bound=start.bound, axes=axes, keepdims=True)]
    else:
        ways = [_alike(g, start), _alike(g, start) if g.picks.below(2) else start]
    for each in {*ways, start}:
        g.held.remove(each)
    return g.op(g.picks.pick(("add", "maximum")), *ways, bound=2 * max(1, x.bound))


def broadcast_join(g: GraphValues, name: str) -> object:
    """Join a product or the result of a convolution with something larger that it broadcasts to."""
    found = conv(g, "conv") if g.picks.below(2) else matmul(g, "matmul")
    if not isinstance(found, GraphTensor) or g.over(found.dtype, found.bound + 8):
        return None
    if None in found.known_sizes or not g.fits(2, *found.sizes):
        return None
    sizes = [2 if size == 1 else size or 0 for size in found.known_sizes]
    larger = g.constant(g.numbers([2, *sizes], str(found.dtype)), 3)
    g.held.remove(found)
    return g.op("add", found, larger, bound=found.bound + 3)


def reverse_or_transpose(g: GraphValues, name: str) -> object:
    """Reverse an axis, transpose twice, or turn a matrix that may be square."""
    if g.picks.one_in(3):
        x = g.any(lambda each: each.rank > 0)
        ends: dict[str, Any] = {"begins": (-1,), "ends": (-100,), "strides": (-1,)}
        return g.op("slice", x, bound=x.bound, axes=(g.picks.below(x.rank),), **ends)
    x = g.any(lambda each: each.rank > 1)
    axes = tuple(reversed(range(x.rank)))
    once = g.op("transpose", x, bound=x.bound, axes=axes)
    return g.op("transpose", once, bound=x.bound, axes=axes) if g.picks.below(2) else once


def constant_operand(g: GraphValues, name: str) -> object:
    """Make a constant that passes can combine with another."""
    like = g.any(lambda each: None not in each.known_sizes)
    sizes = [size for size in like.known_sizes if size is not None]
    if len(sizes) < like.rank:
        return None
    made = [g.constant(g.numbers(sizes, str(like.dtype)), 3) for _ in range(2)]
    g.held += made
    return made


def loop(g: GraphValues, name: str) -> object:
    """Repeat a body of a few steps."""
    return draw_loop(g, BodySteps(_alike, _steps, _condition))


FORMS: dict[str, Callable[[GraphValues, str], object]] = {
    "normalised_conv": normalised_conv,
    "reverse_or_transpose": reverse_or_transpose,
    "constant_operand": constant_operand,
    "pair": pair,
    "two_paths": two_paths,
    "broadcast_join": broadcast_join,
    "let": let,
    "function": function,
    "branch": branch,
    "loop": loop,
    "prefix": prefix,
    "append": append,
}
"""The function that adds each form."""
