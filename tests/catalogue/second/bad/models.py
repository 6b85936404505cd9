"""Wrong passes over graphs and modules."""

import numpy as np

from irkit.core import IRModule, rewrite
from irkit.graph import (
    Bind,
    Body,
    Builder,
    GraphFunc,
    GraphStep,
    Invoke,
    Op,
    Value,
    bindings_of,
    constants_of,
)
from tests.catalogue.entries import Entries
from tests.catalogue.models import convolution

entry = Entries("models", legal=False)
TURNS = """\
def main(x: f32[3, 3, 3]):
    a: f32[3, 3, 3] = transpose(x, axes=(2, 0, 1))
    b: f32[3, 3, 3] = transpose(a, axes=(1, 0, 2))
    return b
"""
WINDOWS = """\
def main(x: f32[1, 2, 6, 6]):
    a: f32[1, 2, 6, 6] = max_pool(x, kernel=(3, 3), pads=(1, 1, 1, 1))
    b: f32[1, 2, 6, 6] = max_pool(x, kernel=(5, 5), pads=(2, 2, 2, 2))
    c: f32[1, 2, 6, 6] = add(a, b)
    return c
"""
SLICES = """\
def main(x: f32[12, 3]):
    a: f32[8, 3] = slice(x, begins=(3,), ends=(11,), axes=(0,))
    b: f32[4, 3] = slice(a, begins=(2,), ends=(6,), axes=(0,))
    return b
"""
PADDED = """\
def main(x: f32[1, 2, 6, 6]):
    p: f32[1, 2, 8, 8] = pad(x, pads=(0, 0, 1, 1, 0, 0, 1, 1))
    m: f32[1, 2, 6, 6] = max_pool(p, kernel=(3, 3))
    return m
"""
SUMS = """\
def main(x: f32[2, 6], y: f32[2, 6]):
    a: f32[2, 6] = add(x, y)
    b: f32[2, 6] = relu(a)
    return b
"""
TWICE = """\
def main(x: f32[8], y: f32[8]):
    a: f32[8] = call("mix", x, y)
    b: f32[8] = call("mix", a, y)
    return b

def mix(A: f32[8], B: f32[8], C: f32[8]):
    for i in serial(0, 8):
        C[i] = A[i] - B[i]
"""


@entry(TURNS)
def join_transposes_the_wrong_way(func: GraphFunc) -> GraphFunc:
    """The axes of the second count those of the first's result, not the other way round."""
    bound = bindings_of(func)

    def change(op: Op) -> GraphStep | None:
        if op.name != "transpose" or op.args[0] not in bound:
            return None
        first = bound[op.args[0]].step
        one, two = dict(first.attrs)["axes"], dict(op.attrs)["axes"]
        return Op("transpose", first.args, (("axes", tuple(two[axis] for axis in one)),))

    return rewrite(func, change)


@entry(WINDOWS)
def share_pools_of_one_input(func: GraphFunc) -> GraphFunc:
    """Compares operator, input and type, but not the size of the windows."""
    seen: dict[tuple[object, ...], Value] = {}

    def change(bind: Bind) -> Bind | None:
        op = bind.step
        if not isinstance(op, Op):
            return None
        known = seen.setdefault((op.name, op.args), bind.var)
        return None if known is bind.var else bind.replace(step=Body((), known))

    return rewrite(func, change)


@entry(SLICES)
def join_slices_without_the_first_offset(func: GraphFunc) -> GraphFunc:
    """The second slice counts from the begin of the first."""
    bound = bindings_of(func)

    def change(op: Op) -> GraphStep | None:
        if op.name != "slice" or op.args[0] not in bound:
            return None
        return op.replace(args=bound[op.args[0]].step.args)

    return rewrite(func, change)


@entry(PADDED)
def zeros_as_the_pads_of_a_maximum(func: GraphFunc) -> GraphFunc:
    """max_pool does not see its pads, but it sees zeros, which are larger than negative numbers."""
    bound = bindings_of(func)

    def change(op: Op) -> GraphStep | None:
        if op.name != "max_pool":
            return None
        attrs = {**dict(op.attrs), "pads": (1, 1, 1, 1)}
        return Op("max_pool", bound[op.args[0]].step.args, tuple(sorted(attrs.items())))

    return rewrite(func, change)


@entry(SUMS)
def relu_of_both_terms(func: GraphFunc) -> GraphFunc:
    """relu is not linear."""
    bound = bindings_of(func)

    def change(bind: Bind) -> Bind | None:
        op = bind.step
        if not isinstance(op, Op) or op.name != "relu":
            return None
        x, y = bound[op.args[0]].step.args
        b = Builder("inner")
        made = b.op("add", b.op("relu", x, name="left"), b.op("relu", y, name="right"), name="sum")
        return bind.replace(step=b.body(made))

    return rewrite(func, change)


@entry(convolution, declared=True)
def fold_a_batch_norm_without_epsilon(func: GraphFunc) -> GraphFunc:
    """The divisor is the root of the variance plus epsilon."""
    bound, known = bindings_of(func), constants_of(func)

    def change(bind: Bind) -> Bind | None:
        norm = bind.step
        if not isinstance(norm, Op) or norm.name != "batch_norm":
            return None
        conv = bound[norm.args[0]].step
        scale, bias, mean, var = (known[v].array.astype("float64") for v in norm.args[1:])
        factor = scale / np.sqrt(var)
        w = known[conv.args[1]].array * factor[:, None, None, None]
        b = Builder("inner")
        wide = b.constant(w.astype("float32"), name="folded_w")
        made = b.emit(Op("conv", (conv.args[0], wide), conv.attrs), "folded")
        offset = (bias - mean * factor).astype("float32").reshape(1, -1, 1, 1)
        return bind.replace(step=b.body(b.op("add", made, b.constant(offset, name="offset"))))

    return rewrite(func, change)


@entry(TWICE, graph=True)
def turn_the_operands_of_one_call(module: IRModule) -> IRModule:
    """The kernel subtracts the other way round now, and only one of its calls knows."""
    kernel = module["mix"]
    left, right, out = kernel.params
    done: list[Invoke] = []

    def change(step: Invoke) -> GraphStep | None:
        done.append(step)
        return step.replace(args=step.args[::-1]) if len(done) == 1 else None

    turned = kernel.replace(params=(right, left, out))
    return module.with_functions({"main": rewrite(module["main"], change), "mix": turned})
