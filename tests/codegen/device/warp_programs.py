# ruff: noqa: E501 -- lines of IR text
"""Products by instructions of a warp."""

from irkit.ir import PrimFunc, parse

WARP_TILE = parse(
    """
def warp_tile(A: f16[16, 16], B: f16[8, 16], C: f32[16, 8]):
    for bx in thread(0, 1, "blockIdx.x"):
        a = alloc(f16[256], scope="warp")
        b = alloc(f16[128], scope="warp")
        c = alloc(f32[128], scope="warp")
        for l in thread(0, 32, "threadIdx.x"):
            for r in unrolled(0, 8):
                a[l * 8 + r] = A[l // 4 + r // 2 % 2 * 8, l % 4 * 2 + r % 2 + r // 4 * 8]
            for r in unrolled(0, 4):
                b[l * 4 + r] = B[l // 4, l % 4 * 2 + r % 2 + r // 2 * 8]
                c[l * 4 + r] = f32(0.0)
        c[ramp(0, 1, 128)] = ptx_mma_m16n8k16_f16(c[ramp(0, 1, 128)], a[ramp(0, 1, 256)], b[ramp(0, 1, 128)])
        for l in thread(0, 32, "threadIdx.x"):
            for r in unrolled(0, 4):
                C[l // 4 + r // 2 * 8, l % 4 * 2 + r % 2] = c[l * 4 + r]
"""
)
"""One instruction: a product of 16 x 16 and 16 x 8, the second operand by columns."""


def warp_product(
    m: int, n: int, k: int, *, rows: int = 128, columns: int = 128, warps: tuple[int, int] = (2, 4),
    kind: str = "f16", parts: int = 1,
) -> PrimFunc:  # fmt: skip
    """Return C = A B^T by tensor cores: f16 or bf16, summed in f32.

    A block of ``warps`` computes ``rows`` x ``columns`` sums. Panels of ``parts`` times 32 steps lie
    in shared memory twice: while one is read, registers bring the next. A thread reads 8 neighbours of a row at
    a time, which are the terms that it has of two instructions; so the sums take terms in another
    order than rows have them, the same in A and in B. Sizes are multiples of the tile, and of a
    panel.
    """
    down, across = warps
    own_rows, own_columns = rows // down // 16, columns // across // 8
    threads, step = down * across * 32, 32
    left, right = rows * step // 8 // threads, columns * step // 8 // threads
    mma = f"ptx_mma_m16n8k16_{kind}"
    tiles = own_rows * own_columns

    def fetch(name: str, source: str, first: str, count: int, far: str) -> str:
        place = f"l * {count * parts * 8} + (p * {count} + u) * 8"
        return f"""\
for p in unrolled(0, {parts}):
    for u in unrolled(0, {count}):
        for v in vectorized(0, 8):
            {name}[{place} + v] = {source}[{first} + (u * {threads} + w * 32 + l) // 4, {far} * {step * parts} + p * {step} + l % 4 * 8 + v]"""

    def keep(name: str, panel: str, count: int, extent: int, turn: str) -> str:
        place = f"l * {count * parts * 8} + (p * {count} + u) * 8"
        return f"""\
for p in unrolled(0, {parts}):
    for u in unrolled(0, {count}):
        for v in vectorized(0, 8):
            {panel}[{turn} * {extent * parts} + p * {extent} + (u * {threads} + w * 32 + l) // 4, l % 4 * 8 + v] = {name}[{place} + v]"""

    def at(text: str, depth: int) -> str:
        return "\n".join(f"{' ' * depth}{line}" for line in text.splitlines())

    return parse(
        f"""
def warp_product(A: buffer({kind}[{m}, {k}], align=16), B: buffer({kind}[{n}, {k}], align=16), C: buffer(f32[{m}, {n}], align=16)):
    for by in thread(0, {m // rows}, "blockIdx.y"):
        for bx in thread(0, {n // columns}, "blockIdx.x"):
            top = alloc({kind}[{2 * parts * rows}, {step}], scope="shared")
            side = alloc({kind}[{2 * parts * columns}, {step}], scope="shared")
            for w in thread(0, {down * across}, "threadIdx.y"):
                acc = alloc(f32[{tiles * 128}], scope="warp")
                a = alloc({kind}[{own_rows * 2 * 256}], scope="warp")
                b = alloc({kind}[{own_columns * 2 * 128}], scope="warp")
                next_a = alloc({kind}[{left * parts * 256}], scope="warp")
                next_b = alloc({kind}[{right * parts * 256}], scope="warp")
                for l in thread(0, 32, "threadIdx.x"):
                    for q in unrolled(0, {tiles}):
                        for r in unrolled(0, 4):
                            acc[(q * 32 + l) * 4 + r] = f32(0.0)
{at(fetch("next_a", "A", f"by * {rows}", left, "0"), 20)}
{at(fetch("next_b", "B", f"bx * {columns}", right, "0"), 20)}
{at(keep("next_a", "top", left, rows, "0"), 20)}
{at(keep("next_b", "side", right, columns, "0"), 20)}
                evaluate(barrier())
                for far in serial(0, {k // step // parts}):
                    if far < {k // step // parts - 1}:
                        for l in thread(0, 32, "threadIdx.x"):
{at(fetch("next_a", "A", f"by * {rows}", left, "(far + 1)"), 28)}
{at(fetch("next_b", "B", f"bx * {columns}", right, "(far + 1)"), 28)}
                    for part in unrolled(0, {parts}):
                        for l in thread(0, 32, "threadIdx.x"):
                            for i in unrolled(0, {own_rows}):
                                for h in unrolled(0, 2):
                                    for s in unrolled(0, 2):
                                        for p in unrolled(0, 2):
                                            for e in unrolled(0, 2):
                                                a[((i * 2 + s) * 32 + l) * 8 + p * 4 + h * 2 + e] = top[far % 2 * {rows * parts} + part * {rows} + w // {across} * {rows // down} + i * 16 + h * 8 + l // 4, l % 4 * 8 + s * 4 + p * 2 + e]
                            for j in unrolled(0, {own_columns}):
                                for s in unrolled(0, 2):
                                    for p in unrolled(0, 2):
                                        for e in unrolled(0, 2):
                                            b[((j * 2 + s) * 32 + l) * 4 + p * 2 + e] = side[far % 2 * {columns * parts} + part * {columns} + w % {across} * {columns // across} + j * 8 + l // 4, l % 4 * 8 + s * 4 + p * 2 + e]
                        for s in unrolled(0, 2):
                            for i in unrolled(0, {own_rows}):
                                for j in unrolled(0, {own_columns}):
                                    acc[ramp((i * {own_columns} + j) * 128, 1, 128)] = {mma}(acc[ramp((i * {own_columns} + j) * 128, 1, 128)], a[ramp((i * 2 + s) * 256, 1, 256)], b[ramp((j * 2 + s) * 128, 1, 128)])
                    if far < {k // step // parts - 1}:
                        for l in thread(0, 32, "threadIdx.x"):
{at(keep("next_a", "top", left, rows, "(far + 1) % 2"), 28)}
{at(keep("next_b", "side", right, columns, "(far + 1) % 2"), 28)}
                    evaluate(barrier())
                for l in thread(0, 32, "threadIdx.x"):
                    for i in unrolled(0, {own_rows}):
                        for h in unrolled(0, 2):
                            for j in unrolled(0, {own_columns}):
                                for v in vectorized(0, 2):
                                    C[by * {rows} + w // {across} * {rows // down} + i * 16 + h * 8 + l // 4, bx * {columns} + w % {across} * {columns // across} + j * 8 + l % 4 * 2 + v] = acc[((i * {own_columns} + j) * 32 + l) * 4 + h * 2 + v]
"""
    )
