# ruff: noqa: E501 -- lines of IR text
"""Sums and softmax of long rows: a block for each row, which threads keep in registers."""

from irkit.ir import PrimFunc, parse


def _joined(threads: int, how: str, depth: int) -> str:
    """Return the steps that join one value of each thread in ``part``, in pairs."""
    steps = threads.bit_length() - 1
    lines = [
        f"for k in serial(0, {steps}):",
        "    evaluate(barrier())",
        f"    if t < {threads // 2} >> k:",
        f"        part[t] = {how.format(a='part[t]', b=f'part[t + ({threads // 2} >> k)]')}",
        "evaluate(barrier())",
    ]
    return "\n".join(" " * depth + line for line in lines)


def row_sums(rows: int, columns: int, threads: int = 256) -> PrimFunc:
    """Return the sums of rows; ``columns`` is a multiple of four times ``threads``, a power of
    two."""
    each = columns // (4 * threads)
    return parse(
        f"""
def row_sums(A: buffer(f32[{rows}, {columns}], align=16), C: f32[{rows}]):
    for i in thread(0, {rows}, "blockIdx.x"):
        part = alloc(f32[{threads}], scope="shared")
        for t in thread(0, {threads}, "threadIdx.x"):
            x = alloc(f32[{4 * each}], scope="local")
            for r in unrolled(0, {each}):
                for v in vectorized(0, 4):
                    x[r * 4 + v] = A[i, (r * {threads} + t) * 4 + v]
            s = alloc(f32[1], scope="local")
            s[0] = f32(0.0)
            for r in unrolled(0, {4 * each}):
                s[0] = s[0] + x[r]
            part[t] = s[0]
{_joined(threads, "{a} + {b}", 12)}
            if t == 0:
                C[i] = part[0]
"""
    )


def softmax_rows(rows: int, columns: int, threads: int = 256) -> PrimFunc:
    """Return softmax of rows, as ``row_sums`` has them."""
    each = columns // (4 * threads)
    return parse(
        f"""
def softmax_rows(A: buffer(f32[{rows}, {columns}], align=16), C: buffer(f32[{rows}, {columns}], align=16)):
    for i in thread(0, {rows}, "blockIdx.x"):
        part = alloc(f32[{threads}], scope="shared")
        for t in thread(0, {threads}, "threadIdx.x"):
            x = alloc(f32[{4 * each}], scope="local")
            for r in unrolled(0, {each}):
                for v in vectorized(0, 4):
                    x[r * 4 + v] = A[i, (r * {threads} + t) * 4 + v]
            s = alloc(f32[1], scope="local")
            s[0] = x[0]
            for r in unrolled(0, {4 * each}):
                s[0] = max(s[0], x[r])
            part[t] = s[0]
{_joined(threads, "max({a}, {b})", 12)}
            top: f32 = part[0]
            evaluate(barrier())
            s[0] = f32(0.0)
            for r in unrolled(0, {4 * each}):
                x[r] = exp(x[r] - top)
                s[0] = s[0] + x[r]
            part[t] = s[0]
{_joined(threads, "{a} + {b}", 12)}
            total: f32 = f32(1.0) / part[0]
            for r in unrolled(0, {each}):
                for v in vectorized(0, 4):
                    C[i, (r * {threads} + t) * 4 + v] = x[r * 4 + v] * total
"""
    )
