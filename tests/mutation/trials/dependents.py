"""The loaded modules that depend on a module, which must be imported anew when it changes."""

import ast
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType

_ROOTS = ("irkit", "tests")


def dependents(module: str, loaded: Mapping[str, ModuleType]) -> list[str]:
    """Return a module, what imports it, what imports that, and so on."""
    imports = {
        name: _imported(name, found.__file__)
        for name, found in list(loaded.items())
        if name.split(".")[0] in _ROOTS and found.__file__ is not None
    }
    reached = {module}
    grew = True
    while grew:
        new = {name for name, used in imports.items() if name not in reached and used & reached}
        reached |= new
        grew = bool(new)
    return [name for name in imports if name in reached]


@cache
def _imported(name: str, path: str) -> frozenset[str]:
    """Return the modules that a file imports; a name may be a module in a folder."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(Path(path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(_with_folders(alias.name for alias in node.names))
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(found - {name})


def _with_folders(names: Iterable[str]) -> Iterable[str]:
    for name in names:
        parts = name.split(".")
        yield from (".".join(parts[: at + 1]) for at in range(len(parts)))
