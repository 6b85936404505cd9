"""The passes that come with irkit, and those of installed packages."""

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
    """Return the passes that a name can stand for: those of irkit and of installed packages."""
    return Registry(BUILTIN).with_entry_points()


def is_user_pass(p: AnyPass) -> bool:
    """Return True unless the pass comes with irkit."""
    return p.function not in _BUILTIN_FUNCTIONS


_BUILTIN_FUNCTIONS = frozenset(p.function for p in BUILTIN)
