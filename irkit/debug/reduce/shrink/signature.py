"""Smaller signatures: parameters, their shapes, and the constants that depend on them."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from irkit.core import (
    AttrValue,
    Node,
    any_node,
    parts,
    rewrite,
    substitute,
    symbols_used,
    walk,
    with_fields,
)
from irkit.debug.reduce.case import FailingCase, Move
from irkit.debug.reduce.shrink.function import buffers_of
from irkit.ir import (
    Buffer,
    Const,
    Expr,
    Load,
    PrimFunc,
    Region,
    Store,
    Var,
    View,
    as_int,
    const,
    evaluate,
    shape_vars,
)


def parameters(case: FailingCase) -> list[Move]:
    """Drop unused parameters, fix variables to their values, and simplify strides and views."""
    moves: list[Move] = []
    func = case.func
    used = symbols_used(func.body)
    for param in func.params:
        if param not in used:
            moves.append(partial(_without, name=param.name))
        if isinstance(param, Var):
            moves.append(partial(_with_value, name=param.name))
        elif param.strides is not None or param.align or param.scope != "global":
            moves.append(partial(_plain, name=param.name))
    moves += [partial(_with_size, name=var.name) for var in shape_vars(func)]
    for view in walk(func.body, View):
        if any(view.source is param for param in func.params):
            moves.append(partial(_as_viewed, name=view.source.name))
    moves += [partial(_without_attr, at=at) for at in range(len(func.attrs))]
    return moves


def _param(case: FailingCase, name: str) -> Buffer | Var | None:
    return next((param for param in case.func.params if param.name == name), None)


def _without(case: FailingCase, name: str) -> FailingCase | None:
    func = case.func
    at = next((n for n, param in enumerate(func.params) if param.name == name), None)
    if at is None or func.params[at] in symbols_used(func.body):
        return None
    params = func.params[:at] + func.params[at + 1 :]
    attrs = tuple(
        (key, _renumbered_positions(value, at) if key == "outputs" else value)
        for key, value in func.attrs
    )
    inputs = {key: value for key, value in case.inputs.items() if key != name}
    return case.replace(func=func.replace(params=params, attrs=attrs), inputs=inputs)


def _renumbered_positions(positions: AttrValue, at: int) -> AttrValue:
    """Renumber positions after one is removed."""
    known = [n for n in positions if isinstance(n, int)] if isinstance(positions, tuple) else []
    return tuple(n - (n > at) for n in known if n != at)


def _with_value(case: FailingCase, name: str) -> FailingCase | None:
    var = _param(case, name)
    if not isinstance(var, Var):
        return None
    value = np.asarray(case.inputs[name]).item()
    body = substitute(case.func.body, {var: const(value, var.dtype)})
    return _without(case.replace(func=case.func.replace(body=body)), name)


def _with_size(case: FailingCase, name: str) -> FailingCase | None:
    """Replace the variable of a dimension by its size."""
    var = next((var for var in shape_vars(case.func) if var.name == name), None)
    size = None if var is None else _size_of(case, var)
    if var is None or size is None:
        return None
    return case.replace(func=substitute(case.func, {var: const(size, var.dtype)}))


def _size_of(case: FailingCase, var: Var) -> int | None:
    for param in case.func.params:
        if isinstance(param, Buffer):
            array = np.asarray(case.inputs[param.name])
            for dim, size in zip(param.shape, array.shape, strict=True):
                if dim is var:
                    return size
            for stride, size in zip(param.strides or (), array.strides, strict=False):
                if stride is var:
                    return size // array.itemsize
    return None


def _plain(case: FailingCase, name: str) -> FailingCase | None:
    buffer = _param(case, name)
    if not isinstance(buffer, Buffer):
        return None
    plain = buffer.replace(strides=None, align=0, scope="global").copied()
    inputs = {**case.inputs, name: np.ascontiguousarray(case.inputs[name])}
    return case.replace(func=substitute(case.func, {buffer: plain}), inputs=inputs)


def _as_viewed(case: FailingCase, name: str) -> FailingCase | None:
    """Reshape a parameter to the view of it that the body uses."""
    source = _param(case, name)
    views = [view for view in walk(case.func.body, View) if view.source is source]
    if not isinstance(source, Buffer) or len(views) != 1:
        return None
    view = views[0]
    shape = [_constant(dim) for dim in view.buffer.shape]
    array = np.asarray(case.inputs[name]).reshape(-1)
    sizes = [size for size in shape if size is not None]
    count = int(np.prod(sizes))
    if len(sizes) < len(shape) or count > array.size or as_int(view.offset) != 0:
        return None

    def unwrap(node: View) -> Node | None:
        return node.body if node.buffer is view.buffer else None

    made = Buffer(name, view.buffer.shape, source.dtype)
    func = substitute(rewrite(case.func, unwrap, on=View), {view.buffer: made, source: made})
    return case.replace(func=func, inputs={**case.inputs, name: array[:count].reshape(sizes)})


def _without_attr(case: FailingCase, at: int) -> FailingCase | None:
    attrs = case.func.attrs
    if at >= len(attrs):
        return None
    return case.replace(func=case.func.replace(attrs=attrs[:at] + attrs[at + 1 :]))


def numbers(case: FailingCase) -> list[Move]:
    """Replace a number in extents, shapes and indices by a smaller one, everywhere."""
    found: dict[int, None] = {}
    for expr in _integers(case.func):
        found.setdefault(expr)
    return [
        partial(_with_number, old=old, new=new)
        for old in sorted(found, reverse=True)
        for new in dict.fromkeys((2, 4, 8, old // 2, old - 1))
        if 1 < new < old
    ]


def _integers(func: PrimFunc) -> Iterator[int]:
    roots: list[Node] = [func.body]
    roots += [part for buffer in buffers_of(func) for part in parts(buffer)]
    for root in roots:
        for node in walk(root, Const):
            if node.dtype.is_integer and isinstance(node.value, int):
                yield node.value


def _with_number(case: FailingCase, old: int, new: int) -> FailingCase | None:
    def smaller(node: Const) -> Node | None:
        matches = node.dtype.is_integer and node.value == old
        return node.replace(value=new) if matches else None

    given: dict[Node, Node] = {}
    for buffer in buffers_of(case.func):
        changed = {id(part): rewrite(part, smaller, on=Const) for part in parts(buffer)}
        made = with_fields(buffer, changed)
        if any(a is not b for a, b in zip(parts(made), parts(buffer), strict=True)):
            given[buffer] = made.copied()
    return fit_inputs(case, substitute(rewrite(case.func, smaller, on=Const), given))


def fit_inputs(case: FailingCase, func: PrimFunc) -> FailingCase | None:
    """Cut the arrays of a case to the shapes of another function."""
    inputs = dict(case.inputs)
    for param in func.params:
        if isinstance(param, Buffer):
            array = np.asarray(inputs[param.name])
            sizes = [as_int(dim) for dim in param.shape]
            if any(a is not None and a > b for a, b in zip(sizes, array.shape, strict=True)):
                return None
            # Not by indices: an axis of an empty array can have 2**60 of them.
            inputs[param.name] = array[tuple(slice(size) for size in sizes)].copy()
    return case.replace(func=func, inputs=inputs)


def shapes(case: FailingCase) -> list[Move]:
    """Make buffers shorter along each axis, drop axes of one element, and move allocated buffers to
    global memory."""
    moves: list[Move] = []
    for number, buffer in enumerate(buffers_of(case.func)):
        if buffer.scope != "global":
            moves.append(partial(_in_global_memory, number=number))
        for axis, dim in enumerate(buffer.shape):
            size = _constant(dim)
            if size is None:
                continue
            if as_int(dim) is None:
                moves.append(partial(_with_shorter_axis, number=number, axis=axis, size=size))
            if size == 1 and buffer.rank > 1:
                moves.append(partial(_without_axis, number=number, axis=axis))
            shorter = dict.fromkeys((1, 2, size // 2, size - 1))
            moves += [
                partial(_with_shorter_axis, number=number, axis=axis, size=new)
                for new in shorter
                if 0 < new < size
            ]
    return moves


def _in_global_memory(case: FailingCase, number: int) -> FailingCase | None:
    buffers = buffers_of(case.func)
    if number >= len(buffers) or buffers[number].scope == "global":
        return None
    made = buffers[number].replace(scope="global").copied()
    return case.replace(func=substitute(case.func, {buffers[number]: made}))


def _constant(dim: Expr) -> int | None:
    """Compute a size that has no variables; None otherwise."""
    known = as_int(dim)
    if known is None and not any_node(dim, (Var, Load)):
        known = int(evaluate(dim))
    return known


def _with_shorter_axis(case: FailingCase, number: int, axis: int, size: int) -> FailingCase | None:
    buffer = _buffer(case, number, axis)
    if buffer is None:
        return None
    dim = buffer.shape[axis]
    known = as_int(dim)
    if known is not None and known <= size:
        return None
    shape = (*buffer.shape[:axis], const(size, dim.dtype), *buffer.shape[axis + 1 :])
    made = buffer.replace(shape=shape)
    return fit_inputs(case, substitute(case.func, {buffer: made}))


def _buffer(case: FailingCase, number: int, axis: int) -> Buffer | None:
    found = buffers_of(case.func)
    return found[number] if number < len(found) and axis < found[number].rank else None


def _without_axis(case: FailingCase, number: int, axis: int) -> FailingCase | None:
    buffer = _buffer(case, number, axis)
    if buffer is None or as_int(buffer.shape[axis]) != 1 or buffer.rank < 2:
        return None

    def rest(items: tuple[Any, ...]) -> tuple[Any, ...]:
        return items[:axis] + items[axis + 1 :]

    def drop(node: Load | Store | Region) -> Node | None:
        if node.buffer is not buffer:
            return None
        if isinstance(node, Region):
            return node.replace(begins=rest(node.begins), extents=rest(node.extents))
        return node.replace(indices=rest(node.indices))

    strides = rest(buffer.strides) if buffer.strides is not None else None
    made = buffer.replace(shape=rest(buffer.shape), strides=strides)
    func = substitute(rewrite(case.func, drop, on=(Load, Store, Region)), {buffer: made})
    inputs: Mapping[str, Any] = case.inputs
    if any(buffer is param for param in case.func.params):
        inputs = {**inputs, buffer.name: np.asarray(inputs[buffer.name]).take(0, axis)}
    return case.replace(func=func, inputs=inputs)
