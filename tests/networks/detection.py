"""Detectors: a YOLO head with non-maximum suppression, and torchvision's SSD without it."""

import torch
from torch import nn
from torchvision import models
from torchvision.ops import nms

from tests.networks.network import Network, image, seeded


class YoloDecoder(nn.Module):
    """The head of YOLO v5 on three levels: boxes and scores of all anchors."""

    STRIDES = (8, 16, 32)
    ANCHORS = ((10, 13, 16, 30, 33, 23), (30, 61, 62, 45, 59, 119), (116, 90, 156, 198, 373, 326))

    def __init__(self, classes: int = 20, width: int = 32) -> None:
        super().__init__()
        self.classes = classes
        self.backbone = nn.ModuleList(
            nn.Sequential(
                nn.Conv2d(inside, outside, 3, stride=stride, padding=1, bias=False),
                nn.BatchNorm2d(outside),
                nn.SiLU(),
            )
            for inside, outside, stride in (
                (3, width, 8), (width, 2 * width, 2), (2 * width, 4 * width, 2),
            )
        )  # fmt: skip
        self.heads = nn.ModuleList(
            nn.Conv2d(width << level, 3 * (5 + classes), 1) for level in range(3)
        )

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        boxes, scores = [], []
        for level, (stage, head) in enumerate(zip(self.backbone, self.heads, strict=True)):
            x = stage(x)
            made = head(x).sigmoid()
            n, _, height, width = made.shape
            made = made.view(n, 3, 5 + self.classes, height, width).permute(0, 1, 3, 4, 2)
            rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
            grid = torch.stack((columns, rows), 2).view(1, 1, height, width, 2).float()
            anchors = torch.tensor(self.ANCHORS[level]).float().view(1, 3, 1, 1, 2)
            centre = (made[..., 0:2] * 2.0 - 0.5 + grid) * self.STRIDES[level]
            size = (made[..., 2:4] * 2.0) ** 2 * anchors
            corners = torch.cat((centre - size / 2, centre + size / 2), -1)
            boxes.append(corners.reshape(n, -1, 4))
            scores.append((made[..., 4:5] * made[..., 5:]).reshape(n, -1, self.classes))
        return torch.cat(boxes, 1), torch.cat(scores, 1)


class YoloHead(YoloDecoder):
    """The same, and the numbers of the boxes that are kept when overlapping ones are left out."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        boxes, scores = super().forward(x)
        best = scores[0].max(dim=-1).values
        return boxes, scores, nms(boxes[0], best, 0.45)


class SsdHead(nn.Module):
    """SSDlite on MobileNet v3 of torchvision: scores and box offsets of all anchors."""

    def __init__(self) -> None:
        super().__init__()
        whole = models.detection.ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None)
        self.backbone, self.head = whole.backbone, whole.head

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        found = self.head(list(self.backbone(x).values()))
        return found["cls_logits"].softmax(-1), found["bbox_regression"]


NETWORKS = (
    Network("yolo_head_nms", lambda: (seeded(YoloHead), (image(1, 3, 256, 256),))),
    Network("ssdlite", lambda: (seeded(SsdHead), (image(1, 3, 320, 320),))),
)
