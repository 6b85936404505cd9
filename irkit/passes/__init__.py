"""The passes that come with the toolkit: ``loop`` over loops, ``graph`` over graphs.

``BUILTIN`` lists them; which run, and in which order, is written in ``irkit.phases``.
"""

from typing import cast

from irkit.passes import graph, loop
from irkit.transform import AnyPass, Pass

BUILTIN: tuple[AnyPass, ...] = tuple(
    cast(AnyPass, found)
    for folder in (graph, loop)
    for name in folder.__all__
    if isinstance(found := getattr(folder, name), Pass)
)

__all__ = ["BUILTIN", "graph", "loop"]
