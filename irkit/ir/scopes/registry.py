"""The memory scopes by name: irkit's own, and those that a program defines."""

from difflib import get_close_matches

from irkit.core import IRKitError
from irkit.ir.scopes.memory_scope import MemoryScope

_OWN = {
    row.name: row
    for row in (
        MemoryScope("global", "memory that every thread can reach"),
        MemoryScope("local", "memory of one thread: registers or its stack", private=True),
        MemoryScope("shared", "memory of one nest of threads", shared=True),
        MemoryScope("warp", "registers of a warp of threads, a row of each lane's own"),
    )
}
_DEFINED: dict[str, MemoryScope] = {}


def define_scope(scope: MemoryScope) -> MemoryScope:
    """Make a memory scope known to this process under its name, and return it.

    Raises: IRKitError if another scope has the name.
    """
    known = memory_scope(scope.name)
    if known is not None and known != scope:
        raise IRKitError(f"there already is a memory scope {scope.name!r}, with other rules")
    return known or _DEFINED.setdefault(scope.name, scope)


def memory_scope(name: str) -> MemoryScope | None:
    """Return the memory scope of a name, or None."""
    return _OWN.get(name) or _DEFINED.get(name)


def known_scopes() -> tuple[MemoryScope, ...]:
    """Return irkit's own memory scopes and those that this process defined."""
    return (*_OWN.values(), *_DEFINED.values())


def defined_scopes() -> tuple[MemoryScope, ...]:
    """Return the memory scopes that this process defined."""
    return tuple(_DEFINED.values())


def scope_problem(name: str) -> tuple[str, str] | None:
    """Return what is wrong with the name of a memory scope and the remedy, or None."""
    if memory_scope(name) is not None:
        return None
    names = [row.name for row in known_scopes()]
    close = get_close_matches(name[:100], names, n=1)
    suggestion = f"Did you mean {close[0]!r}? " if close else ""
    return (
        f"there is no memory scope {name[:100]!r}",
        f"{suggestion}There are: {', '.join(names)}.",
    )
