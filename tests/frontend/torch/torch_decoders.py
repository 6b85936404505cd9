"""Decoders in PyTorch that keep what they saw in caches of a fixed capacity: a GPT-2, and a Llama
with rotated positions, normalised by roots of means, and with keys that several heads share. Only
long tests and the scripts that make programs import this file, because it needs PyTorch."""

from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


class CachedAttention(nn.Module):
    """Attention of one token to those in a cache, to which it adds itself at its position."""

    def __init__(self, size: int, heads: int, shared: int, capacity: int, *, rotary: bool) -> None:
        super().__init__()
        self.heads, self.shared, self.rotary, self.width = heads, shared, rotary, size // heads
        self.q = nn.Linear(size, size, bias=not rotary)
        self.k = nn.Linear(size, shared * self.width, bias=not rotary)
        self.v = nn.Linear(size, shared * self.width, bias=not rotary)
        self.out = nn.Linear(size, size, bias=not rotary)
        self.register_buffer("keys", torch.zeros(1, shared, capacity, self.width))
        self.register_buffer("values", torch.zeros(1, shared, capacity, self.width))
        steps = 10000.0 ** (-torch.arange(0, self.width, 2) / self.width)
        self.register_buffer("steps", steps, persistent=False)

    def rotated(self, x: Any, position: Any) -> Any:
        angle = position[:, None] * torch.cat([self.steps, self.steps])
        half = x.shape[-1] // 2
        turned = torch.cat([-x[..., half:], x[..., :half]], -1)
        return x * angle.cos() + turned * angle.sin()

    def forward(self, x: Any, position: Any) -> Any:
        n, rows, size = x.shape
        q, k, v = (
            each(x).view(n, rows, -1, self.width).transpose(1, 2)
            for each in (self.q, self.k, self.v)
        )
        if self.rotary:
            q, k = self.rotated(q, position), self.rotated(k, position)
        self.keys.index_copy_(2, position, k)
        self.values.index_copy_(2, position, v)
        seen = torch.arange(self.keys.shape[2]) <= position[:, None]
        groups = q.reshape(n, self.shared, -1, self.width)
        scores = groups @ self.keys.transpose(2, 3) / self.width**0.5
        weights = scores.masked_fill(~seen, -torch.inf).softmax(-1)
        found = (weights @ self.values).reshape(n, self.heads, rows, self.width)
        return self.out(found.transpose(1, 2).reshape(n, rows, size))


class GPTBlock(nn.Module):
    """A block of GPT-2."""

    def __init__(self, size: int, heads: int, capacity: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(size), nn.LayerNorm(size)
        self.attention = CachedAttention(size, heads, heads, capacity, rotary=False)
        self.mlp = nn.Sequential(
            nn.Linear(size, 4 * size), nn.GELU("tanh"), nn.Linear(4 * size, size)
        )

    def forward(self, x: Any, position: Any) -> Any:
        x = x + self.attention(self.norm1(x), position)
        return x + self.mlp(self.norm2(x))


class LlamaBlock(nn.Module):
    """A block of Llama."""

    def __init__(self, size: int, heads: int, capacity: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(size), nn.RMSNorm(size)
        self.attention = CachedAttention(size, heads, heads // 2, capacity, rotary=True)
        self.gate, self.up = (nn.Linear(size, 3 * size, bias=False) for _ in range(2))
        self.down = nn.Linear(3 * size, size, bias=False)

    def forward(self, x: Any, position: Any) -> Any:
        x = x + self.attention(self.norm1(x), position)
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    """A language model that takes one token, and its position."""

    def __init__(
        self,
        kind: type[nn.Module],
        *,
        tokens: int,
        size: int,
        heads: int,
        layers: int,
        capacity: int,
    ) -> None:
        super().__init__()
        self.embed = nn.Embedding(tokens, size)
        self.place = nn.Embedding(capacity, size) if kind is GPTBlock else None
        self.blocks = nn.ModuleList(kind(size, heads, capacity) for _ in range(layers))
        self.norm = nn.LayerNorm(size) if kind is GPTBlock else nn.RMSNorm(size)
        self.head = nn.Linear(size, tokens, bias=False)

    def forward(self, token: Any, position: Any) -> Any:
        x = self.embed(token)
        x = x if self.place is None else x + self.place(position)
        for block in self.blocks:
            x = block(x, position)
        return self.head(self.norm(x))


DECODERS: dict[str, type[nn.Module]] = {"gpt_decoder": GPTBlock, "llama_decoder": LlamaBlock}
TOKENS = 32


def decoder(
    name: str, size: int = 8, capacity: int = 40, layers: int = 2, heads: int = 2
) -> nn.Module:
    """Make a decoder from one seed."""
    torch.manual_seed(0)
    how = {"size": size, "heads": heads, "layers": layers, "capacity": capacity}
    return Decoder(DECODERS[name], tokens=16, **how).eval()


def exported_decoder(name: str, **how: int) -> Any:
    """Export a decoder of that name."""
    first = (torch.zeros(1, 1, dtype=torch.int64), torch.zeros(1, dtype=torch.int64))
    with torch.no_grad():
        return torch.export.export(decoder(name, **how), first)


def decoded(name: str) -> tuple[Any, Any]:
    """Return the tokens that a decoder was given one by one, each the likeliest of what it returned
    before, and what it returned for each."""
    model, tokens, logits = decoder(name), [3], list[Any]()
    with torch.no_grad():
        for at in range(TOKENS):
            found = model(torch.tensor([[tokens[-1]]]), torch.tensor([at]))
            logits.append(found[0, 0].numpy())
            tokens.append((int(found.argmax()) + at) % 16)
    return np.array(tokens[:TOKENS]), np.stack(logits)
