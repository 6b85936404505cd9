"""The source of irkit's modules, and where a definition is."""

import ast
import importlib.util
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import irkit
from irkit.core import IRKitError

_ROOT = Path(irkit.__file__).parent


def source_of(module: str) -> str:
    """Read the source of a module, which is not a folder, without importing it.

    Raises: IRKitError if there is none; it names those of the same last name.
    """
    try:
        found = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        found = None
    if found is None or found.origin is None or found.submodule_search_locations is not None:
        last = module.rpartition(".")[2]
        now = [name for name, _ in _modules() if name.rpartition(".")[2] == last and name != module]
        hint = f"There is {' and '.join(now)}." if now else ""
        raise IRKitError(f"there is no module {module}", hint=hint)
    return Path(found.origin).read_text(encoding="utf-8")


def definitions_in(tree: ast.Module, name: str) -> Sequence[ast.stmt]:
    """Return the statements of a module that define a name; in a class, it is written
    ``Class.method``."""
    found: Sequence[ast.stmt] = tree.body
    for at, part in enumerate(name.split(".")):
        if at:
            found = [stmt for scope in found for stmt in getattr(scope, "body", ())]
        found = [stmt for stmt in found if part in _names_of(stmt)]
    return found


def modules_that_define(name: str) -> list[str]:
    """Return the modules of irkit that define a name, found by its first part."""
    first = name.split(".")[0]
    return [module for module, path in _modules() if _defines(_text_of(path), first)]


def _defines(text: str, name: str) -> bool:
    # Most files do not have the name in them: to parse all of irkit takes seconds.
    return name in text and any(name in _names_of(stmt) for stmt in ast.parse(text).body)


@cache
def _text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(_ROOT.rglob("*.py")):
        if path.name != "__init__.py":
            yield ".".join(path.relative_to(_ROOT.parent).with_suffix("").parts), path


def _names_of(stmt: ast.stmt) -> set[str]:
    """Return the names that a statement defines; an import defines none."""
    if isinstance(stmt, (ast.FunctionDef, ast.ClassDef)):
        return {stmt.name}
    if isinstance(stmt, (ast.Assign, ast.AnnAssign)):
        targets = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]
        return {each.id for each in targets if isinstance(each, ast.Name)}
    return set()
