"""Legal passes over modules and graphs."""

import numpy as np

from irkit.core import IRModule, rewrite, substitute
from irkit.graph import (
    Bind,
    Builder,
    Constant,
    GraphFunc,
    GraphStep,
    Invoke,
    Op,
    bindings_of,
    constants_of,
    use_counts,
)
from irkit.ir import Add, Const, Expr, For, Mul
from tests.catalogue.entries import Entries
from tests.catalogue.models import (
    ATTENTION,
    CALLS,
    JOIN,
    PAIR,
    POOLS,
    RESIDUAL,
    SHAPES,
    convolution,
    dense,
)

entry = Entries("modules", legal=True)


def _with(op: Op, **changes: object) -> Op:
    attrs = {**dict(op.attrs), **changes}
    return op.replace(attrs=tuple(sorted(attrs.items())))


@entry(PAIR)
def parallel_loops_everywhere(module: IRModule) -> IRModule:
    """A module pass that marks the independent loop of each function."""

    def mark(loop: For) -> For:
        return loop.replace(kind="parallel")

    return module.with_functions({name: rewrite(module[name], mark) for name in module})


@entry(PAIR)
def turn_products_around_in_one_function(module: IRModule) -> IRModule:
    """The other function stays the same object."""

    def turn(node: Mul) -> Expr | None:
        return node.b * node.a

    return module.with_functions({"scale": rewrite(module["scale"], turn)})


@entry(PAIR)
def functions_in_another_order(module: IRModule) -> IRModule:
    """Names decide, not the order in the file."""
    return IRModule({name: module[name] for name in reversed(list(module))})


@entry(CALLS, graph=True)
def turn_a_sum_around_in_a_kernel(module: IRModule) -> IRModule:
    """x + 3 is 3 + x in the kernel that is called."""

    def turn(node: Add) -> Expr | None:
        return node.b + node.a if isinstance(node.b, Const) else None

    return module.with_functions({"offset": rewrite(module["offset"], turn)})


@entry(CALLS, graph=True)
def a_copy_between_two_calls(module: IRModule) -> IRModule:
    """An identity keeps everything."""

    def change(bind: Bind) -> Bind | None:
        step = bind.step
        if not isinstance(step, Invoke) or step.function != "offset":
            return None
        b = Builder("inner")
        same = b.op("identity", step.args[0], name="same")
        made = b.emit(step.replace(args=(same,)), "called", type=bind.var.type)
        return bind.replace(step=b.body(made))

    return module.with_functions({"main": rewrite(module["main"], change)})


@entry(ATTENTION)
def softmax_along_the_last_axis(op: Op) -> GraphStep | None:
    """-1 is the last axis, which is 1 here."""
    return _with(op, axis=-1) if op.name == "softmax" else None


@entry(ATTENTION)
def a_transpose_as_a_chain(bind: Bind) -> Bind | None:
    """Three transposes of two axes are one."""
    op = bind.step
    if not isinstance(op, Op) or op.name != "transpose":
        return None
    b = Builder("inner")
    value = op.args[0]
    for turn in range(3):
        value = b.op("transpose", value, axes=(1, 0), name=f"turn_{turn}")
    return bind.replace(step=b.body(value))


@entry(RESIDUAL)
def subtract_a_negative_by_adding(func: GraphFunc) -> GraphFunc:
    """x - (-a) is x + a, bit for bit."""
    bound = bindings_of(func)

    def change(op: Op) -> GraphStep | None:
        if op.name != "subtract" or op.args[1] not in bound:
            return None
        inner = bound[op.args[1]].step
        if isinstance(inner, Op) and inner.name == "negative":
            return Op("add", (op.args[0], inner.args[0]))
        return None

    return rewrite(func, change)


@entry(RESIDUAL)
def an_activation_twice(bind: Bind) -> Bind | None:
    """relu of relu is relu."""
    op = bind.step
    if not isinstance(op, Op) or op.name != "relu":
        return None
    b = Builder("inner")
    return bind.replace(step=b.body(b.op("relu", b.op("relu", op.args[0], name="r"), name="rr")))


@entry(RESIDUAL)
def relu_as_a_maximum(bind: Bind) -> Bind | None:
    """relu is the maximum with 0."""
    op = bind.step
    if not isinstance(op, Op) or op.name != "relu":
        return None
    b = Builder("inner")
    zero = b.constant(np.zeros((1,), "float32"), name="zero")
    return bind.replace(step=b.body(b.op("maximum", op.args[0], zero, name="m")))


@entry(RESIDUAL)
def swap_the_operands_of_an_add(op: Op) -> GraphStep | None:
    """A single sum commutes."""
    return op.replace(args=op.args[::-1]) if op.name == "add" else None


@entry(SHAPES)
def join_transposes(func: GraphFunc) -> GraphFunc:
    """Axis i of the result is axis p[q[i]] of the operand."""
    bound = bindings_of(func)

    def change(op: Op) -> GraphStep | None:
        if op.name != "transpose" or op.args[0] not in bound:
            return None
        inner = bound[op.args[0]].step
        if not isinstance(inner, Op) or inner.name != "transpose":
            return None
        p, q = dict(inner.attrs)["axes"], dict(op.attrs)["axes"]
        return Op("transpose", inner.args, (("axes", tuple(p[i] for i in q)),))

    return rewrite(func, change)


@entry(SHAPES)
def reshape_in_two_steps(bind: Bind) -> Bind | None:
    """Through one dimension; the order of elements stays."""
    op = bind.step
    if not isinstance(op, Op) or op.name != "reshape":
        return None
    b = Builder("inner")
    flat = b.op("reshape", op.args[0], shape=(24,), name="flat")
    return bind.replace(step=b.body(b.op("reshape", flat, shape=(12, 2), name="again")))


@entry(JOIN)
def slice_before_joining(func: GraphFunc) -> GraphFunc:
    """Column 2 of x, then columns 0 and 1 of y."""
    bound = bindings_of(func)

    def change(bind: Bind) -> Bind | None:
        op = bind.step
        if not isinstance(op, Op) or op.name != "slice":
            return None
        x, y = bound[op.args[0]].step.args
        b = Builder("inner")
        left = b.op("slice", x, begins=(2,), ends=(3,), axes=(1,), name="left")
        right = b.op("slice", y, begins=(0,), ends=(2,), axes=(1,), name="right")
        return bind.replace(step=b.body(b.op("concat", left, right, axis=1, name="both")))

    return rewrite(func, change)


@entry(JOIN)
def count_an_axis_from_the_end(op: Op) -> GraphStep | None:
    """Axis -1 of two is axis 1."""
    return _with(op, axis=-1) if op.name == "concat" else None


@entry(POOLS)
def pad_in_two_steps(bind: Bind) -> Bind | None:
    """First the rows, then the columns."""
    op = bind.step
    if not isinstance(op, Op) or op.name != "pad":
        return None
    b = Builder("inner")
    rows = b.op("pad", op.args[0], pads=(0, 0, 1, 0, 0, 0, 1, 0), name="rows")
    return bind.replace(
        step=b.body(b.op("pad", rows, pads=(0, 0, 0, 1, 0, 0, 0, 1), name="columns"))
    )


@entry(convolution, declared=True)
def fold_a_batch_norm(func: GraphFunc) -> GraphFunc:
    """Scale and offset go into weights and bias, computed in f64 and rounded once."""
    bound, known = bindings_of(func), constants_of(func)

    def change(bind: Bind) -> Bind | None:
        norm = bind.step
        if not isinstance(norm, Op) or norm.name != "batch_norm":
            return None
        conv = bound[norm.args[0]].step
        scale, bias, mean, var = (known[v].array.astype("float64") for v in norm.args[1:])
        factor = scale / np.sqrt(var + dict(norm.attrs)["epsilon"])
        w = known[conv.args[1]].array * factor[:, None, None, None]
        b = Builder("inner")
        wide = b.constant(w.astype("float32"), name="folded_w")
        add = b.constant((bias - mean * factor).astype("float32"), name="folded_b")
        made = Op("conv", (conv.args[0], wide, add), conv.attrs)
        return bind.replace(step=b.body(b.emit(made, "folded")))

    return rewrite(func, change)


@entry(dense)
def fold_a_scale_of_powers_of_two_into_weights(func: GraphFunc) -> GraphFunc:
    """The factors are powers of two, so every product and partial sum is scaled exactly."""
    known, bound = constants_of(func), bindings_of(func)

    def change(bind: Bind) -> Bind | None:
        op = bind.step
        if not isinstance(op, Op) or op.name != "multiply":
            return None
        product = bound[op.args[0]].step
        w, s = known[product.args[1]].array, known[op.args[1]].array
        b = Builder("inner")
        wide = b.constant(w * s, name="scaled")
        return bind.replace(step=b.body(b.op("matmul", product.args[0], wide, name="product")))

    return rewrite(func, change)


@entry(convolution)
def a_constant_through_a_reshape(bind: Bind) -> Bind | None:
    """The weights of a conv, flat and in shape again."""
    step = bind.step
    if not isinstance(step, Constant) or len(step.data.shape) != 4:
        return None
    b = Builder("inner")
    flat = b.constant(step.data.array.reshape(-1), name="flat")
    return bind.replace(step=b.body(b.op("reshape", flat, shape=step.data.shape, name="w")))


@entry(convolution)
def write_out_the_defaults(op: Op) -> GraphStep | None:
    """The attributes of conv with the values that they have anyway."""
    if op.name != "conv":
        return None
    given = dict(op.attrs)
    return _with(op, strides=given.get("strides", (1, 1)), dilations=(1, 1), groups=1)


@entry(convolution)
def pad_before_the_convolution(bind: Bind) -> Bind | None:
    """conv pads with zeros, as pad does."""
    op = bind.step
    if not isinstance(op, Op) or op.name != "conv" or "pads" not in dict(op.attrs):
        return None
    b = Builder("inner")
    padded = b.op("pad", op.args[0], pads=(0, 0, 1, 1, 0, 0, 1, 1), name="padded")
    attrs = {k: v for k, v in op.attrs if k != "pads"}
    return bind.replace(step=b.body(b.op("conv", padded, *op.args[1:], name="conv", **attrs)))


@entry(RESIDUAL)
def compute_a_value_again(func: GraphFunc) -> GraphFunc:
    """The second use of relu(x) gets a relu of its own."""
    bound = bindings_of(func)

    def change(bind: Bind) -> Bind | None:
        op = bind.step
        if not isinstance(op, Op) or op.name != "add" or op.args[1] not in bound:
            return None
        source = bound[op.args[1]].step
        if not isinstance(source, Op):
            return None
        b = Builder("inner")
        again = b.emit(Op(source.name, source.args, source.attrs), "again")
        return bind.replace(step=b.body(b.op("add", op.args[0], again, name="sum")))

    return rewrite(func, change)


@entry(RESIDUAL.replace("    return e", "    u: f32[2, 6] = exp(d)\n    return e"))
def drop_a_value_that_nothing_uses(func: GraphFunc) -> GraphFunc:
    """Graphs have no side effects."""
    counts = use_counts(func)
    kept = tuple(b for b in func.body.bindings if counts[b.var])
    return func.replace(body=func.body.replace(bindings=kept))


@entry(RESIDUAL)
def rename_values(func: GraphFunc) -> GraphFunc:
    """Names of values are for people; those of functions and parameters stay."""
    new = {b.var: b.var.replace(name=f"{b.var.name}_value") for b in func.body.bindings}
    return func.replace(body=substitute(func.body, new))


@entry(ATTENTION)
def bind_a_result_to_a_new_name(bind: Bind) -> Bind | None:
    """A let around a step."""
    op = bind.step
    if not isinstance(op, Op) or op.name != "matmul":
        return None
    b = Builder("inner")
    return bind.replace(step=b.body(b.emit(Op(op.name, op.args), "made")))
