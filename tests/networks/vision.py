"""Image classifiers of torchvision, and a U-Net and DeepLab for segmentation."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torchvision import models

from tests.networks.network import Network, image, seeded


def classifier(
    name: str, make: Callable[..., nn.Module], *, size: int = 224, **settings: Any
) -> Network:
    """Return a classifier of torchvision, with random weights."""
    return Network(
        name, lambda: (seeded(lambda: make(weights=None)), (image(1, 3, size, size),)), **settings
    )


class DoubleConv(nn.Sequential):
    def __init__(self, inside: int, outside: int) -> None:
        super().__init__(
            nn.Conv2d(inside, outside, 3, padding=1, bias=False),
            nn.BatchNorm2d(outside),
            nn.ReLU(inplace=True),
            nn.Conv2d(outside, outside, 3, padding=1, bias=False),
            nn.BatchNorm2d(outside),
            nn.ReLU(inplace=True),
        )


class UNet(nn.Module):
    """A U-Net of four levels; one step up is a transposed convolution, the others interpolate.

    Source: Ronneberger, Fischer and Brox, 2015.
    """

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        widths = [width << level for level in range(4)]
        self.down = nn.ModuleList(
            DoubleConv(inside, outside)
            for inside, outside in zip([3, *widths], widths, strict=False)
        )
        self.up = nn.ModuleList(
            DoubleConv(widths[level] + widths[level + 1], widths[level])
            for level in reversed(range(3))
        )
        self.pool = nn.MaxPool2d(2)
        self.deep = nn.ConvTranspose2d(widths[3], widths[3], 2, stride=2)
        self.grow = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
        self.head = nn.Conv2d(width, 2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kept = []
        for level, block in enumerate(self.down):
            x = block(self.pool(x) if level else x)
            kept.append(x)
        for level, block in enumerate(self.up):
            larger = self.grow(x) if level else self.deep(x)
            x = block(torch.cat([kept[2 - level], larger], dim=1))
        return self.head(x)


class DeepLab(nn.Module):
    """DeepLab v3 of torchvision, which returns a dictionary, with its one tensor as output."""

    def __init__(self) -> None:
        super().__init__()
        self.network = models.segmentation.deeplabv3_mobilenet_v3_large(
            weights=None, weights_backbone=None
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.network(x)["out"]


NETWORKS = (
    classifier("resnet18", models.resnet18),
    classifier("resnet50", models.resnet50),
    classifier("mobilenet_v2", models.mobilenet_v2),
    classifier("mobilenet_v3", models.mobilenet_v3_large),
    classifier("efficientnet_b0", models.efficientnet_b0),
    classifier("convnext_tiny", models.convnext_tiny),
    classifier("vit_b_16", models.vit_b_16),
    classifier("swin_t", models.swin_t),
    classifier("resnet18_f16", models.resnet18, dtype=torch.float16),
    Network("unet", lambda: (seeded(UNet), (image(1, 3, 128, 128),))),
    Network("deeplab_v3", lambda: (seeded(DeepLab), (image(1, 3, 224, 224),))),
)
