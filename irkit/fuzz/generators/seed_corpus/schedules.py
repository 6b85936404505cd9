"""Scheduled programs: a kernel and the primitives that are applied to it, each as a pass."""

from collections.abc import Callable

from irkit.fuzz.generators.seed_corpus.texts import BLOCK_PROGRAMS, KERNELS
from irkit.ir import Expr, PrimFunc, parse
from irkit.schedule import LoopRef, Schedule
from irkit.transform import AnyPass, define_pass

Action = Callable[[Schedule], object]


# Of whole numbers: partial sums of floats may overflow in another order.


def _first(s: Schedule, block: str) -> LoopRef:
    return s.get_loops(s.get_block(block))[0]


def _split(at: int, *factors: int | None, block: str = "C") -> Action:
    return lambda s: s.split(s.get_loops(s.get_block(block))[at], factors)


def _fuse(first: int, last: int, block: str = "C") -> Action:
    return lambda s: s.fuse(*s.get_loops(s.get_block(block))[first:last])


def _reorder(*order: int, block: str = "C") -> Action:
    def run(s: Schedule) -> None:
        loops = s.get_loops(s.get_block(block))
        s.reorder(*(loops[at] for at in order))

    return run


def _vectorize(at: int, block: str = "C") -> Action:
    return lambda s: s.vectorize(s.get_loops(s.get_block(block))[at])


def _parallel(at: int, block: str = "C") -> Action:
    return lambda s: s.parallel(s.get_loops(s.get_block(block))[at])


def _decompose(at: int, block: str = "C") -> Action:
    def run(s: Schedule) -> None:
        found = s.get_block(block)
        s.decompose_reduction(found, s.get_loops(found)[at])

    return run


def _below(consumer: str, producer: str, at: int) -> Action:
    def run(s: Schedule) -> None:
        loops = s.get_loops(s.get_block(producer))
        s.reverse_compute_at(s.get_block(consumer), loops[at])

    return run


def _cache_read(buffer: str, block: str = "C") -> Action:
    def run(s: Schedule) -> None:
        found = next(param for param in s.func.params if param.name == buffer)
        s.cache_read(s.get_block(block), found)  # pyright: ignore[reportArgumentType] -- a buffer

    return run


def _layout(block: str) -> Action:
    def tiled(i: Expr, j: Expr) -> tuple[Expr, Expr, Expr]:
        return j // 4, i, j % 4

    return lambda s: s.transform_layout(s.get_block(block), tiled)


def _shifted(at: int, factor: int, block: str = "C") -> Action:
    return lambda s: s.split(s.get_loops(s.get_block(block))[at], factor=factor, tail="shift")


def _partition(at: int, *factors: int | None, block: str = "C") -> Action:
    return lambda s: s.loop_partition(s.get_loops(s.get_block(block))[at], factors)


def _shift_loop(at: int, begin: int, block: str = "C") -> Action:
    return lambda s: s.shift_loop(s.get_loops(s.get_block(block))[at], begin)


def _merge(at: int, *blocks: str) -> Action:
    return lambda s: s.merge(*(s.get_loops(s.get_block(name))[at] for name in blocks))


def _fission(at: int, block: str) -> Action:
    return lambda s: s.fission(s.get_loops(s.get_block(block))[at], s.get_block(block))


def _at(producer: str, consumer: str, at: int) -> Action:
    def run(s: Schedule) -> None:
        loops = s.get_loops(s.get_block(consumer))
        s.compute_at(s.get_block(producer), loops[at])

    return run


def _rfactor(at: int, factor_axis: int, block: str = "C") -> Action:
    return lambda s: s.rfactor(s.get_loops(s.get_block(block))[at], factor_axis)


def _tensorize(at: int, intrin: str, block: str = "C") -> Action:
    return lambda s: s.tensorize(s.get_loops(s.get_block(block))[at], intrin)


def _stage(at: int, buffer: str, block: str = "C") -> Action:
    return lambda s: s.stage_mem(s.get_loops(s.get_block(block))[at], buffer)


def _reindex_write(s: Schedule) -> None:
    def tiled(i: Expr, j: Expr, k: Expr) -> tuple[Expr, Expr, Expr]:
        return j // 4, i, j % 4

    s.reindex_cache_write(s.get_block("C"), 0, "local", tiled)


Steps = tuple[tuple[str, Action], ...]

TILE_A_MATMUL: Steps = (
    ("split", _split(1, None, 4, block="T")),
    ("split", _split(0, None, 4, block="T")),
    ("reorder", _reorder(0, 2, 4, 1, 3, block="T")),
    ("reverse_compute_at", _below("C", "T", 1)),
    ("decompose_reduction", _decompose(2, "T")),
    ("overcompute", lambda s: s.overcompute(s.get_block("T"))),
    ("vectorize", _vectorize(-1, "T_init")),
)

SCHEDULES: dict[str, tuple[str, Steps]] = {
    "MOVE": (
        BLOCK_PROGRAMS["MATMUL_RELU"],
        (
            ("split", _split(1, None, 4, block="C")),
            ("split", _split(0, None, 4, block="C")),
            ("compute_at", _at("T", "C", 2)),
            ("compute_root", lambda s: s.compute_root(s.get_block("T"))),
            ("compute_at", _at("T", "C", 0)),
        ),
    ),
    "MOVE_TO_SUMS": (
        BLOCK_PROGRAMS["ROW_SUMS"],
        (
            ("split", _split(0, None, 4, block="T")),
            ("reverse_compute_at", _below("C", "T", 0)),
        ),
    ),
    "FOLD": (
        BLOCK_PROGRAMS["CHAIN"],
        (
            ("reverse_compute_inline", lambda s: s.reverse_compute_inline(s.get_block("U"))),
            ("compute_at", _at("T", "C", 1)),
        ),
    ),
    "FACTOR": (
        BLOCK_PROGRAMS["WHOLE_SUMS"],
        (("split", _split(-1, None, 2)), ("rfactor", _rfactor(-1, 1))),
    ),
    "FACTOR_OUTER": (
        BLOCK_PROGRAMS["WHOLE_SUMS"],
        (("split", _split(-1, 4, 2)), ("rfactor", _rfactor(-2, 0))),
    ),
    "PAD": (
        KERNELS["MATMUL"],
        (
            ("pad_einsum", lambda s: s.pad_einsum(s.get_block("C"), [4, 4, 4])),
            ("split", _split(2, None, 4)),
            ("split", _split(1, None, 4)),
            ("split", _split(0, None, 4)),
            ("reorder", _reorder(0, 2, 4, 1, 3, 5)),
            ("tensorize", _tensorize(3, "matmul_4x4x4_f32")),
        ),
    ),
    "UNPAD": (
        BLOCK_PROGRAMS["PADDED"],
        (("decompose_padding", lambda s: s.decompose_padding(s.get_block("T"), _first(s, "T"))),),
    ),
    "TILE_A_MATMUL": (BLOCK_PROGRAMS["MATMUL_RELU"], TILE_A_MATMUL),
    "SPLIT_UNEVENLY": (
        KERNELS["MATMUL"],
        (
            ("split", _split(0, 2, 2, 2)),
            ("split", _split(3, None, 3)),
            ("split", _split(-1, None, 2)),
            ("parallel", _parallel(0)),
        ),
    ),
    "FUSE": (
        BLOCK_PROGRAMS["CHAIN"],
        (
            ("fuse", _fuse(0, 3, "T")),
            ("fuse", _fuse(0, 2, "C")),
            ("split", _split(0, None, 5, block="T")),
            ("vectorize", _vectorize(-1, "C")),
        ),
    ),
    "PIECES": (
        KERNELS["MATMUL"],
        (
            ("split", _shifted(0, 4)),
            ("loop_partition", _partition(3, 2, None)),
            ("shift_loop", _shift_loop(3, 1, "C_1")),
            ("loop_partition", _partition(2, None, 3)),
        ),
    ),
    "MERGE": (
        BLOCK_PROGRAMS["CHAIN"],
        (
            ("reorder", _reorder(1, 0, block="T")),
            ("merge", _merge(1, "T", "U")),
            ("fission", _fission(1, "T")),
            ("merge", _merge(2, "T", "U")),
        ),
    ),
    "INLINE": (
        BLOCK_PROGRAMS["CHAIN"],
        (
            ("compute_inline", lambda s: s.compute_inline(s.get_block("T"))),
            ("compute_inline", lambda s: s.compute_inline(s.get_block("U"))),
            ("reorder", _reorder(2, 0)),
        ),
    ),
    "CACHE": (
        KERNELS["MATMUL"],
        (
            ("cache_write", lambda s: s.cache_write(s.get_block("C"))),
            ("cache_read", _cache_read("A")),
            ("cache_read", _cache_read("B")),
            ("transform_layout", _layout("C")),
            ("transform_layout", _layout("C_B")),
            ("decompose_reduction", _decompose(2)),
        ),
    ),
    "STAGE": (
        KERNELS["MATMUL"],
        (
            ("split", _split(2, None, 3)),
            ("split", _split(0, None, 2)),
            ("reorder", _reorder(0, 3, 1, 2, 4)),
            ("stage_mem", _stage(2, "C")),
            ("stage_mem", _stage(2, "A")),
            ("read_at", lambda s: s.read_at(_first(s, "C"), s.get_block("C"), "B")),
        ),
    ),
    "BY_AXES": (
        KERNELS["MATMUL"],
        (
            ("reindex_cache_write", _reindex_write),
            ("reindex", lambda s: s.reindex(s.get_block("C"), "B")),
            ("cache_index", lambda s: s.cache_index(s.get_block("C_C_local"))),
        ),
    ),
    "STORE": (
        BLOCK_PROGRAMS["CHAIN"],
        (
            ("storage_align", lambda s: s.storage_align(s.get_block("T"), 0, 1, 4, 1)),
            ("storage_align", lambda s: s.storage_align(s.get_block("T"), 0, 0, 8, 3)),
        ),
    ),
    "ROLL": (
        BLOCK_PROGRAMS["BLUR"],
        (
            ("compute_at", _at("T", "C", 0)),
            ("rolling_buffer", lambda s: s.rolling_buffer(s.get_block("T"))),
        ),
    ),
    "SYMBOLIC_ALL_AROUND": (
        KERNELS["SYMBOLIC_MATMUL"],
        (
            ("split", _split(0, None, 2)),
            ("split", _split(2, None, 3)),
            ("split", _split(-1, None, 4)),
        ),
    ),
    "SYMBOLIC": (
        KERNELS["SYMBOLIC_MATMUL"],
        (
            ("split", _split(1, None, 4)),
            ("reorder", _reorder(0, 1, 3, 2)),
            ("decompose_reduction", _decompose(2)),
            ("fuse", _fuse(0, 2)),
        ),
    ),
}


def scheduled(name: str) -> tuple[PrimFunc, list[AnyPass]]:
    """Return a function, and its schedule as passes for phase 0, each named after its primitive."""
    text, steps = SCHEDULES[name]
    return parse(text.strip() + "\n"), [_as_pass(*step) for step in steps]


def _as_pass(name: str, action: Action) -> AnyPass:
    def apply(func: PrimFunc) -> PrimFunc:
        schedule = Schedule(func)
        action(schedule)
        return schedule.func

    apply.__name__ = apply.__qualname__ = name
    return define_pass(apply)
