"""Which operators of a graph a backend gets: matches of its rules that do not overlap."""

from collections.abc import Iterator, Sequence

import msgspec

from irkit.core import Attrs, current_recorder, remark
from irkit.graph import (
    Bind,
    GraphFacts,
    GraphFunc,
    Match,
    Op,
    Value,
    caches_of,
    match,
    overwritten,
    results_of,
    state_pairs,
    used_inside,
)
from irkit.passes.graph import OperatorGroup, grouped
from irkit.phases.backends.claims import ClaimRule

BACKEND, COMPOSITE = "backend", "composite"
"""Attributes of the lambda of a claim: the names of the backend and of its rule."""
MOST_TO_COMPARE = 40
"""Matches that overlap each other, up to which all choices between them are compared."""


class _Candidate(msgspec.Struct, frozen=True):
    """A match of a rule: its operators in the order of the function, and what it saves."""

    rule: ClaimRule
    root: Bind
    members: tuple[Value, ...]
    gain: float

    def overlaps(self, other: "_Candidate") -> bool:
        return not set(self.members).isdisjoint(other.members)


def partitioned(func: GraphFunc, backend: str, rules: Sequence[ClaimRule]) -> GraphFunc:
    """Return a function in which what the rules claim are applied lambdas, marked with the backend.

    Of rules with gains, the claims that save most in sum are taken; else those with most operators,
    the first ones first. A claim that is refused leaves a remark with the reason.
    """
    found = list(_candidates(func, backend, rules))
    recorder = current_recorder()
    if recorder is not None:
        found = [each for each in found if recorder.allows("claim", each.root, func)]
    chosen = [each for part in _overlapping(found) for each in _best(part)]
    for each in found:
        if not any(set(each.members) <= set(other.members) for other in chosen):
            remark(
                each.root,
                f"{backend} does not get {each.rule.name!r}: another claim has part of it",
            )
    return grouped(func, [_group(each, backend) for each in chosen])


def _group(found: _Candidate, backend: str) -> OperatorGroup:
    attrs: Attrs = (("fused", True), (BACKEND, backend), (COMPOSITE, found.rule.name))
    return OperatorGroup(found.members, attrs, f"{backend}_{found.rule.name}")


def _candidates(func: GraphFunc, backend: str, rules: Sequence[ClaimRule]) -> Iterator[_Candidate]:
    facts = GraphFacts(func)
    order = {bind.var: at for at, bind in enumerate(func.body.bindings)}
    users = _users(func)
    tied = _tied_to_state(func)
    for bind in func.body.bindings:
        for rule in rules if isinstance(bind.step, Op) else ():
            found = match(rule.pattern, bind, facts)
            if found is None:
                continue
            gain = 0.0 if rule.gain is None else rule.gain(found)
            inside = {bind.var, *(each.var for each in found.inside)}
            why = _refusal(rule, found, inside, users, tied)
            if not why and rule.gain is not None and not gain > 0:
                why = f"it would save nothing ({gain:.3g} s)"
            if why:
                remark(bind, f"{backend} does not get {rule.name!r}: {why}")
            else:
                members = tuple(sorted(inside, key=order.__getitem__))
                yield _Candidate(rule, bind, members, gain)


def _refusal(
    rule: ClaimRule,
    found: Match,
    inside: set[Value],
    users: dict[Value, set[Value]],
    tied: frozenset[Value],
) -> str:
    for each in found.inside:
        others = users.get(each.var, set()) - inside
        if others:
            return f"the result of {each.var.name!r} is needed elsewhere too"
    for each in (found.root, *found.inside):
        if not tied.isdisjoint((each.var, *used_inside(each.step))):
            return f"{each.var.name!r} is state, or reads it"
    return "" if rule.refuses is None else rule.refuses(found)


def _users(func: GraphFunc) -> dict[Value, set[Value]]:
    """Return which bindings use each value; the result is used by what the caller does with it."""
    found: dict[Value, set[Value]] = {func.body.result: {Value("result", func.body.result.type)}}
    for bind in func.body.bindings:
        for value in used_inside(bind.step):
            found.setdefault(value, set()).add(bind.var)
    return found


def _tied_to_state(func: GraphFunc) -> frozenset[Value]:
    """Return the values whose kernels lay them out, or order them, as state demands."""
    written = {results_of(func)[pair.result] for pair in state_pairs(func)}
    return frozenset({*overwritten(func), *caches_of(func), *written})


def _overlapping(found: Sequence[_Candidate]) -> list[list[_Candidate]]:
    """Return the candidates in parts, of which no two overlap."""
    parts: list[list[_Candidate]] = []
    for each in found:
        near = [part for part in parts if any(each.overlaps(other) for other in part)]
        parts = [part for part in parts if part not in near]
        parts.append([*(other for part in near for other in part), each])
    return parts


def _best(part: list[_Candidate]) -> list[_Candidate]:
    """Return candidates that do not overlap: those that save most, or the largest ones."""
    if any(each.gain for each in part) and len(part) <= MOST_TO_COMPARE:
        return _dearest(part)
    chosen: list[_Candidate] = []
    for each in sorted(part, key=lambda each: (-each.gain, -len(each.members))):
        if not any(each.overlaps(other) for other in chosen):
            chosen.append(each)
    return chosen


def _dearest(part: list[_Candidate]) -> list[_Candidate]:
    """Return the candidates whose gains have the largest sum: a clique of those that can stand
    together, of the largest weight."""
    # Takes 80 ms to load, and only backends with gains need it.
    import networkx as nx

    apart: nx.Graph[int] = nx.Graph()
    most = max(each.gain for each in part)
    for at, each in enumerate(part):  # The weights of networkx are integers.
        apart.add_node(at, weight=max(1, round(each.gain / most * 1e6)))
    apart.add_edges_from(
        (a, b) for a in range(len(part)) for b in range(a) if not part[a].overlaps(part[b])
    )
    clique, _ = nx.max_weight_clique(apart)
    return [part[at] for at in sorted(clique)]
