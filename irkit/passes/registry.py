"""Which passes there are: those that come with the toolkit, and those of installed packages."""

from typing import cast

from irkit.passes import graph, loop
from irkit.transform import AnyPass, Pass

BUILTIN: tuple[AnyPass, ...] = tuple(
    cast(AnyPass, found)
    for folder in (graph, loop)
    for _, found in sorted(vars(folder).items())
    if isinstance(found, Pass)
)
