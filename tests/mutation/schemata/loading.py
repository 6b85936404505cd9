"""Import irkit anew with every mutant of a sample behind a switch, in this process."""

import functools
import gc
import importlib
import importlib.abc
import importlib.util
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import CodeType, ModuleType
from typing import Any

from tests.mutation.changes.mutant import Mutant
from tests.mutation.schemata import switches
from tests.mutation.schemata.instrument import instrumented
from tests.mutation.schemata.switches import SWITCHES, SWITCHES_NAME

_ROOTS = ("irkit", "tests")
_KEPT = frozenset({switches.__name__, "tests.mutation.schemata.worker"})
"""Modules that stay: one object has the switches, and one the sample."""
LASTING = ("irkit.codegen.llvm.compiler", "irkit.runtime.jit", "irkit.runtime.pool")
"""Modules that keep objects of LLVM and threads for as long as the process lives: a mutant in one
of them needs a new process."""
_LASTING = (*LASTING, "irkit.core", "irkit.fuzz")
"""Modules whose caches are kept; those of the last two know only classes and what was drawn."""


class ChangedSource(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Import hook that loads modules from compiled trees in place of their files."""

    def __init__(self, codes: Mapping[str, CodeType]) -> None:
        self.codes = codes

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> Any:
        """Return a spec for a changed module."""
        code = self.codes.get(fullname)
        if code is None:
            return None
        return importlib.util.spec_from_file_location(fullname, code.co_filename, loader=self)

    def exec_module(self, module: ModuleType) -> None:
        """Run the compiled tree of a module."""
        setattr(module, SWITCHES_NAME, SWITCHES)
        exec(self.codes[module.__name__], module.__dict__)  # Our own source, with switches.


def compile_sample(mutants: Sequence[Mutant]) -> dict[str, CodeType]:
    """Compile the modules of a sample; the number of a mutant is its position."""
    by_module = defaultdict[str, list[tuple[int, Mutant]]](list)
    for number, mutant in enumerate(mutants):
        by_module[mutant.module].append((number, mutant))
    return {
        module: compile(instrumented(module, numbered), file_of(module), "exec")
        for module, numbered in by_module.items()
    }


def compile_mutant(mutant: Mutant) -> CodeType:
    """Compile the source of one mutant, without switches."""
    return compile(mutant.source, file_of(mutant.module), "exec")


def file_of(module: str) -> str:
    """Return the file of a module, without importing it."""
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    return spec.origin


def import_anew(codes: Mapping[str, CodeType], targets: Iterable[str]) -> list[Callable[..., Any]]:
    """Drop every module of irkit and its tests, import them with changed ones in their place, and
    return functions, written ``module:name``."""
    sys.meta_path[:] = [each for each in sys.meta_path if not _is_ours(each)]
    sys.meta_path.insert(0, ChangedSource(codes))
    for name in [name for name in sys.modules if name.split(".")[0] in _ROOTS]:
        if name not in _KEPT:
            del sys.modules[name]
    return [_imported(target) for target in targets]


def _is_ours(finder: object) -> bool:
    return type(finder).__name__ == ChangedSource.__name__


def _imported(target: str) -> Callable[..., Any]:
    module, name = target.split(":")
    return getattr(importlib.import_module(module), name)


def import_recorded(codes: Mapping[str, CodeType], targets: Iterable[str]) -> frozenset[int]:
    """Import as :func:`import_anew` does, and return the mutants that the import itself reached."""
    with SWITCHES.watching():
        import_anew(codes, targets)
    return frozenset(SWITCHES.reached)


def clear_caches() -> None:
    """Empty the caches in which functions of irkit keep what they returned, since a mutant may
    return something else."""
    for each in _caches():
        each.cache_clear()


@functools.cache
def _caches() -> list[Any]:
    kind: Any = functools._lru_cache_wrapper  # pyright: ignore[reportPrivateUsage]
    found: list[Any] = [each for each in gc.get_objects() if isinstance(each, kind)]
    return [
        each
        for each in found
        if each.__module__.startswith("irkit.") and not each.__module__.startswith(_LASTING)
    ]
