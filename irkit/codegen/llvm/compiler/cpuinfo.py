"""This machine as Linux describes it: for packages that run where LLVM is missing."""

import platform
import sys
from pathlib import Path

from irkit.codegen.llvm.compiler.processor import NEVER_USED
from irkit.core import IRKitError, Target

_FLAGS = {
    "64bit": "lm", "sse3": "pni", "bmi": "bmi1", "lzcnt": "abm", "avxvnni": "avx_vnni",
    "avxifma": "avx_ifma", "avxneconvert": "avx_ne_convert", "avx512vnni": "avx512_vnni",
    "avx512bf16": "avx512_bf16", "avx512fp16": "avx512_fp16", "avx512bitalg": "avx512_bitalg",
    "avx512vbmi2": "avx512_vbmi2", "avx512vpopcntdq": "avx512_vpopcntdq",
    "avx512vp2intersect": "avx512_vp2intersect",
}  # fmt: skip
"""Features by LLVM's name, where Linux calls them otherwise than with _ for - and a dot."""

_NAMES = (
    "64bit", "adx", "amx-bf16", "amx-complex", "amx-fp16", "amx-int8", "amx-tile", "avx", "avx2",
    "avx512bf16", "avx512bitalg", "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512fp16",
    "avx512ifma", "avx512vbmi", "avx512vbmi2", "avx512vl", "avx512vnni", "avx512vp2intersect",
    "avx512vpopcntdq", "avxifma", "avxneconvert", "avxvnni", "bmi", "bmi2", "cmov", "cx16", "f16c",
    "fma", "fma4", "gfni", "lwp", "lzcnt", "mmx", "movbe", "popcnt", "sse", "sse2", "sse3",
    "sse4.1", "sse4.2", "sse4a", "ssse3", "tbm", "xop",
)  # fmt: skip
"""Features that code uses; others are never needed (``NEVER_USED``), or refused as unknown."""


def described_host() -> Target:
    """Return this machine as a target with the features that code can use.

    Raises: IRKitError if it is no x86-64 under Linux.
    Source: Linux, Documentation/arch/x86/cpuinfo.rst.
    """
    if platform.machine() != "x86_64" or not sys.platform.startswith("linux"):
        raise IRKitError(
            f"llvmlite cannot be imported, and packages run without it on x86-64 under Linux only; "
            f"this is {platform.machine()} under {platform.system()}",
            hint="pip install llvmlite.",
        )
    features = features_of(Path("/proc/cpuinfo").read_text("utf-8", "replace"))
    return Target("llvm", "x86-64", features, "x86_64-unknown-linux-gnu", opt_level=3)


def features_of(cpuinfo: str) -> tuple[str, ...]:
    """Return the features that the first processor of /proc/cpuinfo has, by LLVM's names."""
    lines = (line.partition(":") for line in cpuinfo.splitlines())
    flags = set(next((value for key, _, value in lines if key.strip() == "flags"), "").split())
    names = (name for name in _NAMES if name not in NEVER_USED)
    return tuple(f"+{name}" for name in names if _flag(name) in flags)


def _flag(name: str) -> str:
    return _FLAGS.get(name, name.replace("-", "_").replace(".", "_"))
