"""The saved model: a zip file that holds a manifest, the plan as JSON, object code, and parameters.

A package holds machine code and is as trusted as a wheel: load only what you would install. Damage
is found before
anything is loaded, and a processor that lacks a feature is told so.
"""

import hashlib
import os
import struct
import zipfile
import zlib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import llvmlite
import msgspec

from irkit.codegen import Plan, host_target
from irkit.core import FormatError, Target

FORMAT = 1
_MANIFEST = "manifest.json"
_PLAN = "graph.json"
_GRAPH = "graph.txt"
_PARAMS = "params.bin"
# A damaged or hostile size must not make the loader allocate without bound.
_MAX_BYTES = 16 << 30


class Manifest(msgspec.Struct, frozen=True):
    """What a package says of itself. ``members`` maps each other member to the SHA-256 of its
    bytes."""

    format: int
    irkit: str
    llvmlite: str
    target: Target
    members: dict[str, str]


class Contents(msgspec.Struct, frozen=True):
    """All that a package carries: the plan, an object file for each kernel and the executor,
    parameters, and the graph's text."""

    plan: Plan
    objects: tuple[bytes, ...]
    params: bytes
    target: Target
    graph: str


def write_package(path: "str | os.PathLike[str]", contents: Contents) -> None:
    """Write a package; a file that is there is replaced only when the new one is complete."""
    members = {
        _PLAN: msgspec.json.format(msgspec.json.encode(contents.plan)),
        _GRAPH: contents.graph.encode(),
        _PARAMS: contents.params,
        **{f"objects/{number}.o": data for number, data in enumerate(contents.objects)},
    }
    manifest = Manifest(
        FORMAT,
        _version(),
        llvmlite.__version__,
        contents.target,
        {name: hashlib.sha256(data).hexdigest() for name, data in members.items()},
    )
    final = Path(path)
    partial = final.with_name(f".{final.name}.{os.getpid()}.partial")
    try:
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr(_MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)))
            for name, data in members.items():
                archive.writestr(name, data)
        partial.replace(final)
    finally:
        partial.unlink(missing_ok=True)


def read_package(path: "str | os.PathLike[str]") -> Contents:
    """Read a package and check that it is whole and fits this machine.

    Raises: FormatError if the file is missing, damaged, of another format, or made for a processor
    with features that this
    one lacks.
    """
    title = repr(str(path))
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = _manifest(archive, title)
            _check_target(manifest.target, title)
            members = {
                name: _member(archive, name, digest, title)
                for name, digest in manifest.members.items()
            }
        plan = msgspec.json.decode(members[_PLAN], type=Plan)
        count = sum(name.startswith("objects/") for name in members)
        objects = tuple(members[f"objects/{number}.o"] for number in range(count))
        graph = members[_GRAPH].decode()
        return Contents(plan, objects, members[_PARAMS], manifest.target, graph)
    except FileNotFoundError:
        raise FormatError(f"there is no package {title}") from None
    except _DAMAGE as error:
        raise _damaged(title, str(error)) from error


_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    msgspec.MsgspecError,
    KeyError,
    EOFError,
    NotImplementedError,
    UnicodeDecodeError,
    struct.error,
    RuntimeError,
)


def _damaged(title: str, what: str) -> FormatError:
    return FormatError(f"package {title} is damaged: {what}", hint="Compile the model again.")


def _manifest(archive: zipfile.ZipFile, title: str) -> Manifest:
    raw = msgspec.json.decode(_read(archive, _MANIFEST, title), type=dict[str, object])
    if raw.get("format") != FORMAT:
        raise FormatError(
            f"package {title} has format {raw.get('format')!r}; this irkit reads {FORMAT}",
            hint="Compile the model again.",
        )
    return msgspec.convert(raw, Manifest)


def _read(archive: zipfile.ZipFile, name: str, title: str) -> bytes:
    info = archive.getinfo(name)
    if info.file_size > _MAX_BYTES or info.compress_type != zipfile.ZIP_STORED:
        raise _damaged(title, f"{name} is too large or compressed")
    return archive.read(name)


def _member(archive: zipfile.ZipFile, name: str, digest: str, title: str) -> bytes:
    data = _read(archive, name, title)
    if hashlib.sha256(data).hexdigest() != digest:
        raise _damaged(title, f"{name} is not what was written")
    return data


def _check_target(target: Target, title: str) -> None:
    host = host_target()
    if target.triple != host.triple:
        raise FormatError(
            f"package {title} was made for {target.triple}; this machine is {host.triple}"
        )
    needed = {item for item in target.features if item.startswith("+")}
    missing = sorted(needed - set(host.features))
    if missing:
        names = ", ".join(item[1:] for item in missing)
        raise FormatError(
            f"package {title} needs processor features that this machine lacks: {names}",
            hint="Compile it here, or with Target(features=...) for the least of your machines.",
        )


def _version() -> str:
    try:
        return version("irkit")
    except PackageNotFoundError:
        return "unknown"
