"""Chains of operators, and graphs that patterns of rules match."""

import pytest

from irkit.core import Recorder
from irkit.fuzz.generators.aimed.aim import aim_of
from irkit.fuzz.generators.aimed.aimed_graphs import aimed_graph
from irkit.fuzz.generators.graphs.chains import GROUPS, graph_chain
from irkit.fuzz.generators.sample import Unusable
from irkit.fuzz.picks import picks_of
from irkit.graph import GraphFunc, verify
from irkit.transform import AnyPass, apply_pass
from tests.fuzz.check_pass import published_bugs


@pytest.mark.parametrize("group", GROUPS)
def test_chains_are_valid_graphs(group: str) -> None:
    lengths: list[int] = []
    for number in range(12):
        try:
            func = graph_chain(picks_of(number), group)
        except Unusable:
            continue
        assert not verify(func)
        lengths.append(len(func.body.bindings))
    assert len(lengths) >= 6
    assert max(lengths) >= 3


ON_GRAPHS = [p for p, _ in published_bugs.WRONG if p.level is GraphFunc]


@pytest.mark.parametrize("p", ON_GRAPHS, ids=str)
def test_a_pass_changes_many_graphs_drawn_for_it(p: AnyPass) -> None:
    aim, changed = aim_of(p), 0
    assert aim.graph_patterns or aim.operators
    for number in range(40):
        try:
            func = aimed_graph(picks_of(number), aim)
        except Unusable:
            continue
        assert not verify(func)
        changed += apply_pass(p, func, Recorder()) is not func
    assert changed >= 3
