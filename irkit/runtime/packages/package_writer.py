"""Write packages: the same contents are the same bytes."""

import hashlib
import io
import os
import zipfile
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

import msgspec

from irkit.core import IRKitError, atomic_write
from irkit.runtime.packages.contents import (
    FORMAT,
    MANIFEST,
    Manifest,
    ModelMembers,
    PackageContents,
)
from irkit.runtime.packages.stored_members import add_member


def with_others(first: PackageContents, also: Sequence[PackageContents]) -> PackageContents:
    """Return contents with those of the same model for other targets.

    Raises: IRKitError if one cannot be used as the first is, or two are for the same target.
    """
    every = [*first.others]
    for each in (part for other in also for part in (other, *other.others)):
        name, own = (x.target.cpu or x.target.kind for x in (each, first))
        for what in ("inputs", "outputs", "dims", "state"):
            found, expected = getattr(each.plan, what), getattr(first.plan, what)
            if found != expected:
                raise IRKitError(
                    f"the model for {name} has other {what} than the one for {own}: expected "
                    f"{expected}, found {found}",
                    hint="Compile the same model, with the same shapes, for each target.",
                )
        if each.target.kind != "llvm":
            raise IRKitError(f"a package holds native code, and the model for {name} is source")
        if any(each.target == other.target for other in (first, *every)):
            raise IRKitError(f"a package holds one model for each target, found two for {name}")
        every.append(msgspec.structs.replace(each, others=()))
    return msgspec.structs.replace(first, others=tuple(every))


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
    members = _Members()
    # Loading takes the first that fits, so those that need most of a processor come first.
    every = sorted((contents, *contents.others), key=_features, reverse=True)
    models = tuple(_model(each, members, number) for number, each in enumerate(every))
    manifest = Manifest(FORMAT, _version("irkit"), _version("llvmlite"), models, members.digests)
    mapped = {each.params for each in models}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        add_member(archive, MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)))
        for name, data in members.data.items():
            add_member(archive, name, data, aligned=name in mapped)


def _features(contents: PackageContents) -> int:
    return sum(each.startswith("+") for each in contents.target.features)


class _Members:
    """Members by name, each content once."""

    def __init__(self) -> None:
        self.data: dict[str, bytes | memoryview] = {}
        self.digests: dict[str, str] = {}
        self._names: dict[tuple[str, str], str] = {}

    def add(self, number: int, name: str, data: bytes | memoryview) -> str:
        """Return the name of a member of a model, which is that of an equal one before it."""
        digest = hashlib.sha256(data).hexdigest()
        kind = name.partition("/")[0]
        own = f"{number}/{name}" if number else name
        found = self._names.setdefault((kind, digest), own)
        if found == own:
            self.data[own], self.digests[own] = data, digest
        return found


def _model(contents: PackageContents, members: _Members, number: int) -> ModelMembers:
    plan = msgspec.json.format(msgspec.json.encode(contents.plan))
    return ModelMembers(
        contents.target,
        members.add(number, "graph.json", plan),
        members.add(number, "graph.txt", contents.graph.encode()),
        members.add(number, "params.bin", contents.params),
        tuple(
            members.add(number, f"objects/{place}.o", data)
            for place, data in enumerate(contents.objects)
        ),
        members.add(number, "pool.o", contents.pool) if contents.pool else "",
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"
