"""Models as trees of modules, as they are written for PyTorch and TVM: ``irkit.nn``.

Reading order: parameter and spec (what has a shape), module (the tree, names, state), export (how
``forward`` becomes a graph function), functional (functions of tensors), layers.

``forward`` runs once, at the export, on tensors that have a type and no data; Python's ``if`` and
``for`` are decided then.
"""

from irkit.frontend.nn import (
    functional as functional,
    spec as spec,
)
from irkit.frontend.nn.layers.activations import (
    GELU as GELU,
    Dropout as Dropout,
    Identity as Identity,
    LeakyReLU as LeakyReLU,
    LogSoftmax as LogSoftmax,
    ReLU as ReLU,
    Sigmoid as Sigmoid,
    SiLU as SiLU,
    Softmax as Softmax,
    Tanh as Tanh,
)
from irkit.frontend.nn.layers.attention import (
    MultiHeadAttention as MultiHeadAttention,
)
from irkit.frontend.nn.layers.containers import (
    ModuleDict as ModuleDict,
    ModuleList as ModuleList,
    Sequential as Sequential,
)
from irkit.frontend.nn.layers.convolution import (
    Conv1d as Conv1d,
    Conv2d as Conv2d,
    Conv3d as Conv3d,
)
from irkit.frontend.nn.layers.dense import (
    Embedding as Embedding,
    Flatten as Flatten,
    Linear as Linear,
)
from irkit.frontend.nn.layers.normalization import (
    BatchNorm1d as BatchNorm1d,
    BatchNorm2d as BatchNorm2d,
    GroupNorm as GroupNorm,
    LayerNorm as LayerNorm,
    RMSNorm as RMSNorm,
)
from irkit.frontend.nn.layers.pools import (
    AdaptiveAvgPool2d as AdaptiveAvgPool2d,
    AvgPool2d as AvgPool2d,
    MaxPool2d as MaxPool2d,
)
from irkit.frontend.nn.module import (
    Module as Module,
)
from irkit.frontend.nn.parameter import (
    Parameter as Parameter,
    StateBuffer as StateBuffer,
    normal as normal,
    ones as ones,
    uniform as uniform,
    zeros as zeros,
)
from irkit.graph import (
    TensorExpr,
    constant as constant,
    operator as operator,
)

Tensor = TensorExpr
