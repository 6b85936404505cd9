"""The passes that come with the toolkit: ``loop`` over loops, ``graph`` over graphs.

``BUILTIN`` lists them; which run, and in which order, is written in ``irkit.phases``.
"""

from irkit.passes import graph, loop
from irkit.passes.registry import BUILTIN, installed_passes, is_user_pass

__all__ = ["BUILTIN", "graph", "installed_passes", "is_user_pass", "loop"]
