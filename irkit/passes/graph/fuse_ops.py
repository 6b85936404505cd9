"""Group operators that can run as one kernel: each group becomes an applied lambda marked fused.

Before::

    def main(x: f32[1, 3, 8, 8], w: f32[4, 3, 3, 3]):
        c: f32[1, 4, 6, 6] = conv(x, w)
        r: f32[1, 4, 6, 6] = relu(c)
        return r

After::

    def main(x: f32[1, 3, 8, 8], w: f32[4, 3, 3, 3]):
        @function(fused=True)
        def fused_conv_relu(x_1: f32[1, 3, 8, 8], w_1: f32[4, 3, 3, 3]):
            c: f32[1, 4, 6, 6] = conv(x_1, w_1)
            r_1: f32[1, 4, 6, 6] = relu(c)
            return r_1
        r: f32[1, 4, 6, 6] = fused_conv_relu(x, w)
        return r

A step joins its immediate post-dominator, the step that all paths from it go through, together with
all steps between them; so a group has one result, and no path leaves it and returns.
Source: operator fusion of TVM (Chen et al., OSDI 2018, section 3), with its operator kinds.
"""

from collections.abc import Callable, Iterator
from typing import cast

from irkit.core import Attrs, current_recorder, remark
from irkit.graph import (
    GraphFunc,
    Op,
    TensorType,
    TupleType,
    Value,
    bindings_of,
    caches_of,
    op_spec,
    overwritten,
    results_of,
    same_shape,
    state_pairs,
    used_inside,
)
from irkit.passes.graph.support.fusion_remarks import why_apart
from irkit.passes.graph.support.operator_groups import RANK, OperatorGroup, grouped, words_of
from irkit.passes.graph.support.row_steps import Rows, rows_of
from irkit.transform import define_pass

# All paths end here: at the result, and at every step that is not an operator.
_EXIT = Value("exit", TupleType(()))
_FUSED: Attrs = (("fused", True),)
_WITH_PROLOGUE = {
    "conv_blocked": (RANK["broadcast"], 1),
    "depthwise_blocked": (RANK["broadcast"], 1),
    "attention": (RANK["injective"], 3),
}
"""Operators whose loops compute parts of their first operands as they come to them: the kinds that
these may be computed by, and the number of these operands."""


@define_pass(idempotent=True, atomic=True)
def fuse_ops(func: GraphFunc, *, max_ops: int = 64) -> GraphFunc:
    """Fuse the operators of the outermost body into groups of at most ``max_ops``.

    Convolutions, products and pools take elementwise epilogues, convolutions on blocks of channels
    prologues, and attention injective ones; injective steps join chains and reductions, and
    reductions along the last axis what is computed row by row from them. Constants of one element
    move into the group; single operators stay as they are.
    """
    groups = _Groups(func, max_ops)
    for phase in ("epilogues", "prologues", "chains", "rows"):
        # Prologues from the last on: what computes one may compute another one.
        for value in reversed(groups.order) if phase == "prologues" else groups.order:
            groups.grow(value, phase)
    groups.explain()
    return grouped(func, list(_allowed(func, groups)))


def _allowed(func: GraphFunc, groups: "_Groups") -> Iterator[OperatorGroup]:
    """Yield the groups of more than one operator, but for those that a recorder disallows."""
    bound, recorder = bindings_of(func), current_recorder()
    for found in groups.members():
        inside = [bound[member] for member in found]
        if len(found) > 1 and (recorder is None or recorder.allows("fuse", inside[-1], func)):
            yield OperatorGroup(tuple(found), _FUSED, "_".join(["fused", *words_of(inside)]))


def _post_dominators(uses: list[tuple[Value, Value]]) -> dict[Value, Value]:
    """Return the immediate post-dominator of each value: the value that all its uses go through.

    ``uses`` are pairs of a user, which may be the exit, and a value it uses.
    """
    # Takes 80 ms to load, and only this pass needs it.
    import networkx as nx

    graph: nx.DiGraph[Value] = nx.DiGraph(uses)
    graph.add_node(_EXIT)
    # The edges go from user to value: a dominator here is a post-dominator in the program.
    find = cast(Callable[..., dict[Value, Value]], nx.immediate_dominators)
    return find(graph, _EXIT)


class _Groups:
    """A union of operators into groups, each known by its last one, the sink."""

    def __init__(self, func: GraphFunc, max_ops: int) -> None:
        self.max_ops = max_ops
        self.order = [bind.var for bind in func.body.bindings if isinstance(bind.step, Op)]
        self.steps = {b.var: b.step for b in func.body.bindings if isinstance(b.step, Op)}
        self.bound = {bind.var: bind for bind in func.body.bindings}
        self.users: dict[Value, list[Value]] = {value: [] for value in self.order}
        uses: list[tuple[Value, Value]] = []
        for bind in func.body.bindings:
            user = bind.var if bind.var in self.steps else _EXIT
            for value in used_inside(bind.step):
                self._use(uses, value, user)
        self._use(uses, func.body.result, _EXIT)
        for value in self.order:
            if not self.users[
                value
            ]:  # Unused values have an exit too: they must not end up inside a group.
                self._use(uses, value, _EXIT)
        self.after = _post_dominators(uses)
        self.leader: dict[Value, Value] = {value: value for value in self.order}
        self.size: dict[Value, int] = dict.fromkeys(self.order, 1)
        self.serves: dict[Value, Value] = {}
        self.kind: dict[Value, int] = {
            value: RANK[op_spec(step.name).kind] for value, step in self.steps.items()
        }
        state, caches = overwritten(func), caches_of(func)
        written = {results_of(func)[pair.result] for pair in state_pairs(func)}
        for value, step in self.steps.items():
            # In a group, it could be read after it is overwritten; a cache has a kernel of its own.
            if value in caches or (value not in written and not state.isdisjoint(step.args)):
                self.kind[value] = RANK["opaque"]
        self.rows = {
            value: None if self.kind[value] == RANK["opaque"] else rows_of(step, value)
            for value, step in self.steps.items()
        }

    def _use(self, uses: list[tuple[Value, Value]], value: Value, user: Value) -> None:
        if value in self.steps:
            uses.append((user, value))
            if user is not _EXIT:
                self.users[value].append(user)

    def grow(self, value: Value, phase: str) -> None:
        """Fuse the group of an operator with its post-dominator, if the kinds allow it."""
        sink = self.after.get(value)
        if sink is None or sink is _EXIT or self.find(sink) is self.find(value):
            return
        if phase == "rows":
            self._grow_rows(value, sink)
            return
        if phase == "prologues":
            self._grow_prologue(value, sink)
            return
        kind = self.kind[self.find(value)]
        if phase == "epilogues" and kind == RANK["complex"]:
            through, into, aligned = RANK["broadcast"], {0, 1}, True
        elif (phase == "epilogues" and kind <= RANK["broadcast"]) or (
            phase == "chains" and kind == RANK["injective"]
        ):
            through, into, aligned = RANK["injective"], {0, 1, 2, 3}, False
        else:
            return
        between = self._between(value, sink)
        fits = all(
            self.kind[self.find(one)] <= through and (not aligned or _aligned(one, value))
            for one in between
        )
        fits &= self.kind[self.find(sink)] in into and (not aligned or _aligned(sink, value))
        joined = {self.find(one) for one in (value, sink, *between)}
        if fits and sum(self.size[one] for one in joined) <= self.max_ops:
            self._join(joined, self.find(sink))

    def _grow_prologue(self, value: Value, sink: Value) -> None:
        """Fuse a group with an operator that computes its operands where it reads them, or with
        what is computed there already."""
        last = self.serves.get(sink, sink)
        highest, count = _WITH_PROLOGUE.get(self.steps[last].name, (-1, 0))
        if self.kind[self.find(sink)] != RANK["complex"]:
            return
        ends = {self.find(sink)}
        joined = {self.find(one) for one in (value, *self._between(value, sink))} - ends
        others = [arg for arg in self.steps[last].args[count:] if arg in self.leader]
        fits = all(self.kind[one] <= highest for one in joined)
        fits &= not any(self.find(arg) in joined for arg in others)
        if fits and sum(self.size[one] for one in joined | ends) <= self.max_ops:
            members = [one for one in self.order if self.find(one) in joined]
            self.serves |= dict.fromkeys(members, last)
            self._join(joined | ends, self.find(sink))

    def _grow_rows(self, value: Value, sink: Value) -> None:
        """Fuse a group with a reduction of rows and what is computed from it, row by row."""
        joined = {self.find(one) for one in (value, sink, *self._between(value, sink))}
        reduces = any(self.kind[one] == RANK["reduction"] for one in joined)
        rows = _common_rows([self.rows[one] for one in joined])
        if reduces and rows is not None and sum(self.size[one] for one in joined) <= self.max_ops:
            self._join(joined, self.find(sink))

    def _between(self, value: Value, sink: Value) -> list[Value]:
        """Return the operators on paths from one to its post-dominator, up to the limit."""
        found: dict[Value, None] = {}
        waiting = list(self.users[value])
        while waiting and len(found) < self.max_ops:
            one = waiting.pop()
            if one is not sink and one not in found:
                found[one] = None
                waiting += self.users[one]
        return list(found)

    def _join(self, leaders: set[Value], sink: Value) -> None:
        size, kind = (
            sum(self.size[one] for one in leaders),
            max(self.kind[one] for one in leaders),
        )
        rows = _common_rows([self.rows[one] for one in leaders])
        for one in leaders:
            self.leader[one] = sink
        self.rows[sink] = rows
        self.size[sink], self.kind[sink] = size, kind

    def find(self, value: Value) -> Value:
        while self.leader[value] is not value:
            value = self.leader[value]
        return value

    def explain(self) -> None:
        """Leave a remark on each operator whose group ends although others read its result."""
        for value in self.order:
            users = [user for user in self.users[value] if self.find(user) is not self.find(value)]
            if not users:
                continue
            sink = self.after.get(value, _EXIT)
            if sink is not _EXIT and self.find(sink) is self.find(value):
                continue
            ends = [value] if sink is _EXIT else [value, sink]
            joined = {self.find(one) for one in ends}
            text = why_apart(
                self.bound[value],
                [self.bound[user] for user in users],
                self.bound.get(sink),
                together=sum(self.size[one] for one in joined),
                max_ops=self.max_ops,
            )
            remark(self.bound[value], text)

    def members(self) -> list[list[Value]]:
        """Return the groups, each in the order of its operators."""
        found: dict[Value, list[Value]] = {}
        for value in self.order:
            found.setdefault(self.find(value), []).append(value)
        return list(found.values())


def _common_rows(found: list[Rows | None]) -> Rows | None:
    """Return the rows of groups that have as many, each of one length or one number a row."""
    known = [each for each in found if each is not None]
    lengths = {length for _, length in known} - {0}
    if len(known) < len(found) or len({count for count, _ in known}) > 1 or len(lengths) > 1:
        return None
    return known[0][0], max(lengths, default=0)


def _aligned(a: Value, b: Value) -> bool:
    """Return True if both are tensors of the same shape."""
    both = (a.type, b.type)
    return (
        isinstance(both[0], TensorType)
        and isinstance(both[1], TensorType)
        and same_shape(both[0].shape, both[1].shape)
    )
