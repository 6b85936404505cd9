"""Legal passes over graphs and modules."""

from irkit.core import IRModule, rewrite
from irkit.graph import Bind, Body, Builder, GraphFunc, GraphStep, Op, Value, bindings_of
from irkit.ir import Add, Expr
from tests.catalogue.entries import Entries
from tests.catalogue.models import PAIR

entry = Entries("models", legal=True)
TURNS = """\
def main(x: f32[2, 3, 4]):
    a: f32[4, 2, 3] = transpose(x, axes=(2, 0, 1))
    b: f32[2, 4, 3] = transpose(a, axes=(1, 0, 2))
    return b
"""
WINDOWS = """\
def main(x: f32[1, 2, 6, 6]):
    a: f32[1, 2, 6, 6] = max_pool(x, kernel=(3, 3), pads=(1, 1, 1, 1))
    b: f32[1, 2, 6, 6] = max_pool(x, kernel=(3, 3), pads=(1, 1, 1, 1))
    c: f32[1, 2, 6, 6] = add(a, b)
    return c
"""
SLICES = """\
def main(x: f32[12, 3]):
    a: f32[8, 3] = slice(x, begins=(3,), ends=(11,), axes=(0,))
    b: f32[4, 3] = slice(a, begins=(2,), ends=(6,), axes=(0,))
    return b
"""
CHAIN = """\
def main(x: f32[1, 2, 6, 6]):
    n: f32[1, 2, 6, 6] = negative(x)
    m: f32[1, 2, 6, 6] = negative(n)
    p: f32[1, 2, 3, 3] = max_pool(m, kernel=(2, 2), strides=(2, 2))
    r: f32[1, 2, 3, 3] = relu(p)
    a: f32[18] = reshape(r, shape=(18,))
    b: f32[3, 6] = reshape(a, shape=(3, 6))
    return b
"""


@entry(TURNS)
def join_transposes(func: GraphFunc) -> GraphFunc:
    """Axis k of the result is axis one[two[k]] of the input."""
    bound = bindings_of(func)

    def change(op: Op) -> GraphStep | None:
        if op.name != "transpose" or op.args[0] not in bound:
            return None
        first = bound[op.args[0]].step
        one, two = dict(first.attrs)["axes"], dict(op.attrs)["axes"]
        return Op("transpose", first.args, (("axes", tuple(one[axis] for axis in two)),))

    return rewrite(func, change)


@entry(WINDOWS)
def share_equal_pools(func: GraphFunc) -> GraphFunc:
    """Compares operator, inputs and attributes."""
    seen: dict[tuple[object, ...], Value] = {}

    def change(bind: Bind) -> Bind | None:
        op = bind.step
        if not isinstance(op, Op):
            return None
        known = seen.setdefault((op.name, op.args, op.attrs), bind.var)
        return None if known is bind.var else bind.replace(step=Body((), known))

    return rewrite(func, change)


@entry(SLICES)
def join_slices(func: GraphFunc) -> GraphFunc:
    """Rows 5 to 8 of the input."""
    bound = bindings_of(func)

    def change(op: Op) -> GraphStep | None:
        if op.name != "slice" or op.args[0] not in bound:
            return None
        first = bound[op.args[0]].step
        offset = dict(first.attrs)["begins"][0]
        attrs = dict(op.attrs)
        attrs["begins"] = tuple(begin + offset for begin in attrs["begins"])
        attrs["ends"] = tuple(end + offset for end in attrs["ends"])
        return Op("slice", first.args, tuple(sorted(attrs.items())))

    return rewrite(func, change)


@entry(CHAIN)
def negate_twice(func: GraphFunc) -> GraphFunc:
    """The sign flips twice, of NaN and zero too."""
    bound = bindings_of(func)

    def change(bind: Bind) -> Bind | None:
        op = bind.step
        if not isinstance(op, Op) or op.name != "negative" or op.args[0] not in bound:
            return None
        return bind.replace(step=Body((), bound[op.args[0]].step.args[0]))

    return rewrite(func, change)


@entry(CHAIN)
def relu_before_the_pool(func: GraphFunc) -> GraphFunc:
    """relu keeps the order, so it and a maximum can change places."""
    bound = bindings_of(func)

    def change(bind: Bind) -> Bind | None:
        op = bind.step
        if not isinstance(op, Op) or op.name != "relu":
            return None
        pool = bound[op.args[0]].step
        b = Builder("inner")
        hot = b.op("relu", pool.args[0], name="hot")
        return bind.replace(step=b.body(b.emit(Op("max_pool", (hot,), pool.attrs), "pooled")))

    return rewrite(func, change)


@entry(CHAIN)
def join_reshapes(func: GraphFunc) -> GraphFunc:
    """The last shape is all that counts."""
    bound = bindings_of(func)

    def change(op: Op) -> GraphStep | None:
        if op.name != "reshape":
            return None
        first = bound[op.args[0]].step
        if not isinstance(first, Op) or first.name != "reshape":
            return None
        return op.replace(args=first.args)

    return rewrite(func, change)


@entry(PAIR)
def swap_terms_in_each_function(module: IRModule) -> IRModule:
    """A module pass that changes each function in a way that keeps its results."""

    def swap(node: Add) -> Expr | None:
        return node.b + node.a

    return module.with_functions({name: rewrite(module[name], swap) for name in module})
