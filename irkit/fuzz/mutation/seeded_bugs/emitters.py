"""Bugs in code generation: the interpreter is right, and native code differs.

They have no program of their own, as the fixed ones run in the interpreter only. What is named is
the tier that first saw it; a model runs optimised first, a loop function unoptimised. Code that
only vectors of a conditional reach has no bug here: the vectorizer makes masks of those, so none is
drawn.
"""

from irkit.fuzz.mutation.seeded_bugs.seeded_bug import SeededBug

_NATIVE = ("O0", "O3")
_THREADED = (*_NATIVE, "invariants")


def _bug(
    name: str,
    target: str,
    anchor: str,
    replacement: str,
    guilty: tuple[str, ...] = _NATIVE,
) -> SeededBug:
    return SeededBug(name, target, anchor, replacement, guilty, "")


_INTEGERS = (
    _bug(
        "truncated for floored division in native code",
        "irkit.codegen.llvm.arithmetic.integer_ops:_divided",
        "return text.op(f\"add {kind} {quotient}, {text.op(f'sext {test} {down} to {kind}')}\")",
        "return quotient",
    ),
    _bug(
        "a native remainder with the sign of the dividend",
        "irkit.codegen.llvm.arithmetic.integer_ops:_divided",
        "return choose(text, dtype, down, moved, rest)",
        "return rest",
    ),
    _bug(
        "a division by a power of two that rounds towards zero",
        "irkit.codegen.llvm.arithmetic.integer_ops:_by_positive",
        'f"ashr {kind} {a}, {constant(known.bit_length() - 1, dtype)}"',
        'f"sdiv {kind} {a}, {constant(known, dtype)}"',
    ),
    _bug(
        "a remainder by a power of two that may be negative",
        "irkit.codegen.llvm.arithmetic.integer_ops:_by_positive",
        'f"and {kind} {a}, {constant(known - 1, dtype)}"',
        "f\"{'s' if dtype.kind == 'i' else 'u'}rem {kind} {a}, {constant(known, dtype)}\"",
    ),
    _bug(
        "a division by zero that traps",
        "irkit.codegen.llvm.arithmetic.integer_ops:divide",
        "safe = choose(text, dtype, unsafe, one, b)",
        "safe = b",
    ),
    _bug(
        "a division by minus one that does not negate",
        "irkit.codegen.llvm.arithmetic.integer_ops:divide",
        "result = choose(text, dtype, is_minus, negated, result)",
        "assert negated",
    ),
    _bug(
        "a shift to the left that is not bounded",
        "irkit.codegen.llvm.arithmetic.integer_ops:_where_short",
        "return choose(text, dtype, short, shifted, constant(0, dtype))",
        "return shifted",
    ),
    _bug(
        "a shift to the right bounded one bit too low",
        "irkit.codegen.llvm.arithmetic.integer_ops:shift_right",
        '"umin", kind, b, constant(dtype.bits - 1, dtype)',
        '"umin", kind, b, constant(dtype.bits - 2, dtype)',
    ),
    _bug(
        "a shift of negative numbers that fills with zeros",
        "irkit.codegen.llvm.arithmetic.integer_ops:shift_right",
        'f"ashr {kind} {a}, {most}"',
        'f"lshr {kind} {a}, {most}"',
    ),
    _bug(
        "a shift by the width taken for one that is short",
        "irkit.codegen.llvm.arithmetic.integer_ops:_where_short",
        'f"icmp ult {kind} {b}, {constant(dtype.bits, dtype)}"',
        'f"icmp ule {kind} {b}, {constant(dtype.bits, dtype)}"',
    ),
    _bug(
        "a negative power of minus one with the wrong sign",
        "irkit.codegen.llvm.arithmetic.integer_ops:power_helper",
        "select i1 %isodd, {kind} -1, {kind} 1",
        "select i1 %isodd, {kind} 1, {kind} -1",
    ),
    _bug(
        "unsigned numbers compared as signed ones",
        "irkit.codegen.llvm.expressions.expressions:_compare",
        'sign = "" if cls in (EQ, NE) else "s" if operands.kind == "i" else "u"',
        'sign = "" if cls in (EQ, NE) else "s"',
    ),
    _bug(
        "the smaller of unsigned numbers by their sign",
        "irkit.codegen.llvm.expressions.expressions:_extreme",
        '("u" if dtype.kind == "u" else "s") + name',
        '"s" + name',
    ),
    _bug(
        "integer arithmetic that promises not to overflow",
        "irkit.codegen.llvm.expressions.expressions:_arithmetic",
        'return scope.text.op(f"{integer} {kind} {a}, {b}")',
        'return scope.text.op(f"{integer} nsw {kind} {a}, {b}")',
    ),
)

_FLOATS = (
    _bug(
        "a comparison that is false for NaN in place of true",
        "irkit.codegen.llvm.expressions.expressions:_FLOAT_TESTS",
        'NE: "une"',
        'NE: "one"',
    ),
    _bug(
        "a comparison that is true for NaN",
        "irkit.codegen.llvm.expressions.expressions:_FLOAT_TESTS",
        'LE: "ole"',
        'LE: "ule"',
    ),
    _bug(
        "a minimum that leaves NaN out",
        "irkit.codegen.llvm.expressions.expressions:_extreme",
        'f"{name}imum"',
        'f"{name}num"',
    ),
    _bug(
        "a 16-bit result that is not rounded",
        "irkit.codegen.llvm.expressions.expressions:_arithmetic",
        'return rounded(scope.text, dtype, scope.text.op(f"{floating} {kind} {a}, {b}"))',
        'return scope.text.op(f"{floating} {kind} {a}, {b}")',
    ),
    _bug(
        "fast-math flags on all arithmetic",
        "irkit.codegen.llvm.builder.scope:FunctionScope",
        '"contract"',
        '"fast"',
    ),
    _bug(
        "floats out of range converted to anything",
        "irkit.codegen.llvm.arithmetic.conversions:convert",
        "return text.call(name, new, (old, value))",
        "return text.op(f\"fpto{'s' if target.kind == 'i' else 'u'}i {old} {value} to {new}\")",
    ),
    _bug(
        "unsigned numbers converted to floats by their sign",
        "irkit.codegen.llvm.arithmetic.conversions:convert",
        'sign = "s" if source.kind == "i" else "u"',
        'sign = "s"',
    ),
    _bug(
        "negative numbers widened with zeros",
        "irkit.codegen.llvm.arithmetic.conversions:convert",
        "{'s' if source.kind == 'i' else 'z'}ext",
        "zext",
    ),
    _bug(
        "NaN converted to false",
        "irkit.codegen.llvm.arithmetic.conversions:convert",
        'f"fcmp une {old}',
        'f"fcmp one {old}',
    ),
    _bug(
        "bf16 cut off in place of rounded",
        "irkit.codegen.llvm.arithmetic.conversions:_float_to_bf16",
        'f"add {whole} {near}, {odd}"',
        'f"add {whole} {bits}, {_int(0, dtype)}"',
    ),
    _bug(
        "bf16 with ties rounded up",
        "irkit.codegen.llvm.arithmetic.conversions:_float_to_bf16",
        'f"add {whole} {near}, {odd}"',
        'f"add {whole} {near}, {_int(1, dtype)}"',
    ),
    _bug(
        "a floored quotient of floats that is not moved down",
        "irkit.codegen.llvm.math.intrinsics:floor_divide",
        "near = choose(text, working, differ, lower, quotient)",
        "near = quotient if lower else lower",
    ),
    _bug(
        "halves rounded away from zero",
        "irkit.codegen.llvm.math.intrinsics:_INLINE",
        '"round": "roundeven"',
        '"round": "round"',
    ),
    _bug(
        "a sign of NaN that is 0",
        "irkit.codegen.llvm.math.intrinsics:_float_sign",
        "rest = choose(text, dtype, equal, zero, x)",
        "rest = zero if equal else x",
    ),
    _bug(
        "a polynomial with a wrong coefficient",
        "irkit.codegen.llvm.math.exponentials:_EXP",
        "0.166665211",
        "0.166765211",
    ),
    _bug(
        "an exponential that ends too early",
        "irkit.codegen.llvm.math.exponentials:exp",
        "f.at_most(f.at_least(args[0], -104.0), 89.0)",
        "f.at_most(f.at_least(args[0], -104.0), 80.0)",
    ),
    _bug(
        "a hyperbolic tangent that is 1 too early",
        "irkit.codegen.llvm.math.exponentials:tanh",
        "f.at_most(f.abs(args[0]), 9.125)",
        "f.at_most(f.abs(args[0]), 4.0)",
    ),
    _bug(
        "a sine in the wrong quarter",
        "irkit.codegen.llvm.math.trigonometry:_wave",
        'd.integer("lshr", turned, 1)',
        "turned",
    ),
)

_LANES = (
    _bug(
        "native lanes in the wrong order",
        "irkit.codegen.llvm.expressions.expressions:_ramp",
        "[lane * stride for lane in range(dtype.lanes)]",
        "[lane * stride for lane in reversed(range(dtype.lanes))]",
    ),
    _bug(
        "a native store without its mask",
        "irkit.codegen.llvm.expressions.memory_access:store",
        '        if mask is None:\n            text.line(f"store',
        '        if mask is None or lanes > 1:\n            text.line(f"store',
    ),
    _bug(
        "a masked load that reads all lanes",
        "irkit.codegen.llvm.expressions.memory_access:load",
        "    if mask is None:\n        raw = _read(",
        "    if mask is None or lanes > 1:\n        raw = _read(",
    ),
    _bug(
        "a scatter without its mask",
        "irkit.codegen.llvm.expressions.memory_access:store",
        "{mask or _all(lanes)}",
        "{_all(lanes)}",
    ),
    _bug(
        "lanes apart taken for neighbours",
        "irkit.codegen.llvm.expressions.memory_access:_together",
        " and as_int(index.stride) == 1 and stride == 1",
        " and stride == 1",
    ),
    _bug(
        "a function of the first lane in all lanes",
        "irkit.codegen.llvm.math.intrinsics:each_lane",
        "extractelement {vector} {arg}, i32 {lane}",
        "extractelement {vector} {arg}, i32 0",
    ),
    _bug(
        "vectors said to be aligned",
        "irkit.codegen.llvm.expressions.memory_access:_read",
        "kind, align = memory_type(node.dtype), node.dtype.bytes",
        "kind, align = memory_type(node.dtype), node.dtype.bytes * (lanes & -lanes)",
    ),
)

_MEMORY = (
    _bug(
        "native strides in the wrong order",
        "irkit.codegen.llvm.statements.buffers:strides",
        "for dim in buffer.shape[:0:-1]:",
        "for dim in buffer.shape[1:]:",
    ),
    _bug(
        "a view whose offset is counted in bytes",
        "irkit.codegen.llvm.statements.statements:_view",
        'f"getelementptr {element}, ptr {pointer}, i64 {offset}"',
        'f"getelementptr i8, ptr {pointer}, i64 {offset}"',
    ),
    _bug(
        "a load kept over the store that changes it",
        "irkit.codegen.llvm.statements.statements:_store",
        "def _store(scope: FunctionScope, node: Store) -> None:\n    scope.begin_statement()\n",
        "def _store(scope: FunctionScope, node: Store) -> None:\n",
    ),
    _bug(
        "a value of one side used on the other",
        "irkit.codegen.llvm.expressions.conditionals:_side",
        "    scope.forget_since(mark)\n    scope.text.jump(end)",
        "    scope.text.jump(end)",
    ),
    _bug(
        "a loop without iterations that runs once",
        "irkit.codegen.llvm.statements.statements:_for",
        "may_be_empty = first is None or last is None",
        "may_be_empty = False",
    ),
    _bug(
        "a native block without its predicate",
        "irkit.codegen.llvm.statements.statements:_block",
        "if node.predicate is not None:",
        "if node.predicate is not None and not node.axes:",
    ),
    _bug(
        "a native init that asks for any reduce axis",
        "irkit.codegen.llvm.statements.statements:_at_start",
        'f"and i1 {found}, {zero}"',
        'f"or i1 {found}, {zero}"',
    ),
    _bug(
        "a parallel loop that runs as often as its end says",
        "irkit.codegen.llvm.parallel.parallel_loops:_enter",
        'f"sub {kind} {end}, {begin}"',
        'f"sub {kind} {end}, 0"',
        _THREADED,
    ),
    SeededBug(
        "a cache that forgets how much LLVM is to optimise",
        "irkit.runtime.cache:_name",
        "str(target.opt_level), llvm_text]",
        "llvm_text]",
        ("invariants",),
        "",
    ),
    SeededBug(
        "chunks of a parallel loop that leave out its rest",
        "irkit.codegen.llvm.parallel.pool_text:POOL",
        "%own = add i64 %size, %one",
        "%own = add i64 %size, 0",
        _THREADED,
        "",
    ),
)

EMITTERS = (*_INTEGERS, *_FLOATS, *_LANES, *_MEMORY)
