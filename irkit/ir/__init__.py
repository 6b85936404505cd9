"""The loop IR: functions over buffers, made of statements and expressions.

Reading order: dtype, operators, expr, conditional, buffer, intrinsics, stmt, function (what
exists); build (how to make it); exact_sizes (which sizes must not wrap around); instructions (of
processors); text (printing and reading), verify, interp (its meaning), reference (the meaning of
expressions once more, to compare with), arith and analysis (what is known about it), threads, work
(what a run costs); pattern and peephole, scoped_rewriter, level.

The grammar, with the text of each construct (``*`` is a tuple, ``?`` is optional; expressions also
have a ``dtype``, statements a ``span``)::

    PrimFunc(name, params*, body, attrs)            def f(A: f32[n, 4], x: i64):

    stmt:
      Seq(stmts*)                                   one statement per line; empty: pass
      Store(buffer, indices*, value, mask?)         A[i, j] = value
      For(var, begin, end, body, kind, thread, attrs)   for i in serial(0, n):
      Block(name, axes*, body, init?, predicate?, reads*?, writes*?, attrs)   with block("C"):
      If(cond, then, otherwise?)                    if cond: ... else: ...
      Let(var, value, body)                         x: i64 = value
      Allocate(buffer, body, attrs)                 T = alloc(f32[16], scope="local")
      View(buffer, source, offset, body)            V = view(A, f32[4], offset=8)
      Evaluate(value)                               evaluate(barrier())
      Assert(cond, message, values*)                assert cond, "message"

    inside a block:
      Axis(var, extent, binding, kind)              vi = axis.spatial(16, i)
      Region(buffer, begins*, extents*)             A[i:i + 4, j], in reads(...) and writes(...)

    symbols, which have identity:
      Var(name)                                     i
      Buffer(name, shape*, dtype, scope, strides*?, align)   A

    expr:
      Const(value)                                  3, True, f32(0.5)
      Add, Sub, Mul, Div, FloorDiv, FloorMod        a + b, a - b, a * b, a / b, a // b, a % b
      BitAnd, BitOr, BitXor, Shl, Shr               a & b, a | b, a ^ b, a << b, a >> b
      Min, Max                                      min(a, b), max(a, b)
      EQ, NE, LT, LE, GT, GE                        a == b, a != b, a < b, a <= b, a > b, a >= b
      And, Or, Not, Neg                             a and b, a or b, not a, -a
      Select(cond, then, otherwise)                 select(cond, a, b): evaluates both sides
      Conditional(cond, then, otherwise)            a if cond else b: evaluates one side
      Cast(value)                                   cast(a, f32)
      Load(buffer, indices*, mask?)                 A[i, j]
      Ramp(base, stride), Broadcast(value)          ramp(i, 1, 8), broadcast(a, 8)
      Call(name, args*)                             exp(a): one of INTRINSICS
      Reinterpret(value)                            reinterpret(a, u32): its bits as another type
      Ldexp(value, exponent)                        ldexp(a, n): a * 2**n
      InstructionCall(name, args*)                  x86_vpdpbusd_512(s, a, b): of whole vectors

A ``Block`` has ``reads`` and ``writes`` of None where they are as inferred from its body. A load or
store may carry a lane mask, which is what a guarded vector loop becomes. ``Conditional`` evaluates
one side, ``Select`` both; ``And`` and ``Or`` stop early, ``BitAnd`` and ``BitOr`` do not. A
signature never changes while lowering: flattening adds a one-dimensional ``View`` in the body. The
meaning of each operation is in ``docs/semantics.md``, the text in ``docs/ir-text.md``.
"""

from irkit.core import (
    ALIAS as ALIAS,
    Names as Names,
    PrintedNames as PrintedNames,
    is_printable as is_printable,
    mangled as mangled,
)
from irkit.ir.analysis import (
    AccessRegions as AccessRegions,
    Dependences as Dependences,
    EnclosingStmts as EnclosingStmts,
    Liveness as Liveness,
    UseTable as UseTable,
    access_regions as access_regions,
    block_reads as block_reads,
    block_writes as block_writes,
    dependences as dependences,
    enclosing as enclosing,
    infer_regions as infer_regions,
    liveness as liveness,
    statements as statements,
    uses_of as uses_of,
)
from irkit.ir.arith import (
    Interval as Interval,
    LinearForm as LinearForm,
    bounds as bounds,
    equal_sums as equal_sums,
    fold as fold,
    linear as linear,
    loop_ranges as loop_ranges,
    prove as prove,
    simplify as simplify,
)
from irkit.ir.buffer import (
    Buffer as Buffer,
    Load as Load,
    Ramp as Ramp,
)
from irkit.ir.build import (
    as_int as as_int,
    broadcast as broadcast,
    call as call,
    cast as cast,
    element_count as element_count,
    eq as eq,
    evaluates as evaluates,
    floordiv as floordiv,
    floormod as floormod,
    ge as ge,
    gt as gt,
    if_then_else as if_then_else,
    index as index,
    is_const as is_const,
    is_empty as is_empty,
    is_hint as is_hint,
    ldexp as ldexp,
    le as le,
    logical_and as logical_and,
    logical_not as logical_not,
    logical_or as logical_or,
    lt as lt,
    maximum as maximum,
    minimum as minimum,
    ne as ne,
    nested as nested,
    product as product,
    ramp as ramp,
    reinterpret as reinterpret,
    select as select,
    seq as seq,
    strided_count as strided_count,
    trip_count as trip_count,
)
from irkit.ir.conditional import (
    Conditional as Conditional,
    Select as Select,
)
from irkit.ir.dtype import (
    BF16 as BF16,
    BOOL as BOOL,
    F16 as F16,
    F32 as F32,
    F64 as F64,
    I8 as I8,
    I16 as I16,
    I32 as I32,
    I64 as I64,
    U8 as U8,
    U16 as U16,
    U32 as U32,
    U64 as U64,
    DType as DType,
    as_dtype as as_dtype,
    common as common,
    dtype as dtype,
)
from irkit.ir.exact_sizes import (
    Size as Size,
    SizeGuard as SizeGuard,
    exact_value as exact_value,
    size_guard as size_guard,
)
from irkit.ir.expr import (
    EQ as EQ,
    GE as GE,
    GT as GT,
    LE as LE,
    LT as LT,
    NE as NE,
    OPERATIONS as OPERATIONS,
    Add as Add,
    And as And,
    Binary as Binary,
    BitAnd as BitAnd,
    BitOr as BitOr,
    BitXor as BitXor,
    Broadcast as Broadcast,
    Cast as Cast,
    Compare as Compare,
    Const as Const,
    Div as Div,
    Expr as Expr,
    ExprLike as ExprLike,
    FloorDiv as FloorDiv,
    FloorMod as FloorMod,
    Max as Max,
    Min as Min,
    Mul as Mul,
    Neg as Neg,
    Not as Not,
    Or as Or,
    Scalar as Scalar,
    Shl as Shl,
    Shr as Shr,
    Sub as Sub,
    Var as Var,
    as_expr as as_expr,
    binary as binary,
    const as const,
    convert as convert,
    meet as meet,
)
from irkit.ir.function import (
    UNSCHEDULED as UNSCHEDULED,
    PrimFunc as PrimFunc,
    as_scheduled as as_scheduled,
    dimension_vars as dimension_vars,
    is_unscheduled as is_unscheduled,
    shape_vars as shape_vars,
)
from irkit.ir.instructions import (
    Instruction as Instruction,
    c_function as c_function,
    define_instruction as define_instruction,
    defines_instructions as defines_instructions,
    expand_instructions as expand_instructions,
    find_instruction as find_instruction,
    instructions_want_memory as instructions_want_memory,
    known_instructions as known_instructions,
    memory_problem as memory_problem,
)
from irkit.ir.interp import (
    ElementWrite as ElementWrite,
    ElementWrites as ElementWrites,
    FailedAssertion as FailedAssertion,
    InterpretedFunction as InterpretedFunction,
    MemoryLimit as MemoryLimit,
    OutOfBounds as OutOfBounds,
    Race as Race,
    StepLimit as StepLimit,
    Touch as Touch,
    element_writes as element_writes,
    evaluate as evaluate,
    find_race as find_race,
    interpret as interpret,
)
from irkit.ir.intrinsics import (
    HINT_NAMES as HINT_NAMES,
    INTRINSICS as INTRINSICS,
    MAX_CLOCKS as MAX_CLOCKS,
    Call as Call,
    InstructionCall as InstructionCall,
    Intrinsic as Intrinsic,
    Ldexp as Ldexp,
    Reinterpret as Reinterpret,
)
from irkit.ir.level import (
    LOOP_LEVEL as LOOP_LEVEL,
    flat_access as flat_access,
    no_blocks as no_blocks,
    no_init_blocks as no_init_blocks,
    no_nested_parallel_loops as no_nested_parallel_loops,
    no_thread_loops as no_thread_loops,
    no_unrolled_loops as no_unrolled_loops,
    no_vectorized_loops as no_vectorized_loops,
)
from irkit.ir.numpy_types import (
    array_type as array_type,
    bits_of as bits_of,
    from_numpy as from_numpy,
    numpy_dtype as numpy_dtype,
    plain_array as plain_array,
    read_only_hint as read_only_hint,
)
from irkit.ir.operators import (
    OPERATORS as OPERATORS,
    Operator as Operator,
)
from irkit.ir.pattern import (
    ANY as ANY,
    ANY_FLOAT as ANY_FLOAT,
    ANY_INTEGER as ANY_INTEGER,
    Hole as Hole,
    hole as hole,
)
from irkit.ir.peephole import (
    peephole as peephole,
)
from irkit.ir.scoped_rewriter import (
    Rewriter as Rewriter,
    conjuncts as conjuncts,
    map_below as map_below,
    replace_stmts as replace_stmts,
)
from irkit.ir.scopes import (
    MemoryScope as MemoryScope,
    define_scope as define_scope,
    defined_scopes as defined_scopes,
    known_scopes as known_scopes,
    memory_scope as memory_scope,
    scope_problem as scope_problem,
)
from irkit.ir.stmt import (
    AXIS_KINDS as AXIS_KINDS,
    LOOP_KINDS as LOOP_KINDS,
    Allocate as Allocate,
    Assert as Assert,
    Axis as Axis,
    AxisKind as AxisKind,
    Block as Block,
    Evaluate as Evaluate,
    For as For,
    If as If,
    Let as Let,
    LoopKind as LoopKind,
    Region as Region,
    Seq as Seq,
    Stmt as Stmt,
    Store as Store,
    View as View,
)
from irkit.ir.text.attributes import (
    options_text as options_text,
    quoted as quoted,
)
from irkit.ir.text.call_reader import (
    float_from as float_from,
)
from irkit.ir.text.expr_printer import (
    ExprPrinter as ExprPrinter,
    TooDeep as TooDeep,
    float_literal as float_literal,
)
from irkit.ir.text.instruction_text import (
    instruction_text as instruction_text,
    parse_instruction as parse_instruction,
)
from irkit.ir.text.memo import (
    Memo as Memo,
)
from irkit.ir.text.printer import (
    listing as listing,
    script as script,
)
from irkit.ir.text.reader import (
    parse as parse,
    parse_expr as parse_expr,
    parse_module as parse_module,
)
from irkit.ir.text.stmt_reader import (
    StmtReader as StmtReader,
)
from irkit.ir.traced import (
    plain as plain,
    run_traced as run_traced,
)
from irkit.ir.tracing.refused_operators import (
    RefusedOperators as RefusedOperators,
)
from irkit.ir.tracing.traces import (
    TRACES as TRACES,
    Symbolic as Symbolic,
    traced as traced,
    tracing as tracing,
)
from irkit.ir.verify.statements import (
    verify as verify,
)
from irkit.ir.work import (
    Work as Work,
    stored_values as stored_values,
    work_of as work_of,
)
