"""Features that can be drawn, and those that never were."""

from collections.abc import Iterable

from irkit.frontend.onnx import CONVERTERS
from irkit.fuzz.generators.operators.structured import OPERATORS
from irkit.fuzz.generators.schedules.draw_table import WITHOUT
from irkit.fuzz.generators.schedules.stage_schedules import DIRECTIVES
from irkit.graph import GRAPH_LEVEL, OPS, GraphStep, Invoke
from irkit.ir import INTRINSICS, LOOP_KINDS, LOOP_LEVEL
from irkit.passes import BUILTIN
from irkit.schedule import PRIMITIVES

_DTYPES = (
    *("bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"),
    *("f16", "bf16", "f32", "f64"),
)
_EXTENTS = (0, 1, 2, 3, 5, 7, 8, 16, 17, 31, 33, 64, 65, "symbolic")
# Invoke calls a function of a module, and a graph is drawn alone.
_STEPS = tuple(
    cls.__name__ for cls in GRAPH_LEVEL.nodes if issubclass(cls, GraphStep) and cls is not Invoke
)
_ALL: dict[str, tuple[object, ...]] = {
    "node": tuple(cls.__name__ for cls in LOOP_LEVEL.nodes),
    "call": tuple(INTRINSICS),
    "loop": LOOP_KINDS,
    "dtype": _DTYPES,
    "extent": _EXTENTS,
    "primitive": tuple(name for name in PRIMITIVES if name not in WITHOUT),
    "pass": tuple(p.name for p in BUILTIN),
    "op": tuple(OPS),
    "step": _STEPS,
    "onnx": tuple(CONVERTERS),
    "topi": tuple(OPERATORS),
    "staged": tuple(DIRECTIVES),
}


def expected_features() -> dict[str, frozenset[str]]:
    """Return, by kind, the features that samples should have between them."""
    return {kind: frozenset(f"{kind}:{name}" for name in names) for kind, names in _ALL.items()}


def never_drawn(features: Iterable[str]) -> dict[str, list[str]]:
    """Return, by kind, what no sample had: node classes, functions, kinds of loops, types, extents,
    primitives, passes, and operators of graphs and of ONNX."""
    seen = set(features)
    missing = {kind: sorted(names - seen) for kind, names in expected_features().items()}
    return {kind: names for kind, names in missing.items() if names}
