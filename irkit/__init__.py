"""irkit: a compiler toolkit for people who write, debug and test compiler passes.

``irkit.lower``, ``irkit.build`` and the folders of the toolkit load when they are first used:
``import irkit`` itself loads neither NumPy nor LLVM.
"""

from typing import TYPE_CHECKING

from irkit.imports import import_uncollected

if TYPE_CHECKING:
    from irkit import (
        codegen as codegen,
        core as core,
        debug as debug,
        frontend as frontend,
        fuzz as fuzz,
        graph as graph,
        ir as ir,
        passes as passes,
        phases as phases,
        runtime as runtime,
        schedule as schedule,
        te as te,
        topi as topi,
        transform as transform,
        tune as tune,
    )
    from irkit.core import (
        IRKitError as IRKitError,
        IRModule as IRModule,
        Span as Span,
        Target as Target,
    )
    from irkit.frontend import (
        nn as nn,
    )
    from irkit.ir import (
        Buffer as Buffer,
        PrimFunc as PrimFunc,
        Var as Var,
        interpret as interpret,
    )
    from irkit.phases import (
        DEFAULT as DEFAULT,
        GRAPH as GRAPH,
        LEGALIZE as LEGALIZE,
        build as build,
        compile as compile,
        lower as lower,
        trace as trace,
    )
    from irkit.runtime import (
        Cache as Cache,
        Model as Model,
        load as load,
        load_library as load_library,
    )
    from irkit.schedule import (
        Schedule as Schedule,
    )
    from irkit.transform import (
        Pipeline as Pipeline,
        Registry as Registry,
        Trace as Trace,
        define_pass as define_pass,
    )

__version__ = "0.1.0"

_FOLDERS = {
    "nn": "irkit.frontend.nn",
    **{name: f"irkit.{name}" for name in (
        "codegen", "core", "debug", "frontend", "fuzz", "graph", "ir", "passes",
        "phases", "runtime", "schedule", "te", "topi", "transform", "tune",
    )},
}  # fmt: skip
_NAMES = {
    "irkit.core": ("IRKitError", "IRModule", "Span", "Target"),
    "irkit.ir": ("Buffer", "PrimFunc", "Var", "interpret"),
    "irkit.transform": ("Pipeline", "Registry", "Trace", "define_pass"),
    "irkit.phases": ("DEFAULT", "GRAPH", "LEGALIZE", "build", "compile", "lower", "trace"),
    "irkit.runtime": ("Cache", "Model", "load", "load_library"),
    "irkit.schedule": ("Schedule",),
}
_HOME = {name: folder for folder, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> object:
    """Import a folder, or a name from its folder, when it is first used."""
    if name in _FOLDERS:
        return import_uncollected(_FOLDERS[name])
    if name not in _HOME:
        raise AttributeError(f"module 'irkit' has no attribute {name!r}")
    value = getattr(import_uncollected(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_FOLDERS, *_HOME})
