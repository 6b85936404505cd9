"""The passes that come with the toolkit: ``loop`` over loops, ``graph`` over graphs.

``BUILTIN`` lists them; which run, and in which order, is written in ``irkit.phases``.
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
