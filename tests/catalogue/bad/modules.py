"""Wrong passes over modules and graphs."""

import numpy as np

from irkit.core import IRModule, rewrite
from irkit.graph import (
    ArrayData,
    Bind,
    Body,
    Builder,
    Constant,
    GraphFunc,
    GraphStep,
    Invoke,
    Op,
    bindings_of,
    constants_of,
)
from irkit.ir import Const, Expr, PrimFunc
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

entry = Entries("modules", legal=False)


def _with(op: Op, **changes: object) -> Op:
    attrs = {**dict(op.attrs), **changes}
    return op.replace(attrs=tuple(sorted(attrs.items())))


@entry(PAIR)
def drop_a_function_that_nothing_calls(module: IRModule) -> IRModule:
    """Every function of a module can be called from outside."""
    return module.with_functions({"shift": None})


@entry(PAIR)
def rename_a_function(module: IRModule) -> IRModule:
    """Callers know the function by its name."""
    func = module["scale"]
    return module.with_functions({"scale": None, "scale_1": func.replace(name="scale_1")})


@entry(PAIR)
def swap_two_functions(module: IRModule) -> IRModule:
    """The bodies change places under the old names."""
    one, two = module["scale"], module["shift"]
    return module.with_functions(
        {"scale": two.replace(name="scale"), "shift": one.replace(name="shift")}
    )


@entry(PAIR)
def join_functions_that_look_alike(module: IRModule) -> IRModule:
    """Compares statements without the operator, and keeps the first body for both."""
    one = module["scale"]
    return module.with_functions({"shift": one.replace(name="shift")})


@entry(PAIR)
def scale_only_one_constant(module: IRModule) -> IRModule:
    """A module pass that changes a constant of one function."""

    def change(node: Const) -> Expr | None:
        return node.replace(value=2.5) if node.value == 2.0 else None

    return module.with_functions({"scale": rewrite(module["scale"], change)})


@entry(CALLS, graph=True)
def call_the_other_kernel(module: IRModule) -> IRModule:
    """Both have a suitable last parameter, and the wrong one is called."""

    def change(step: Invoke) -> GraphStep | None:
        return step.replace(args=step.args[::-1]) if len(step.args) == 2 else None

    return module.with_functions({"main": rewrite(module["main"], change)})


@entry(CALLS, graph=True)
def drop_a_call_that_keeps_the_shape(module: IRModule) -> IRModule:
    """The second kernel is taken for a copy."""

    def change(step: Invoke) -> GraphStep | None:
        return Body((), step.args[0]) if step.function == "offset" else None

    return module.with_functions({"main": rewrite(module["main"], change)})


@entry(CALLS, graph=True)
def call_a_kernel_that_is_renamed(module: IRModule) -> IRModule:
    """The definition is renamed, the call is not."""
    func = module["offset"]
    return module.with_functions({"offset": None, "offset_1": func.replace(name="offset_1")})


@entry(ATTENTION)
def softmax_along_the_first_axis(op: Op) -> GraphStep | None:
    """The shape is square, so the wrong axis fits."""
    return _with(op, axis=0) if op.name == "softmax" else None


@entry(ATTENTION)
def take_the_logarithm_of_a_softmax(op: Op) -> GraphStep | None:
    """log_softmax has the same attributes and the same shape."""
    return Op("log_softmax", op.args, op.attrs) if op.name == "softmax" else None


@entry(
    """\
def main(a: f32[4, 4], b: f32[4, 4]):
    c: f32[4, 4] = matmul(a, b)
    d: f32[4, 4] = relu(c)
    return d
"""
)
def multiply_in_the_other_order(op: Op) -> GraphStep | None:
    """Matrix products do not commute, though the shapes of square ones fit."""
    return op.replace(args=op.args[::-1]) if op.name == "matmul" else None


@entry(RESIDUAL)
def drop_a_negation_before_a_subtraction(func: GraphFunc) -> GraphFunc:
    """x - (-a) is x + a; the pass drops the sign and keeps the subtraction."""
    bound = bindings_of(func)

    def change(op: Op) -> GraphStep | None:
        if op.name != "subtract" or op.args[1] not in bound:
            return None
        inner = bound[op.args[1]].step
        if isinstance(inner, Op) and inner.name == "negative":
            return op.replace(args=(op.args[0], inner.args[0]))
        return None

    return rewrite(func, change)


@entry(RESIDUAL)
def drop_an_activation_after_another(op: Op) -> GraphStep | None:
    """Between the two is a subtraction, so the second relu is not the first again."""
    return Op("identity", op.args) if op.name == "relu" and op.args[0].name == "c" else None


@entry(SHAPES)
def join_transposes_in_the_wrong_order(func: GraphFunc) -> GraphFunc:
    """Composes the permutations as q(p) instead of p(q), and reshapes to make it fit."""
    bound = bindings_of(func)

    def change(bind: Bind) -> Bind | None:
        op = bind.step
        if not isinstance(op, Op) or op.name != "transpose" or op.args[0] not in bound:
            return None
        inner = bound[op.args[0]].step
        if not isinstance(inner, Op) or inner.name != "transpose":
            return None
        b = Builder("inner")
        turned = b.op("transpose", inner.args[0], axes=(0, 1, 2), name="turned")
        shape = tuple(dim.value for dim in bind.var.type.shape)
        return bind.replace(step=b.body(b.op("reshape", turned, shape=shape, name="as_before")))

    return rewrite(func, change)


@entry(JOIN)
def join_in_the_other_order(op: Op) -> GraphStep | None:
    """The operands of concat have the same shape."""
    return op.replace(args=op.args[::-1]) if op.name == "concat" else None


@entry(JOIN)
def slice_the_second_operand_of_a_concat(func: GraphFunc) -> GraphFunc:
    """The slice begins in x and ends in y; the pass takes all of y."""
    bound = bindings_of(func)

    def change(op: Op) -> GraphStep | None:
        if op.name != "slice":
            return None
        inner = bound[op.args[0]].step
        return Op("identity", (inner.args[1],)) if inner.name == "concat" else None

    return rewrite(func, change)


@entry(POOLS)
def pad_a_maximum_with_zeros_inside_the_pool(func: GraphFunc) -> GraphFunc:
    """max_pool pads with -inf; the program pads with 0, which wins over negative numbers."""
    bound = bindings_of(func)

    def change(op: Op) -> GraphStep | None:
        if op.name != "max_pool":
            return None
        inner = bound[op.args[0]].step
        if inner.name != "pad":
            return None
        return _with(op.replace(args=inner.args), pads=(1, 1, 1, 1))

    return rewrite(func, change)


@entry(POOLS)
def count_the_padding_of_an_average(op: Op) -> GraphStep | None:
    """The windows at the border are divided by nine instead of four or six."""
    return _with(op, count_include_pad=True) if op.name == "avg_pool" else None


@entry(convolution, declared=True)
def fold_a_batch_norm_without_its_epsilon(func: GraphFunc) -> GraphFunc:
    """The square root is of the variance alone; the difference is far above rounding."""
    return _fold(func, epsilon=False)


@entry(convolution, declared=True)
def fold_a_batch_norm_without_the_scaled_mean(func: GraphFunc) -> GraphFunc:
    """The bias has the mean, but not times scale / sqrt(var)."""
    return _fold(func, scaled=False)


def _fold(func: GraphFunc, *, epsilon: bool = True, scaled: bool = True) -> GraphFunc:
    bound, known = bindings_of(func), constants_of(func)

    def change(bind: Bind) -> Bind | None:
        norm = bind.step
        if not isinstance(norm, Op) or norm.name != "batch_norm":
            return None
        conv = bound[norm.args[0]].step
        arrays = [known[v].array.astype("float64") for v in norm.args[1:]]
        scale, bias, mean, var = arrays
        small = dict(norm.attrs)["epsilon"] if epsilon else 0.0
        factor = scale / np.sqrt(var + small)
        w = known[conv.args[1]].array * factor[:, None, None, None]
        rest = bias - mean * (factor if scaled else 1.0)
        b = Builder("inner")
        wide = b.constant(w.astype("float32"), name="folded_w")
        add = b.constant(rest.astype("float32"), name="folded_b")
        made = Op("conv", (conv.args[0], wide, add), conv.attrs)
        return bind.replace(step=b.body(b.emit(made, "folded")))

    return rewrite(func, change)


@entry(dense, declared=True)
def fold_a_scale_into_the_rows_of_weights(func: GraphFunc) -> GraphFunc:
    """The scale belongs to the columns; the pass scales with one number for each row."""
    known, bound = constants_of(func), bindings_of(func)

    def change(bind: Bind) -> Bind | None:
        op = bind.step
        if not isinstance(op, Op) or op.name != "multiply":
            return None
        product = bound[op.args[0]].step
        w, s = known[product.args[1]].array, known[op.args[1]].array
        b = Builder("inner")
        wide = b.constant(w * np.resize(s, w.shape[0])[:, None], name="scaled")
        return bind.replace(step=b.body(b.op("matmul", product.args[0], wide, name="product")))

    return rewrite(func, change)


@entry(convolution)
def store_weights_in_half_precision(step: Constant) -> GraphStep | None:
    """Rounds every weight to f16, undeclared."""
    return Constant(ArrayData(step.data.array.astype("float16").astype("float32")))


@entry(convolution)
def round_strides_down_to_one(func: GraphFunc) -> GraphFunc:
    """Takes every conv for one with stride 1 and cuts its result to the old shape."""

    def change(bind: Bind) -> Bind | None:
        op = bind.step
        if not isinstance(op, Op) or op.name != "conv" or "strides" not in dict(op.attrs):
            return None
        b = Builder("inner")
        attrs = {k: v for k, v in op.attrs if k != "strides"}
        whole = b.op("conv", *op.args, name="whole", **attrs)
        ends = tuple(dim.value for dim in bind.var.type.shape)
        cut = b.op("slice", whole, begins=(0, 0, 0, 0), ends=ends, name="cut")
        return bind.replace(step=b.body(cut))

    return rewrite(func, change)


@entry(PAIR)
def swap_the_parameters_of_a_function(module: IRModule) -> IRModule:
    """Callers pass the arguments in the old order."""
    func = module["shift"]
    assert isinstance(func, PrimFunc)
    return module.with_functions({"shift": func.replace(params=func.params[::-1])})


@entry(PAIR)
def add_a_copy_of_a_function(module: IRModule) -> IRModule:
    """Specialises a function under a new name in place of the old one, which is gone."""
    func = module["scale"]
    return IRModule({"scale_16": func.replace(name="scale_16"), "shift": module["shift"]})
