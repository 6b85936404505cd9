"""Transformers: small configurations with head sizes of the real ones."""

from typing import Any

import torch
import transformers as hub
from torch import nn

from tests.networks.network import Network, image, seeded, token_ids

TOKENS = 64


class Tensors(nn.Module):
    """A model of the transformers package, called by position; returns the named outputs."""

    def __init__(self, model: nn.Module, names: tuple[str, ...], outputs: tuple[str, ...]) -> None:
        super().__init__()
        self.model, self.names, self.outputs = model, names, outputs

    def forward(self, *given: torch.Tensor) -> tuple[torch.Tensor, ...]:
        found = self.model(**dict(zip(self.names, given, strict=True)), return_dict=True)
        return tuple(found[name] for name in self.outputs)


def padded(length: int) -> torch.Tensor:
    """Return the mask of a batch of one, whose last quarter is padding."""
    return (torch.arange(length) < length - length // 4).long().unsqueeze(0)


def bert() -> tuple[nn.Module, tuple[Any, ...]]:
    config = hub.BertConfig(
        vocab_size=1000, hidden_size=256, num_hidden_layers=3, num_attention_heads=4,
        intermediate_size=1024, attn_implementation="eager",
    )  # fmt: skip
    module = seeded(
        lambda: Tensors(
            hub.BertModel(config),
            ("input_ids", "attention_mask", "token_type_ids"),
            ("last_hidden_state", "pooler_output"),
        )
    )
    ids = token_ids(1000, 1, TOKENS)
    return module, (ids, padded(TOKENS), (torch.arange(TOKENS) > 20).long().unsqueeze(0))


def distilbert() -> tuple[nn.Module, tuple[Any, ...]]:
    config = hub.DistilBertConfig(vocab_size=1000, dim=256, n_layers=3, n_heads=4, hidden_dim=1024)
    module = seeded(
        lambda: Tensors(
            hub.DistilBertForSequenceClassification(config),
            ("input_ids", "attention_mask"),
            ("logits",),
        )
    )
    return module, (token_ids(1000, 1, TOKENS), padded(TOKENS))


def gpt2() -> tuple[nn.Module, tuple[Any, ...]]:
    config = hub.GPT2Config(
        vocab_size=1000, n_positions=128, n_embd=256, n_layer=3, n_head=4, use_cache=False,
        attn_implementation="eager",
    )  # fmt: skip
    module = seeded(
        lambda: Tensors(hub.GPT2LMHeadModel(config), ("input_ids", "attention_mask"), ("logits",))
    )
    return module, (token_ids(1000, 1, TOKENS), padded(TOKENS))


def whisper_encoder() -> tuple[nn.Module, tuple[Any, ...]]:
    config = hub.WhisperConfig(
        d_model=256, encoder_layers=2, encoder_attention_heads=4, encoder_ffn_dim=1024,
        decoder_layers=1, decoder_attention_heads=4, max_source_positions=300,
        vocab_size=1000, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
        attn_implementation="eager",
    )  # fmt: skip

    def make() -> nn.Module:
        encoder = hub.WhisperModel(config).encoder
        return Tensors(encoder, ("input_features",), ("last_hidden_state",))

    return seeded(make), (image(1, config.num_mel_bins, 600),)


class RmsNorm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = x.float()
        scaled = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)
        return self.weight * scaled.to(x.dtype)


def rotated(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Return x with each pair of halves turned by its angle: rotary position embedding."""
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


class LlamaBlock(nn.Module):
    """A decoder block of Llama: RMSNorm, grouped attention with rotary positions, SwiGLU.

    Source: Touvron et al., 2023.
    """

    def __init__(self, width: int = 256, heads: int = 4, groups: int = 2) -> None:
        super().__init__()
        self.size, self.heads, self.groups = width // heads, heads, groups
        self.before, self.after = RmsNorm(width), RmsNorm(width)
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, groups * self.size, bias=False)
        self.value = nn.Linear(width, groups * self.size, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(width, 688, bias=False)
        self.up = nn.Linear(width, 688, bias=False)
        self.down = nn.Linear(688, width, bias=False)
        steps = torch.arange(0, self.size, 2).float() / self.size
        self.register_buffer("frequency", 1.0 / 10000.0**steps)

    def attend(self, x: torch.Tensor) -> torch.Tensor:
        n, length, _ = x.shape
        angles = torch.arange(length).float()[:, None] * self.frequency.float()[None]
        both = torch.cat((angles, angles), dim=-1)
        cos, sin = both.cos().to(x.dtype), both.sin().to(x.dtype)
        q, k, v = (
            part(x).view(n, length, -1, self.size).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        q, k = rotated(q, cos, sin), rotated(k, cos, sin)
        k, v = (part.repeat_interleave(self.heads // self.groups, dim=1) for part in (k, v))
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(n, length, -1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attend(self.before(x))
        inner = self.after(x)
        return x + self.down(nn.functional.silu(self.gate(inner)) * self.up(inner))


def llama_block() -> tuple[nn.Module, tuple[Any, ...]]:
    return seeded(LlamaBlock), (image(1, TOKENS, 256),)


NETWORKS = (
    Network("bert", bert),
    Network("distilbert", distilbert),
    Network("gpt2", gpt2),
    Network("whisper_encoder", whisper_encoder),
    Network("llama_block", llama_block),
    Network("llama_block_bf16", llama_block, dtype=torch.bfloat16),
    Network("bert_f16", bert, dtype=torch.float16, exporters=("dynamo",)),
)
