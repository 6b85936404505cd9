"""The passes and primitives that use a place in irkit's source: one of them is to be named when it
is wrong.

A definition at the top of a module uses the definitions that it names, looked up through imports,
and so on from there. So a line of a pass's own module is used by that pass alone, and a line that
many share by all of them. A place that no pass uses belongs to a tier of judging: code generation,
or reading a model.
"""

import ast
import importlib.util
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from irkit import te, topi
from irkit.passes import BUILTIN
from irkit.schedule import PRIMITIVES


def public_names(module: ModuleType) -> list[str]:
    """Return the names that a module offers, but no modules."""
    return sorted(
        name
        for name, found in vars(module).items()
        if not name.startswith("_") and not isinstance(found, ModuleType)
    )


_NATIVE = (
    "irkit.codegen:emit",
    "irkit.codegen:emit_executor",
    "irkit.codegen:compile_object",
    "irkit.codegen:emit_pool",
)
_READ = (
    "irkit.frontend.onnx:import_onnx",
    *(f"irkit.te:{name}" for name in public_names(te)),
    *(f"irkit.topi:{name}" for name in public_names(topi)),
)
_TEXT = ("irkit.graph:parse_module", "irkit.ir:parse", "irkit.ir:script")
_TIERS: dict[str, tuple[str, ...]] = {
    "O0": _NATIVE,
    "O3": _NATIVE,
    "invariants": (*_NATIVE, *_TEXT, "irkit.runtime:object_for"),
    "interpreter": (*_READ, *_TEXT, "irkit.graph:interpret", "irkit.ir:InterpretedFunction"),
    "draw": _READ,
}
_DEFINES = (ast.FunctionDef, ast.ClassDef)
_Definition = str
"""``module:name`` of what is defined at the top of a module; a primitive is ``module:Class.name``,
and ``module:`` is what else runs when the module is imported."""


@cache
def blamed_at(module: str, line: int) -> frozenset[str]:
    """Return who uses a line of a module: passes by their names, primitives as ``sch.name``, and
    tiers."""
    found = _file(module)
    places = set(found.at(line)) if found is not None else set[_Definition]()
    return frozenset(name for name, used in _used_by_all().items() if places & used)


@cache
def _used_by_all() -> dict[str, frozenset[_Definition]]:
    roots: dict[str, list[_Definition]] = {name: list(at) for name, at in _TIERS.items()}
    for p in BUILTIN:
        function: Any = p.function
        roots[p.name] = [f"{function.__module__}:{function.__qualname__}"]
    for name, method in PRIMITIVES.items():
        roots[f"sch.{name}"] = [f"{method.__module__}:{method.__qualname__}"]
    return {name: frozenset(_closure(at)) for name, at in roots.items()}


def _closure(roots: Iterable[_Definition]) -> set[_Definition]:
    reached = set[_Definition]()
    waiting = list[_Definition]()
    for root in roots:
        found = list(_resolved(*root.split(":")))
        assert found, f"{root} is defined nowhere"
        waiting += found
    while waiting:
        found = waiting.pop()
        if found not in reached:
            reached.add(found)
            waiting += _uses(found)
    return reached


@cache
def _uses(definition: _Definition) -> tuple[_Definition, ...]:
    module, name = definition.split(":")
    found = _file(module)
    return () if found is None else tuple(found.used(name))


def _resolved(module: str, name: str) -> Iterator[_Definition]:
    """Return where a name of a module is defined: there, or where it is imported from."""
    seen = set[tuple[str, str]]()
    while (module, name) not in seen:
        seen.add((module, name))
        found = _file(module)
        if found is None:
            return
        if name in found.parts:
            yield f"{module}:{name}"
            return
        module, name = found.imports.get(name, (module, name))


class _File:
    """Definitions and imports of a module, and the names that each definition uses."""

    def __init__(self, module: str, path: Path) -> None:
        self.module = module
        tree = ast.parse(path.read_text(encoding="utf-8"))
        self.imports = dict(_imports(tree))
        self.parts: dict[str, list[ast.AST]] = {"": []}
        self.tables: dict[str, list[str]] = {}
        for stmt in tree.body:
            self._add(stmt)
        self.schedules = "Schedule" in self.imports

    def _add(self, stmt: ast.stmt) -> None:
        if isinstance(stmt, ast.ClassDef):
            own = [part for part in stmt.body if _is_primitive(part)]
            rest = [part for part in stmt.body if part not in own]
            for part in own:
                assert isinstance(part, ast.FunctionDef)
                self.parts[f"{stmt.name}.{part.name}"] = [part]
            self.parts[stmt.name] = [*stmt.bases, *stmt.decorator_list, *rest]
        elif isinstance(stmt, ast.FunctionDef):
            self.parts.setdefault(stmt.name, []).append(stmt)
        elif isinstance(stmt, (ast.Assign, ast.AnnAssign)):
            targets = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]
            for name in [name for each in targets for name in _new_names(each)] or [""]:
                self.parts.setdefault(name, []).append(stmt)
        elif not isinstance(stmt, (ast.Import, ast.ImportFrom)):
            self.parts[""].append(stmt)
        if isinstance(stmt, _DEFINES):  # A decorator of a table registers it there.
            for node in (inner for each in stmt.decorator_list for inner in ast.walk(each)):
                if isinstance(node, ast.Name):
                    self.tables.setdefault(node.id, []).append(stmt.name)

    def at(self, line: int) -> Iterator[_Definition]:
        """Return the definitions that a line is part of."""
        for name, nodes in self.parts.items():
            if any(_covers(node, line) for node in nodes):
                yield f"{self.module}:{name}"

    def used(self, name: str) -> Iterator[_Definition]:
        """Return what a definition of this module uses."""
        if name:
            yield f"{self.module}:"
        for added in self.tables.get(name, ()):
            yield f"{self.module}:{added}"
        for node in (inner for part in self.parts.get(name, ()) for inner in ast.walk(part)):
            if isinstance(node, ast.Name):
                yield from self._named(node.id)
            elif isinstance(node, ast.Attribute):
                yield from self._member(node, "." in name)

    def _named(self, name: str) -> Iterator[_Definition]:
        if name in self.parts:
            yield f"{self.module}:{name}"
        elif name in self.imports:
            yield from _resolved(*self.imports[name])

    def _member(self, node: ast.Attribute, in_primitive: bool) -> Iterator[_Definition]:
        if isinstance(node.value, ast.Name) and node.value.id in self.imports:
            module, name = self.imports[node.value.id]
            yield from _resolved(f"{module}.{name}" if name else module, node.attr)
        if node.attr in PRIMITIVES and (self.schedules or in_primitive):
            method = PRIMITIVES[node.attr]
            yield f"{method.__module__}:{method.__qualname__}"


@cache
def _file(module: str) -> _File | None:
    if module.split(".")[0] != "irkit" or module.startswith("irkit.fuzz"):
        return None
    try:
        found = importlib.util.find_spec(module)
    except ModuleNotFoundError:  # A name of a class is not a folder.
        return None
    return None if found is None or found.origin is None else _File(module, Path(found.origin))


def _imports(tree: ast.Module) -> Iterator[tuple[str, tuple[str, str]]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name.split(".")[0], (alias.name, "")
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                yield alias.asname or alias.name, (node.module, alias.name)


def _is_primitive(part: ast.stmt) -> bool:
    return isinstance(part, ast.FunctionDef) and any(
        isinstance(each, ast.Name) and each.id in ("primitive", "lookup")
        for each in part.decorator_list
    )


def _new_names(target: ast.expr) -> Iterator[str]:
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _covers(node: ast.AST, line: int) -> bool:
    before = [each.lineno for each in getattr(node, "decorator_list", ())]
    first, last = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
    return first is not None and last is not None and min([first, *before]) <= line <= last
