"""irkit: a compiler toolkit for people who write, debug and test compiler passes.

``irkit.lower``, ``irkit.build`` and the folders of the toolkit load when they are first used:
``import irkit`` itself loads neither NumPy nor LLVM.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from irkit import (
        codegen,
        core,
        debug,
        frontend,
        fuzz,
        graph,
        ir,
        passes,
        phases,
        runtime,
        schedule,
        te,
        topi,
        transform,
    )
    from irkit.core import IRKitError, IRModule, Span, Target
    from irkit.ir import Buffer, PrimFunc, Var, interpret
    from irkit.phases import DEFAULT, GRAPH, LEGALIZE, build, compile, lower, trace
    from irkit.runtime import Model, load
    from irkit.schedule import Schedule
    from irkit.transform import Pipeline, Registry, Trace, define_pass

__version__ = "0.1.0"

_FOLDERS = (
    "codegen", "core", "debug", "frontend", "fuzz", "graph", "ir", "passes",
    "phases", "runtime", "schedule", "te", "topi", "transform",
)  # fmt: skip
_NAMES = {
    "irkit.core": ("IRKitError", "IRModule", "Span", "Target"),
    "irkit.ir": ("Buffer", "PrimFunc", "Var", "interpret"),
    "irkit.transform": ("Pipeline", "Registry", "Trace", "define_pass"),
    "irkit.phases": ("DEFAULT", "GRAPH", "LEGALIZE", "build", "compile", "lower", "trace"),
    "irkit.runtime": ("Model", "load"),
    "irkit.schedule": ("Schedule",),
}
_HOME = {name: folder for folder, names in _NAMES.items() for name in names}

__all__ = [
    "DEFAULT",
    "GRAPH",
    "LEGALIZE",
    "Buffer",
    "IRKitError",
    "IRModule",
    "Model",
    "Pipeline",
    "PrimFunc",
    "Registry",
    "Schedule",
    "Span",
    "Target",
    "Trace",
    "Var",
    "build",
    "codegen",
    "compile",
    "core",
    "debug",
    "define_pass",
    "frontend",
    "fuzz",
    "graph",
    "interpret",
    "ir",
    "load",
    "lower",
    "passes",
    "phases",
    "runtime",
    "schedule",
    "te",
    "topi",
    "trace",
    "transform",
]


def __getattr__(name: str) -> object:
    """Load a folder, or what one of them offers, when it is first asked for."""
    if name in _FOLDERS:
        return import_module(f"irkit.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'irkit' has no attribute {name!r}")
    found = getattr(import_module(_HOME[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
