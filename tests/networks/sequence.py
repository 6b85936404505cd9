"""Recurrent networks, and a block of Stable Diffusion."""

from typing import Any

import torch
from torch import nn

from tests.networks.network import Network, image, seeded, token_ids


class Tagger(nn.Module):
    """An embedding, recurrent layers, and a score for each tag."""

    def __init__(
        self, cell: type[nn.RNNBase], vocabulary: int, width: int, *, layers: int, both_ways: bool
    ) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary, 64)
        self.layers = cell(64, width, layers, bidirectional=both_ways, batch_first=True)
        self.head = nn.Linear(2 * width if both_ways else width, 17)

    def forward(self, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        found, state = self.layers(self.embed(ids))
        last = state[0] if isinstance(state, tuple) else state
        return self.head(found), last


def tagger(cell: type[nn.RNNBase]) -> tuple[nn.Module, tuple[Any, ...]]:
    module = seeded(lambda: Tagger(cell, 500, 96, layers=2, both_ways=True))
    return module, (token_ids(500, 2, 24),)


class ResidualBlock(nn.Module):
    """The ResNet block of Stable Diffusion: a shift by the embedding of the time step."""

    def __init__(self, width: int, embedding: int) -> None:
        super().__init__()
        self.first = nn.Sequential(
            nn.GroupNorm(32, width), nn.SiLU(), nn.Conv2d(width, width, 3, padding=1)
        )
        self.shift = nn.Sequential(nn.SiLU(), nn.Linear(embedding, width))
        self.second = nn.Sequential(
            nn.GroupNorm(32, width), nn.SiLU(), nn.Conv2d(width, width, 3, padding=1)
        )

    def forward(self, x: torch.Tensor, embedding: torch.Tensor) -> torch.Tensor:
        return x + self.second(self.first(x) + self.shift(embedding)[:, :, None, None])


class GatedGelu(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(width, 8 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        value, gate = self.up(x).chunk(2, dim=-1)
        return self.down(value * nn.functional.gelu(gate))


class Attention(nn.Module):
    def __init__(self, width: int, context: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(context, width, bias=False)
        self.value = nn.Linear(context, width, bias=False)
        self.out = nn.Linear(width, width)

    def forward(self, x: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        n, length, width = x.shape
        q, k, v = (
            part(given).view(n, -1, self.heads, width // self.heads).transpose(1, 2)
            for part, given in ((self.query, x), (self.key, context), (self.value, context))
        )
        mixed = nn.functional.scaled_dot_product_attention(q, k, v)
        return self.out(mixed.transpose(1, 2).reshape(n, length, width))


class DiffusionBlock(nn.Module):
    """A block of the U-Net of Stable Diffusion: convolutions, self and cross attention, up.

    Source: Rombach et al., 2022.
    """

    def __init__(self, width: int = 128, context: int = 96, heads: int = 4) -> None:
        super().__init__()
        self.residual = ResidualBlock(width, 256)
        self.norm = nn.GroupNorm(32, width)
        self.inward, self.outward = nn.Conv2d(width, width, 1), nn.Conv2d(width, width, 1)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.self_attention = Attention(width, width, heads)
        self.cross_attention = Attention(width, context, heads)
        self.feed_forward = GatedGelu(width)
        self.enlarge = nn.Conv2d(width, width, 3, padding=1)

    def forward(
        self, x: torch.Tensor, embedding: torch.Tensor, context: torch.Tensor
    ) -> torch.Tensor:
        x = self.residual(x, embedding)
        n, width, height, breadth = x.shape
        inner = self.inward(self.norm(x)).permute(0, 2, 3, 1).reshape(n, height * breadth, width)
        normal = self.norms[0](inner)
        inner = inner + self.self_attention(normal, normal)
        inner = inner + self.cross_attention(self.norms[1](inner), context)
        inner = inner + self.feed_forward(self.norms[2](inner))
        inner = inner.reshape(n, height, breadth, width).permute(0, 3, 1, 2)
        x = x + self.outward(inner)
        return self.enlarge(nn.functional.interpolate(x, scale_factor=2.0, mode="nearest"))


def diffusion_block() -> tuple[nn.Module, tuple[Any, ...]]:
    return seeded(DiffusionBlock), (image(1, 128, 16, 16), image(1, 256), image(1, 20, 96))


NETWORKS = (
    Network("lstm", lambda: tagger(nn.LSTM)),
    Network("gru", lambda: tagger(nn.GRU)),
    Network("diffusion_block", diffusion_block),
    Network(
        "diffusion_block_f16", diffusion_block, dtype=torch.float16, exporters=("torchscript",)
    ),
)
