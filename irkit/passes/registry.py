"""Which passes there are: those that come with the toolkit, and those of installed packages."""

from typing import cast

from irkit.passes import graph, loop
from irkit.transform import AnyPass, Pass, Registry

BUILTIN: tuple[AnyPass, ...] = tuple(
    cast(AnyPass, found)
    for folder in (graph, loop)
    for _, found in sorted(vars(folder).items())
    if isinstance(found, Pass)
)


def installed_passes() -> Registry:
    """Return the passes that names may stand for: those of the toolkit and of installed
    packages."""
    return Registry.of(BUILTIN).with_entry_points()


def is_user_pass(p: AnyPass) -> bool:
    """Say whether a pass is none of those that come with the toolkit."""
    return p.function not in _OURS


_OURS = frozenset(p.function for p in BUILTIN)
