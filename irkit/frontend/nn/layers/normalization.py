"""Normalisation of activations."""

from collections.abc import Sequence

from irkit.core import ShapeError
from irkit.frontend.nn import functional as F
from irkit.frontend.nn.module import Module
from irkit.frontend.nn.parameter import Parameter, StateBuffer, ones, zeros
from irkit.graph import TensorExpr


class LayerNorm(Module):
    """Mean 0 and variance 1 over the last axes, scaled and shifted."""

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        dtype: str = "f32",
    ) -> None:
        is_one = isinstance(normalized_shape, int)
        self.shape = (normalized_shape,) if is_one else tuple(normalized_shape)
        self.eps = eps
        affine = elementwise_affine
        self.weight = Parameter(self.shape, dtype, initial=ones) if affine else None
        self.bias = Parameter(self.shape, dtype, initial=zeros) if affine and bias else None

    def forward(self, x: TensorExpr) -> TensorExpr:
        if x.shape[-len(self.shape) :] != self.shape:
            raise ShapeError(f"LayerNorm over {self.shape} of a tensor of shape {x.shape}")
        return F.layer_norm(x, len(self.shape), self.weight, self.bias, eps=self.eps)

    def extra_text(self) -> str:
        return f"{self.shape}, eps={self.eps}"


class RMSNorm(Module):
    """x divided by the root of its mean square over the last axis, and scaled."""

    def __init__(self, normalized_shape: int, eps: float = 1e-6, dtype: str = "f32") -> None:
        self.eps = eps
        self.weight = Parameter((normalized_shape,), dtype, initial=ones)

    def forward(self, x: TensorExpr) -> TensorExpr:
        square = (x * x).mean(-1, keepdims=True)
        return x * F.apply("rsqrt", square + self.eps) * self.weight


class BatchNorm(Module):
    """Normalisation of each channel by statistics that the module keeps, as in inference.

    Shapes: x [N, num_features, ...].
    """

    def __init__(self, num_features: int, eps: float = 1e-5, dtype: str = "f32") -> None:
        shape = (num_features,)
        self.eps = eps
        self.weight = Parameter(shape, dtype, initial=ones)
        self.bias = Parameter(shape, dtype, initial=zeros)
        self.running_mean = StateBuffer(shape, dtype, initial=zeros)
        self.running_var = StateBuffer(shape, dtype, initial=ones)

    def forward(self, x: TensorExpr) -> TensorExpr:
        statistics = (self.weight, self.bias, self.running_mean, self.running_var)
        return F.apply("batch_norm", x, *statistics, epsilon=self.eps)

    def extra_text(self) -> str:
        return f"{self.weight.shape[0]}, eps={self.eps}"


class BatchNorm1d(BatchNorm):
    """Normalisation of the channels of sequences."""


class BatchNorm2d(BatchNorm):
    """Normalisation of the channels of images."""


class GroupNorm(Module):
    """Mean 0 and variance 1 over groups of channels, scaled and shifted channel by channel."""

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, dtype: str = "f32"
    ) -> None:
        if num_groups < 1 or num_channels % num_groups:
            raise ShapeError(f"{num_channels} channels are not a multiple of {num_groups} groups")
        self.num_groups, self.eps = num_groups, eps
        self.weight = Parameter((num_channels,), dtype, initial=ones)
        self.bias = Parameter((num_channels,), dtype, initial=zeros)

    def forward(self, x: TensorExpr) -> TensorExpr:
        shape = x.shape
        parts = F.layer_norm(x.reshape(shape[0], self.num_groups, -1), 1, eps=self.eps)
        each = (-1, *(1,) * (x.rank - 2))
        return parts.reshape(*shape) * self.weight.reshape(*each) + self.bias.reshape(*each)
