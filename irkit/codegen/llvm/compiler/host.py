"""This machine as a target: triple, processor and features; and the set-up of LLVM for it."""

import ctypes
import difflib
import re
import subprocess
import sys
from functools import cache
from typing import Any

import msgspec

from irkit.codegen.llvm.compiler.cpuinfo import described_host
from irkit.codegen.llvm.compiler.library import has_llvm, llvm_binding
from irkit.codegen.llvm.compiler.processor import effective_features
from irkit.core import IRKitError, Target

_ARCH_PRCTL, _REQUEST_STATE, _TILE_DATA = 158, 0x1023, 18
"""A system call of Linux on x86-64, the request, and the number of the state."""


@cache
def _ready() -> None:
    llvm_binding.initialize_native_target()
    llvm_binding.initialize_native_asmprinter()
    llvm_binding.initialize_native_asmparser()
    # When LLVM 22 merges two stores of parts of a vector, it can take the wrong lanes: 8 to 11
    # instead of 10 to 13. Code is no slower without the merging.
    llvm_binding.set_option("irkit", "-combiner-store-merging=false")
    # When LLVM 22 vectorises accesses with a stride, such as p[i % 4 * 5 + j], it takes i % 4 for a
    # number that never wraps around, and does not check that at run time.
    llvm_binding.set_option("irkit", "-enable-interleaved-mem-accesses=false")


@cache
def host_target() -> Target:
    """Return this machine as a target.

    Its features are exact; the name of its processor can be a guess. Without LLVM, they are those
    that code can use.
    """
    if not has_llvm():
        described = described_host()
        tiles = "+amx-tile" in described.features and not _may_use_tiles()
        kept = [name for name in described.features if not (tiles and name.startswith("+amx-"))]
        return msgspec.structs.replace(described, features=tuple(kept))
    _ready()  # Callers go on to compile or link code.
    found: Any = llvm_binding.get_host_cpu_features()
    if found.get("amx-tile") and not _may_use_tiles():
        found.update({name: False for name in found if name.startswith("amx-")})
    features = tuple(f"{'+' if found[name] else '-'}{name}" for name in sorted(found))
    return Target(
        "llvm",
        llvm_binding.get_host_cpu_name(),
        features,
        llvm_binding.get_process_triple(),
        opt_level=3,
    )


def _may_use_tiles() -> bool:
    """Ask for the state of AMX tiles, which Linux gives a process that asks for it, and its
    children. Without it, the first instruction on tiles ends the process.

    Source: Linux, Documentation/arch/x86/xstate.rst.
    """
    if not sys.platform.startswith("linux"):
        return True
    return bool(ctypes.CDLL(None).syscall(_ARCH_PRCTL, _REQUEST_STATE, _TILE_DATA) == 0)


@cache
def complete_target(target: Target) -> Target:
    """Fill in the empty fields of a target from this machine; given features change its own.

    Another processor than this one gets the features of its name and those given.
    """
    host = host_target()
    triple = target.triple or host.triple
    same = target.cpu in ("", host.cpu) and triple == host.triple
    filled = msgspec.structs.replace(
        target,
        triple=triple,
        cpu=target.cpu or (host.cpu if same else "generic"),
        features=_merged(host.features if same else (), target.features),
    )
    machine(filled)  # Raises for names that LLVM does not know.
    if triple != host.triple or filled.features == host.features:
        return filled
    known = [feature[1:] for feature in host.features]
    features = effective_features(triple, filled.cpu, filled.features, known)
    return msgspec.structs.replace(filled, features=features)


@cache
def runnable_target(target: Target) -> Target:
    """Complete a target so that its code runs on this machine, whatever processor it names.

    Raises: IRKitError if it is for another architecture, or asks for a feature that this machine
    lacks.
    """
    host = host_target()
    if is_foreign(target):
        raise IRKitError(f"code for {target.triple} cannot run on this machine ({host.triple})")
    have = set(host.features)
    for feature in target.features:
        if feature[0] == "+" and feature not in have:
            raise IRKitError(
                f"this machine ({host.cpu}) lacks the feature {feature[1:]!r} of the target",
                hint="Leave the features empty to mean those of this machine.",
            )
    # What this machine has and a named processor lacks stays off.
    lacks = tuple(feature for feature in host.features if feature[0] == "-")
    features = _merged(lacks if target.cpu != host.cpu else (), target.features)
    return complete_target(msgspec.structs.replace(target, features=features))


def is_foreign(target: Target) -> bool:
    """Return True if a target names another architecture than that of this machine."""
    return bool(target.triple) and _family(target.triple) != _family(host_target().triple)


def _family(triple: str) -> str:
    return triple.split("-")[0]


def _merged(base: tuple[str, ...], changes: tuple[str, ...]) -> tuple[str, ...]:
    """Append changes to features: in LLVM a later flag wins."""
    signs = {feature[1:]: feature[0] for feature in changes}
    kept = [feature for feature in base if signs.get(feature[1:], feature[0]) == feature[0]]
    return (*kept, *(sign + name for name, sign in signs.items() if sign + name not in kept))


@cache
def machine(target: Target) -> Any:
    """Return LLVM's target machine for a complete target.

    Raises: IRKitError if LLVM does not know its triple, processor or features.
    """
    _ready()
    if target.triple != host_target().triple:
        llvm_binding.initialize_all_targets()
        llvm_binding.initialize_all_asmprinters()
    try:
        found = llvm_binding.Target.from_triple(target.triple)
    except RuntimeError as error:
        raise IRKitError(
            f"LLVM cannot make code for the triple {target.triple!r}: {error}"
        ) from None
    _check_names(target)
    return found.create_target_machine(
        cpu=target.cpu, features=",".join(target.features), opt=target.opt_level, reloc="pic",
        codemodel="default",
    )  # fmt: skip


_NAME = re.compile(r"[A-Za-z0-9._+-]*\Z")
# LLVM only warns about unknown names, on stderr, and may abort later: ask it in a child process.
_PROBE = """
import sys
import llvmlite.binding as llvm
llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
triple, cpu, features = sys.argv[1:]
llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, features=features)
"""


def _check_names(target: Target) -> None:
    """Raise IRKitError for a processor or feature unknown to LLVM, unless it is this machine's."""
    host = host_target()
    known = {feature[1:] for feature in host.features}
    local = target.triple == host.triple
    features = [name for name in target.features if not local or name[1:] not in known]
    if not features and (local and target.cpu in (host.cpu, "generic")):
        return
    for name in (target.cpu, *features):
        if not _NAME.match(name):
            raise IRKitError(f"{name!r} is not the name of a processor or feature")
    said = _probed(target.triple, target.cpu, ",".join(features))
    found = re.search(r"'([^']*)' is not a recognized (processor|feature)", said)
    if found is not None:
        name, what = found[1].lstrip("+-"), found[2]
        raise IRKitError(
            f"LLVM does not know the {what} {name!r} for {target.triple}",
            hint=f"{_nearest(target.triple, what, name)}"
            f"This machine is {host.cpu!r}; leave the field empty to mean it.",
        )


def _probed(*arguments: str) -> str:
    """Return what LLVM says of a triple, a processor and features, in a process of its own."""
    command = [sys.executable, "-c", _PROBE, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return done.stderr


def _nearest(triple: str, what: str, name: str) -> str:
    """Return a question with the nearest name that LLVM knows; empty if none is near."""
    processors, _, features = _probed(triple, "help", "").partition("Available features")
    listed = processors if what == "processor" else features
    known = re.findall(r"^  (\S+) +- ", listed, re.M)
    near = difflib.get_close_matches(name, known, 1, 0.6)
    return f"Did you mean {near[0]!r}? " if near else ""
