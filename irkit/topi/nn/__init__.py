"""Operators of neural networks.

Reading order: window (sliding windows), conv, blocked (in blocks of channels), gathered (of
channels that a table names), winograd, pool, norm, activation.
"""

from irkit.topi.nn.activation import (
    leaky_relu as leaky_relu,
    log_softmax as log_softmax,
    relu as relu,
    softmax as softmax,
)
from irkit.topi.nn.attention import (
    attention as attention,
)
from irkit.topi.nn.blocked import (
    block_channels as block_channels,
    conv_blocked as conv_blocked,
    depthwise_blocked as depthwise_blocked,
    unblock_channels as unblock_channels,
)
from irkit.topi.nn.conv import (
    conv as conv,
)
from irkit.topi.nn.gathered import (
    conv_gathered as conv_gathered,
    gather_channels as gather_channels,
)
from irkit.topi.nn.norm import (
    batch_norm as batch_norm,
    lrn as lrn,
    lrn_blocked as lrn_blocked,
)
from irkit.topi.nn.pool import (
    avg_pool as avg_pool,
    global_avg_pool as global_avg_pool,
    global_max_pool as global_max_pool,
    max_pool as max_pool,
    max_pool_with_indices as max_pool_with_indices,
)
from irkit.topi.nn.winograd import (
    conv_winograd as conv_winograd,
)
