"""Operators as tensor expressions, one file for each family.

Reading order: extents; elementwise, broadcast, reduction, linear, packed_weights, panels,
quantized_panels, shape, index, nn (each operator is one or a few stages, whose tags control
fusion); graph_ops (the operators of the graph IR).

Nothing is scheduled here: ``irkit.autoschedule`` does that. Padding is a stage of its own,
and floats of 16 bits gather in f32.
"""

from irkit.te import (
    abs as abs,
    acos as acos,
    acosh as acosh,
    asin as asin,
    asinh as asinh,
    atan as atan,
    atanh as atanh,
    ceil as ceil,
    cos as cos,
    cosh as cosh,
    erf as erf,
    exp as exp,
    exp2 as exp2,
    expm1 as expm1,
    floor as floor,
    isfinite as isfinite,
    isinf as isinf,
    isnan as isnan,
    log as log,
    log1p as log1p,
    log2 as log2,
    log10 as log10,
    round as round,
    rsqrt as rsqrt,
    sigmoid as sigmoid,
    sign as sign,
    sin as sin,
    sinh as sinh,
    sqrt as sqrt,
    tan as tan,
    tanh as tanh,
    trunc as trunc,
)
from irkit.topi import (
    nn as nn,
)
from irkit.topi.broadcast import (
    add as add,
    add_all as add_all,
    broadcast_to as broadcast_to,
    divide as divide,
    equal as equal,
    floor_divide as floor_divide,
    greater as greater,
    greater_equal as greater_equal,
    less as less,
    less_equal as less_equal,
    logical_and as logical_and,
    logical_not as logical_not,
    logical_or as logical_or,
    maximum as maximum,
    minimum as minimum,
    mod as mod,
    multiply as multiply,
    not_equal as not_equal,
    power as power,
    subtract as subtract,
    where as where,
)
from irkit.topi.elementwise import (
    cast as cast,
    clip as clip,
    full as full,
    full_like as full_like,
    identity as identity,
    negative as negative,
    reciprocal as reciprocal,
    square as square,
)
from irkit.topi.graph_ops import (
    RULES as RULES,
    SHAPED as SHAPED,
    STORING as STORING,
    compute_of as compute_of,
)
from irkit.topi.index import (
    gather as gather,
    split as split,
    strided_slice as strided_slice,
    take as take,
)
from irkit.topi.linear import (
    dense as dense,
    gemm as gemm,
    matmul as matmul,
)
from irkit.topi.nn import (
    avg_pool as avg_pool,
    batch_norm as batch_norm,
    conv as conv,
    global_avg_pool as global_avg_pool,
    global_max_pool as global_max_pool,
    leaky_relu as leaky_relu,
    log_softmax as log_softmax,
    lrn as lrn,
    max_pool as max_pool,
    max_pool_with_indices as max_pool_with_indices,
    relu as relu,
    softmax as softmax,
)
from irkit.topi.panels import (
    matmul_panels as matmul_panels,
)
from irkit.topi.quantized_panels import (
    matmul_quantized_panels as matmul_quantized_panels,
)
from irkit.topi.reduction import (
    argmax as argmax,
    argmin as argmin,
    max as max,
    mean as mean,
    min as min,
    prod as prod,
    sum as sum,
)
from irkit.topi.shape import (
    concatenate as concatenate,
    expand_dims as expand_dims,
    flatten as flatten,
    pad as pad,
    reshape as reshape,
    squeeze as squeeze,
    transpose as transpose,
)
