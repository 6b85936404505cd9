"""Kernels whose buffers are copied or share memory, and the sizes of these buffers."""

from irkit.core import walk
from irkit.ir import Allocate, PrimFunc, as_int
from irkit.phases import lower
from irkit.schedule import LoopRef, Schedule
from tests.schedule.kernels import matmul, matmul_relu

IN_PLACE = """def f(A: f32[4, 6]):
    for i in serial(0, 4):
        for j in serial(0, 6):
            with block("A"):
                v = axis.spatial(4, i)
                w = axis.spatial(6, j)
                A[v, w] = A[v, w] * f32(2.0)
"""


def tiled(n: int, tile: int) -> tuple[Schedule, list[LoopRef]]:
    sch = Schedule(matmul(n, n, n), check="each")
    i, j, k = sch.get_loops(sch.get_block("C"))
    io, ii = sch.split(i, [None, tile])
    jo, ji = sch.split(j, [None, tile])
    ko, ki = sch.split(k, [None, tile])
    sch.reorder(io, jo, ko, ii, ji, ki)
    return sch, [io, jo, ko, ii, ji, ki]


def sizes(func: PrimFunc) -> dict[str, int | None]:
    """Return the size of each buffer after lowering."""
    found = lower(func)
    assert isinstance(found, PrimFunc)
    return {a.buffer.name: as_int(a.buffer.shape[0]) for a in walk(found, on=Allocate)}


STAGES = """def f(A: f32[6, 8], D: f32[6, 8]):
    B = alloc(f32[6, 8])
    for i in serial(0, 6):
        for j in serial(0, 8):
            with block("B"):
                v = axis.spatial(6, i)
                w = axis.spatial(8, j)
                B[v, w] = A[v, w] * f32(2.0)
    E = alloc(f32[8])
    for j in serial(0, 8):
        with block("E"):
            w = axis.spatial(8, j)
            E[w] = B[0, w] + B[5, w]
    C = alloc(f32[6, 4])
    for i in serial(0, 6):
        for j in serial(0, 4):
            with block("C"):
                v = axis.spatial(6, i)
                w = axis.spatial(4, j)
                C[v, w] = E[w] + A[v, w + 4]
    for i in serial(0, 6):
        for j in serial(0, 8):
            with block("D"):
                v = axis.spatial(6, i)
                w = axis.spatial(8, j)
                D[v, w] = C[v, w // 2] + E[w]
"""


def tile_copied() -> Schedule:
    sch = Schedule(matmul_relu(8, 8, 4), check="each")
    i, _ = sch.get_loops(sch.get_block("D"))
    sch.compute_at(sch.get_block("C"), i)
    return sch
