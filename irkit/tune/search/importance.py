"""Which decisions matter: how much of the difference between candidates each explains."""

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from irkit.tune.records import Record, key_of


def importance(records: Sequence[Record]) -> list[tuple[str, float]]:
    """Return for each decision the share of the variance of the logarithms of scores that lies
    between candidates that decided differently, the greatest first. Knobs are compared among the
    candidates that have them."""
    found = [each for each in records if each.verdict == "ok" and each.score > 0]
    whole = float(np.var([math.log(each.score) for each in found])) if found else 0.0
    names = {name for each in found for name in each.values}
    shares = [(name, _share(name, found, whole)) for name in names]
    return sorted(shares, key=lambda pair: (-pair[1], pair[0]))


def _share(name: str, records: Sequence[Record], whole: float) -> float:
    knob = name.rpartition(".")[2]
    own = [each for each in records if name in each.values or knob in ("sketch", "stage")]
    groups: defaultdict[str, list[float]] = defaultdict(list)
    for each in own:
        groups[key_of({"value": each.values.get(name)})].append(math.log(each.score))
    if len(own) < 3 or len(groups) < 2 or not whole:
        return 0.0
    scores = [score for each in groups.values() for score in each]
    inside = sum(len(each) * float(np.var(each)) for each in groups.values()) / len(own)
    spare = (len(groups) - 1) / (len(own) - 1)  # What chance alone would explain.
    between = max(0.0, float(np.var(scores)) * (1 - spare) - inside)
    return min(1.0, between * len(own) / (whole * len(records)))
