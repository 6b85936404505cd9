"""The graph IR: functions over tensors, as bindings of operators.

Reading order: types, nodes, arrays, function (what exists); ops (the operators); infer, build (how
to make it); flow, text, state, verify, interp; functions (inline, outline); memory; patterns (rules
as data); codec, level.

Bindings in A-normal form; types carry symbolic shapes, which are compared by structure: two
dimensions that are not surely the same do not broadcast. Operators are data (``ops``): attributes
are given sparsely and read complete, so no consumer repeats the rules of defaults. One rule infers
the type, one computes the arrays in NumPy, and a test holds them against each other. A rule that
wants several bindings in place of one gives back a nested ``Body``. Tensors of the outermost body
get an offset in one arena; the plan is recorded as attributes of the function.
"""

from irkit.graph.arrays import (
    AbsentData as AbsentData,
    ArrayData as ArrayData,
    cast_array as cast_array,
    dtype_of as dtype_of,
)
from irkit.graph.build import (
    Builder as Builder,
    tensor_type as tensor_type,
)
from irkit.graph.codec import (
    ARRAY_CODEC as ARRAY_CODEC,
)
from irkit.graph.differentiation.gradient import (
    gradient as gradient,
)
from irkit.graph.differentiation.rules.windows import (
    transposed_convolution as transposed_convolution,
)
from irkit.graph.differentiation.table import (
    NOT_DIFFERENTIABLE as NOT_DIFFERENTIABLE,
)
from irkit.graph.flow import (
    bindings_of as bindings_of,
    bodies as bodies,
    constants_of as constants_of,
    flatten_lets as flatten_lets,
    item_of as item_of,
    live_values as live_values,
    operands as operands,
    use_counts as use_counts,
    used_inside as used_inside,
)
from irkit.graph.function import (
    GraphFunc as GraphFunc,
)
from irkit.graph.functions.inline import (
    inline_calls as inline_calls,
)
from irkit.graph.functions.outline import (
    outlined as outlined,
)
from irkit.graph.infer import (
    array_type as array_type,
    type_of as type_of,
    written_type as written_type,
)
from irkit.graph.input_spec import (
    InputSpec as InputSpec,
)
from irkit.graph.interp import (
    Result as Result,
    arrays_of as arrays_of,
    intermediates as intermediates,
    interpret as interpret,
    interpret_step as interpret_step,
)
from irkit.graph.level import (
    GRAPH_LEVEL as GRAPH_LEVEL,
    GRAPH_NODES as GRAPH_NODES,
    WHOLE_GRAPH_LEVEL as WHOLE_GRAPH_LEVEL,
)
from irkit.graph.memory import (
    MemoryPart as MemoryPart,
    MemoryPlan as MemoryPlan,
    MemoryRoom as MemoryRoom,
    MemorySlot as MemorySlot,
    SharedMemory as SharedMemory,
    memory_plan as memory_plan,
    recorded_plan as recorded_plan,
    shared_memory as shared_memory,
    without_plan as without_plan,
)
from irkit.graph.nodes import (
    Apply as Apply,
    Bind as Bind,
    Body as Body,
    Constant as Constant,
    GraphIf as GraphIf,
    GraphLoop as GraphLoop,
    GraphStep as GraphStep,
    Invoke as Invoke,
    Lambda as Lambda,
    Op as Op,
    Prefix as Prefix,
    Tuple as Tuple,
    TupleGet as TupleGet,
    Value as Value,
)
from irkit.graph.ops import (
    OPS as OPS,
    Array as Array,
    Arrays as Arrays,
    Attribute as Attribute,
    Kind as Kind,
    OpOptions as OpOptions,
    OpSpec as OpSpec,
    as_attrs as as_attrs,
    attributes as attributes,
    op_spec as op_spec,
    quotient as quotient,
    same_extent as same_extent,
    same_shape as same_shape,
    written as written,
)
from irkit.graph.ops.blocked import (
    blocked as blocked,
    packed_filters as packed_filters,
    unblocked as unblocked,
)
from irkit.graph.ops.packed_weights import (
    MIDDLE as MIDDLE,
    packed as packed,
    unpacked as unpacked,
)
from irkit.graph.ops.panels import (
    in_panels as in_panels,
    out_of_panels as out_of_panels,
)
from irkit.graph.ops.winograd import (
    winograd_filters as winograd_filters,
)
from irkit.graph.patterns.graph_facts import (
    GraphFacts as GraphFacts,
)
from irkit.graph.patterns.pattern import (
    Either as Either,
    Match as Match,
    OpPattern as OpPattern,
    Pattern as Pattern,
    ValuePattern as ValuePattern,
    dtype_of_value as dtype_of_value,
    either as either,
    extents_of as extents_of,
    hole as hole,
    known as known,
    match as match,
    number as number,
    op as op,
)
from irkit.graph.patterns.rules import (
    GraphRule as GraphRule,
    Replacement as Replacement,
    apply_rules as apply_rules,
    graph_rule as graph_rule,
)
from irkit.graph.sizes.dimensions import (
    MOST as MOST,
    Dimension as Dimension,
    as_dimension as as_dimension,
    dimensions_of as dimensions_of,
    merged as merged,
    with_dimensions as with_dimensions,
)
from irkit.graph.sizes.kernel_arguments import (
    APPENDS as APPENDS,
    UPDATES as UPDATES,
    kernel_arguments as kernel_arguments,
)
from irkit.graph.sizes.kernel_sizes import (
    kernel_sizes as kernel_sizes,
)
from irkit.graph.sizes.largest import (
    largest as largest,
)
from irkit.graph.state import (
    StatePair as StatePair,
    StateResults as StateResults,
    caches_in as caches_in,
    caches_of as caches_of,
    computed_at as computed_at,
    overwritten as overwritten,
    passed_on as passed_on,
    results_of as results_of,
    state_pairs as state_pairs,
    state_problems as state_problems,
    with_state as with_state,
)
from irkit.graph.tensor import (
    Binding as Binding,
    Operand as Operand,
    TensorExpr as TensorExpr,
    constant as constant,
    graph_input as graph_input,
    operator as operator,
    operator_results as operator_results,
    tensor_of as tensor_of,
)
from irkit.graph.text.printer import (
    script as script,
)
from irkit.graph.text.reader import (
    parse as parse,
    parse_module as parse_module,
)
from irkit.graph.text.type_printer import (
    type_text as type_text,
)
from irkit.graph.types import (
    FuncType as FuncType,
    TensorType as TensorType,
    TupleType as TupleType,
    Type as Type,
    tensors_in as tensors_in,
)
from irkit.graph.verify import (
    verify as verify,
)
