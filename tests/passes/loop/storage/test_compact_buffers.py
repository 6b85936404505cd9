"""Buffers shrink to the box of their accesses."""

from irkit.passes import loop
from tests.passes.loop.programs import body, func


def test_a_buffer_with_symbolic_sides_keeps_them() -> None:
    given = func(
        "T = alloc(f32[n, 64])",
        "for i in serial(0, n):",
        "    for j in serial(0, 4):",
        "        T[i, j + 2] = A[j]",
        "        C[j] = T[i, j + 2]",
    )
    assert "T = alloc(f32[n, 4])" in body(loop.compact_buffers(given))
