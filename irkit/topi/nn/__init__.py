"""Operators of neural networks: window (what sliding windows share), conv, pool, norm,
activation."""

from irkit.topi.nn.activation import leaky_relu, log_softmax, relu, softmax
from irkit.topi.nn.conv import conv
from irkit.topi.nn.norm import batch_norm, lrn
from irkit.topi.nn.pool import (
    avg_pool,
    global_avg_pool,
    global_max_pool,
    max_pool,
    max_pool_with_indices,
)

__all__ = [
    "avg_pool",
    "batch_norm",
    "conv",
    "global_avg_pool",
    "global_max_pool",
    "leaky_relu",
    "log_softmax",
    "lrn",
    "max_pool",
    "max_pool_with_indices",
    "relu",
    "softmax",
]
