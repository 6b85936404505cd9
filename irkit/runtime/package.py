"""Packages of models: a zip file with a manifest, the plan as JSON, object code and parameters.

A package contains machine code and is as trusted as a wheel: load only what you would install.
Damage, and features that this processor lacks, are found before anything is linked.
"""

import hashlib
import io
import os
import struct
import zipfile
import zlib
from importlib.metadata import PackageNotFoundError, version

import msgspec

from irkit.codegen import NEVER_USED, ExecutorPlan, host_target
from irkit.core import FormatError, IRKitError, Target, atomic_write

FORMAT = 1
_MANIFEST = "manifest.json"
_PLAN = "graph.json"
_GRAPH = "graph.txt"
_PARAMS = "params.bin"
_POOL = "pool.o"


class Manifest(msgspec.Struct, frozen=True):
    """Description of a package. ``members`` maps each other member to the SHA-256 of its bytes."""

    format: int
    irkit: str
    llvmlite: str
    target: Target
    members: dict[str, str]


class PackageContents(msgspec.Struct, frozen=True):
    """Contents of a package.

    They are the plan, an object file for each kernel and the executor, the parameters, the text of
    the graph, and an object file of the pool of threads if a kernel has parallel loops: that is
    linked where LLVM is missing, which makes it elsewhere.
    """

    plan: ExecutorPlan
    objects: tuple[bytes, ...]
    params: bytes | memoryview
    target: Target
    graph: str
    pool: bytes = b""


def write_package(path: "str | os.PathLike[str]", contents: PackageContents) -> None:
    """Write a package; an existing file is replaced only when the new one is complete."""
    with atomic_write(path) as made:
        _write(made, contents)


def package_bytes(contents: PackageContents) -> bytes:
    """Return the bytes of the file that ``write_package`` writes."""
    made = io.BytesIO()
    _write(made, contents)
    return made.getvalue()


def _write(file: "os.PathLike[str] | io.BytesIO", contents: PackageContents) -> None:
    members: dict[str, bytes | memoryview] = {
        _PLAN: msgspec.json.format(msgspec.json.encode(contents.plan)),
        _GRAPH: contents.graph.encode(),
        _PARAMS: contents.params,
        **{f"objects/{number}.o": data for number, data in enumerate(contents.objects)},
        **({_POOL: contents.pool} if contents.pool else {}),
    }
    manifest = Manifest(
        FORMAT,
        _version("irkit"),
        _version("llvmlite"),
        contents.target,
        {name: hashlib.sha256(data).hexdigest() for name, data in members.items()},
    )
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        add_member(archive, _MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)))
        for name, data in members.items():
            add_member(archive, name, data)


def add_member(archive: zipfile.ZipFile, name: str, data: bytes | memoryview) -> None:
    """Write a member that has no date, so that the same contents are the same bytes."""
    member = zipfile.ZipInfo(name)
    member.external_attr = 0o600 << 16
    archive.writestr(member, data)


def read_package(path: "str | os.PathLike[str]") -> PackageContents:
    """Read a package and check that it is complete and fits this machine.

    Raises: FormatError if the file is missing, damaged, of another format, or made for a processor
    with features that this one lacks.
    """
    title = repr(os.fspath(path))
    try:
        return _read(path, title)
    except FileNotFoundError:
        raise FormatError(f"there is no package {title}") from None
    except OSError as error:
        raise FormatError(f"package {title} cannot be read: {error.strerror or error}") from error


def contents_of(data: bytes, title: str) -> PackageContents:
    """Read the bytes of a package, which messages call ``title``, and check them in the same way.

    Raises: FormatError.
    """
    return _read(io.BytesIO(data), title)


def _read(file: "str | os.PathLike[str] | io.BytesIO", title: str) -> PackageContents:
    try:
        with zipfile.ZipFile(file) as archive:
            _check_sizes(archive, title)
            manifest = _manifest(archive, title)
            members = {
                name: _member(archive, name, digest, title)
                for name, digest in manifest.members.items()
            }
        return _contents(manifest, members)
    except FormatError:
        raise
    except (*_DAMAGE, IRKitError) as error:  # IRKitError: the target is invalid.
        raise _damaged(title, str(error)) from error


# Raised by zipfile and msgspec for damaged bytes.
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    msgspec.MsgspecError,
    LookupError,
    EOFError,
    OverflowError,
    RuntimeError,
    ValueError,
    struct.error,
)


def _contents(manifest: Manifest, members: dict[str, bytes]) -> PackageContents:
    count = sum(name.startswith("objects/") for name in members)
    return PackageContents(
        msgspec.json.decode(members[_PLAN], type=ExecutorPlan),
        tuple(members[f"objects/{number}.o"] for number in range(count)),
        members[_PARAMS],
        manifest.target,
        members[_GRAPH].decode(),
        members.get(_POOL, b""),
    )


def _check_sizes(archive: zipfile.ZipFile, title: str) -> None:
    """Reject sizes that the file cannot hold, so that loading needs no more memory than it."""
    infos = archive.infolist()
    assert archive.fp is not None
    whole = archive.fp.seek(0, os.SEEK_END)
    if any(
        info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size
        for info in infos
    ):
        raise _damaged(title, "it is compressed, which packages never are")
    if infos and min(info.header_offset for info in infos) > 0:
        raise _damaged(title, "something stands before it, such as a package that lost its end")
    if sum(info.file_size for info in infos) > whole:
        raise _damaged(title, f"its {whole} bytes cannot hold what it lists")


def _damaged(title: str, what: str) -> FormatError:
    return FormatError(
        f"{title} is not a package of irkit, or it is damaged: {what}",
        hint="Compile the model again.",
    )


def _manifest(archive: zipfile.ZipFile, title: str) -> Manifest:
    """Read the manifest; reject a package that cannot be used here before reading the rest."""
    if _MANIFEST not in archive.namelist():
        raise FormatError(f"{title} is a zip file, but not a package of irkit")
    raw = msgspec.json.decode(archive.read(_MANIFEST), type=dict[str, object])
    if raw.get("format") != FORMAT:
        raise FormatError(
            f"package {title} has format {raw.get('format')!r}; this irkit reads {FORMAT}",
            hint="Compile the model again.",
        )
    manifest = msgspec.convert(raw, Manifest)
    problem = target_mismatch(manifest.target)
    if problem:
        raise FormatError(
            f"package {title} does not fit this machine: {problem}",
            hint="Compile it here, or with Target(cpu=...) for the oldest of your machines.",
        )
    return manifest


def _member(archive: zipfile.ZipFile, name: str, digest: str, title: str) -> bytes:
    data = archive.read(name)
    if hashlib.sha256(data).hexdigest() != digest:
        raise _damaged(title, f"{name} has a different checksum")
    return data


def target_mismatch(target: Target) -> str:
    """Return why code for a complete target cannot run here; empty if it can."""
    host = host_target()
    if target.triple != host.triple:
        return f"it was made for {target.triple}, found {host.triple}"
    needed = {item[1:] for item in target.features if item.startswith("+")} - NEVER_USED
    missing = sorted(needed - {item[1:] for item in host.features if item.startswith("+")})
    if missing:
        return f"it needs processor features that this machine lacks: {', '.join(missing)}"
    return ""


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"
