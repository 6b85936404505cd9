"""What a package holds: a model for each of some targets, and the manifest that lists it."""

import msgspec

from irkit.codegen import NEVER_USED, ExecutorPlan, host_target
from irkit.core import FormatError, Target

FORMAT = 2
MANIFEST = "manifest.json"


class PackageContents(msgspec.Struct, frozen=True):
    """A model for one target, and ``others``: the same model for other targets.

    A model is the plan, an object file for each kernel and the executor, the parameters, the text
    of the graph, and an object file of the pool of threads if a kernel has parallel loops: that is
    linked where LLVM is missing, which makes it elsewhere.
    """

    plan: ExecutorPlan
    objects: tuple[bytes, ...]
    params: bytes | memoryview
    target: Target
    graph: str
    pool: bytes = b""
    others: "tuple[PackageContents, ...]" = ()


class ModelMembers(msgspec.Struct, frozen=True):
    """The members of a package that are its model for one target, by name."""

    target: Target
    plan: str
    graph: str
    params: str
    objects: tuple[str, ...]
    pool: str = ""


class Manifest(msgspec.Struct, frozen=True):
    """Description of a package. ``models`` stand in the order in which loading tries them;
    ``members`` maps each other member to the SHA-256 of its bytes."""

    format: int
    irkit: str
    llvmlite: str
    models: tuple[ModelMembers, ...]
    members: dict[str, str]


class _FirstManifest(msgspec.Struct, frozen=True):
    """The manifest of format 1: one target, members with fixed names."""

    format: int
    irkit: str
    llvmlite: str
    target: Target
    members: dict[str, str]


def decode_manifest(data: bytes, title: str) -> Manifest:
    """Return a manifest of any format that this irkit reads.

    Raises: FormatError for another format, or if it names a member that it does not list;
    msgspec.MsgspecError, IRKitError or ValueError for damage.
    """
    raw = msgspec.json.decode(data, type=dict[str, object])
    if type(raw.get("format")) is not int or raw["format"] not in (1, FORMAT):
        raise FormatError(
            f"package {title} has format {raw.get('format')!r}; this irkit reads 1 and {FORMAT}",
            hint="Compile the model again.",
        )
    if raw["format"] == FORMAT:
        manifest = msgspec.convert(raw, Manifest)
    else:
        first = msgspec.convert(raw, _FirstManifest)
        count = sum(name.startswith("objects/") for name in first.members)
        objects = tuple(f"objects/{number}.o" for number in range(count))
        pool = "pool.o" if "pool.o" in first.members else ""
        only = ModelMembers(first.target, "graph.json", "graph.txt", "params.bin", objects, pool)
        manifest = Manifest(1, first.irkit, first.llvmlite, (only,), first.members)
    for each in manifest.models:
        for name in (each.plan, each.graph, each.params, *each.objects, *filter(None, [each.pool])):
            if name not in manifest.members:
                raise ValueError(f"{name} is missing")
    if not manifest.models:
        raise ValueError("it holds no model")
    return manifest


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
