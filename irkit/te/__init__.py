"""Tensor expressions, as in TVM.

Reading order: axis, tensor, reduction, define (the expressions), intrinsics; lower (to loops);
reference (evaluation with NumPy); directives, stage, stage_schedule, thread (schedules).

``IterVar``, ``TensorRead`` and ``Reduce`` stand inside tensor expressions only: ``lower`` makes one
block for each stage under serial loops. A reduction whose extent may not be positive gets a second
block, ``NAME_empty``, because a block whose reduce loops never run starts nothing. ``reference``
evaluates whole index grids in NumPy, and shares no code with the lowering or the interpreter.
"""

from irkit.te.axis import (
    IterVar as IterVar,
    Range as Range,
    reduce_axis as reduce_axis,
    var as var,
)
from irkit.te.define import (
    compute as compute,
    define_stage as define_stage,
)
from irkit.te.directives import (
    StageLoop as StageLoop,
)
from irkit.te.intrinsics import (
    ElementwiseFunction as ElementwiseFunction,
    abs as abs,
    acos as acos,
    acosh as acosh,
    all as all,
    any as any,
    asin as asin,
    asinh as asinh,
    atan as atan,
    atan2 as atan2,
    atanh as atanh,
    cast as cast,
    ceil as ceil,
    clz as clz,
    const as const,
    cos as cos,
    cosh as cosh,
    eq as eq,
    erf as erf,
    exp as exp,
    exp2 as exp2,
    expm1 as expm1,
    floor as floor,
    floordiv as floordiv,
    floormod as floormod,
    fma as fma,
    fmod as fmod,
    ge as ge,
    gt as gt,
    if_then_else as if_then_else,
    isfinite as isfinite,
    isinf as isinf,
    isnan as isnan,
    le as le,
    log as log,
    log1p as log1p,
    log2 as log2,
    log10 as log10,
    logical_not as logical_not,
    lt as lt,
    maximum as maximum,
    minimum as minimum,
    mul_sat as mul_sat,
    muladd as muladd,
    ne as ne,
    popcount as popcount,
    pow as pow,
    power as power,
    round as round,
    rsqrt as rsqrt,
    select as select,
    sigmoid as sigmoid,
    sign as sign,
    sin as sin,
    sinh as sinh,
    sqrt as sqrt,
    strict_add as strict_add,
    strict_mul as strict_mul,
    strict_sub as strict_sub,
    tan as tan,
    tanh as tanh,
    trunc as trunc,
    truncdiv as truncdiv,
    truncmod as truncmod,
)
from irkit.te.lower import (
    create_prim_func as create_prim_func,
    operations_of as operations_of,
    size_params as size_params,
)
from irkit.te.reduction import (
    Reduce as Reduce,
    Reducer as Reducer,
    Reduction as Reduction,
    comm_reducer as comm_reducer,
    greatest as greatest,
    infinity as infinity,
    least as least,
    max as max,
    max_value as max_value,
    min as min,
    min_value as min_value,
    prod as prod,
    sum as sum,
)
from irkit.te.reference import (
    evaluate as evaluate,
    numpy_reference as numpy_reference,
)
from irkit.te.stage import (
    Stage as Stage,
)
from irkit.te.stage_schedule import (
    StageSchedule as StageSchedule,
    create_schedule as create_schedule,
)
from irkit.te.tensor import (
    ComputeOp as ComputeOp,
    Dims as Dims,
    Operation as Operation,
    PlaceholderOp as PlaceholderOp,
    Scalarwise as Scalarwise,
    Tensor as Tensor,
    TensorRead as TensorRead,
    as_shape as as_shape,
    broadcast_read as broadcast_read,
    broadcast_shape as broadcast_shape,
    dims_text as dims_text,
    elementwise as elementwise,
    placeholder as placeholder,
)
from irkit.te.thread import (
    ThreadAxis as ThreadAxis,
    thread_axis as thread_axis,
)
