"""A model that cuts, moves and counts by the number of its rows."""

from typing import Any

import torch


def sliced(x: Any) -> Any:
    """Parts of a tensor of n rows, with bounds that n decides."""
    n = x.shape[0]
    seen = torch.tril(torch.ones(64, 64, dtype=torch.bool))[:n, :n]
    scores = torch.where(seen, x @ x.T, -1.0)
    stored = torch.slice_scatter(x, x[:2] * 2, 0, n - 2, n)
    halves = torch.cat([x[n // 2 :], x[: n // 2]])
    return (
        x[-3:], x[:-1] + x[1:], x[::2], x[1::3], x[-1], x.flip(0), scores, stored, halves,
        torch.roll(x, 1, 0), x.cumsum(0), x[:1].repeat(n, 1), torch.zeros(n + 1, 2),
        x[torch.arange(n), x.argmax(1)], x.gather(0, (x > 0).long()), torch.arange(1, n + 1) + n,
    )  # fmt: skip
