"""Functions of each element, and softmax, as layers."""

from irkit.frontend.nn import functional as F
from irkit.frontend.nn.module import Module
from irkit.graph import TensorExpr


class ReLU(Module):
    """The larger of x and 0."""

    def forward(self, x: TensorExpr) -> TensorExpr:
        return F.relu(x)


class LeakyReLU(Module):
    """x where it is positive, a part of it elsewhere."""

    def __init__(self, negative_slope: float = 0.01) -> None:
        self.negative_slope = negative_slope

    def forward(self, x: TensorExpr) -> TensorExpr:
        return F.leaky_relu(x, self.negative_slope)


class GELU(Module):
    """x times the normal distribution function of x."""

    def __init__(self, approximate: str = "none") -> None:
        self.approximate = approximate

    def forward(self, x: TensorExpr) -> TensorExpr:
        return F.gelu(x, approximate=self.approximate)


class SiLU(Module):
    """x * sigmoid(x)."""

    def forward(self, x: TensorExpr) -> TensorExpr:
        return F.silu(x)


class Sigmoid(Module):
    """1 / (1 + exp(-x))."""

    def forward(self, x: TensorExpr) -> TensorExpr:
        return F.sigmoid(x)


class Tanh(Module):
    """The hyperbolic tangent."""

    def forward(self, x: TensorExpr) -> TensorExpr:
        return F.tanh(x)


class Softmax(Module):
    """exp(x) divided by its sum along an axis."""

    def __init__(self, dim: int = -1) -> None:
        self.dim = dim

    def forward(self, x: TensorExpr) -> TensorExpr:
        return F.softmax(x, self.dim)


class LogSoftmax(Module):
    """The logarithm of softmax."""

    def __init__(self, dim: int = -1) -> None:
        self.dim = dim

    def forward(self, x: TensorExpr) -> TensorExpr:
        return F.log_softmax(x, self.dim)


class Identity(Module):
    """x itself."""

    def forward(self, x: TensorExpr) -> TensorExpr:
        return x


class Dropout(Identity):
    """x itself: elements are dropped only while PyTorch trains."""

    def __init__(self, p: float = 0.5) -> None:
        self.p = p
