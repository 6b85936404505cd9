"""What is in a package, after every byte of it was compared with its digest."""

from collections.abc import Callable

import msgspec
import numpy as np

from irkit.core import Target
from irkit.runtime.packages.contents import target_mismatch
from irkit.runtime.packages.package_reader import damaged, digest_of, open_archive, read_manifest
from irkit.runtime.packages.stored_members import PAGE, stored_member


class ModelReport(msgspec.Struct, frozen=True):
    """A model of a package: what it is for, why that is not this machine ("" if it is), the bytes
    of its object files, and those of its parameters."""

    target: Target
    mismatch: str
    code_bytes: int
    param_bytes: int


class PackageReport(msgspec.Struct, frozen=True):
    """A whole package: who wrote it, its models, how many bytes are in its members, and whether
    its parameters lie at a multiple of 4,096 bytes, so that they are mapped as they are."""

    title: str
    format: int
    irkit: str
    llvmlite: str
    models: tuple[ModelReport, ...]
    total_bytes: int
    is_mapped: bool


def package_report(
    whole: memoryview, title: str, verified: Callable[[int], None] = lambda _: None
) -> PackageReport:
    """Compare every member of a package, which is ``whole``, with its digest.

    ``verified`` is told the bytes of each member after it.
    Raises: FormatError for damage, whatever machine the package is for.
    """
    start = _address(whole)
    with open_archive(whole, title) as archive:
        manifest = read_manifest(archive, title)
        members = {name: stored_member(archive, whole, name) for name in manifest.members}
        for name, data in members.items():
            if digest_of(data) != manifest.members[name]:
                raise damaged(title, f"{name} has a different checksum")
            verified(len(data))
        params = [members[each.params] for each in manifest.models]
        models = tuple(
            ModelReport(
                each.target,
                target_mismatch(each.target),
                sum(len(members[name]) for name in (*each.objects, *filter(None, [each.pool]))),
                len(members[each.params]),
            )
            for each in manifest.models
        )
        return PackageReport(
            title,
            manifest.format,
            manifest.irkit,
            manifest.llvmlite,
            models,
            sum(map(len, members.values())),
            all(not data or (_address(data) - start) % PAGE == 0 for data in params),
        )


def _address(memory: memoryview) -> int:
    return np.frombuffer(memory, np.uint8).ctypes.data if memory else 0
