"""The boxes that blocks read and write."""

import pytest

from irkit.core import walk
from irkit.ir import Block, block_reads, block_writes, parse, script

BLOCK = """\
def f(A: f32[64, n], B: f32[64], C: i64[64]):
    for i in serial(0, 16):
        with block("B"):
            v = axis.spatial(16, i)
{body}
"""


def boxes(*lines: str) -> tuple[str, str]:
    """Print the regions that the one block of ``lines`` reads and writes."""
    text = BLOCK.format(body="\n".join(f"            {line}" for line in lines))
    (block,) = (found for found in walk(parse(text).body, Block) if found.name == "B")
    shown = [
        ", ".join(sorted(script(region) for region in regions))
        for regions in (block_reads(block), block_writes(block))
    ]
    return shown[0], shown[1]


def test_a_single_element_is_a_point() -> None:
    assert boxes("B[v] = A[v, 3]") == ("A[v, 3]", "B[v]")


def test_elements_a_constant_apart_are_one_box() -> None:
    assert boxes("B[v + 1] = A[v, 0] + A[v + 2, 0] + A[v - 1, 1]") == (
        "A[v - 1:v - 1 + 4, 0:2]",
        "B[v + 1]",
    )


def test_a_loop_inside_widens_the_box() -> None:
    lines = ("for k in serial(0, 4):", "    B[v * 4 + k] = A[v, 3 - k]")
    assert boxes(*lines) == ("A[v, 0:4]", "B[v * 4:v * 4 + 4]")


def test_a_loop_whose_end_depends_on_another_is_followed() -> None:
    lines = (
        "for k in serial(0, 4):",
        "    for l in serial(0, k + 1):",
        "        B[v + l] = f32(0.0)",
    )
    assert boxes(*lines) == ("", "B[v:v + 4]")


def test_a_symbolic_loop_gives_a_symbolic_box() -> None:
    lines = ("for k in serial(0, n):", "    B[v] = A[v, k]")
    assert boxes(*lines) == ("A[v, 0:n]", "B[v]")


@pytest.mark.parametrize("index", ["C[v]", "k * k", "k // 2"])
def test_an_index_that_is_not_linear_is_the_whole_dimension(index: str) -> None:
    reads, _ = boxes("for k in serial(0, 4):", f"    B[v] = A[v, {index}]")
    assert "A[v, 0:n]" in reads


def test_inner_allocations_do_not_count_and_a_view_counts_as_its_source() -> None:
    lines = (
        "T = alloc(f32[4])",
        "T[0] = B[v]",
        "V = view(A, f32[64 * n], offset=0)",
        "V[v] = T[0]",
    )
    assert boxes(*lines) == ("B[v]", "A[0:64, 0:n]")


def test_the_axes_of_an_inner_block_stand_for_their_bindings() -> None:
    lines = (
        "for k in serial(0, 4):",
        '    with block("inner"):',
        "        w = axis.spatial(64, v * 4 + k)",
        "        t: i64 = w + 1",
        "        B[w] = A[t - 1, 0]",
    )
    assert boxes(*lines) == ("A[v * 4:v * 4 + 4, 0]", "B[v * 4:v * 4 + 4]")


def test_init_and_predicate_count_and_declared_regions_win() -> None:
    lines = ("where(C[v] < 3)", "with init():", "    B[v] = f32(0.0)", "B[v] = B[v] + A[v, 0]")
    assert boxes(*lines) == ("A[v, 0], B[v], C[v]", "B[v]")
    assert boxes("reads(A[0:64, 0:n])", "B[v] = f32(1.0)") == ("A[0:64, 0:n]", "B[v]")
