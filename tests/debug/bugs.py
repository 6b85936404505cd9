"""Bugs planted into passes that ship: each changes one thing in one pass, for as long as it is
planted."""

import inspect
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any

from irkit.transform import Pass


class Bug:
    """Replace a piece of the source of one function by another. ``kind`` says what is wrong then;
    ``blamed`` is the pass whose fault it is."""

    def __init__(
        self, kind: str, module: str, function: str, old: str, new: str, blamed: str = ""
    ) -> None:
        self.kind, self.module, self.function = kind, module, function
        self.old, self.new = old, new
        self.blamed = blamed or module.rpartition(".")[2].replace("_", "-")

    def __repr__(self) -> str:
        return f"{self.blamed}: {self.kind}"

    @contextmanager
    def planted(self) -> Generator[None]:
        """Run with the bug in place: the function keeps its identity and gets other code."""
        function = _function(import_module(self.module), self.function)
        good = function.__code__
        function.__code__ = _changed(function, self.old, self.new)
        try:
            yield
        finally:
            function.__code__ = good


def _function(module: ModuleType, path: str) -> FunctionType:
    found: Any = module
    for part in path.split("."):
        found = inspect.getattr_static(found, part)
    if isinstance(found, Pass):
        found = found.function
    if isinstance(found, property):
        found = found.fget
    if isinstance(found, staticmethod):
        found = found.__func__
    found = inspect.unwrap(found)
    assert isinstance(found, FunctionType), path
    return found


def _changed(function: FunctionType, old: str, new: str) -> Any:
    """Compile the whole file with the piece replaced, and take the code of the function from it."""
    lines, start = inspect.getsourcelines(function)
    text = "".join(lines)
    assert text.count(old) == 1, f"{function.__qualname__} has {text.count(old)} times {old!r}"
    module = sys.modules[function.__module__]
    whole = inspect.getsource(module).splitlines(keepends=True)
    whole[start - 1 : start - 1 + len(lines)] = [text.replace(old, new)]
    code = compile("".join(whole), function.__code__.co_filename, "exec", dont_inherit=True)
    return _find(code, function.__code__.co_qualname)


def _find(code: Any, qualname: str) -> Any:
    todo = [code]
    while todo:
        each = todo.pop()
        if each.co_qualname == qualname:
            return each
        todo += [const for const in each.co_consts if hasattr(const, "co_qualname")]
    raise AssertionError(qualname)


Check = Callable[[], object]
