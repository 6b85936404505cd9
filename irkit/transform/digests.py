"""What a pass does, as a digest: passes with equal digests make the same of the same IR.

A pass of irkit's is as irkit's files are. One from elsewhere is its code, its defaults, and what it
closes over or reads of its module, as long as all of that is functions and data that cannot change,
or comes with Python, NumPy or irkit; else it has no digest, and what it makes is not cached.
"""

import hashlib
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from irkit.core import own_sources
from irkit.transform.define import AnyPass, Pass
from irkit.transform.pipeline import Pipeline

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...))


def is_own(p: AnyPass) -> bool:
    """Return True if a pass is one of irkit's."""
    return p.path.startswith("irkit.")


def pipeline_digest(pipeline: Pipeline) -> str | None:
    """Return a digest of the passes of a pipeline, in order and with their options, and of the
    facts that it begins with; None if a pass has none."""
    parts = [repr([fact.name for fact in pipeline.facts])]
    for number, p in pipeline.placed:
        found = pass_digest(p)
        if found is None:
            return None
        parts += [str(number), found]
    return _hashed(*parts)


def pass_digest(p: AnyPass) -> str | None:
    """Return a digest of what a pass does with its options; None if that cannot be known."""
    found = own_sources() if is_own(p) else function_digest(p.function)
    facts = repr([[fact.name for fact in each] for each in (p.needs, p.gives, p.breaks)])
    options = repr(sorted(p.options.items()))
    return None if found is None else _hashed(p.path, options, facts, str(p.atomic), found)


def function_digest(function: Callable[..., Any]) -> str | None:
    """Return a digest of a function, and of all that it refers to; None if some of that is neither
    code nor data that cannot change."""
    own = own_sources()
    try:
        if own is None:
            return None
        # NumPy is loaded by then, since irkit's IR needs it.
        numpy = str(getattr(sys.modules.get("numpy"), "__version__", ""))
        return _hashed(sys.version, numpy, own, *_Parts().of(function))
    except _UnknownPartError:
        return None


def _hashed(*parts: str) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


class _UnknownPartError(Exception):
    """The end of a digest: something can change without being seen."""


class _Parts:
    """The texts that a digest is made of; each object counts once, so cycles end."""

    def __init__(self) -> None:
        self.seen: dict[int, object] = {}

    def of(self, value: object) -> list[str]:
        """Return the texts of a value. Raises: _UnknownPartError."""
        if isinstance(value, _PLAIN):
            return [f"{type(value).__name__}:{value!r}"]
        if id(value) in self.seen:
            return [f"seen {list(self.seen).index(id(value))}"]
        self.seen[id(value)] = value
        if type(value) is tuple:
            return self._each("tuple", cast("Iterable[object]", value))
        if type(value) is frozenset:
            return self._each("set", sorted(cast("Iterable[object]", value), key=repr))
        if isinstance(value, types.ModuleType):
            return [_known(value.__name__)]
        module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
        if isinstance(module, str) and isinstance(name, str) and _is_known(module):
            return [f"{module}:{name}"]
        if isinstance(value, Pass):
            held = cast("AnyPass", value)
            return self.of((held.function, tuple(sorted(held.options.items()))))
        if isinstance(value, types.FunctionType):
            return self._function(value)
        raise _UnknownPartError

    def _each(self, kind: str, items: Iterable[object]) -> list[str]:
        found = [kind]
        for item in items:
            found += self.of(item)
        return [*found, "end"]

    def _function(self, function: types.FunctionType) -> list[str]:
        found = self._code(function.__code__, function.__globals__)
        try:
            held = tuple([cell.cell_contents for cell in function.__closure__ or ()])
        except ValueError:  # A cell that is not filled yet.
            raise _UnknownPartError from None
        defaults = tuple(sorted((function.__kwdefaults__ or {}).items()))
        return found + self.of((held, function.__defaults__, defaults))

    def _code(self, code: types.CodeType, scope: Mapping[str, object]) -> list[str]:
        found = [code.co_name, code.co_code.hex(), repr(code.co_varnames), repr(code.co_freevars)]
        for each in code.co_consts:
            inner = isinstance(each, types.CodeType)
            found += self._code(each, scope) if inner else self.of(each)
        for name in code.co_names:
            found += [name, *(self.of(scope[name]) if name in scope else ())]
        return found


def _known(module: str) -> str:
    if not _is_known(module):
        raise _UnknownPartError
    return f"module {module}"


def _is_known(module: str) -> bool:
    """Return True for a module that comes with Python, irkit or NumPy."""
    top = module.partition(".")[0]
    return top in ("irkit", "numpy") or (top in sys.stdlib_module_names and top != "__main__")
