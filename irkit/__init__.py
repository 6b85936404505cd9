"""irkit: a compiler toolkit for people who write, debug and test compiler passes.

``irkit.lower``, ``irkit.build`` and the folders of the toolkit load when they are first used:
``import irkit`` itself loads neither NumPy nor LLVM.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from irkit import (
        codegen,
        core,
        debug,
        frontend,
        fuzz,
        graph,
        inspector_web,
        ir,
        passes,
        phases,
        runtime,
        schedule,
        te,
        topi,
        transform,
        tune,
    )
    from irkit.core import IRKitError, IRModule, Span, Target
    from irkit.ir import Buffer, PrimFunc, Var, interpret
    from irkit.phases import DEFAULT, build, lower, trace
    from irkit.transform import Pipeline, Registry, Trace, define_pass

__version__ = "0.1.0"

# A checkout where links are plain files (Windows) has passes and phases beside this folder.
_here = Path(__file__).parent
if not (_here / "passes").is_dir():
    __path__ = [*__path__, str(_here.parent)]

_FOLDERS = (
    "codegen", "core", "debug", "frontend", "fuzz", "graph", "inspector_web", "ir", "passes",
    "phases", "runtime", "schedule", "te", "topi", "transform", "tune",
)  # fmt: skip
_NAMES = {
    "irkit.core": ("IRKitError", "IRModule", "Span", "Target"),
    "irkit.ir": ("Buffer", "PrimFunc", "Var", "interpret"),
    "irkit.transform": ("Pipeline", "Registry", "Trace", "define_pass"),
    "irkit.phases": ("DEFAULT", "build", "lower", "trace"),
}
_HOME = {name: folder for folder, names in _NAMES.items() for name in names}

__all__ = [
    "DEFAULT",
    "Buffer",
    "IRKitError",
    "IRModule",
    "Pipeline",
    "PrimFunc",
    "Registry",
    "Span",
    "Target",
    "Trace",
    "Var",
    "build",
    "codegen",
    "core",
    "debug",
    "define_pass",
    "frontend",
    "fuzz",
    "graph",
    "inspector_web",
    "interpret",
    "ir",
    "lower",
    "passes",
    "phases",
    "runtime",
    "schedule",
    "te",
    "topi",
    "trace",
    "transform",
    "tune",
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
