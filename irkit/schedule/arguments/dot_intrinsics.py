"""Tensor intrinsics of the instructions that add products, and of the packing that they want.

A product reads groups of neighbours: four bytes, or two numbers of 16 bits, along the reduction.
``A`` has them anyway; ``B`` is packed, so that the groups of all lanes follow each other.
"""

from collections.abc import Iterator

from irkit.ir import DType, Instruction, known_instructions, parse
from irkit.schedule.arguments.intrinsics import TensorIntrin

_DESC = """def dots(A: {a}[{group}], B: {b}[{lanes}, {group}], C: {c}[{lanes}]):
    for j in serial(0, {lanes}):
        for k in serial(0, {group}):
            C[j] = C[j] + cast(A[k], {c}) * cast(B[j, k], {c})
"""
_IMPL = """def dots(A: {a}[{group}], B: {b}[{lanes}, {group}], C: {c}[{lanes}]):
    C[ramp(0, 1, {lanes})] = {value}
"""
_SUMS = "C[ramp(0, 1, {lanes})]"
_ROW = "A[ramp(0, 1, {group})]"
_PLACES = (
    "ramp(0, 1, {whole}) // broadcast({group}, {whole}), "
    "ramp(0, 1, {whole}) % broadcast({group}, {whole})"
)
_GROUPS = f"B[{_PLACES}]"
# a * b is (a + 128) * b - 128 * b, and all of it wraps around as the sum does.
_SIGNED = (
    f"{{one}}({_SUMS}, cast({_ROW}, u8x4) ^ broadcast(u8(128), 4), {_GROUPS}) - "
    f"{{one}}(broadcast(i32(0), {{lanes}}), broadcast(u8(128), 4), {_GROUPS})"
)
_FUSED = """def fused(A: f16[1], B: f16[{lanes}], C: f16[{lanes}]):
    for j in serial(0, {lanes}):
        C[j] = C[j] + A[0] * B[j]
"""
_FUSED_AT_ONCE = """def fused(A: f16[1], B: f16[{lanes}], C: f16[{lanes}]):
    C[ramp(0, 1, {lanes})] = {name}(C[ramp(0, 1, {lanes})], A[0], B[ramp(0, 1, {lanes})])
"""
_TILES = """def tiles(A: {a}[16, {row}], B: {b}[16, 16, {group}], C: {c}[16, 16]):
    for i in serial(0, 16):
        for j in serial(0, 16):
            for k in serial(0, 16):
                for n in serial(0, {group}):
                    C[i, j] = C[i, j] + cast(A[i, k * {group} + n], {c}) * cast(B[k, j, n], {c})
"""
_TILES_AT_ONCE = """def tiles(A: {a}[16, {row}], B: {b}[16, 16, {group}], C: {c}[16, 16]):
    C[{sums}] = {name}(C[{sums}], A[{rows}], B[{groups}])
"""
_PACK = """def pack(S: {b}[{group}, {lanes}], D: {b}[{lanes}, {group}]):
    for j in serial(0, {lanes}):
        for k in serial(0, {group}):
            D[j, k] = S[k, j]
"""
_PACK_ROWS = """def pack(S: {b}[{group}, {lanes}], D: {b}[{lanes}, {group}]):
    D[{places}] = {interleave}({rows})
"""


def dot_intrinsics() -> Iterator[TensorIntrin]:
    """Iterate over the intrinsics of all instructions that add products.

    Each has the name of its instruction; of ``vpdpbusd`` there is also ``..._signed`` of two signed
    bytes. ``pack_LANESxGROUP_TYPE`` packs an operand.
    """
    packs = dict[str, TensorIntrin]()
    for row in known_instructions():
        if row.name.startswith("x86_tdp"):
            yield _tiles(row)
        elif row.name.startswith("x86_vfmaddph") and row.name.endswith("_one"):
            yield _fused(row)
        elif row.name.endswith("_one"):
            lanes, group = row.dtype.lanes, row.types[1].lanes
            yield _dot(row, row.types[1], f"{{one}}({_SUMS}, {_ROW}, {_GROUPS})", "")
            if "vpdpbusd" in row.name:
                yield _dot(row, row.types[2], _SIGNED, "_signed")
            pack = _pack(row.types[2].element, lanes, group)
            packs.setdefault(pack.name, pack)
    yield from packs.values()


def pack_name(dtype: DType, lanes: int, group: int) -> str:
    """Return the name of the intrinsic that interleaves rows of a matrix."""
    return f"pack_{lanes}x{group}_{dtype.element}"


def _dot(row: Instruction, a: DType, value: str, ending: str) -> TensorIntrin:
    _, _, b = row.types
    lanes, group = row.dtype.lanes, row.types[1].lanes
    words = {
        "a": a.element,
        "b": b.element,
        "c": row.dtype.element,
        "lanes": lanes,
        "group": group,
        "whole": b.lanes,
        "one": row.name,
    }
    name = row.name.removesuffix("_one") + ending
    impl = _IMPL.format(value=value.format(**words), **words)
    return TensorIntrin(name, parse(_DESC.format(**words)), parse(impl))


def _fused(row: Instruction) -> TensorIntrin:
    words = {"lanes": row.dtype.lanes, "name": row.name}
    desc, impl = parse(_FUSED.format(**words)), parse(_FUSED_AT_ONCE.format(**words))
    return TensorIntrin(row.name.removesuffix("_one"), desc, impl)


def _tiles(row: Instruction) -> TensorIntrin:
    """Return the product of a tile of rows and one that is packed, added to a tile of sums."""
    _, a, b = row.types
    group = 4 // b.bytes
    words = {
        "a": a.element,
        "b": b.element,
        "c": row.dtype.element,
        "group": group,
        "row": 16 * group,
        "name": row.name,
        "sums": _places(256, 16),
        "rows": _places(a.lanes, 16 * group),
        "groups": _places(b.lanes, 16, group),
    }
    desc, impl = parse(_TILES.format(**words)), parse(_TILES_AT_ONCE.format(**words))
    return TensorIntrin(row.name, desc, impl)


def _places(lanes: int, *extents: int) -> str:
    """Return the indices of all elements of a buffer, whose first extent is what is left."""
    whole, found, step = f"ramp(0, 1, {lanes})", list[str](), 1
    for extent in reversed(extents):
        each = whole if step == 1 else f"{whole} // broadcast({step}, {lanes})"
        found.append(f"{each} % broadcast({extent}, {lanes})")
        step *= extent
    return ", ".join([f"{whole} // broadcast({step}, {lanes})", *reversed(found)])


def _pack(b: DType, lanes: int, group: int) -> TensorIntrin:
    words: dict[str, object] = {
        "b": b,
        "lanes": lanes,
        "group": group,
        "whole": lanes * group,
        "interleave": f"any_interleave_{group}x{lanes}_{b}",
        "rows": ", ".join(f"S[{row}, ramp(0, 1, {lanes})]" for row in range(group)),
    }
    words["places"] = _PLACES.format(**words)
    desc, impl = parse(_PACK.format(**words)), parse(_PACK_ROWS.format(**words))
    return TensorIntrin(pack_name(b, lanes, group), desc, impl)
