"""Attention."""

from irkit.core import ShapeError
from irkit.frontend.nn import functional as F
from irkit.frontend.nn.layers.dense import Linear
from irkit.frontend.nn.module import Module
from irkit.frontend.nn.parameter import Parameter, uniform, zeros
from irkit.graph import TensorExpr


class MultiHeadAttention(Module):
    """Attention of several heads, with the parameters of PyTorch's ``MultiheadAttention``.

    Shapes: query [N, n, embed_dim], key and value [N, m, embed_dim] -> [N, n, embed_dim]; the mask
    broadcasts to [N, heads, n, m].
    """

    def __init__(
        self, embed_dim: int, num_heads: int, bias: bool = True, dtype: str = "f32"
    ) -> None:
        if num_heads < 1 or embed_dim % num_heads:
            raise ShapeError(f"{embed_dim} features are not a multiple of {num_heads} heads")
        self.embed_dim, self.num_heads = embed_dim, num_heads
        shape = (3 * embed_dim, embed_dim)
        self.in_proj_weight = Parameter(shape, dtype, initial=uniform(embed_dim))
        self.in_proj_bias = Parameter((3 * embed_dim,), dtype, initial=zeros) if bias else None
        self.out_proj = Linear(embed_dim, embed_dim, bias, dtype)

    def forward(
        self,
        query: TensorExpr,
        key: TensorExpr | None = None,
        value: TensorExpr | None = None,
        mask: TensorExpr | None = None,
    ) -> TensorExpr:
        key = query if key is None else key
        value = key if value is None else value
        q, k, v = self._heads(query, 0), self._heads(key, 1), self._heads(value, 2)
        found = F.scaled_dot_product_attention(q, k, v, mask)
        n, _, rows, _ = found.shape
        return self.out_proj(found.transpose(0, 2, 1, 3).reshape(n, rows, self.embed_dim))

    def _heads(self, x: TensorExpr, at: int) -> TensorExpr:
        """Return query, key or value (0, 1 or 2) of each head, [N, heads, rows, size]."""
        part = slice(at * self.embed_dim, (at + 1) * self.embed_dim)
        bias = None if self.in_proj_bias is None else self.in_proj_bias[part]
        n, rows, _ = x.shape
        found = F.linear(x, self.in_proj_weight[part], bias)
        return found.reshape(n, rows, self.num_heads, -1).transpose(0, 2, 1, 3)

    def extra_text(self) -> str:
        return f"{self.embed_dim}, {self.num_heads}"
