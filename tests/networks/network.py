"""A network to export: a torch module with its inputs, and how it becomes an ONNX file."""

from collections.abc import Callable
from typing import Any

import msgspec
import torch

EXPORTERS = ("torchscript", "dynamo")


class Network(msgspec.Struct, frozen=True):
    """A network: ``make`` returns the module and its inputs; ``dtype`` is what it computes in.

    Without an ``opset``, an exporter takes its own. ``quantize`` rewrites the exported file, given
    its path, the path to write and the inputs.
    """

    name: str
    make: Callable[[], tuple[torch.nn.Module, tuple[Any, ...]]]
    dtype: torch.dtype = torch.float32
    exporters: tuple[str, ...] = EXPORTERS
    opset: int | None = None
    quantize: Callable[[str, str, dict[str, Any]], None] | None = None


def seeded(make: Callable[[], torch.nn.Module]) -> torch.nn.Module:
    """Return a module in evaluation mode, with random weights and statistics that say something."""
    torch.manual_seed(7)
    module = make().eval()
    for part in module.modules():
        if isinstance(part, torch.nn.modules.batchnorm._BatchNorm):
            part.running_mean.uniform_(-0.2, 0.2)
            part.running_var.uniform_(0.5, 1.5)
            part.weight.data.uniform_(0.7, 1.3)
            part.bias.data.uniform_(-0.2, 0.2)
        elif isinstance(part, torch.nn.Linear) and not part.weight.any():
            part.reset_parameters()  # The head of a ViT starts as zeros.
    return module


def image(*shape: int) -> torch.Tensor:
    """Return random numbers in the range of normalised images."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(3))


def token_ids(vocabulary: int, *shape: int) -> torch.Tensor:
    return torch.randint(0, vocabulary, shape, generator=torch.Generator().manual_seed(3))
