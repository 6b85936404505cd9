"""Where a hunt changes something at random: modules by what they do, each kind of work as often as
another."""

import importlib.util
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

_LOOP, _ARITH, _ANALYSIS = "irkit.passes.loop.", "irkit.ir.arith.", "irkit.ir.analysis."
FAMILIES: dict[str, tuple[str, ...]] = {  # Names of modules, with wildcards.
    "flatten": tuple(
        _LOOP + name
        for name in ("flatten_buffers", "lower_*blocks", "boxes", "compact_buffers", "view_bounds")
    ),
    "vectorize": (
        *(_LOOP + name for name in ("vector*", "one_lane", "guarded_loads")),
        *(_ANALYSIS + name for name in ("affine", "apart", "axes", "numbering", "dependence")),
    ),
    "unroll": tuple(
        _LOOP + name
        for name in ("unroll_loops", "loop_*", "hoist_first_iterations", "serialize_inner*")
    ),
    "simplify": (
        *(
            _LOOP + name
            for name in (
                "simplify",
                "canonicalize_loops",
                "remove_no_ops",
                "eliminate_common_subexpressions",
                "narrow_indices",
                "rewrite_unsafe_selects",
                "hoist_if_then_else",
            )
        ),
        _ARITH + "simplify",
        _ARITH + "choice",
    ),
    "bounds": tuple(
        _ARITH + name
        for name in ("bounds", "transfer", "interval", "ranges", "division", "sums", "knowledge")
    ),
    "thread binding": (
        *(
            _LOOP + name
            for name in (
                "unify_thread_bindings",
                "thread_*",
                "lower_thread_loops",
                "lower_cross_thread_reduction",
                "inject_virtual_threads",
            )
        ),
        "irkit.ir.threads.*",
    ),
    "storage reuse": (
        *(
            _LOOP + name
            for name in (
                "storage_rewrite",
                "in_place",
                "plan_allocations",
                "carried_values",
                "inject_double_buffers",
            )
        ),
        _ANALYSIS + "liveness",
        _ANALYSIS + "uses",
        "irkit.graph.memory",
    ),
    "fusion": tuple(
        "irkit.passes.graph." + name
        for name in ("fuse_ops", "simplify_graph", "fold_*", "eliminate_dead_nodes", "lower_*")
    ),
    "schedules": tuple(
        "irkit.schedule." + name
        for name in (
            "[a-b]*",
            "ca*",
            "co[mp]*",
            "[e-f]*",
            "i[n-t]*",
            "l[ao]*",
            "m[ao]*",
            "merging",
            "p*",
            "r*",
        )
    ),
    "ONNX conversion": (
        "irkit.frontend.onnx.convert.*",
        "irkit.frontend.onnx.context",
    ),
    "operators": ("irkit.topi.*", "irkit.topi.nn.*"),
    "code generation": tuple(
        "irkit.codegen.llvm_" + name
        for name in ("a*", "e*", "f*", "i*", "la*", "m[ae]*", "p*", "scope", "stmt", "t[ry]*")
    ),
}


@cache
def modules_of(family: str) -> tuple[str, ...]:
    """List the modules of a kind of work."""
    return tuple(name for pattern in FAMILIES[family] for name in _matching(pattern))


def _matching(pattern: str) -> list[str]:
    folder, _, name = pattern.rpartition(".")
    found = importlib.util.find_spec(folder)
    assert found is not None
    assert found.origin is not None
    files = sorted(path.stem for path in Path(found.origin).parent.glob("*.py"))
    return [f"{folder}.{stem}" for stem in files if stem != "__init__" and fnmatch(stem, name)]
