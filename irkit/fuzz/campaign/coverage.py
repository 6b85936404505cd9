"""Features that the samples of a campaign had, by sort, and those that none had."""

from collections.abc import Iterable, Mapping

import msgspec

from irkit.fuzz.campaign.tally import CampaignTally
from irkit.fuzz.generators.coverage import expected_features
from irkit.fuzz.generators.sample import Kind
from irkit.phases import DEFAULT, GRAPH

LOOPS: frozenset[Kind] = frozenset({"programs", "schedules", "pipelines"})
_MODELS: frozenset[Kind] = frozenset({"graphs", "onnx"})
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


def drawn_features(tally: CampaignTally, kinds: Iterable[Kind]) -> list[FeatureSort]:
    """List the features drawn, by sort, and the passes that changed something; ``kinds`` are the
    kinds of samples drawn, which decide what could have been drawn."""
    found: dict[str, dict[str, int]] = {}
    for feature, count in tally.features.items():
        sort, _, name = feature.partition(":")
        found.setdefault(sort, {})[name] = count
    ran = set(kinds)
    known: dict[str, set[str]] = {
        sort: {feature.partition(":")[2] for feature in features}
        for sort, features in expected_features().items()
        if ran & set(_KINDS.get(sort, LOOPS))
    }
    known["pass"] = _possible(ran)
    found["pass"] = dict(tally.passes)
    return [
        _sort(name, found.get(name, {}), known.get(name, set()))
        for name in sorted({*found, *known})
        if found.get(name) or known.get(name)
    ]


def _sort(name: str, counts: Mapping[str, int], known: set[str]) -> FeatureSort:
    ordered = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    return FeatureSort(name, _TITLES.get(name, name), ordered, sorted(known - set(counts)))


def _possible(kinds: set[Kind]) -> set[str]:
    loops = set(DEFAULT.names) if kinds & LOOPS else set[str]()
    graphs = set(GRAPH.names) if kinds & _MODELS else set[str]()
    return loops | graphs
