"""Which decisions matter: how much of the difference between candidates each explains."""

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from irkit.tune.records import Record, key_of


def importance(records: Sequence[Record]) -> list[tuple[str, float]]:
    """Return for each decision the share of the variance of the logarithms of scores that lies
    between candidates that decided differently, the greatest first."""
    found = [each for each in records if each.verdict == "ok" and each.score > 0]
    if len(found) < 3:
        return []
    scores = np.array([math.log(each.score) for each in found])
    whole = float(scores.var())
    names = {name for each in found for name in each.values}
    shares: list[tuple[str, float]] = []
    for name in names:
        groups: defaultdict[str, list[float]] = defaultdict(list)
        for each, score in zip(found, scores, strict=True):
            groups[key_of({"value": each.values.get(name)})].append(float(score))
        inside = sum(len(each) * float(np.var(each)) for each in groups.values()) / len(found)
        spare = (len(groups) - 1) / max(len(found) - 1, 1)  # What chance alone would explain.
        share = 1 - inside / whole if whole else 0.0
        shares.append((name, max(0.0, (share - spare) / max(1 - spare, 1e-9))))
    return sorted(shares, key=lambda pair: (-pair[1], pair[0]))
