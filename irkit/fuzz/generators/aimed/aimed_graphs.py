"""Graphs with what a pass over graphs looks for: instances of the patterns of its rules, and chains
of the operators that it mentions."""

from collections.abc import Callable
from typing import Any

import numpy as np

from irkit.fuzz.generators.aimed.aim import PassAim
from irkit.fuzz.generators.graphs.chains import (
    apply_to,
    follow,
    graph_chain,
    graph_values,
    known_number,
    start,
)
from irkit.fuzz.generators.graphs.graph_samples import finished
from irkit.fuzz.generators.graphs.operators import DRAWS
from irkit.fuzz.generators.graphs.values import GraphTensor, GraphValues
from irkit.fuzz.generators.sample import Unusable
from irkit.fuzz.picks import Picks
from irkit.graph import (
    Either,
    GraphFacts,
    GraphFunc,
    OpPattern,
    Pattern,
    ValuePattern,
    match,
)

_TRIES, _VALUES = 12, 6


def aimed_graph(picks: Picks, aim: PassAim) -> GraphFunc:
    """Make a graph in which a pattern of a pass matches, or a chain of operators that it mentions.

    Raises: Unusable if nothing fitted.
    """
    names = [name for name in aim.operators if name in DRAWS]
    if names and (not aim.graph_patterns or picks.one_in(4)):
        return graph_chain(picks, names=names)
    pattern = picks.pick(aim.graph_patterns)
    func: GraphFunc | None = None
    for _ in range(_TRIES):
        try:
            func = _instance(picks, pattern)
        except Unusable:
            continue
        if _matches(pattern, func):
            return func
    if func is None:
        raise Unusable("no instance of the pattern fitted")
    return func


def _instance(picks: Picks, pattern: Pattern) -> GraphFunc:
    """Make an instance of a pattern; sometimes of a second one on top, and of what uses it."""
    g = graph_values(picks)
    value = start(g)
    for _ in range(picks.pick((0, 0, 0, 1, 2))):
        value = follow(g, picks.pick(("relu", "abs", "negative", "identity")), [value]) or value
    for _ in range(1 + picks.pick((0, 0, 1, 3))):
        value = _Instance(g, value).make(pattern)
    if picks.one_in(3):
        follow(g, picks.pick(("relu", "negative", "add")), [value])
    return finished(g)[0]


def _matches(pattern: Pattern, func: GraphFunc) -> bool:
    facts = GraphFacts(func)
    try:
        return any(match(pattern, bind, facts) is not None for bind in func.body.bindings)
    except Exception:  # A condition of the pattern is the user's, and under test.
        return True


class _Instance:
    """Makes one instance of a pattern over a value."""

    def __init__(self, g: GraphValues, over: GraphTensor) -> None:
        self.g, self.over = g, over
        self.named: dict[str, GraphTensor] = {}
        self.last: GraphTensor = over
        self.is_used = False

    def make(self, pattern: Pattern) -> GraphTensor:
        """Return a value that a pattern should match. Raises: Unusable."""
        if isinstance(pattern, Either):
            return self.make(self.g.picks.pick(pattern.options))
        if isinstance(pattern, ValuePattern):
            return self._value(pattern)
        return self._operator(pattern)

    def _operator(self, pattern: OpPattern) -> GraphTensor:
        picks = self.g.picks
        args = [self.make(each) for each in pattern.args]
        if pattern.commutative and picks.below(2):
            args.reverse()
        names = [name for name in pattern.operators if name in DRAWS] or list(pattern.operators)
        for _ in range(_VALUES):
            made = apply_to(self.g, picks.pick(names), args)
            if made is not None:
                self.last = made
                return made
        raise Unusable("an operator did not fit")

    def _value(self, pattern: ValuePattern) -> GraphTensor:
        if pattern.name in self.named:
            return self.named[pattern.name]
        made = self._known(pattern) if pattern.is_known else self._any(pattern)
        if pattern.name:
            self.named[pattern.name] = made
        self.last = made
        return made

    def _known(self, pattern: ValuePattern) -> GraphTensor:
        g = self.g
        made = known_number(g, self.last)
        for at in range(_VALUES):
            if at > 2:
                made = g.constant(g.numbers(list(self.last.sizes), str(self.last.dtype)), 3)
            bind = next(each for each in g.builder.bindings if each.var is made.value)
            if _holds(pattern.where, np.asarray(getattr(bind.step, "data").array)):
                return made
            made = known_number(g, self.last)
        return made

    def _any(self, pattern: ValuePattern) -> GraphTensor:
        if not self.is_used and _holds(pattern.where, self.over.value):
            self.is_used = True
            return self.over
        made = self._beside()
        for _ in range(_VALUES):
            if _holds(pattern.where, made.value):
                break
            made = self._beside()
        return made

    def _beside(self) -> GraphTensor:
        """Make a value of the type of the last one, or sometimes of any."""
        if self.g.picks.one_in(6):
            return start(self.g)
        with self.g.among([self.last]):
            return self.g.like(self.last)


def _holds(where: Callable[[Any], bool] | None, subject: Any) -> bool:
    if where is None:
        return True
    try:
        return bool(where(subject))
    except Exception:  # It is the user's, and under test.
        return True
