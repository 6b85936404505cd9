"""Bugs in making loops from models: the converters of ONNX operators, and graph operators as tensor
expressions.

The fixed programs have no imported model, and no operator with all of its options. A wrong
converter is seen before any pass has run, by the interpreter, or when the model is read; a wrong
operator after the pass that lowers it.
"""

from irkit.fuzz.mutation.seeded_bugs.seeded_bug import SeededBug

_READ = ("interpreter", "draw")
_LOWER = ("lower-to-loops",)


def _read(name: str, target: str, anchor: str, replacement: str) -> SeededBug:
    return SeededBug(name, target, anchor, replacement, _READ, "")


def _op(name: str, target: str, anchor: str, replacement: str) -> SeededBug:
    return SeededBug(name, target, anchor, replacement, _LOWER, "")


CONVERTED = (
    _read(
        "softmax of each operator set along one axis",
        "irkit.frontend.onnx.convert.activation:softmax",
        '    if node.version >= 13:\n        return node.op("softmax"',
        '    if node.version >= 1:\n        return node.op("softmax"',
    ),
    _read(
        "softmax along the second axis unless given",
        "irkit.frontend.onnx.convert.activation:softmax",
        'node.integer("axis", -1)',
        'node.integer("axis", 1)',
    ),
    _read(
        "what is padded for SAME_LOWER at the upper side",
        "irkit.frontend.onnx.convert.window:window_attributes",
        'pads = small + large if auto == "SAME_UPPER" else large + small',
        "pads = small + large",
    ),
    _read(
        "padding for a window without its dilation",
        "irkit.frontend.onnx.convert.window:window_attributes",
        "(size - 1) * dilation + 1 - extent",
        "size - extent",
    ),
    _read(
        "pads in pairs of begin and end",
        "irkit.frontend.onnx.convert.window:window_attributes",
        "    begins, ends = pads[:rank], pads[rank:]\n",
        "    begins, ends = pads[::2], pads[1::2]\n    pads = begins + ends\n",
    ),
    _read(
        "no window that reaches beyond the end",
        "irkit.frontend.onnx.convert.pool:max_pool",
        'ceil_mode = bool(node.integer("ceil_mode", 0))\n',
        "ceil_mode = False\n",
    ),
    _read(
        "padding left out of each mean",
        "irkit.frontend.onnx.convert.pool:average_pool",
        'bool(node.integer("count_include_pad", 0))',
        "False",
    ),
    _read(
        "one group of channels",
        "irkit.frontend.onnx.convert.conv:conv",
        'node.integer("group", 1)',
        "1",
    ),
    _read(
        "the second matrix transposed as the first",
        "irkit.frontend.onnx.convert.linear:gemm",
        'if node.integer("transB", 0):',
        'if node.integer("transA", 0):',
    ),
    _read(
        "a product without its factor",
        "irkit.frontend.onnx.convert.linear:gemm",
        'node.op("matmul", a, b), node.number("alpha", 1.0))',
        'node.op("matmul", a, b), 1.0)',
    ),
    _read(
        "an addend with the factor of the product",
        "irkit.frontend.onnx.convert.linear:gemm",
        '_scaled(node, c, node.number("beta", 1.0))',
        '_scaled(node, c, node.number("alpha", 1.0))',
    ),
    _read(
        "a normalisation with the usual epsilon",
        "irkit.frontend.onnx.convert.norm:batch_normalization",
        'epsilon = node.number("epsilon", 1e-5)',
        "epsilon = 1e-5",
    ),
    _read(
        "a mean over the last two axes",
        "irkit.frontend.onnx.convert.pool:global_average_pool",
        "axes=tuple(range(2, node.rank(x)))",
        "axes=tuple(range(node.rank(x) - 2, node.rank(x)))",
    ),
    _read(
        "bounds that are exchanged",
        "irkit.frontend.onnx.convert.elementwise:clip",
        "low, high = node.optional(1), node.optional(2)",
        "high, low = node.optional(1), node.optional(2)",
    ),
    _read(
        "a missing lower bound that is 0",
        "irkit.frontend.onnx.convert.elementwise:clip",
        'node.number("min", float(limits.min))',
        'node.number("min", 0.0)',
    ),
    _read(
        "a sum of the first two",
        "irkit.frontend.onnx.convert.elementwise:variadic",
        "for at in range(1, len(node.inputs)):",
        "for at in range(1, min(2, len(node.inputs))):",
    ),
    _read(
        "a quotient of exchanged operands",
        "irkit.frontend.onnx.convert.elementwise:binary",
        "return node.op(name, a, b)",
        'return node.op(name, *((b, a) if name == "divide" else (a, b)))',
    ),
    _read(
        "dimensions left where they are unless an order is given",
        "irkit.frontend.onnx.convert.shape:transpose",
        "tuple(reversed(range(node.rank(x))))",
        "tuple(range(node.rank(x)))",
    ),
    _read(
        "flattened from the first axis unless given",
        "irkit.frontend.onnx.convert.shape:flatten",
        'axis = node.axis(node.integer("axis", 1), len(shape), end=True)',
        'axis = node.axis(node.integer("axis", 0), len(shape), end=True)',
    ),
    _read(
        "a kept dimension taken from the end",
        "irkit.frontend.onnx.convert.shape:reshape",
        "tuple(old[at] if dim == 0 else dim for at, dim in enumerate(target))",
        "tuple(old[-1 - at] if dim == 0 else dim for at, dim in enumerate(target))",
    ),
    _read(
        "only the first dimension of 1 dropped",
        "irkit.frontend.onnx.convert.shape:squeeze",
        "{at for at, dim in enumerate(shape) if dim == 1}",
        "{at for at, dim in list(enumerate(shape))[:1] if dim == 1}",
    ),
    _read(
        "a negative place counted in what is given",
        "irkit.frontend.onnx.convert.shape:unsqueeze",
        "{node.axis(axis, rank) for axis in given}",
        "{axis + node.rank(x) if axis < 0 else axis for axis in given}",
    ),
    _read(
        "an axis counted from the front without its sign",
        "irkit.frontend.onnx.convert.shape:concat",
        "axis=node.axis(axis, node.rank(inputs[0]))",
        "axis=abs(node.axis(axis, node.rank(inputs[0])) if axis >= 0 else axis + 1)",
    ),
    _read(
        "a shape filled with ones unless a value is given",
        "irkit.frontend.onnx.convert.constant:constant_of_shape",
        "np.zeros(1, dtype=np.float32)",
        "np.ones(1, dtype=np.float32)",
    ),
)

OPERATORS = (
    _op(
        "integers divided and rounded down",
        "irkit.topi.broadcast:divide",
        'ir.call("truncdiv", x, y)',
        "x // y",
    ),
    _op(
        "a batch of matrices read from the wrong end",
        "irkit.topi.linear:broadcast_matrix",
        "broadcast_read(x, shape, (*lead[len(lead) - own :], *last))",
        "broadcast_read(x, shape, (*lead[:own][::-1], *last))",
    ),
    _op(
        "a kernel that moves by the strides of other axes",
        "irkit.topi.nn.window:window",
        "return Window(tuple(kernel), each, around[:rank], around[rank:], wide)",
        "return Window(tuple(kernel), each[::-1], around[:rank], around[rank:], wide)",
    ),
    _op(
        "pads before and after exchanged",
        "irkit.topi.nn.window:window",
        "return Window(tuple(kernel), each, around[:rank], around[rank:], wide)",
        "return Window(tuple(kernel), each, around[rank:], around[:rank], wide)",
    ),
    _op(
        "a last window that may begin in the padding",
        "irkit.topi.nn.window:Window",
        "return plus(smaller(ceil_divide(room, stride), began), 1)",
        "return plus(larger(ceil_divide(room, stride), began), 1)",
    ),
    _op(
        "padding that may be the largest",
        "irkit.topi.nn.pool:max_pool",
        "slide.padded(x, sizes, te.least(x.dtype), ceil_mode=ceil_mode)",
        "slide.padded(x, sizes, 0, ceil_mode=ceil_mode)",
    ),
    _op(
        "means that count the padding",
        "irkit.topi.nn.pool:avg_pool",
        "whole = source is x or (count_include_pad and not ceil_mode)",
        "whole = source is x or not ceil_mode",
    ),
    _op(
        "the place of the largest in other rows",
        "irkit.topi.nn.pool:max_pool_with_indices",
        "_by_columns(where, dims[2:]) if column_major else where",
        "_by_columns(where, dims[2:])",
    ),
    _op(
        "filters of one group spread over all",
        "irkit.topi.nn.conv:conv",
        "group = ff if per_group == 1 else ff // per_group",
        "group = ff % groups",
    ),
    _op(
        "a neighbourhood of channels moved by one",
        "irkit.topi.nn.norm:lrn",
        "before, after = min((size - 1) // 2, most), min(size // 2, most)",
        "after, before = min((size - 1) // 2, most), min(size // 2, most)",
    ),
    _op(
        "the sum of a softmax along another axis",
        "irkit.topi.nn.activation:_along",
        "return reduction(x(*i[:axis], k, *i[axis:]), axis=k)",
        "return reduction(x(k, *i) if axis else x(k, *i), axis=k)",
    ),
    _op(
        "the last of equals in place of the first",
        "irkit.topi.reduction:_extreme_at",
        "sooner = ir.gt if last else ir.lt",
        "sooner = ir.gt",
    ),
    _op(
        "a reduced axis that stays",
        "irkit.topi.reduction:_places",
        "kept = [axis for axis in range(x.ndim) if keepdims or axis not in which]",
        "kept = [axis for axis in range(x.ndim) if axis not in which]",
    ),
    _op(
        "a mean of all axes but the first",
        "irkit.topi.reduction:mean",
        'count([dims[each] for each in axes_of(axis, x.ndim, "mean")])',
        'count([dims[each] for each in axes_of(axis, x.ndim, "mean")][:1])',
    ),
    _op(
        "a slice backwards that leaves out the first element",
        "irkit.topi.index:_slice",
        "(-1, minus(dim, 1))",
        "(0, minus(dim, 1))",
    ),
    _op(
        "a slice with one element too few",
        "irkit.topi.index:_slice",
        "larger(ceil_divide(span, abs(step)), 0)",
        "larger(span // abs(step), 0)",
    ),
    _op(
        "negative numbers of slices counted from the last",
        "irkit.topi.index:_from_start",
        "ir.select(ir.lt(wide, 0), wide + dim, wide)",
        "ir.select(ir.lt(wide, 0), wide + dim - 1, wide)",
    ),
    _op(
        "a second tensor that begins where the first does",
        "irkit.topi.shape:concatenate",
        "index[at_axis] = i[at_axis] - starts[number]",
        "index[at_axis] = i[at_axis] - starts[1]",
    ),
    _op(
        "an axis unravelled by its neighbour",
        "irkit.topi.shape:_unravel",
        "found.append(rest % dim)",
        "found.append(rest % dims[place - 1])",
    ),
    _op(
        "axes put where they come from",
        "irkit.topi.shape:transpose",
        "place = {axis: new for new, axis in enumerate(order)}",
        "place = dict(enumerate(order))",
    ),
    _op(
        "padding that is 0 whatever is asked",
        "irkit.topi.shape:pad",
        "filler = ir.convert(ir.as_expr(value, x.dtype), x.dtype)",
        "filler = ir.convert(ir.as_expr(0, x.dtype), x.dtype)",
    ),
    _op(
        "a guard against padding after that is one too wide",
        "irkit.topi.shape:pad",
        "inside.append(ir.lt(index, plus(dim, b)))",
        "inside.append(ir.le(index, plus(dim, b)))",
    ),
)

CONVERTERS = (*CONVERTED, *OPERATORS)
