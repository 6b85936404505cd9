"""Features that samples can have, the number of samples that had each, and those that none had."""

from collections.abc import Iterable, Mapping

import msgspec

from irkit.fuzz.generators.onnx_models.operators import ONNX_DRAWS
from irkit.fuzz.generators.operators.structured import OPERATORS
from irkit.fuzz.generators.sample import LOOP_SAMPLES, Kind
from irkit.fuzz.generators.schedules.draw_table import WITHOUT
from irkit.fuzz.generators.schedules.stage_schedules import DIRECTIVES
from irkit.graph import GRAPH_LEVEL, OPS, GraphStep, Invoke
from irkit.ir import INTRINSICS, LOOP_KINDS, LOOP_LEVEL
from irkit.passes import BUILTIN
from irkit.phases import DEFAULT, GRAPH
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
    "onnx": tuple(ONNX_DRAWS),
    "topi": tuple(OPERATORS),
    "staged": tuple(DIRECTIVES),
}
# Features that only some kinds of samples can have are missing only if those kinds were drawn.
_KINDS: dict[str, frozenset[Kind]] = {
    "primitive": frozenset({"schedules"}),
    "op": frozenset({"graphs"}),
    "step": frozenset({"graphs"}),
    "onnx": frozenset({"onnx"}),
}
_TITLES = {
    "node": "node classes",
    "call": "functions",
    "loop": "kinds of loops",
    "dtype": "types",
    "extent": "extents",
    "primitive": "schedule primitives",
    "refused": "schedule primitives that were refused",
    "op": "operators of graphs",
    "step": "steps of graphs",
    "onnx": "operators of ONNX",
    "opset": "operator sets of ONNX",
    "rung": "rungs of inputs",
    "mutation": "changes to text",
    "damage": "changes to models",
    "pass": "passes that changed something",
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


class FeatureSort(msgspec.Struct, frozen=True):
    """One sort of features: the number of samples with each, most frequent first, and those never
    drawn."""

    name: str
    title: str
    counts: dict[str, int]
    missing: list[str]

    @property
    def known(self) -> int:
        """Return the number of features there are."""
        return len(self.counts) + len(self.missing)


def drawn_features(
    features: Mapping[str, int], passes: Mapping[str, int], kinds: Iterable[Kind]
) -> list[FeatureSort]:
    """List the features drawn, by sort, and the ``passes`` that changed something; ``kinds`` are
    the kinds of samples drawn, which decide what could have been drawn."""
    found: dict[str, dict[str, int]] = {}
    for feature, count in features.items():
        sort, _, name = feature.partition(":")
        found.setdefault(sort, {})[name] = count
    ran = set(kinds)
    known: dict[str, set[str]] = {
        sort: set(map(str, names))
        for sort, names in _ALL.items()
        if ran & set(_KINDS.get(sort, LOOP_SAMPLES))
    }
    known["pass"] = _possible(ran)
    found["pass"] = dict(passes)
    return [
        _sort(name, found.get(name, {}), known.get(name, set()))
        for name in sorted({*found, *known})
        if found.get(name) or known.get(name)
    ]


def _sort(name: str, counts: Mapping[str, int], known: set[str]) -> FeatureSort:
    ordered = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    return FeatureSort(name, _TITLES.get(name, name), ordered, sorted(known - set(counts)))


def _possible(kinds: set[Kind]) -> set[str]:
    loops = set(DEFAULT.names) if kinds & set(LOOP_SAMPLES) else set[str]()
    graphs = set(GRAPH.names) if kinds & {"graphs", "onnx"} else set[str]()
    return loops | graphs
