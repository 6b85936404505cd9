"""Elements in order, stored and combined at indices, and padded by themselves."""

from typing import Any

import torch
from torch.nn import functional


def ordered(x: Any) -> Any:
    """Order, store and combine the elements of n rows of six."""
    y, index = x[:, :4] * 2, (x[:, :4].abs() * 10).long() % 6
    best, places = torch.topk(x, 3)
    least, where = torch.topk(x, 2, largest=False)
    in_order, order = torch.sort(x, dim=1)
    fallen, _ = torch.sort(x, dim=0, descending=True)
    apart = torch.argsort(x, dim=1)[:, :4]
    return (
        best, places, least, where, in_order, order, fallen, x.scatter(1, apart, y),
        x.scatter(1, index, 2.5), x.scatter_add(1, index, y),
        x.scatter_reduce(1, index, y, "prod"), x.scatter_reduce(1, index, y, "amax"),
        x.scatter_reduce(1, index, y, "amin"), in_order.clone().fill_(1.5),
    )  # fmt: skip


def padded(x: Any) -> Any:
    """Pad the last axes of n images, and the images themselves."""
    return (
        functional.pad(x, (1, 2, 2, 0), mode="reflect"),
        functional.pad(x, (3, 1, 0, 2), mode="replicate"),
        functional.pad(x[:, 0], (2, 2), mode="reflect"),
        functional.pad(x.permute(1, 2, 3, 0)[0], (1, 2), mode="replicate"),
    )
