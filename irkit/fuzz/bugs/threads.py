"""Bugs in the passes over threads."""

from irkit.fuzz.bugs.planted import Planted

_LOOP = "irkit.passes.loop."
_SPLIT = "irkit.ir.threads.split"

THREAD_PASSES = (
    Planted(
        "a barrier left out",
        _LOOP + "thread_barriers",
        "            self.before[id(stmt)] = stmt.span\n",
        "",
        ("unify-thread-bindings", "thread-sync"),
        "SIBLING_THREADS",
    ),
    Planted(
        "a barrier left out between iterations",
        _LOOP + "thread_barriers",
        "            self.before[id(loop.body)] = loop.span\n",
        "            pass\n",
        ("unify-thread-bindings", "thread-sync"),
        "SIBLING_THREADS",
    ),
    Planted(
        "one place for what every thread keeps",
        _SPLIT,
        "View(buffer, kept, _times(number, size), seq(), span=stmt.span)",
        "View(buffer, kept, Const(0, I64), seq(), span=stmt.span)",
        ("lower-thread-loops",),
        "THREAD_MATMUL",
    ),
    Planted(
        "a piece that reads a value as it is later",
        _SPLIT,
        "        if not any_node(let.value, Load):  # It can",
        "        if True:  # It can",
        ("lower-thread-loops",),
        "KEPT_VALUES",
    ),
    Planted(
        "thread variables bound by every piece",
        _SPLIT,
        "return fresh(stmt) if again else stmt",
        "return stmt",
        ("lower-thread-loops",),
        "THREAD_TREE",
    ),
    Planted(
        "sums of threads that start at one",
        _LOOP + "lower_cross_thread_reduction",
        "const(0 if combiner is Add else 1, dtype)",
        "const(1, dtype)",
        ("lower-cross-thread-reduction",),
        "CROSS_THREAD_SUMS",
    ),
    Planted(
        "parts combined without their condition",
        _LOOP + "lower_cross_thread_reduction",
        "guards = [] if self.block.predicate is None else [self.block.predicate]",
        "guards = list[Expr]()",
        ("lower-cross-thread-reduction",),
        "CROSS_THREAD_SUMS",
    ),
    Planted(
        "one memory for all virtual threads",
        _LOOP + "inject_virtual_threads",
        "for values in self.values[1:]:",
        "for values in self.values[2:]:",
        ("inject-virtual-threads",),
        "VTHREAD_MATMUL",
    ),
    Planted(
        "a sibling that keeps a variable of its own",
        _LOOP + "unify_thread_bindings",
        "        if loop is not launch:\n",
        "        if loop is launch:\n",
        ("unify-thread-bindings",),
        "SIBLING_THREADS",
    ),
    Planted(
        "shared memory shrunk to what one thread touches",
        _LOOP + "compact_buffers",
        "bound_inside(allocate.body) | threads",
        "bound_inside(allocate.body)",
        ("compact-buffers",),
        "COOPERATIVE_MATMUL",
    ),
)
