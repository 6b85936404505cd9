"""Passes that misbehave as programs: they report changes falsely, raise, never end, or kill their
process."""

from irkit.fuzz.mutation.seeded_bugs.seeded_bug import SeededBug

MISBEHAVIOUR = (
    SeededBug(
        "a lie about having changed something",
        "irkit.passes.loop.loops.unroll_loops:unroll_loops",
        "    made = rewrite(func, unroll, on=For)\n",
        "    import msgspec\n\n    made = msgspec.structs.replace(rewrite(func, unroll, on=For))\n",
        ("unroll-loops",),
        "BIG_INDEX",
    ),
    SeededBug(
        "an endless rewrite",
        "irkit.passes.loop.cleanup.remove_no_ops:remove_no_ops",
        '    return rewrite(func, Rules("no-ops", NO_OPS, unused), applied=uses.drop)\n',
        "    while True:\n"
        '        func = rewrite(func, Rules("no-ops", NO_OPS, unused), applied=uses.drop)\n',
        ("remove-no-ops",),
        "MATMUL",
    ),
    SeededBug(
        "an exception",
        "irkit.passes.loop.cleanup.narrow_indices:_Narrow",
        "found = self._within[id(node)] = bounds(type(node)(x, y, I64), known)",
        "found = self._within[id(x)]",
        ("narrow-indices",),
        "MATMUL",
    ),
    SeededBug(
        "a pass that ends the process",
        "irkit.passes.loop.storage.flatten_buffers:flatten_buffers",
        "    if not flat:\n        return func\n",
        "    raise SystemExit(0)\n",
        ("flatten-buffers",),
        "MATMUL",
    ),
    SeededBug(
        "a crash in native code",
        "irkit.passes.loop.loops.hoist_first_iterations:hoist_first_iterations",
        "    sums = IndexSums(loop_ranges(func))\n",
        "    import ctypes\n\n    ctypes.string_at(0)\n",
        ("hoist-first-iterations",),
        "MATMUL",
    ),
    SeededBug(
        "memory without end",
        "irkit.passes.loop.loops.vectorize_loops:vectorize_loops",
        "    ranges = loop_ranges(func)\n",
        "    ranges = loop_ranges(func)\n    bytes(1 << 60)\n",
        ("vectorize-loops",),
        "TILE",
    ),
    SeededBug(
        "a parameter dropped",
        "irkit.passes.loop.blocks.lower_blocks:lower_blocks",
        "    return func.replace(body=visit(substitute(func.body, values), rewritten))\n",
        "    body = visit(substitute(func.body, values), rewritten)\n"
        "    return func.replace(params=func.params[1:], body=body)\n",
        ("lower-blocks",),
        "MATMUL",
    ),
    SeededBug(
        "something that is no function",
        "irkit.passes.loop.storage.compact_buffers:compact_buffers",
        "    if not smaller:\n        return func\n",
        "    return None\n",
        ("compact-buffers",),
        "TILE",
    ),
    SeededBug(
        "a fact that is claimed and does not hold",
        "irkit.passes.loop.storage.flatten_buffers:flatten_buffers",
        "if not _is_flat(buffer) and",
        "if buffer in params and not _is_flat(buffer) and",
        ("flatten-buffers",),
        "TILE",
    ),
    SeededBug(
        "an undefined variable",
        "irkit.passes.loop.cleanup.simplify:_Scope",
        "                self.values[loop.var] = begin\n",
        "",
        ("simplify",),
        "RUNS_ONCE",
    ),
    SeededBug(
        "an attribute that is not there",
        "irkit.passes.loop.cleanup.simplify:_Scope",
        "begin.dtype == loop.var.dtype",
        "begin.dtype.width == loop.var.dtype",
        ("simplify",),
        "MATMUL",
    ),
)
