"""Devices with threads as data: a row for each, and what limits a launch there."""

import msgspec

from irkit.core.target.target_table import KIB, Ran


class DeviceRow(msgspec.Struct, frozen=True):
    """A device: what its compiler calls it, and the most that a launch may ask of it.

    ``threads`` and ``shared_bytes`` are for a block, ``block`` and ``grid`` along x, y and z. More
    than ``static_bytes`` of shared memory, unless that is 0, is asked for by the launch.
    ``registers`` are those of 32 bits that a block has for all its threads. Threads of a ``warp``
    run together.
    """

    name: str
    summary: str
    kind: str
    cpu: str
    threads: int
    block: tuple[int, int, int]
    grid: tuple[int, int, int]
    shared_bytes: int
    warp: int
    registers: int
    static_bytes: int = 0
    ran: Ran = "not run"


_MOST = (1 << 31) - 1
_CUDA_BLOCK, _CUDA_GRID = (1024, 1024, 64), (_MOST, 65535, 65535)
_STATIC = 48 * KIB
_SAME = (1024, 1024, 1024)

# Name, summary, kind, processor; threads of a block, the most along x, y and z, blocks along x, y
# and z; bytes of shared memory, threads of a warp, registers of a block; of CUDA, bytes of shared
# memory that need no asking.
DEVICE_TABLE = (
    DeviceRow("opencl", "any OpenCL 1.2 device", "opencl", "", 256, (256, 256, 256),
              (_MOST, _MOST, _MOST), 32 * KIB, 1, 0, ran="pocl"),
    DeviceRow("pocl", "OpenCL on this processor, by pocl", "opencl", "pocl", 4096,
              (4096, 4096, 4096), (_MOST, _MOST, _MOST), 256 * KIB, 1, 0, ran="pocl"),
    DeviceRow("cuda", "any CUDA device since Ampere", "cuda", "sm_80", 1024, _CUDA_BLOCK,
              _CUDA_GRID, 99 * KIB, 32, 65536, _STATIC),
    DeviceRow("a100", "NVIDIA A100", "cuda", "sm_80", 1024, _CUDA_BLOCK, _CUDA_GRID,
              163 * KIB, 32, 65536, _STATIC),
    DeviceRow("a10", "NVIDIA A10", "cuda", "sm_86", 1024, _CUDA_BLOCK, _CUDA_GRID,
              99 * KIB, 32, 65536, _STATIC),
    DeviceRow("rtx-4090", "NVIDIA GeForce RTX 4090", "cuda", "sm_89", 1024, _CUDA_BLOCK,
              _CUDA_GRID, 99 * KIB, 32, 65536, _STATIC),
    DeviceRow("h100", "NVIDIA H100", "cuda", "sm_90", 1024, _CUDA_BLOCK, _CUDA_GRID,
              227 * KIB, 32, 65536, _STATIC, "by hand"),
    DeviceRow("h200", "NVIDIA H200", "cuda", "sm_90", 1024, _CUDA_BLOCK, _CUDA_GRID,
              227 * KIB, 32, 65536, _STATIC),
    DeviceRow("amdgpu", "any AMD device of CDNA 3", "amdgpu", "gfx942", 1024, _SAME,
              (_MOST, 65535, 65535), 64 * KIB, 64, 65536),
    DeviceRow("mi300x", "AMD Instinct MI300X", "amdgpu", "gfx942", 1024, _SAME,
              (_MOST, 65535, 65535), 64 * KIB, 64, 65536),
)  # fmt: skip
"""All devices with names; the first of a kind stands for those that the table lacks."""

DEVICE_KINDS = tuple(dict.fromkeys(row.kind for row in DEVICE_TABLE))


_ARCHITECTURES = (70, 75, 80, 86, 87, 89, 90, 100, 103, 110, 120)


def device_features(cpu: str) -> tuple[str, ...]:
    """Return the generations of NVIDIA's GPUs that a processor such as "sm_90" has what they have,
    as LLVM's features; none for another kind."""
    kind, _, number = cpu.rstrip("af").partition("_")
    if kind != "sm" or not number.isdecimal():
        return ()
    return tuple(f"+sm_{each}" for each in _ARCHITECTURES if each <= int(number))


def find_device(kind: str, cpu: str) -> DeviceRow | None:
    """Return the row of a processor of a kind; that of the kind for one the table lacks; None if
    the kind is none of devices."""
    rows = [row for row in DEVICE_TABLE if row.kind == kind]
    found = [row for row in rows if row.cpu == cpu]
    return (found or rows or [None])[0]
