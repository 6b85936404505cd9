"""Layers that multiply by a matrix, or look rows up in one."""

from irkit.frontend.nn import functional as F
from irkit.frontend.nn.module import Module
from irkit.frontend.nn.parameter import Parameter, normal, uniform
from irkit.graph import TensorExpr


class Linear(Module):
    """x @ weight.T + bias. Shapes: x [..., in_features] -> [..., out_features]."""

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, dtype: str = "f32"
    ) -> None:
        self.in_features, self.out_features = in_features, out_features
        first = uniform(in_features)
        self.weight = Parameter((out_features, in_features), dtype, initial=first)
        self.bias = Parameter((out_features,), dtype, initial=first) if bias else None

    def forward(self, x: TensorExpr) -> TensorExpr:
        return F.linear(x, self.weight, self.bias)

    def extra_text(self) -> str:
        return f"{self.in_features}, {self.out_features}, bias={self.bias is not None}"


class Embedding(Module):
    """A row of a table for each index. Shapes: [...] integers -> [..., embedding_dim]."""

    def __init__(self, num_embeddings: int, embedding_dim: int, dtype: str = "f32") -> None:
        self.weight = Parameter((num_embeddings, embedding_dim), dtype, initial=normal)

    def forward(self, indices: TensorExpr) -> TensorExpr:
        return F.embedding(indices, self.weight)

    def extra_text(self) -> str:
        return ", ".join(map(str, self.weight.shape))


class Flatten(Module):
    """The axes from ``start_dim`` on as one."""

    def __init__(self, start_dim: int = 1) -> None:
        self.start_dim = start_dim

    def forward(self, x: TensorExpr) -> TensorExpr:
        size = 1
        for extent in x.shape[self.start_dim :]:
            size *= extent
        kept = [-1] if self.start_dim == 1 else list(x.shape[: self.start_dim])
        return x.reshape(*kept, size)
