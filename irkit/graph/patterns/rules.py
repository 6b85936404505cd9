"""Rules over graph functions: a pattern, and what is computed in place of what it matches.

Example::

    SILU = graph_rule("sigmoid-twice", op("sigmoid", op("sigmoid", x)), lambda b, m: ...)
    after = apply_rules(func, "name-of-the-pass", (SILU,))
"""

from collections.abc import Callable, Collection, Sequence

import msgspec

from irkit.core import (
    IRKitError,
    Rule,
    Rules,
    Span,
    UniqueNames,
    equal,
    remark,
    rewrite,
    walk,
    written_at,
)
from irkit.graph.build import Builder
from irkit.graph.flow import flatten_lets, operands, used_inside
from irkit.graph.function import GraphFunc
from irkit.graph.nodes import Bind, Body, GraphStep, Value
from irkit.graph.patterns.graph_facts import GraphFacts
from irkit.graph.patterns.pattern import Match, Pattern, match
from irkit.graph.types import Type

MAX_ROUNDS = 1000
"""Rounds of a set of rules over one function; each round that counts makes another one possible."""


class Replacement(Builder):
    """The bindings in place of one: they have its span, and names made from its name."""

    def __init__(self, root: Bind, names: UniqueNames) -> None:
        super().__init__(names=names)
        self.root = root

    def emit(
        self,
        step: GraphStep,
        name: str = "v",
        *,
        type: Type | None = None,
        span: Span | None = None,
    ) -> Value:
        """Bind the result of a step, under a name made from that of the binding replaced."""
        return super().emit(
            step, f"{self.root.var.name}_{name}", type=type, span=span or self.root.span
        )


Build = Callable[[Replacement, Match], "Value | None"]


class GraphRule(msgspec.Struct, frozen=True):
    """A pattern and the function that computes its replacement, or returns None to leave it.

    Where an operator inside the match has other uses, it has to be computed anyway: then the rule
    applies only if ``shared`` is set.
    """

    name: str
    pattern: Pattern
    build: Build
    shared: bool = False

    def apply(
        self, bind: Bind, facts: GraphFacts, names: UniqueNames, changed: Collection[Value] = ()
    ) -> Bind | None:
        """Return a binding of the replacement, as a nested body; or None.

        What is ``changed`` since the facts were collected matches no operator inside a pattern.
        """
        found = match(self.pattern, bind, facts)
        if found is None or any(each.var in changed for each in found.inside):
            return None
        others = [] if self.shared else [each for each in found.inside if facts.uses[each.var] > 1]
        if others:
            remark(bind, f"{self.name}: {others[0].var.name} has other uses: left as it is")
            return None
        b = Replacement(bind, names)
        result = self.build(b, found)
        if result is None:
            return None
        if not equal(result.type, bind.var.type):
            raise IRKitError(f"rule {self.name!r} gives another type than what it replaces")
        body = b.body(result)
        read = facts.state.intersection(used_inside(body)) - set(operands(bind.step))
        if read:  # By then, something can be written over it.
            remark(bind, f"{self.name}: it would read the state {next(iter(read)).name!r} later")
            return None
        made = any(each.var is result for each in body.bindings)
        if not made and not facts.state_results.may_be(bind.var, result):
            remark(bind, f"{self.name}: {result.name!r} cannot be written over the state")
            return None
        return bind.replace(step=body)


def graph_rule(name: str, pattern: Pattern, build: Build, *, shared: bool = False) -> GraphRule:
    """Return a rule over graph functions."""
    return GraphRule(name, pattern, build, shared)


def apply_rules(func: GraphFunc, name: str, rules: Sequence[GraphRule]) -> GraphFunc:
    """Apply rules until none of them changes anything.

    Each application is reported to the recorder under the name of its rule.
    """
    for _ in range(MAX_ROUNDS):
        after = _round(func, name, rules)
        if after is func:
            return func
        func = after
    raise IRKitError(f"{name!r} reached no fixpoint in {MAX_ROUNDS} rounds")


def _round(func: GraphFunc, name: str, rules: Sequence[GraphRule]) -> GraphFunc:
    """Apply the first rule that fits to each binding, unless what it matches has changed."""
    facts = GraphFacts(func)
    names = UniqueNames([value.name for value in (*func.params, *facts.bound)])

    changed = set[Value]()

    def rule_of(rule: GraphRule) -> Rule:
        def apply(bind: Bind) -> Bind | None:
            return rule.apply(bind, facts, names, changed)

        return Rule(rule.name, (Bind,), apply, written_at(rule.build, rule.name))

    table = Rules(name, *(rule_of(rule) for rule in rules))
    lets = {bind.var for bind in walk(func.body, on=Bind) if isinstance(bind.step, Body)}

    def note(before: Bind, after: Bind) -> None:
        changed.add(before.var)

    made = rewrite(func, table, on=Bind, applied=note)
    return func if made is func else flatten_lets(made, lets)
