"""What a schedule copies takes little memory, whatever the shapes."""

import math

from hypothesis import given, settings, strategies as st

from irkit.autoschedule import Machine, auto_schedule
from irkit.core import walk
from irkit.ir import Allocate, Block, Buffer, Load, PrimFunc, Store, as_int
from irkit.phases import DEFAULT
from tests.autoschedule.instructions.test_instructions import FEATURES, product as narrow_product
from tests.autoschedule.products.test_products import product
from tests.autoschedule.test_auto_schedule import conv_relu

SIZES = st.integers(0, 99).map(lambda n: int(2 ** (n / 9)))
"""From 1 to 2048, small ones as often as large ones."""
VECTORS = st.sampled_from([16, 32, 64])


_TILE = 14 * 64 * 4
"""Bytes of the largest tile of results, which shifted operands need beside the operands."""


def size_of(buffer: Buffer) -> int:
    return math.prod(as_int(dim) or 0 for dim in buffer.shape) * buffer.dtype.bytes


def operands(func: PrimFunc) -> int:
    """Return the bytes of all that the reductions of a function read."""
    sums = [block for block in walk(func, on=Block) if block.init is not None]
    read = {load.buffer for block in sums for load in walk(block.body, on=Load)}
    return sum(
        map(size_of, read - {store.buffer for block in sums for store in walk(block, on=Store)})
    )


def scratch(func: PrimFunc) -> int:
    """Return the bytes of memory that a function allocates when storage is laid out."""
    made = DEFAULT.stop_after(1).run(func)
    buffers = [stmt.buffer for stmt in walk(made, on=Allocate)]
    return sum(size_of(buffer) for buffer in buffers if buffer.scope != "local")


@settings(max_examples=15, deadline=None, derandomize=True)
@given(
    sizes=st.tuples(SIZES, SIZES, SIZES),
    transposed=st.tuples(st.booleans(), st.booleans()),
    batch=st.sampled_from([0, 0, 0, 3]),
    dtype=st.sampled_from(["float32", "float32", "float64"]),
    vector=VECTORS,
)
def test_packed_operands_of_products_take_half_as_much_again_at_most(
    sizes: tuple[int, int, int],
    transposed: tuple[bool, bool],
    batch: int,
    dtype: str,
    vector: int,
) -> None:
    func = product(*sizes, transposed=transposed, batch=batch, dtype=dtype)
    made = auto_schedule(func, Machine.with_vectors(vector))
    assert scratch(made) <= 1.5 * operands(func)


@settings(max_examples=10, deadline=None, derandomize=True)
@given(
    channels=st.integers(1, 40),
    size=st.integers(7, 34),
    out=st.sampled_from([1, 2, 7, 32]),
    kernel=st.sampled_from([1, 3, 5, 7]),
    stride=st.integers(1, 3),
    groups=st.sampled_from([1, 1, 2, 8]),
    vector=VECTORS,
)
def test_padded_images_of_convolutions_take_half_as_much_again_at_most(
    channels: int, size: int, out: int, kernel: int, stride: int, groups: int, vector: int
) -> None:
    func = conv_relu(channels, size, out, kernel, kernel // 2, stride, groups)
    made = auto_schedule(func, Machine.with_vectors(vector))
    assert scratch(made) <= 1.5 * operands(func)


@settings(max_examples=10, deadline=None, derandomize=True)
@given(
    sizes=st.tuples(SIZES, SIZES, SIZES),
    types=st.sampled_from([("u8", "i8", "i32"), ("i8", "i8", "i32"), ("bf16", "bf16", "f32")]),
    tiles=st.booleans(),
)
def test_packed_operands_of_narrow_products_take_half_as_much_again_at_most(
    sizes: tuple[int, int, int], types: tuple[str, str, str], *, tiles: bool
) -> None:
    func = narrow_product(*sizes, *types)
    features = (*FEATURES, "amx-int8", "amx-bf16") if tiles else FEATURES
    made = auto_schedule(func, Machine(features=features))
    assert scratch(made) <= 1.5 * operands(func) + _TILE


def test_a_line_just_longer_than_half_a_vector_is_not_doubled() -> None:
    func = conv_relu(6, 18, 1, 5, 2, 2)
    assert scratch(auto_schedule(func)) <= 1.5 * operands(func)


def test_columns_just_more_than_a_vector_are_not_doubled() -> None:
    func = product(1, 19, 2, transposed=(True, True))
    assert scratch(auto_schedule(func)) <= 1.5 * operands(func)
