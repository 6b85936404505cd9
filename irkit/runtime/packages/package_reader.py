"""Read packages. Damage, and what this processor lacks, are found before anything is linked."""

import hashlib
import io
import mmap
import os
import struct
import zipfile
import zlib
from collections.abc import Generator
from contextlib import contextmanager

import msgspec

from irkit.codegen import ExecutorPlan
from irkit.core import FormatError, IRKitError
from irkit.runtime.packages.contents import (
    MANIFEST,
    Manifest,
    ModelMembers,
    PackageContents,
    decode_manifest,
    target_mismatch,
)
from irkit.runtime.packages.stored_members import MemoryFile, check_stored, stored_member

VERIFIED_PARAMS = 4 << 20
"""Parameters of at most so many bytes are compared with their digest when they are loaded."""


def whole_file(path: "str | os.PathLike[str]") -> memoryview:
    """Return a package as memory, mapped read-only: what is not touched is not read.

    Raises: FormatError if there is none, or it cannot be read.
    """
    title = repr(os.fspath(path))
    try:
        with open(path, "rb") as file:
            if not os.fstat(file.fileno()).st_size:
                raise damaged(title, "it is empty")
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except FileNotFoundError:
        raise FormatError(f"there is no package {title}") from None
    except (OSError, ValueError) as error:
        words = getattr(error, "strerror", None) or error
        raise FormatError(f"package {title} cannot be read: {words}") from error


def read_package(path: "str | os.PathLike[str]", *, whole: bool = False) -> PackageContents:
    """Read a package and check that it is complete and fits this machine.

    The model is the first that this machine can run. Its parameters are mapped, and compared with
    their digest if they are small; with ``whole``, large ones with the checksum of the zip file.
    Raises: FormatError if the file is missing, damaged, of another format, or made for processors
    with features that this one lacks.
    """
    return contents_of(whole_file(path), repr(os.fspath(path)), whole=whole)


def contents_of(data: bytes | memoryview, title: str, *, whole: bool = False) -> PackageContents:
    """Read the bytes of a package, which messages call ``title``, and check them in the same way.

    Raises: FormatError.
    """
    file = memoryview(data)
    with open_archive(file, title) as archive:
        manifest = read_manifest(archive, title)
        chosen = _fitting(manifest, title)
        members = {
            name: _member(archive, file, name, manifest, title, whole=whole)
            for name in manifest.members
        }
        made = [_contents(each, members, title) for each in manifest.models]
    first = made.pop(chosen)
    return msgspec.structs.replace(first, others=tuple(made))


@contextmanager
def open_archive(whole: memoryview, title: str) -> Generator[zipfile.ZipFile]:
    """Open a package; errors of the zip file and of what is in it are told as damage."""
    try:
        with zipfile.ZipFile(io.BufferedReader(MemoryFile(whole))) as archive:
            _check_sizes(archive, len(whole), title)
            yield archive
    except FormatError:
        raise
    except (*_DAMAGE, IRKitError) as error:  # IRKitError: the target is invalid.
        raise damaged(title, str(error)) from error


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


def read_manifest(archive: zipfile.ZipFile, title: str) -> Manifest:
    """Return the manifest of a package.

    Raises: FormatError if it has none, or one of another format.
    """
    if MANIFEST not in archive.namelist():
        raise FormatError(f"{title} is a zip file, but not a package of irkit")
    return decode_manifest(archive.read(MANIFEST), title)


def _fitting(manifest: Manifest, title: str) -> int:
    """Return the number of the first model that this machine can run."""
    problems = [target_mismatch(each.target) for each in manifest.models]
    if "" in problems:
        return problems.index("")
    hint = "Compile it here, or with Target(cpu=...) for the oldest of your machines."
    if len(problems) == 1:
        what = f"package {title} does not fit this machine: {problems[0]}"
        raise FormatError(what, hint=hint)
    listed = "".join(
        f"\n  for {each.target.cpu or each.target.triple}: {problem}"
        for each, problem in zip(manifest.models, problems, strict=True)
    )
    raise FormatError(f"no model in package {title} fits this machine:{listed}", hint=hint)


def _member(
    archive: zipfile.ZipFile,
    file: memoryview,
    name: str,
    manifest: Manifest,
    title: str,
    *,
    whole: bool,
) -> memoryview:
    data = stored_member(archive, file, name)
    is_large = len(data) > VERIFIED_PARAMS and any(v.params == name for v in manifest.models)
    if not is_large and digest_of(data) != manifest.members[name]:
        raise damaged(title, f"{name} has a different checksum")
    if is_large and whole and zlib.crc32(data) != archive.getinfo(name).CRC:
        raise damaged(title, f"{name} has a different checksum")
    return data


def digest_of(data: memoryview) -> str:
    """Return the SHA-256 of a member, in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def _contents(model: ModelMembers, members: dict[str, memoryview], title: str) -> PackageContents:
    plan = msgspec.json.decode(members[model.plan], type=ExecutorPlan)
    params = members[model.params]
    if len(params) != plan.param_bytes:
        raise damaged(title, f"{model.params} has {len(params)} bytes, expected {plan.param_bytes}")
    return PackageContents(
        plan,
        tuple(bytes(members[name]) for name in model.objects),
        params,
        model.target,
        bytes(members[model.graph]).decode(),
        bytes(members[model.pool]) if model.pool else b"",
    )


def _check_sizes(archive: zipfile.ZipFile, size: int, title: str) -> None:
    """Reject sizes that the file cannot hold, so that loading needs no more memory than it."""
    infos = archive.infolist()
    for info in infos:
        check_stored(info)
    if infos and min(info.header_offset for info in infos) > 0:
        raise damaged(title, "something stands before it, such as a package that lost its end")
    if sum(info.file_size for info in infos) > size:
        raise damaged(title, f"its {size} bytes cannot hold what it lists")


def damaged(title: str, what: str) -> FormatError:
    """Return the error for a package that cannot be read."""
    return FormatError(
        f"{title} is not a package of irkit, or it is damaged: {what}",
        hint="Compile the model again.",
    )
