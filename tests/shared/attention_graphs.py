"""Networks with attention, drawn at random: as front ends write it."""

import numpy as np

from irkit.fuzz.picks import Picks
from irkit.graph import Builder, GraphFunc, Value
from irkit.ir import Var

_ROWS = (5, 9, 1, 17)
_SIZES = (4, 3, 8, 1)


def attention_graph(picks: Picks) -> GraphFunc:
    """Return attention over heads, with scales, masks and layouts as exporters write them."""
    return _AttentionGraph(picks).draw()


class _AttentionGraph:
    def __init__(self, picks: Picks) -> None:
        self.picks, self.b = picks, Builder("main")
        self.rng = np.random.default_rng(picks.below(1 << 16))
        self.batch = picks.pick((1, 2))
        self.heads, self.size = picks.pick((2, 1, 3)), picks.pick(_SIZES)
        self.keys = picks.pick(_ROWS)
        self.queries = self.keys if picks.below(2) else picks.pick(_ROWS)
        self.is_open = picks.one_in(4)

    def draw(self) -> GraphFunc:
        q, k, v = self.operand("q", self.queries), self.operand("k", self.keys), self.value()
        scale = np.float32(self.size**-0.5)
        if self.picks.one_in(3):
            q, k = (self.b.op("multiply", each, self.number(scale**0.5)) for each in (q, k))
        turned = self.b.op("transpose", k, axes=(0, 1, 3, 2))
        scores = self.b.op("matmul", q, turned)
        scores = self.masked(self.scaled(scores, scale))
        powers = self.b.op("softmax", scores, axis=self.picks.pick((-1, -1, -1, 2)))
        found = self.b.op("matmul", powers, v)
        if self.picks.below(2):
            found = self.b.op("transpose", found, axes=(0, 2, 1, 3))
        elif self.picks.one_in(3):
            found = self.b.op("relu", found)
        others = [powers] if self.picks.one_in(6) else []
        return self.b.finish(found, *others)

    def number(self, value: float) -> Value:
        return self.b.constant(np.array(value, np.float32))

    def operand(self, name: str, rows: int) -> Value:
        """Return an operand in heads: as it comes, or parted from a matrix of all heads."""
        extent = Var(f"{name}_rows") if self.is_open and name == "q" else rows
        if isinstance(extent, Var) or self.picks.below(2):
            return self.b.param(name, (self.batch, self.heads, extent, self.size))
        whole = self.b.param(name, (self.batch, rows, self.heads * self.size))
        parted = self.b.op("reshape", whole, shape=(self.batch, rows, self.heads, self.size))
        return self.b.op("transpose", parted, axes=(0, 2, 1, 3))

    def value(self) -> Value:
        shape = (1 if self.picks.one_in(4) else self.batch, self.heads, self.keys)
        return self.b.param("v", (*shape, self.picks.pick(_SIZES)))

    def scaled(self, scores: Value, scale: float) -> Value:
        if self.picks.below(2):
            return scores
        if self.picks.below(2):
            return self.b.op("divide", scores, self.number(1 / scale))
        return self.b.op("multiply", self.number(scale), scores)

    def masked(self, scores: Value) -> Value:
        rows = 1 if self.is_open or self.picks.below(2) else self.queries
        shape = (self.batch, 1, rows, self.keys)[self.picks.below(3) :]
        kind = self.picks.below(4)
        if kind == 0:
            return scores
        if kind == 1:
            return self.b.op("add", scores, self.b.param("m", shape))
        chosen = self.rng.random(shape) < 0.7
        chosen[..., 0] = True
        fill = self.picks.pick((-np.inf, -1e4))
        if kind == 2:
            return self.b.op("where", self.b.constant(chosen), scores, self.number(fill))
        added = np.where(chosen, 0, fill).astype(np.float32)
        return self.b.op("add", self.b.constant(added), scores)
