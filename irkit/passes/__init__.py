"""The passes that come with irkit: ``loop`` over loops, ``graph`` over graphs.

``BUILTIN`` holds them all; ``irkit.phases`` defines which run, and in which order.
Reading order: loop, graph, registry.
"""

from irkit.passes import (
    graph as graph,
    loop as loop,
)
from irkit.passes.registry import (
    BUILTIN as BUILTIN,
    installed_passes as installed_passes,
    is_user_pass as is_user_pass,
)
