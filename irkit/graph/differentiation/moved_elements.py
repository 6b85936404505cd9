"""The gradients of loop functions that only move elements: slices by bounds that are computed from
dimensions, and what puts a tensor into a larger one.

Before::

    slice[v] = x[v * 2 + begin]

After::

    d_x[j] = gradient[(j - begin) // 2] if it is one of these places else 0.0
"""

from collections.abc import Sequence

from irkit.core import equal, substitute, walk
from irkit.ir import (
    Axis,
    Block,
    Buffer,
    Conditional,
    Const,
    Expr,
    For,
    Load,
    PrimFunc,
    Stmt,
    Store,
    Var,
    as_int,
    const,
    eq,
    floordiv,
    floormod,
    ge,
    if_then_else,
    index,
    logical_and,
    lt,
    simplify,
)


def reads_elements(kernel: PrimFunc) -> bool:
    """Return True if a loop function reads elements of its arguments, and not only their sizes."""
    return next(walk(kernel, Load), None) is not None


def moved_back(kernel: PrimFunc) -> tuple[int, PrimFunc] | None:
    """Return which argument a loop function moves elements of, and the function that moves those
    of a gradient back; None if it does something else.

    That takes the gradient of the result, then the arguments, of which it only reads the sizes.
    An element of the argument may go to one place of the result at most.
    """
    blocks, stores = list(walk(kernel, Block)), list(walk(kernel, Store))
    if len(blocks) != 1 or len(stores) != 1:
        return None
    (block,), (store,) = blocks, stores
    load, cond = _moved(store.value)
    buffers = [param for param in kernel.params if isinstance(param, Buffer)]
    vars = [axis.var for axis in block.axes]
    is_plain = tuple(store.indices) == tuple(vars) and store.buffer is buffers[-1]
    if load is None or not is_plain or load.buffer not in buffers[:-1]:
        return None
    places = _places(load, vars)
    if places is None:
        return None
    x, result = load.buffer, buffers[-1]
    return buffers.index(x), _back(kernel, x, result, vars, places, cond)


def _moved(value: Expr) -> tuple[Load | None, Expr | None]:
    """Return the element that is stored, and where it is: elsewhere, 0 is stored."""
    match value:
        case Load():
            return value, None
        case Conditional(cond, Load() as load, Const(0)) if next(walk(cond, Load), None) is None:
            return load, cond
        case _:
            return None, None


class _Place:
    """A place along one axis of the argument: ``begin + var * step``."""

    def __init__(self, var: Var, begin: Expr, step: int) -> None:
        self.var, self.begin, self.step = var, begin, step


def _places(load: Load, vars: Sequence[Var]) -> list[_Place] | None:
    """Return the place along each axis of an argument: each is of one axis of the result, and each
    axis of the result occurs once."""
    found = list[_Place]()
    for expr in load.indices:
        own = [var for var in dict.fromkeys(walk(expr, Var)) if var in vars]
        if len(own) != 1:
            return None
        (var,) = own
        begin = simplify(substitute(expr, {var: index(0)}))
        step = as_int(simplify(substitute(expr, {var: index(1)}) - begin))
        if not step or as_int(simplify(expr - (begin + var * step))) != 0:
            return None
        found.append(_Place(var, begin, step))
    return found if {each.var for each in found} == set(vars) and len(found) == len(vars) else None


def _back(
    kernel: PrimFunc,
    x: Buffer,
    result: Buffer,
    vars: Sequence[Var],
    places: Sequence[_Place],
    cond: Expr | None,
) -> PrimFunc:
    given = Buffer("gradient", result.shape, x.dtype)
    made = Buffer(f"d_{x.name}", x.shape, x.dtype)
    loops = [Var(f"i{at}") for at in range(len(x.shape))]
    axes = [Var(f"v{at}") for at in range(len(x.shape))]
    sources, inside = dict[Var, Expr](), list[Expr]()
    counts = dict(zip(vars, result.shape, strict=True))
    for axis, place, extent in zip(axes, places, x.shape, strict=True):
        sources[place.var] = axis
        if place.step == 1 and equal(simplify(place.begin + counts[place.var]), extent):
            inside += [] if as_int(place.begin) == 0 else [ge(axis, place.begin)]
            sources[place.var] = simplify(axis - place.begin)
            continue
        step = abs(place.step)
        far = simplify(axis - place.begin if place.step > 0 else place.begin - axis)
        if step > 1:
            inside.append(eq(floormod(far, step), 0))
            far = floordiv(far, step)
        inside += [ge(far, 0), lt(far, counts[place.var])]
        sources[place.var] = far
    inside += [] if cond is None else [substitute(cond, sources)]
    element = Load(given, tuple(sources[var] for var in vars), None, x.dtype)
    value = if_then_else(logical_and(*inside), element, const(0, x.dtype))
    block_axes = zip(axes, x.shape, loops, strict=True)
    body: Stmt = Block(
        made.name, tuple(Axis(*each) for each in block_axes), Store(made, tuple(axes), value)
    )
    for loop, extent in reversed(list(zip(loops, x.shape, strict=True))):
        body = For(loop, const(0, "i64"), extent, body)
    numbers = [param for param in kernel.params if not isinstance(param, Buffer)]
    rest = [param for param in kernel.params if isinstance(param, Buffer) and param is not result]
    params = (*numbers, given, *rest, made)
    attrs = (("outputs", (len(params) - 1,)), *(a for a in kernel.attrs if a[0] != "outputs"))
    return PrimFunc(f"d_{kernel.name}", params, body, attrs, kernel.span)
