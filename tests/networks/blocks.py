"""One block of each kind of network, small enough for every run of the tests."""

from typing import Any

import torch
import transformers as hub
from torch import nn
from torchvision import models
from torchvision.models import convnext, efficientnet, mobilenetv3, resnet, swin_transformer
from torchvision.models.segmentation import deeplabv3

from tests.networks.detection import YoloDecoder
from tests.networks.network import Network, image, seeded, token_ids
from tests.networks.sequence import DiffusionBlock, Tagger
from tests.networks.transformers import LlamaBlock, Tensors, padded
from tests.networks.vision import UNet


class Residual(nn.Sequential):
    """The stem of a ResNet, a block, one that halves the image, and the classifier."""

    def __init__(self) -> None:
        shortcut = nn.Sequential(nn.Conv2d(8, 16, 1, stride=2, bias=False), nn.BatchNorm2d(16))
        super().__init__(
            nn.Conv2d(3, 8, 7, stride=2, padding=3, bias=False),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.MaxPool2d(3, stride=2, padding=1),
            resnet.BasicBlock(8, 8),
            resnet.BasicBlock(8, 16, stride=2, downsample=shortcut),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(1),
            nn.Linear(16, 10),
        )


def inverted_residual() -> nn.Module:
    settings = mobilenetv3.InvertedResidualConfig(8, 3, 16, 8, True, "HS", 1, 1, 1.0)
    return mobilenetv3.InvertedResidual(settings, nn.BatchNorm2d)


def mobile_convolution() -> nn.Module:
    settings = efficientnet.MBConvConfig(2, 3, 1, 8, 8, 1)
    return efficientnet.MBConv(settings, 0.0, nn.BatchNorm2d)


def convnext_block() -> nn.Module:
    return convnext.CNBlock(16, 1.0, 0.0)


def vision_transformer() -> nn.Module:
    return models.VisionTransformer(
        image_size=16, patch_size=8, num_layers=1, num_heads=2, hidden_dim=16, mlp_dim=32,
        num_classes=10,
    )  # fmt: skip


def shifted_windows() -> nn.Module:
    return swin_transformer.SwinTransformerBlock(16, 2, [4, 4], [2, 2])


def pyramid() -> nn.Module:
    return deeplabv3.ASPP(8, [2, 4], 8)


def bert() -> nn.Module:
    config = hub.BertConfig(
        vocab_size=32, hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=16, attn_implementation="eager",
    )  # fmt: skip
    return Tensors(hub.BertModel(config), ("input_ids", "attention_mask"), ("last_hidden_state",))


def gpt2() -> nn.Module:
    config = hub.GPT2Config(
        vocab_size=32, n_positions=16, n_embd=32, n_layer=1, n_head=2, use_cache=False,
        bos_token_id=1, eos_token_id=2, attn_implementation="eager",
    )  # fmt: skip
    return Tensors(hub.GPT2LMHeadModel(config), ("input_ids", "attention_mask"), ("logits",))


def tagger(cell: type[nn.RNNBase]) -> nn.Module:
    """Return one layer in one direction: onnx.reference knows no other."""
    return Tagger(cell, 32, 8, layers=1, both_ways=False)


def block(
    name: str, make: Any, *inputs: torch.Tensor, exporter: str, opset: int | None = None
) -> Network:
    return Network(name, lambda: (seeded(make), inputs), exporters=(exporter,), opset=opset)


TEXT = (token_ids(32, 1, 8), padded(8))

BLOCKS = (
    block("resnet", Residual, image(1, 3, 32, 32), exporter="torchscript"),
    block("resnet", Residual, image(1, 3, 32, 32), exporter="dynamo"),
    block("mobilenet_v3", inverted_residual, image(1, 8, 10, 10), exporter="torchscript"),
    block("efficientnet", mobile_convolution, image(1, 8, 10, 10), exporter="dynamo"),
    block("convnext", convnext_block, image(1, 16, 8, 8), exporter="torchscript"),
    block("vit", vision_transformer, image(1, 3, 16, 16), exporter="torchscript"),
    block("vit", vision_transformer, image(1, 3, 16, 16), exporter="dynamo"),
    block("swin", shifted_windows, image(1, 8, 8, 16), exporter="dynamo"),
    block("unet", lambda: UNet(4), image(1, 3, 16, 16), exporter="torchscript"),
    block("deeplab", pyramid, image(1, 8, 9, 9), exporter="dynamo"),
    block("yolo", lambda: YoloDecoder(2, 4), image(1, 3, 64, 64), exporter="torchscript"),
    block("bert", bert, *TEXT, exporter="torchscript"),
    block("bert", bert, *TEXT, exporter="dynamo"),
    block("gpt2", gpt2, *TEXT, exporter="dynamo"),
    block("llama", lambda: LlamaBlock(32), image(1, 8, 32), exporter="torchscript"),
    block("llama", lambda: LlamaBlock(32), image(1, 8, 32), exporter="dynamo"),
    # Before 17 a layer norm is seven operators; from 23 on there is one for attention.
    block("unet", lambda: UNet(4), image(1, 3, 16, 16), exporter="torchscript", opset=11),
    block("bert", bert, *TEXT, exporter="torchscript", opset=13),
    block("llama", lambda: LlamaBlock(32), image(1, 8, 32), exporter="dynamo", opset=23),
    block("lstm", lambda: tagger(nn.LSTM), token_ids(32, 2, 3), exporter="dynamo"),
    block("gru", lambda: tagger(nn.GRU), token_ids(32, 2, 3), exporter="torchscript"),
    block(
        "diffusion", lambda: DiffusionBlock(32, 12, 2), image(1, 32, 4, 4), image(1, 256),
        image(1, 5, 12), exporter="torchscript",
    ),
)  # fmt: skip
